"""How much the memories of a life mattered while it was lived: by rules, and by its journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from keepsake.archive.records import Memory
from keepsake.books.journal.book import Journal
from keepsake.books.journal.importance import ImportanceContext, importance
from keepsake.ports import Clock

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
        entry, score = journal.resting_on(number), journal.weight(number)
        if entry is not None and score is not None:
            found[number] = Weighed(entry.time, score)
    return found


class Weighing:
    """Judges memories as the diary of the agent did."""

    def __init__(self, name: str, journal: Mapping[int, Weighed], clock: Clock) -> None:
        self._name, self._journal, self._clock = name, journal, clock
        self._seen: set[str] = set()
        self._scores: dict[int, int] = {}

    def saw(self, memory: Memory) -> None:
        """A memory came in: who is new to the agent is known now, and not later."""
        if memory.repeats > 1:
            return
        new = ImportanceContext(met=not memory.source_id or memory.source_id in self._seen)
        self._scores[memory.number] = importance(memory, self._name, new).score
        self._seen.add(memory.source_id)

    def opened(self) -> None:
        """What it had in RAM alone is gone."""
        self._scores.clear()

    def of(self, memory: Memory) -> int:
        """How much a memory matters now, 1 to 10."""
        written = self._journal.get(memory.number)
        if written is not None and written.time <= self._clock.now():
            return written.score
        known = self._scores.get(memory.number)
        return importance(memory, self._name).score if known is None else known
