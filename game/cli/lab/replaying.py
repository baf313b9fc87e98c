"""``keepsake replay``: an archived life, lived once more at other settings, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from game.cli.lab.options import ReplayOptions
from game.cli.output import err, out
from game.lab.replays.cells import Cell, axes, cells, lived_for, settings_of
from game.lab.replays.chart import chart, check_form
from game.lab.replays.course import EVERY, LifeCourse, course
from game.lab.replays.event_history import Log, read_log
from game.lab.replays.exam import set_exam
from game.lab.replays.figures import LIVED, Figures, LifeFigures, all_figures, as_csv, lived
from game.lab.replays.grid import Failed, Result, Task, run
from game.lab.replays.lived import ArchivedLife, find_agent, read_life
from game.lab.replays.replay import LifeSetup
from game.lab.replays.tables import as_table
from game.lab.replays.writers import NONE, writer
from game.llm.profiles import EXTRACTIVE
from game.mind.errors import KeepsakeError
from game.mind.recall.config import RecallConfig, load_recall_config
from game.paths import Places

_WIDEST = 10_000
"""No terminal, and no table, is wider."""


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of a life.

    Attributes:
        life: As its archive has it.
        log: As the event log has it.
        course: Its order, of both.
    """

    life: ArchivedLife
    log: Log
    course: LifeCourse

    @property
    def lived(self) -> LifeFigures | None:
        """What it came to; None where the log does not tell of all of it."""
        return lived(self.log, self.life.memories) if self.course.whole else None

    @property
    def title(self) -> str:
        """``Mira: 812 memories, 320 thoughts, 1 May 2026 09:00 to 3 May 2026 21:30``."""
        life = self.life
        first, last = life.steps[0].time, life.steps[-1].time
        days = f"{first:%d %b %Y %H:%M} to {last:%d %b %Y %H:%M}"
        return f"{life.name}: {life.memories:,} memories, {self._thoughts}, {days}"

    @property
    def _thoughts(self) -> str:
        if self.life.acts or self.log.prompts:
            return f"{self.course.thoughts:,} thoughts"
        return f"a thought every {EVERY} of them"


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """A replay that is done.

    Attributes:
        past: What was lived through.
        results: Of each configuration, the present one first; what comes to the same as another
            has its figures.
        same: The names of those, with the names of the others.
        given: What was the same for all.
        model: Who wrote the summaries; :data:`game.lab.replays.writers.NONE` for rules.
    """

    past: Past
    results: Sequence[Result]
    same: Mapping[str, str]
    given: LifeSetup
    model: str

    @property
    def figures(self) -> list[Figures]:
        """All figures, a line a configuration."""
        return all_figures(self.results, self.same, self.past.lived)


def replay(here: Places, options: ReplayOptions) -> bool:
    """Live through a grid and show what came of it.

    Returns:
        Whether at least one configuration that was asked for came to an end.

    Raises:
        KeepsakeError: There is no such agent or life, an option cannot be used, the model does
            not answer, or a file cannot be written.
    """
    grid = _grid(options)
    unusable = _unusable(grid, here)
    writer(here, options.model).close()
    folder, name = find_agent(here.agents, options.agent)
    past = _past(here, folder, name)
    given = _given(here, past.log, options.overhead)
    exam = set_exam(past.life, options.questions)
    task = Task(here, past.life, exam, options.model, given)
    lived_as = lived_for(grid, here.config)
    wanted = [cell for cell in grid if lived_as[cell] is cell and cell not in unusable]
    with _bar(name, len(wanted)) as done:
        found = run(task, wanted, options.jobs or os.cpu_count() or 1, done)
    by_cell: dict[Cell, Result] = {each.cell: each for each in found} | unusable
    results = [replace(by_cell[lived_as[cell]], cell=cell) for cell in grid]
    same = {cell.name: lived_as[cell].name for cell in grid if lived_as[cell] is not cell}
    report = ReplayReport(past, results, same, given, options.model)
    _show(report, unusable, as_json=options.as_json)
    _write_files(report, found, options)
    return _any(results[1:] or results)


def _grid(options: ReplayOptions) -> list[Cell]:
    """The grid; what is wrong with the options is said before hours are spent on it."""
    for path in (options.chart, options.csv):
        if path is not None and not path.absolute().parent.is_dir():
            raise KeepsakeError(f"There is no folder {path.parent}", "Make it, or name another")
    if options.chart is not None:
        check_form(options.chart)
    return cells(
        axes(
            strategies=options.strategies,
            windows=options.windows,
            high=options.high,
            low=options.low,
            settings=options.settings,
        )
    )


def _unusable(grid: Sequence[Cell], here: Places) -> dict[Cell, Result]:
    """The configurations that cannot be; said before anything is lived."""
    found: dict[Cell, Result] = {}
    errors: list[KeepsakeError] = []
    for cell in grid:
        try:
            settings_of(cell, here.config)
        except KeepsakeError as error:
            found[cell] = Failed(cell, str(error))
            errors.append(error)
    asked = grid[1:] or grid
    if all(cell in found for cell in asked):
        first = errors[-len(asked)]
        few = f"None of the {len(asked)} configurations" if len(asked) > 1 else "This configuration"
        raise KeepsakeError(f"{few} cannot be lived: {asked[0].name}: {first.what}", first.cure)
    for failed in found.values():
        if isinstance(failed, Failed):
            _complain(failed)
    return found


