"""``keepsake simulate``: days without telnet, as fast as the models answer."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from keepsake.cli.output import out, plain_table
from keepsake.errors import KeepsakeError
from keepsake.paths import Places, places

if TYPE_CHECKING:
    from keepsake.lab.simulations.plan import Lab
    from keepsake.lab.simulations.simulate import Run, SimulationReport

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
        str, typer.Argument(help="What to call it; seed-7 and so on if not given.")
    ] = "",
    *,
    agents: Annotated[int, typer.Option(help="How many agents, 1 to 100.")] = 5,
    hours: Annotated[
        float | None, typer.Option(help="Hours to live through, 24 if not given.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The dice: the same seed, the same life.")] = 7,
    model: Annotated[
        str,
        typer.Option(help="scripted; vault: as llm.md; embedded; ollama:M; openai:M@HOST."),
    ] = "scripted",
    start: Annotated[str, typer.Option(help="Its first moment.")] = "2026-05-04T08:00",
    zone: Annotated[str, typer.Option(help="The time zone of that.")] = "UTC",
    visitors: Annotated[int, typer.Option(help="How many players come and go, 0 to 20.")] = 1,
    strategy: Annotated[str, typer.Option(help="A template of vault/config/compaction.")] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting: idle_interval=60, sleep.awake_hours=12; may be repeated."
        ),
    ] = None,
    memory: Annotated[
        str, typer.Option(help="What its agents remember with: rag, mem0, package:Class …")
    ] = "",
    resume: Annotated[str, typer.Option(help="Go on with the simulation of that name.")] = "",
) -> None:
    """Live through days in a world of its own, as fast as the models answer."""
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
        plan = SimulationPlan(
            *(name, agents, length, seed, start, zone, model, visitors, chosen),
            memory=memory,
        )
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

    shown = _RunDisplay(lab)
    try:
        with Run(lab) as running, _interrupts(running):
            for report in running.reports():
                shown.take(report)
    except KeyboardInterrupt:
        out.print("Broken off at once.")
    shown.end()
    return lab.lived() >= lab.plan().seconds and not shown.unanswered


@contextmanager
def _interrupts(running: Run) -> Iterator[None]:
    interrupted = False

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            raise KeyboardInterrupt
        interrupted = True
        running.stop_soon()
        out.print("It ends as soon as nobody is at work. Ctrl-C again ends it at once.")

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _RunDisplay:
    """What is on the screen of a run: a line now and then, and the figures at its end."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._plan = lab, lab.plan()
        self._began, self._said = time.monotonic(), 0.0
        self._first = self._seconds = lab.lived()
        self._before = lab.counts()  # what had happened before this run
        self._counts: Counter[str] = Counter()

    def take(self, report: SimulationReport) -> None:
        """Show how far it is."""
        if report.op in _SAYS:
            self._say(_SAYS[report.op])
            return
        self._seconds, self._counts = report.seconds, report.counts
        if time.monotonic() - self._said >= LINE_SECONDS:
            self._said = time.monotonic()
            counts = self._before + self._counts
            done = f"{100 * self._seconds / self._plan.seconds:.0f}%  {self._clock(self._seconds)}"
            told = f"{counts['thoughts']:,} thoughts  {counts['tokens']:,} tokens"
            self._say(f"{done}  {told}  {self._speed():.0f}x")

    def _say(self, line: str) -> None:
        out.print(f"{self._plan.name}: {line}", markup=False)

    def end(self) -> None:
        """The figures, and how to go on."""
        lived, counts = self._lab.lived(), self._before + self._counts
        name, resume = self._plan.name, f"keepsake simulate --resume {self._plan.name}"
        rows = [
            ("lived", f"{lived / _HOUR:.4g} of {self._plan.hours:g} hours"),
            ("until", self._clock(lived)),
            *((what, f"{counts[key]:,}") for key, what in _ROWS.items()),
            ("took", f"{time.monotonic() - self._began:.0f} s, {self._speed():.0f}x"),
            ("log", str(self._lab.places().events)),
            ("look", f"keepsake logs --lab {name} --no-follow"),
            ("tables", f"keepsake export --lab {name} tables-{name}"),
            *([("go on", resume)] if lived < self._plan.seconds else []),
        ]
        table = plain_table(("", ""), rows)
        table.show_header = False
        out.print(table)
        if self.unanswered:
            out.print(f"No thought was answered: {_last_problem(self._lab)}", markup=False)

    @property
    def unanswered(self) -> bool:
        """Whether the agents wanted to think, and not one thought of this run was answered."""
        return bool(self._counts["unanswered"]) and not self._counts["thoughts"]

    def _speed(self) -> float:
        """Simulated seconds a real one."""
        return (self._seconds - self._first) / max(time.monotonic() - self._began, 0.1)

    def _clock(self, seconds: float) -> str:
        return f"{self._plan.moment(seconds) + timedelta(milliseconds=1):%A %d %B %H:%M}"


def _last_problem(lab: Lab) -> str:
    """Why the newest thought without an answer had none, as the event log has it."""
    from keepsake.events.reader import last  # noqa: PLC0415 - other commands need not wait

    found = last(lab.places().events, 1, lambda record: record.get("outcome") == "no answer")
    return str(next((each.get("problem") for each in found), "") or "the log does not say")
