"""``keepsake simulate``: simulate days of the village, as fast as the models answer."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Annotated

import typer

from game.simulation.config import settings_from
from game.simulation.plan import WORKER, SimulationPlan, create, reopen
from keepsake.cli.app import main
from keepsake.errors import KeepsakeError
from keepsake.paths import REPOSITORY, places


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
    visitors: Annotated[int, typer.Option(min=0, max=20, help="How many players come and go.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting, such as idle_interval=60, sleep.awake_hours=12; repeatable."
        ),
    ] = None,
    resume: Annotated[str, typer.Option(help="Continue the simulation of that name.")] = "",
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
        lab = reopen(places(), resume, hours)
    else:
        length = 24.0 if hours is None else hours  # other options are named like the plan's fields
        given = {"hours": length, "settings": settings_from(settings or ())}
        lab = create(places(), SimulationPlan(**context.params | given))
    os.chdir(REPOSITORY)
    os.execve(sys.executable, [sys.executable, "-m", WORKER, str(lab.folder)], lab.environ())


if __name__ == "__main__":
    command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    command.command()(simulate)
    main(partial(command, prog_name="keepsake simulate"))