def _complain(failed: Failed) -> None:
    err.print(f"[red]✗[/red] {escape(failed.cell.name)}: {escape(failed.problem)}")


def _any(results: Sequence[Result]) -> bool:
    return not all(isinstance(each, Failed) for each in results)


def _past(here: Places, folder: Path, name: str) -> Past:
    life, log = read_life(folder, name), read_log(here.events, name)
    return Past(life, log, course(life, log))


def _given(here: Places, log: Log, overhead: int | None) -> LifeSetup:
    path = here.config / "recall.md"
    recall = load_recall_config(path) if path.exists() else RecallConfig()
    if overhead is not None:
        return LifeSetup(overhead, fixed=True, log=log, recall=recall)
    return LifeSetup(log.overhead, log=log, recall=recall)


# -- what is said


def _notes(report: ReplayReport) -> Iterator[str]:
    """What has to be known to read the figures."""
    past = report.past
    yield f"{_beside(past, report.given)}; {_writer(report.model)}"
    if past.life.unreadable:
        yield f"{past.life.unreadable} lines of the archive cannot be read"
    if not past.course.whole:
        yield (
            f"the event log does not tell of {past.course.untold:,} of {len(past.life.steps):,} "
            f"steps of this life, so there is no {LIVED!r}"
        )
    elif others := _written_otherwise(past.log, report.model):
        yield f"{LIVED!r} is with summaries by {others}, so 'as it is' may differ from it"
    if not past.log.estimated:
        yield f"tokens of the log are by {', '.join(sorted(past.log.counters))}, all else estimated"
    for cell, other in report.same.items():
        yield f"{cell!r} comes to the same as {other!r}"


def _beside(past: Past, given: LifeSetup) -> str:
    """Tokens of a prompt that are no memory, and where that is from."""
    prompts = len(past.log.prompts)
    if given.fixed:
        return f"{given.overhead:,} tokens of each prompt are no memory (as asked)"
    if not prompts:
        return f"{given.overhead:,} tokens of each prompt are no memory (assumed: no log tells)"
    told = f"beside the memory each prompt has what it had ({given.overhead:,} tokens by the median"
    if prompts < past.course.thoughts:
        return f"{told} of the {prompts:,} in the event log, which is taken for the others)"
    return f"{told})"


def _writer(model: str) -> str:
    if model == NONE:
        return "summaries by rules, at the price of a model that reads and writes as much"
    return f"summaries by the profile {model}"


def _written_otherwise(log: Log, model: str) -> str:
    """Who wrote the summaries of the life, if that was somebody else than here."""
    by_rules = {EXTRACTIVE} if model == NONE else set()
    return ", ".join(sorted({each.model for each in log.made if each.model} - by_rules))


def _show(report: ReplayReport, unusable: Mapping[Cell, Result], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([dict(each) for each in report.figures], indent=2))
        return
    out.print(report.past.title, markup=False)
    for note in _notes(report):
        out.print(f"  {note}", markup=False)
    table = as_table(report.results, report.past.lived)
    # Cut off at a narrow terminal's edge, a figure would look like another one: as wide as it is.
    needed = Measurement.get(out, out.options.update(max_width=_WIDEST), table).maximum
    Console(highlight=False, soft_wrap=True, width=max(out.width, needed)).print(table, crop=False)
    for each in report.results:
        if isinstance(each, Failed):
            if each.cell not in unusable:  # of those it was said before
                _complain(each)
        elif each.failures:
            told = f"{each.failures} compactions failed, the last: {each.last_failure}"
            err.print(f"[yellow]![/yellow] {escape(each.cell.name)}: {escape(told)}")


def _write_files(report: ReplayReport, found: Sequence[Result], options: ReplayOptions) -> None:
    """Write what was asked for; one that cannot be written does not keep the other back."""
    problems: list[KeepsakeError] = []
    if options.csv is not None:
        try:
            _write(options.csv, as_csv(report.figures))
        except KeepsakeError as error:
            problems.append(error)
    if options.chart is not None and _any(found):
        try:
            chart(found, report.past.title, options.chart)
        except KeepsakeError as error:
            problems.append(error)
    if problems:
        raise KeepsakeError("; ".join(each.what for each in problems), problems[0].cure)


@contextmanager
def _bar(name: str, total: int) -> Iterator[Callable[[Result], None]]:
    """A bar on standard error, so that standard output holds the figures alone."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, TimeElapsedColumn(), console=err, transient=True) as bars:
        task = bars.add_task(f"Living {escape(name)}'s life", total=total)
        yield lambda _: bars.advance(task)


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise KeepsakeError(
            f"{path} could not be written ({error.strerror or error})",
            "Look at the disk space and at who may write there",
        ) from error
