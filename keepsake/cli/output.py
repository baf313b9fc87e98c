"""Output shared by all commands: text, errors, JSON for other programs, tables, progress."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)
_WIDEST = 10_000
"""Columns; an upper limit for measuring the width of a table."""


def print_json(data: object) -> None:
    """Print data as JSON for other programs."""
    print(json.dumps(data, indent=2, ensure_ascii=False))


def print_wide(table: Table) -> None:
    """Print a table in full width: a number cut off by a narrow terminal would be wrong."""
    needed = Measurement.get(out, out.options.update(max_width=_WIDEST), table).maximum
    Console(highlight=False, soft_wrap=True, width=max(out.width, needed)).print(table, crop=False)


def plain_table(
    headings: Iterable[str], rows: Iterable[Iterable[str]] = (), *, right: Collection[str] = ()
) -> Table:
    """Return a table without lines; cells may have markup. ``right``: right-aligned headings."""
    table = Table(box=None, pad_edge=False, show_header=any(headings))
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def say(step: str) -> None:
    """Print the current step."""
    out.print(f"{step} …", markup=False)


@contextmanager
def items_bar(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on standard error; call the yielded function with each finished item.

    Without a terminal nothing is shown. Standard output is reserved for results.
    """
    columns = (TextColumn("{task.description}", markup=False), BarColumn())
    counts = (MofNCompleteColumn(), TimeElapsedColumn())
    quiet = not err.is_terminal
    with Progress(*columns, *counts, console=err, transient=True, disable=quiet) as bar:
        task = bar.add_task(what, total=total)
        yield lambda name: bar.update(task, advance=1, description=name)
