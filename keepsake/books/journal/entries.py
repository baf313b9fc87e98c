"""What a journal holds: entries, how much each matters, and where each comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

LEAST, MOST = 1, 10
"""The least and the most that anything can matter."""
GATHERED = "gathered"
"""The tag of the entry that holds what was too much for its day."""


class EntryOrigin(StrEnum):
    """Where an entry comes from."""

    TOLD = "told to me"
    SEEN = "seen"
    INFERRED = "inferred"
    SURROUNDINGS = "surroundings"

    @property
    def trust(self) -> float:
        """How far it is to be believed, 0 to 1."""
        return _TRUST[self]


_TRUST = {
    EntryOrigin.TOLD: 0.9,
    EntryOrigin.SEEN: 0.8,
    EntryOrigin.INFERRED: 0.6,
    EntryOrigin.SURROUNDINGS: 0.3,
}


class Judge(StrEnum):
    """Who said how much something matters."""

    RULES = "rules"
    MODEL = "model"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Importance:
    """How much something matters, and why."""

    score: int  # 1, nothing at all, to 10, the turn of a life
    judge: Judge = Judge.RULES
    reasons: tuple[str, ...] = ()  # why, a few words each: ``a promise``, ``named me``


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One entry of a journal."""

    id: str  # ``20261121-3``: the day and the entry's number on it; never given twice
    time: datetime
    text: str  # one line; what others said names who said it
    importance: Importance
    origin: EntryOrigin
    memories: tuple[int, ...] = ()  # numbers of the memories that it rests on, ascending
    tags: tuple[str, ...] = ()  # words to sort by, lower case: ``promise``, ``tom``, ``insight``
    # keys of the people it is about, as in :attr:`keepsake.archive.records.Memory.source_id`
    who: tuple[str, ...] = ()

    @property
    def trust(self) -> float:
        """How far it is to be believed, 0 to 1."""
        return self.origin.trust

    @property
    def day(self) -> date:
        """The day of the file that it stands in."""
        return date.fromisoformat(self.id[:8])


def is_gathered(entry: JournalEntry) -> bool:
    """Whether it is the line that holds what was too much for its day."""
    return GATHERED in entry.tags
