"""``keepsake replay``: an archived life, lived once more at other settings, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.markup import escape

from game.cli.output import err, out, print_wide
from game.cli.progress import items_bar
from game.lab.replays.cells import Cell, lived_for
from game.lab.replays.chart import chart, check_form
from game.lab.replays.course import EVERY, LifeCourse, course
from game.lab.replays.event_history import Log, read_log
from game.lab.replays.figures import (
    LIVED,
    Failed,
    Figures,
    Result,
    all_figures,
    as_csv,
    as_table,
    lived,
)
from game.lab.replays.grid import ReplayTask, run
from game.lab.replays.lived import ArchivedLife, find_agent, read_life
from game.lab.replays.replay import LifeSetup
from game.lab.replays.writers import NONE, writer
from keepsake.errors import KeepsakeError
from keepsake.models.profiles import EXTRACTIVE
from keepsake.paths import Places
from keepsake.recall.config import RecallConfig


@dataclass(frozen=True, slots=True)
class Output:
    """Where a replay's figures go."""

    chart: Path | None = None
    csv: Path | None = None
    as_json: bool = False  # printed, in place of a table

    def check(self) -> None:
        """Say what is wrong with the files before hours are spent on them."""
        for path in (self.chart, self.csv):
            if path is not None and not path.absolute().parent.is_dir():
                raise KeepsakeError(f"There is no folder {path.parent}", "Make it, or name another")
        if self.chart is not None:
            check_form(self.chart)


def replay(
    here: Places,
    agent: str,
    grid: Sequence[Cell],
    output: Output,
    *,
    model: str,
    overhead: int | None,
    jobs: int | None,
    probed: bool,
) -> bool:
    """Live through a grid, the present configuration first, and show what came of it.

    Without ``overhead`` it is what the log says, without ``jobs`` one process a core.

    Returns:
        Whether at least one configuration that was asked for came to an end.

    Raises:
        KeepsakeError: There is no such agent or life, nothing can be lived, the model does not
            answer, or a file cannot be written.
    """
    output.check()
    lived_as, problems = lived_for(grid, here.config)
    _complain_of(problems, grid[1:] or grid)
    writer(here, model).close()
    folder, name = find_agent(here.agents, agent)
    life, log = read_life(folder, name), read_log(here.events, name)
    given = replace(_given(here, log, overhead), probed=probed)
    task = ReplayTask(here, life, model, given)
    wanted = [cell for cell in grid if lived_as[cell] is cell and cell not in problems]
    with items_bar(shown := f"Living {name}'s life", len(wanted)) as done:
        found = run(task, wanted, jobs or os.cpu_count() or 1, lambda _: done(shown, 1))
    by_cell: dict[Cell, Result] = {each.cell: each for each in found}
    by_cell |= {cell: Failed(cell, str(problem)) for cell, problem in problems.items()}
    results = [replace(by_cell[lived_as[cell]], cell=cell) for cell in grid]
    same = {cell.name: lived_as[cell].name for cell in grid if lived_as[cell] is not cell}
    order = course(life, log)
    told = lived(log, life.memories) if order.whole else None
    figures, title = all_figures(results, same, told), _title(life, log, order)
    if output.as_json:
        print(json.dumps([dict(each) for each in figures], indent=2))
    else:
        notes = (*_notes(life, log, order, given, model), *_twins(same))
        _show(title, notes, figures, [each for each in results if each.cell not in problems])
    _write_files(figures, title, output)
    return not all(isinstance(each, Failed) for each in results[1:] or results)


def _complain_of(problems: Mapping[Cell, KeepsakeError], asked: Sequence[Cell]) -> None:
    """Say which configurations cannot be, before anything is lived; refuse if none can."""
    if all(cell in problems for cell in asked):
        first = problems[asked[0]]
        few = f"None of the {len(asked)} configurations" if len(asked) > 1 else "This configuration"
        raise KeepsakeError(f"{few} cannot be lived: {asked[0].name}: {first.what}", first.cure)
    for cell, problem in problems.items():
        _complain(cell, str(problem))


def _complain(cell: Cell, problem: str, mark: str = "[red]✗[/red]") -> None:
    err.print(f"{mark} {escape(cell.name)}: {escape(problem)}")


