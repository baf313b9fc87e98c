"""``keepsake sweep``: memories, settings and seeds through the same lives, and their report."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.markup import escape

from game.cli.output import err, out, plain_table, print_wide
from game.cli.progress import items_bar
from keepsake.lab.sweeps.comparing import HOURS, SourceResults, compared, over_time
from keepsake.lab.sweeps.plan import read_plan
from keepsake.lab.sweeps.record import CellRecord
from keepsake.lab.sweeps.report import write_report
from keepsake.lab.sweeps.sweep import Runner, sweep
from keepsake.lab.sweeps.tables import write_parquet
from keepsake.lab.trials.measures import COSTS, MEASURES, figure
from keepsake.memory import protocol
from keepsake.paths import Places

TABLE, REPORT = "results.parquet", "report.html"


def swept(here: Places, plan_file: Path, folder: Path | None, runner: Runner) -> bool:
    """Run a plan and write table and report; whether all cells came to an end.

    Raises:
        KeepsakeError: The plan cannot be used, a memory of it cannot be loaded, or a file cannot be
            written.
    """
    plan = read_plan(plan_file)
    for memory in dict.fromkeys(cell.memory for cell in plan.cells):
        protocol.maker(memory)  # said before anything is lived
    folder = folder or plan_file.with_suffix("")
    with _bar(plan.name, len(plan.cells)) as done:
        records = sweep(here, plan, folder, runner, done)
    write_parquet(records, folder / TABLE)
    write_report(plan, records, _command(plan_file, folder, runner), folder / REPORT)
    for found in compared(records):
        _show(found)
    for name in (TABLE, REPORT):
        out.print(f"{folder / name}", markup=False)
    return not any(record.problem for record in records)


def _show(found: SourceResults) -> None:
    shown, names = found.headlines or found.measures, {**MEASURES, **COSTS}
    headings = ("memory", "n", *(names[name] for name in shown))
    table = plain_table(headings, right=headings[1:], no_wrap=True, title_justify="left")
    for arm in found.arms:
        every = arm.kinds[-1]
        cells = (figure(every.estimates.get(name), name) for name in shown)
        table.add_row(escape(arm.name), str(every.questions), *cells)
    out.print(f"[bold]{escape(found.name)}[/bold]")
    print_wide(table)
    for measure in found.timed:
        show_over_time(found, measure)
    pairs = [pair for pair in found.pairs if pair.hours is None]
    sure = sum(pair.significant for pair in pairs)
    differ = f"{sure} of {len(pairs)} pairs differ (p < 0.05, Holm)\n"
    out.print(differ if pairs else "", markup=False)


def show_over_time(found: SourceResults, measure: str) -> None:
    """Per cent known, a row an arm and load, by the time since it was told."""
    times = [f"after {name}" for name in HOURS.values()]
    headings = (f"{MEASURES[measure]}", "a day", *times)
    table = plain_table(headings, right=headings[1:], no_wrap=True)
    for load in found.loads:
        for arm in found.arms:
            by_hours = over_time(arm, load, measure)
            cells = (figure(by_hours.get(hours), measure) for hours in HOURS)
            table.add_row(escape(arm.name), f"{load:g}", *cells)
    print_wide(table)
    out.print()


def _command(plan: Path, folder: Path, runner: Runner) -> str:
    words: Sequence[str] = [
        *(".venv/bin/keepsake", "sweep", str(plan), "--out", str(folder)),
        *(("--jobs", str(runner.jobs)) if runner.jobs else ()),
        *(("--ray",) if runner.ray else ()),
        *(("--address", runner.address) if runner.address else ()),
    ]
    return shlex.join(words)


@contextmanager
def _bar(name: str, total: int) -> Iterator[Callable[[CellRecord, bool], None]]:
    """A bar on standard error; a failed cell is told of at once."""
    before = 0
    with items_bar(name, total) as bar:

        def done(record: CellRecord, earlier: bool) -> None:
            nonlocal before
            before += earlier
            bar(name, 1)
            if record.problem:
                told = f"[red]✗[/red] {record.name}, {record.source}, seed {record.cell['seed']}"
                err.print(f"{told}: {escape(record.problem)}")

        yield done
    if before:
        err.print(f"{before} of {total} cells were done before")
