"""How all commands print: text, errors, JSON for other programs, tables, progress."""

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
"""No terminal, and no table, is wider."""


def print_json(data: object) -> None:
    """Print it for other programs."""
    print(json.dumps(data, indent=2, ensure_ascii=False))


def print_wide(table: Table) -> None:
    """Print a table as wide as it is: cut off at a narrow terminal's edge, a figure would lie."""
    needed = Measurement.get(out, out.options.update(max_width=_WIDEST), table).maximum
    Console(highlight=False, soft_wrap=True, width=max(out.width, needed)).print(table, crop=False)


def plain_table(
    headings: Iterable[str], rows: Iterable[Iterable[str]] = (), *, right: Collection[str] = ()
) -> Table:
    """A table without lines; cells may have rich's markup; ``right``: headings set so."""
    table = Table(box=None, pad_edge=False, show_header=any(headings))
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def say(step: str) -> None:
    """Print what is being done now."""
    out.print(f"{step} …", markup=False)


@contextmanager
def items_bar(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar of items on standard error; calling it names the item that is done.

    Without a terminal nothing is shown: standard output holds the figures alone.
    """
    columns = (TextColumn("{task.description}", markup=False), BarColumn())
    counts = (MofNCompleteColumn(), TimeElapsedColumn())
    quiet = not err.is_terminal
    with Progress(*columns, *counts, console=err, transient=True, disable=quiet) as bar:
        task = bar.add_task(what, total=total)
        yield lambda name: bar.update(task, advance=1, description=name)