def _given(here: Places, log: Log, overhead: int | None) -> LifeSetup:
    path = here.config / "recall.md"
    recall = RecallConfig.load(path) if path.exists() else RecallConfig()
    beside = log.overhead if overhead is None else overhead
    return LifeSetup(beside, fixed=overhead is not None, log=log, recall=recall, config=here.config)


# -- what is said


def _title(life: ArchivedLife, log: Log, order: LifeCourse) -> str:
    """``Mira: 812 memories, 320 thoughts, 1 May 2026 09:00 to 3 May 2026 21:30``."""
    first, last = life.steps[0].time, life.steps[-1].time
    days = f"{first:%d %b %Y %H:%M} to {last:%d %b %Y %H:%M}"
    thoughts = f"a thought every {EVERY} of them"
    if life.acts or log.prompts:
        thoughts = f"{order.thoughts:,} thoughts"
    return f"{life.name}: {life.memories:,} memories, {thoughts}, {days}"


def _notes(
    life: ArchivedLife, log: Log, order: LifeCourse, given: LifeSetup, model: str
) -> Iterator[str]:
    """What has to be known to read the figures."""
    by = f"summaries by the profile {model}"
    if model == NONE:
        by = "summaries by rules, at the price of a model that reads and writes as much"
    yield f"{_beside(log, order, given)}; {by}"
    if life.unreadable:
        yield f"{life.unreadable} lines of the archive cannot be read"
    by_rules = {EXTRACTIVE} if model == NONE else set()
    others = sorted({str(each["model"]) for each in log.made if each["model"]} - by_rules)
    if not order.whole:
        yield (
            f"the event log does not tell of {order.untold:,} of {len(life.steps):,} "
            f"steps of this life, so there is no {LIVED!r}"
        )
    elif others:
        who = ", ".join(others)
        yield f"{LIVED!r} is with summaries by {who}, so 'as it is' may differ from it"
    if not log.estimated:
        yield f"tokens of the log are by {', '.join(sorted(log.counters))}, all else estimated"


def _twins(same: Mapping[str, str]) -> Iterator[str]:
    for cell, other in same.items():
        yield f"{cell!r} comes to the same as {other!r}"


def _beside(log: Log, order: LifeCourse, given: LifeSetup) -> str:
    """Tokens of a prompt that are no memory, and where that is from."""
    prompts = len(log.prompts)
    if given.fixed or not prompts:
        why = "as asked" if given.fixed else "assumed: no log tells"
        return f"{given.overhead:,} tokens of each prompt are no memory ({why})"
    told = f"beside the memory each prompt has what it had ({given.overhead:,} tokens by the median"
    if prompts < order.thoughts:
        return f"{told} of the {prompts:,} in the event log, which is taken for the others)"
    return f"{told})"


def _show(
    title: str, notes: Sequence[str], figures: Sequence[Figures], results: Sequence[Result]
) -> None:
    """The figures, and what went wrong that was not said before."""
    out.print(title, *(f"  {note}" for note in notes), sep="\n", markup=False)
    print_wide(as_table(figures))
    for each in results:
        if isinstance(each, Failed):
            _complain(each.cell, each.problem)
        elif each.failures:
            told = f"{each.failures} compactions failed, the last: {each.last_failure}"
            _complain(each.cell, told, "[yellow]![/yellow]")


def _write_files(figures: Sequence[Figures], title: str, output: Output) -> None:
    """Write what was asked for; one that cannot be written does not keep the other back."""
    problems: list[str] = []
    if output.csv is not None:
        text = as_csv(figures)
        _write(output.csv, lambda part: part.write_text(text, "utf-8", newline=""), problems)
    lived_anew = (each for each in figures if each["name"] != LIVED and not each["same_as"])
    if output.chart is not None and not all(each["problem"] for each in lived_anew):
        _write(output.chart, lambda part: chart(figures, title, part), problems)
    if problems:
        raise KeepsakeError(
            "; ".join(problems), "Look at the disk space and at who may write there"
        )


def _write(path: Path, write: Callable[[Path], object], problems: list[str]) -> None:
    part = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        write(part)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        problems.append(f"{path} could not be written ({error.strerror or error})")
