"""``keepsake replay``: an archived life, lived once more at other settings, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from game.cli.lab import ReplayOptions
from game.lab.cells import Cell, axes, cells, different
from game.lab.chart import chart, check_form
from game.lab.exam import set_exam
from game.lab.figures import as_csv, as_figures, as_table
from game.lab.grid import Failed, Result, Task, run
from game.lab.lived import Life, find_agent, read_life
from game.lab.overhead import overhead_of
from game.lab.replay import EVERY, Circumstances
from game.lab.writers import NONE
from game.mind.errors import KeepsakeError
from game.mind.recall.config import RecallConfig, load_recall_config
from game.paths import Places

_TABLE_WIDTH = 110
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Report:
    """A replay that is done.

    Attributes:
        life: What was lived through.
        results: Of each configuration, the present one first.
        beside: What was taken for the rest of each prompt, in words.
        writer: Who wrote the summaries, in words.
    """

    life: Life
    results: Sequence[Result]
    beside: str
    writer: str

    @property
    def title(self) -> str:
        """``Mira: 812 memories and 320 thoughts, 1 May to 3 May 2026``."""
        life = self.life
        first, last = life.steps[0].time, life.steps[-1].time
        thoughts = f"{life.acts:,} thoughts" if life.acts else f"a thought every {EVERY} of them"
        days = f"{first:%d %b %Y %H:%M} to {last:%d %b %Y %H:%M}"
        return f"{life.name}: {life.memories:,} memories, {thoughts}, {days}"


def replay(here: Places, options: ReplayOptions) -> bool:
    """Live through a grid and show what came of it.

    Returns:
        Whether at least one configuration came to an end.

    Raises:
        KeepsakeError: There is no such agent or life, an option cannot be used, the model does
            not answer, or a file cannot be written.
    """
    grid = _grid(options)
    folder, name = find_agent(here.agents, options.agent)
    life = read_life(folder, name)
    tokens, told = _beside(here, name, options.overhead)
    exam = set_exam(life, options.questions)
    task = Task(here, life, exam, options.model, Circumstances(tokens, _recall(here)))
    chosen = list(different(grid, here.config))
    with _bar(name, len(chosen)) as done:
        results = run(task, chosen, options.jobs or os.cpu_count() or 1, done)
    report = Report(life, results, told, _writer(options.model))
    _show(report, len(grid) - len(chosen), as_json=options.as_json)
    if options.csv is not None:
        _write(options.csv, as_csv(results))
    if options.chart is not None and _any(results):
        chart(results, report.title, options.chart)
    return _any(results)


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


def _any(results: Sequence[Result]) -> bool:
    return not all(isinstance(each, Failed) for each in results)


def _recall(here: Places) -> RecallConfig:
    path = here.config / "recall.md"
    return load_recall_config(path) if path.exists() else RecallConfig()


def _beside(here: Places, name: str, asked: int | None) -> tuple[int, str]:
    """Tokens of a prompt that are no memory, and where that is from."""
    if asked is not None:
        tokens, source = asked, "as asked"
    else:
        found = overhead_of(here.events, name)
        tokens, source = found.tokens, "assumed: no log tells"
        if found.thoughts:
            source = f"the median of {found.thoughts} thoughts in the event log"
    return tokens, f"{tokens:,} tokens of each prompt are no memory ({source})"


def _writer(model: str) -> str:
    if model == NONE:
        return "summaries by rules, at the price of a model that reads and writes as much"
    return f"summaries by the profile {model}"


def _show(report: Report, same: int, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([dict(as_figures(each)) for each in report.results], indent=2))
        return
    out.print(report.title, markup=False)
    out.print(f"  {report.beside}; {report.writer}", markup=False)
    if report.life.unreadable:
        out.print(f"  {report.life.unreadable} lines of the archive cannot be read")
    if same:
        out.print(f"  {same} of the grid come to the same as another and are left out")
    # Cut off at a narrow terminal's edge, a figure would look like another one.
    out.print(as_table(report.results), width=max(out.width, _TABLE_WIDTH), crop=False)
    for each in report.results:
        if isinstance(each, Failed):
            err.print(f"[red]✗[/red] {escape(each.cell.name)}: {escape(each.problem)}")
        elif each.failures:
            told = f"{each.failures} compactions failed, the last: {each.last_failure}"
            err.print(f"[yellow]![/yellow] {escape(each.cell.name)}: {escape(told)}")


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
