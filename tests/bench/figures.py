"""What a measurement is, and how it is shown and kept."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number.

    Attributes:
        name: What was measured.
        n: At which size: memories, agents, prompts …
        value: The number.
        unit: Its unit.
        reference: What it is to be held against, with its number from the same run.
    """

    name: str
    n: int
    value: float
    unit: str
    reference: str = ""


def median_ms(work: Callable[[], object], *, rounds: int, each: int = 1) -> float:
    """Median over ``rounds`` of the milliseconds that one of ``each`` calls takes."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(each):
            work()
        times.append((time.perf_counter() - began) / each * 1000)
    return statistics.median(times)


def percentile(values: list[float], share: float) -> float:
    """The value below which ``share`` (0 to 1) of ``values`` lie."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


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
