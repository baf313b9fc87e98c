"""Measured numbers, and how they are shown and saved."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number."""

    name: str  # what was measured
    n: int  # at which size: memories, agents, prompts …
    value: float
    unit: str
    reference: str = ""  # what to compare it with, and that value from the same run


def show(figures: Iterable[Figure], console: Console) -> None:
    """Print the figures as one table."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "n", "value", "unit", "reference"):
        table.add_column(heading, justify="right" if heading in ("n", "value") else "left")
    for each in figures:
        table.add_row(each.name, f"{each.n:,}", f"{each.value:.4g}", each.unit, each.reference)
    console.print(table)


def save(figures: Iterable[Figure], path: Path) -> None:
    """Write the figures as a JSON list."""
    path.write_text(json.dumps([asdict(each) for each in figures], indent=1) + "\n")
