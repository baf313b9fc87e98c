"""What memories still know of what was planted, after an hour, a day and a week."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from keepsake.lab.trials.evaluating import IN_CONTEXT, IN_REACH
from keepsake.lab.trials.journal import Row
from keepsake.lab.trials.probes import DELAYS
from keepsake.lab.trials.scoring import RIGHT

PLACES = {"prompt alone": IN_CONTEXT, "with recall": IN_REACH, "spoken": RIGHT}
"""Where an answer is looked for, and its column: in what every prompt shows, in what recall found
besides, in what a model says."""
MEMORY = "memory"
"""The column of the memory's name."""
_HOURS = {after.total_seconds() / 3600: delay for delay, after in DELAYS.items()}


@dataclass(frozen=True, slots=True)
class Known:
    """A point of a curve."""

    memory: str
    load: int  # memories a day
    delay: str  # ``hour``, ``day`` or ``week``
    known: int
    n: int


def curve(rows: Iterable[Row], column: str) -> Iterator[Known]:
    """The points of one column, memory by memory, load by load.

    What is to be kept to itself, and what nobody told, is no part of them.
    """
    told = [row for row in rows if row["answerable"] and row.get(column) is not None]
    for memory in dict.fromkeys(str(row.get(MEMORY, "")) for row in told):
        own = [row for row in told if str(row.get(MEMORY, "")) == memory]
        for load in sorted({row["load"] or 0 for row in own}):
            yield from _points(memory, load, own, column)


def _points(memory: str, load: int, rows: Sequence[Row], column: str) -> Iterator[Known]:
    for hours, delay in _HOURS.items():
        here = [row for row in rows if (row["load"] or 0, row["delay_hours"]) == (load, hours)]
        if here:
            yield Known(memory, load, delay, round(sum(row[column] for row in here)), len(here))
