"""How all commands print: text, errors, JSON for other programs, and plain tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(data: object) -> None:
    """Print it for other programs."""
    print(json.dumps(data, indent=2, ensure_ascii=False))


_WIDEST = 10_000
"""No terminal, and no table, is wider."""


def print_wide(table: Table) -> None:
    """Print a table as wide as it is: cut off at a narrow terminal's edge, a figure would lie."""
    needed = Measurement.get(out, out.options.update(max_width=_WIDEST), table).maximum
    Console(highlight=False, soft_wrap=True, width=max(out.width, needed)).print(table, crop=False)


def plain_table(
    headings: Iterable[str],
    rows: Iterable[Iterable[str]] = (),
    *,
    right: Collection[str] = (),
    no_wrap: bool = False,
    **style: Any,
) -> Table:
    """A table without lines; cells may have rich's markup; ``right``: headings set so."""
    table = Table(box=None, pad_edge=False, **style)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", no_wrap=no_wrap)
    for row in rows:
        table.add_row(*row)
    return table
