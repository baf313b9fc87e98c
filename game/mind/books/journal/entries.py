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
    """How much something matters, and why.

    Attributes:
        score: 1, nothing at all, to 10, the turn of a life.
        reasons: Why, a few words each: ``a promise``, ``named me``.
    """

    score: int
    judge: Judge = Judge.RULES
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One entry of a journal.

    Attributes:
        id: ``20261121-3``: the day and the entry's number on it; never given twice.
        text: One line; what others said names who said it.
        memories: Numbers of the memories that it rests on, ascending.
        tags: Words to sort by, lower case: ``promise``, ``tom``, ``insight``.
        who: Keys of the people it is about, as in
            :attr:`game.mind.archive.records.Memory.source_id`.
    """

    id: str
    time: datetime
    text: str
    importance: Importance
    origin: EntryOrigin
    memories: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
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
