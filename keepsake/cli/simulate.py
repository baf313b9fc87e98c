"""``keepsake simulate``: days without telnet, as fast as the models answer."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from contextlib import closing
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from keepsake.cli.output import out, plain_table
from keepsake.errors import KeepsakeError
from keepsake.events.files import last
from keepsake.paths import Places, places

if TYPE_CHECKING:
    from keepsake.lab.simulation import Lab

LINE_SECONDS = 10.0
"""Real seconds between two lines."""
_HOUR = 3600.0
_SAYS = {"setting up": "loading the world", "making": "building the world"}
_ROWS = {
    "thoughts": "thoughts",
    "tokens": "tokens",
    "memories": "memories",
    "compactions": "compactions",
    "unanswered": "thoughts without an answer",
    "faults": "warnings and errors",
}


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
        int, typer.Option(min=0, max=2**31 - 1, help="The same seed gives the same life.")
    ] = 7,
    model: Annotated[
        str,
        typer.Option(
            help="Who answers: scripted (rules), vault (as llm.md says), "
            "ollama:MODEL@HOST, openai:MODEL@HOST."
        ),
    ] = "scripted",
    visitors: Annotated[int, typer.Option(min=0, max=20, help="How many players come and go.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting: idle_interval=60, sleep.awake_hours=12; may be repeated."
        ),
    ] = None,
    resume: Annotated[str, typer.Option(help="Continue the simulation of that name.")] = "",
) -> None:
    """Simulate days of the village in a world of its own, as fast as the models answer."""
    # Here, since no other command needs it.
    from keepsake.lab.simulate import create, resumed  # noqa: PLC0415
    from keepsake.lab.simulation import SimulationPlan, settings_from  # noqa: PLC0415

    if resume:
        for option in context.params:  # a simulation keeps the options that it was made with
            source = context.get_parameter_source(option)
            given = source is not None and source.name == "COMMANDLINE"
            if given and option not in ("resume", "hours"):
                told = f"--resume does not take another {option}: a simulation keeps its own"
                raise KeepsakeError(told, "Leave it out; only --hours can be changed")
        lab = resumed(places(), resume, hours)
    else:
        length, chosen = 24.0 if hours is None else hours, settings_from(settings or ())
        plan = SimulationPlan(name, agents, length, seed, model, visitors, chosen)
        lab = create(places(), plan)
    raise typer.Exit(0 if _shown(lab) else 1)


def places_of(lab: str) -> Places:
    """The places of the simulation of that name; those of the world where none is named.

    Raises:
        KeepsakeError: There is no such simulation.
    """
    if not lab:
        return places()
    from keepsake.lab.simulation import lab_of  # noqa: PLC0415 - other commands need not wait

    return lab_of(places(), lab).places


def _shown(lab: Lab) -> bool:
    """Run a simulation and show how it goes.

    The first Ctrl-C ends it at its next moment, the second one at once.

    Returns:
        Whether it has come to its end, and a model has answered on the way.

    Raises:
        KeepsakeError: It could not go on.
    """
    from keepsake.lab.simulate import run  # noqa: PLC0415 - other commands need not wait

    plan, name, began = lab.plan(), lab.folder.name, time.monotonic()
    said, pid, counts = 0.0, 0, Counter[str]()

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if pid:
            os.kill(pid, signal.SIGTERM)
        out.print("It ends as soon as nobody is at work. Ctrl-C again ends it at once.")

    usual = signal.signal(signal.SIGINT, interrupt)
    try:
        with closing(run(lab)) as reports:
            for report in reports:
                pid = report.pid
                if report.op in _SAYS:
                    out.print(f"{name}: {_SAYS[report.op]}", markup=False)
                    continue
                counts = report.counts
                if time.monotonic() - said >= LINE_SECONDS:
                    said = time.monotonic()
                    done = f"{report.seconds / plan.seconds:.0%}  {_clock(report.seconds)}"
                    told = f"{counts['thoughts']:,} thoughts  {counts['tokens']:,} tokens"
                    out.print(f"{name}: {done}  {told}", markup=False)
    except KeyboardInterrupt:
        out.print("Broken off at once.")
    finally:
        signal.signal(signal.SIGINT, usual)
    lived = lab.lived()
    rows = [
        ("lived", f"{lived / _HOUR:.4g} of {plan.hours:g} hours"),
        ("until", _clock(lived)),
        *((what, f"{counts[key]:,}") for key, what in _ROWS.items()),
        ("took", f"{time.monotonic() - began:.0f} s"),
        ("log", str(lab.places.events)),
        ("look", f"keepsake logs --lab {name} --no-follow"),
        ("tables", f"keepsake export --lab {name} tables-{name}"),
        *([("go on", lab.resume)] if lived < plan.seconds else []),
    ]
    out.print(plain_table(("", ""), rows))
    unanswered = bool(counts["unanswered"]) and not counts["thoughts"]
    if unanswered:
        found = last(lab.places.events, 1, lambda record: record.get("outcome") == "no answer")
        why = next((each.get("problem") for each in found), "") or "the log does not say"
        out.print(f"No thought was answered: {why}", markup=False)
    return lived >= plan.seconds and not unanswered


def _clock(seconds: float) -> str:
    from keepsake.lab.simulation import moment  # noqa: PLC0415 - other commands need not wait

    return f"{moment(seconds) + timedelta(milliseconds=1):%A %d %B %H:%M}"
