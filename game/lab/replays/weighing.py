"""How much the memories of a life matter, as its journal says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from keepsake.books.journal.book import Journal

FOLDER = "journal"
"""Where the journal is in an agent's folder."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the journal says of a memory."""

    time: datetime  # since when
    score: int  # how much it matters, 1 to 10


def weighed(folder: Path) -> Mapping[int, Weighed]:
    """What an agent's journal says of its memories, by their numbers; only reads, and blocks."""
    journal = Journal(folder / FOLDER)
    found = {}
    for number in {number for entry in journal.entries() for number in entry.memories}:
        if (entry := journal.resting_on(number)) is not None:
            found[number] = Weighed(entry.time, entry.importance.score)
    return found
