"""``keepsake simulate``: days without telnet, as fast as the models answer."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from keepsake.cli.output import out, plain_table
from keepsake.errors import KeepsakeError
from keepsake.events.files import last
from keepsake.paths import Places, places

if TYPE_CHECKING:
    from keepsake.lab.simulations.plan import Lab, SimulationPlan

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
        str, typer.Argument(help="The name of the simulation; seed-7 and so on if not given.")
    ] = "",
    *,
    agents: Annotated[int, typer.Option(help="How many agents, 1 to 100.")] = 5,
    hours: Annotated[
        float | None, typer.Option(help="How many hours to simulate; 24 if not given.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same life.")] = 7,
    model: Annotated[
        str,
        typer.Option(
            help="Who answers: scripted (rules), vault (as llm.md says), embedded, "
            "ollama:MODEL@HOST, openai:MODEL@HOST."
        ),
    ] = "scripted",
    start: Annotated[str, typer.Option(help="The time at which it begins.")] = "2026-05-04T08:00",
    zone: Annotated[str, typer.Option(help="The time zone of --start.")] = "UTC",
    visitors: Annotated[int, typer.Option(help="How many players come and go, 0 to 20.")] = 1,
    strategy: Annotated[
        str, typer.Option(help="The compaction strategy: a file of vault/config/compaction.")
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting: idle_interval=60, sleep.awake_hours=12; may be repeated."
        ),
    ] = None,
    resume: Annotated[str, typer.Option(help="Go on with the simulation of that name.")] = "",
) -> None:
    """Simulate days of the village in a world of its own, as fast as the models answer."""
    # Here, since no other command needs it.
    from keepsake.lab.simulations.plan import SimulationPlan  # noqa: PLC0415
    from keepsake.lab.simulations.settings import settings_from  # noqa: PLC0415
    from keepsake.lab.simulations.simulate import create, resumed  # noqa: PLC0415

    here = places()
    if resume:
        _refuse_beside_resume(context)
        lab = resumed(here, resume, hours)
    else:
        length = 24.0 if hours is None else hours
        chosen = settings_from(settings or (), strategy)
        plan = SimulationPlan(name, agents, length, seed, start, zone, model, visitors, chosen)
        lab = create(here, plan)
    raise typer.Exit(0 if _shown(lab) else 1)


def _refuse_beside_resume(context: typer.Context) -> None:
    """A simulation keeps the options that it was made with: a new value is refused."""
    for option in context.params:
        source = context.get_parameter_source(option)
        given = source is not None and source.name == "COMMANDLINE"
        if given and option not in ("resume", "hours"):
            flag = {"name": "a second name", "settings": "--set"}.get(option, f"--{option}")
            raise KeepsakeError(
                f"{flag} does not go with --resume: a simulation stays what it was made as",
                "Leave it out, or make another simulation; only --hours can be changed",
            )


def places_of(lab: str) -> Places:
    """The places of the simulation of that name; those of the world where none is named.

    Raises:
        KeepsakeError: There is no such simulation.
    """
    if not lab:
        return places()
    from keepsake.lab.simulations.plan import lab_of  # noqa: PLC0415 - other commands need not wait

    found = lab_of(places(), lab)
    found.plan()  # says which there are, if there is none of that name
    return found.places()


def _shown(lab: Lab) -> bool:
    """Run a simulation and show how it goes.

    The first Ctrl-C ends it at its next moment, the second one at once.

    Returns:
        Whether it has come to its end, and a model has answered on the way.

    Raises:
        KeepsakeError: It could not go on.
    """
    from keepsake.lab.simulations.simulate import Run  # noqa: PLC0415 - other commands need not wait

    plan, began, first, before = lab.plan(), time.monotonic(), lab.lived(), lab.counts()
    said, seconds, counts = 0.0, first, Counter[str]()

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(running.pid, signal.SIGTERM)
        out.print("It ends as soon as nobody is at work. Ctrl-C again ends it at once.")

    usual = signal.getsignal(signal.SIGINT)
    try:
        with Run(lab) as running:
            signal.signal(signal.SIGINT, interrupt)
            for report in running.reports():
                if report.op in _SAYS:
                    out.print(f"{plan.name}: {_SAYS[report.op]}", markup=False)
                    continue
                seconds, counts = report.seconds, report.counts
                if time.monotonic() - said >= LINE_SECONDS:
                    said, all_of = time.monotonic(), before + counts
                    done = f"{100 * seconds / plan.seconds:.0f}%  {_clock(plan, seconds)}"
                    told = f"{all_of['thoughts']:,} thoughts  {all_of['tokens']:,} tokens"
                    out.print(f"{plan.name}: {done}  {told}", markup=False)
    except KeyboardInterrupt:
        out.print("Broken off at once.")
    finally:
        signal.signal(signal.SIGINT, usual)
    _show_figures(lab, before + counts, time.monotonic() - began)
    unanswered = bool(counts["unanswered"]) and not counts["thoughts"]
    if unanswered:
        found = last(lab.places().events, 1, lambda record: record.get("outcome") == "no answer")
        why = next((each.get("problem") for each in found), "") or "the log does not say"
        out.print(f"No thought was answered: {why}", markup=False)
    return lab.lived() >= plan.seconds and not unanswered


def _show_figures(lab: Lab, counts: Counter[str], took: float) -> None:
    plan, lived = lab.plan(), lab.lived()
    rows = [
        ("lived", f"{lived / _HOUR:.4g} of {plan.hours:g} hours"),
        ("until", _clock(plan, lived)),
        *((what, f"{counts[key]:,}") for key, what in _ROWS.items()),
        ("took", f"{took:.0f} s"),
        ("log", str(lab.places().events)),
        ("look", f"keepsake logs --lab {plan.name} --no-follow"),
        ("tables", f"keepsake export --lab {plan.name} tables-{plan.name}"),
        *([("go on", lab.resume)] if lived < plan.seconds else []),
    ]
    out.print(plain_table(("", ""), rows, show_header=False))


def _clock(plan: SimulationPlan, seconds: float) -> str:
    return f"{plan.moment(seconds) + timedelta(milliseconds=1):%A %d %B %H:%M}"
