"""``keepsake simulate``: simulate days of the village, as fast as the models answer."""

from __future__ import annotations

import os
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from game.simulation.conditions import conditions as asked_again
from game.simulation.config import settings_from
from game.simulation.plan import WORKER, Lab, check_items, create, reopen
from game.simulation.processes import ablation, run_measured
from keepsake.cli.app import main
from keepsake.errors import KeepsakeError
from keepsake.lab.simulations.interview import MOST
from keepsake.lab.simulations.items import read_items
from keepsake.lab.simulations.plan import SimulationPlan, check_parts
from keepsake.paths import REPOSITORY, places

ITEMS = Path(__file__).with_name("items.yaml")
"""The items of measured simulations."""


def simulate(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="The name of the simulation; seed-7 if not given.")
    ] = "",
    *,
    agents: Annotated[int, typer.Option(min=1, max=7, help="How many agents.")] = 5,
    hours: Annotated[
        float | None,
        typer.Option(min=0.01, max=24 * 366, help="How many hours to simulate; 24 if not given."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**31 - 1, help="The same seed gives the same run.")
    ] = 7,
    model: Annotated[
        str,
        typer.Option(
            help="The model: scripted (rules), vault (as in llm.md), "
            "ollama:MODEL@HOST, openai:MODEL@HOST."
        ),
    ] = "scripted",
    writer: Annotated[
        str,
        typer.Option(
            help="The model that writes summaries and works at night: vault (default), none, "
            "ollama:MODEL@HOST, openai:MODEL@HOST."
        ),
    ] = "",
    visitors: Annotated[int, typer.Option(min=0, max=20, help="How many players come and go.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting, such as idle_interval=60, sleep.awake_hours=12; repeatable."
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(help="Take a part away: plans, reflection or memory; repeatable."),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Give agents a fact and an invitation, interview all at the end, write the page.",
        ),
    ] = False,
    ablated: Annotated[
        bool,
        typer.Option(
            "--ablation",
            help="Measure four times: all, without plans, without reflection, without memory.",
        ),
    ] = False,
    items: Annotated[
        Path | None, typer.Option(help="A YAML file with other facts and invitations to measure.")
    ] = None,
    questions: Annotated[
        int, typer.Option(min=0, max=MOST, help="How many questions each agent is asked.")
    ] = MOST,
    resume: Annotated[str, typer.Option(help="Continue the simulation of that name.")] = "",
    conditions: Annotated[
        str,
        typer.Option(
            help="Ask the agents of that finished simulation again, in copies of it: without "
            "plans, reflection, memory.",
        ),
    ] = "",
) -> None:
    """Simulate days of the village in a world of its own, as fast as the models answer.

    The village is a MUD: this needs a clone of the project after `make install`.
    """
    if resume:
        for option in {*context.params} - {"resume", "hours"}:  # the plan keeps the others
            source = context.get_parameter_source(option)
            if source is not None and source.name == "COMMANDLINE":
                problem = f"--resume cannot change {option}: a simulation keeps its plan"
                raise KeepsakeError(problem, "Leave it out; only --hours can be changed")
        _run(reopen(places(), resume, hours))
    if conditions:
        sys.exit(run_measured(places(), asked_again(places(), conditions)))
    given = read_items(items or ITEMS) if measure or ablated else ()
    plan = SimulationPlan(
        name=name,
        agents=agents,
        hours=24.0 if hours is None else hours,
        seed=seed,
        model=model,
        writer=writer,
        visitors=visitors,
        settings=settings_from(settings or ()),
        without=check_parts(without or ()),
        items=given,
        interview=questions if given else 0,
        command=shlex.join(["keepsake", "simulate", *sys.argv[1:]]),
    )
    check_items(plan)
    if ablated:
        sys.exit(run_measured(places(), ablation(places(), plan)))
    _run(create(places(), plan))


def _run(lab: Lab) -> NoReturn:
    """Run a simulation in place of this process, or, if it is measured, in one of its own."""
    if lab.plan().is_measured:
        sys.exit(run_measured(places(), [lab]))
    os.chdir(REPOSITORY)
    os.execve(sys.executable, [sys.executable, "-m", WORKER, str(lab.folder)], lab.environ())


if __name__ == "__main__":
    command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    command.command()(simulate)
    main(partial(command, prog_name="keepsake simulate"))
