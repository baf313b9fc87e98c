"""``keepsake simulate``: days without telnet, as fast as the models answer."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, timedelta
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Column, Table

from game.lab.simulations.plan import HOUR, Lab
from game.lab.simulations.simulate import Run, SimulationReport
from keepsake.events.reader import last
from keepsake.language.perception import shorten

LINE_SECONDS = 10.0
"""Real seconds between two lines where no bar can be shown."""
_WIDE = 110
"""Signs that a line with the bar and all figures takes."""
_BAR, _NARROW_BAR, _NARROW_NAME = 40, 10, 16
_SAYS = {"setting up": "loading the world", "making": "building the world"}
_SAYS["going back"] = "going back to the last checkpoint"
_ROWS = {
    "thoughts": "thoughts",
    "tokens": "tokens",
    "memories": "memories",
    "compactions": "compactions",
    "unanswered": "thoughts without an answer",
    "faults": "warnings and errors",
}


def show(out: Console, lab: Lab) -> bool:
    """Run a simulation and show how it goes.

    The first Ctrl-C ends it at its next checkpoint, the second one at once.

    Returns:
        Whether it has come to its end, and somebody has thought on the way.

    Raises:
        KeepsakeError: It could not go on.
    """
    shown = _RunDisplay(out, lab)
    try:
        with Run(lab) as running, shown.bar(), shown.interrupts(running):
            for report in running.reports():
                shown.take(report)
    except KeyboardInterrupt:
        out.print("Broken off at once: what was lived of this hour does not count.")
    shown.end()
    return lab.made and lab.lived() >= lab.plan().seconds and not shown.unanswered


class _RunDisplay:
    """What is on the screen of a run."""

    def __init__(self, out: Console, lab: Lab) -> None:
        self._out, self._lab, self._plan = out, lab, lab.plan()
        self._began, self._said = time.monotonic(), 0.0
        self._first = self._seconds = lab.lived() if lab.made else 0.0
        self._before = lab.counts()  # what had happened before this run
        self._counts: Counter[str] = Counter()
        self._hour: Counter[str] = Counter()
        self._interrupted = False
        self._progress: Progress | None = None
        self._is_narrow = out.is_terminal and out.width < _WIDE
        if out.is_terminal:
            self._progress = Progress(
                TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
                BarColumn(_NARROW_BAR if self._is_narrow else _BAR),
                TaskProgressColumn(table_column=Column(no_wrap=True)),
                TextColumn("{task.fields[told]}", markup=False),
                console=out,
            )
            name = shorten(self._plan.name, _NARROW_NAME) if self._is_narrow else self._plan.name
            self._task = self._progress.add_task(name, total=self._plan.seconds, told="")
            self._progress.update(self._task, completed=self._first)

    def bar(self) -> AbstractContextManager[object]:
        """Shows the bar, where there is a terminal."""
        return self._progress or nullcontext()

    @contextmanager
    def interrupts(self, running: Run) -> Iterator[None]:
        """Ctrl-C ends the run at a checkpoint, a second one at once."""

        def interrupted(_signal: int, _frame: FrameType | None) -> None:
            if self._interrupted:
                raise KeyboardInterrupt
            self._interrupted = True
            running.stop_soon()
            self._out.print(f"{self._when_it_ends()} Ctrl-C again ends it at once.")

        before = signal.signal(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def take(self, report: SimulationReport) -> None:
        """Show how far it is."""
        if report.op in _SAYS:
            self._say(_SAYS[report.op])
            return
        self._seconds = report.seconds
        if report.op == "at":
            self._hour = Counter(report.counts)
        elif report.op == "checkpoint":
            self._counts, self._hour = self._counts + self._hour, Counter()
        self._update()

    def _update(self) -> None:
        if self._progress is not None:
            self._progress.update(self._task, completed=self._seconds, told=self._told())
        elif time.monotonic() - self._said >= LINE_SECONDS:
            self._said = time.monotonic()
            self._out.print(f"{self._plan.name}: {self._told()}", markup=False)

    def _told(self) -> str:
        at, tokens = self._clock(self._seconds), f"{self._whole('tokens'):,} tokens  "
        if self._is_narrow:  # there is no room for a bar beside all that could be told
            at, tokens = f"{self._plan.moment(self._seconds):%a %H:%M}", ""
        return f"{at}  {self._whole('thoughts'):,} thoughts  {tokens}{self._speed():.0f}x"

    def _say(self, line: str) -> None:
        if self._progress is not None:
            self._progress.update(self._task, told=line)
        else:
            self._out.print(f"{self._plan.name}: {line}", markup=False)

    def end(self) -> None:
        """The figures, and how to go on."""
        lived = self._lab.lived() if self._lab.made else 0.0
        self._out.print(self._table(lived))
        name, events = self._plan.name, self._lab.places().events
        self._out.print(f"log      {events}", markup=False)
        self._out.print(f"look     keepsake logs --lab {name} --no-follow", markup=False)
        self._out.print(f"tables   keepsake export --lab {name} tables-{name}", markup=False)
        if lived < self._plan.seconds:
            self._out.print(f"go on    keepsake simulate --resume {name}", markup=False)
        if self.unanswered:
            self._out.print(f"No thought was answered: {_last_problem(self._lab)}", markup=False)

    @property
    def unanswered(self) -> bool:
        """Whether the agents wanted to think, and not one thought of this run was answered."""
        return bool(self._sum("unanswered")) and not self._sum("thoughts")

    def _table(self, lived: float) -> Table:
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_row("lived", f"{lived / HOUR:g} of {self._plan.hours:g} hours")
        table.add_row("until", self._clock(lived))
        for key, what in _ROWS.items():
            table.add_row(what, f"{self._before[key] + self._counts[key]:,}")
        table.add_row("took", f"{time.monotonic() - self._began:.0f} s, {self._speed():.0f}x")
        return table

    def _whole(self, what: str) -> int:
        return self._before[what] + self._sum(what)

    def _sum(self, what: str) -> int:
        """How much of it there was in this run."""
        return self._counts[what] + self._hour[what]

    def _speed(self) -> float:
        """Simulated seconds a real one."""
        return (self._seconds - self._first) / max(time.monotonic() - self._began, 0.1)

    def _when_it_ends(self) -> str:
        next_one = min((self._seconds // HOUR + 1) * HOUR, self._plan.seconds)
        return f"It ends at its next checkpoint, {self._clock(next_one)}."

    def _clock(self, seconds: float) -> str:
        moment: datetime = self._plan.moment(seconds) + timedelta(milliseconds=1)
        return f"{moment:%A %d %B %H:%M}"


def _last_problem(lab: Lab) -> str:
    """Why the newest thought that had no answer had none, as the event log has it."""
    found = last(lab.places().events, 1, lambda record: record.get("outcome") == "no answer")
    return str(next((each.get("problem") for each in found), "") or "nobody knows why")
