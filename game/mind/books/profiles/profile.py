"""What an agent knows of one person, place or thing: what it observed apart from what it thinks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from game.mind.books.journal.entries import EntryOrigin

MEETING = timedelta(hours=1)
"""Two meetings lie at least so far apart."""
PLACE, THING = "place:", "thing:"
"""How the keys of places and things begin."""


class ProfileKind(StrEnum):
    """What a profile is of."""

    PERSON = "person"
    PLACE = "place"
    THING = "thing"


class Closeness(StrEnum):
    """How well an agent knows somebody."""

    STRANGER = "stranger"
    ACQUAINTANCE = "acquaintance"
    FRIEND = "friend"
    CLOSE_FRIEND = "close friend"


@dataclass(frozen=True, slots=True)
class Observation:
    """Something seen or heard, as it was.

    Attributes:
        text: One line; what was said names who said it.
        weight: How much it matters, 1 to 10, as it was judged when it happened.
    """

    number: int
    time: datetime
    text: str
    weight: int = 3


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that holds, or once held, of whom the profile is about.

    Attributes:
        attribute: What it is about, lower case: ``work``, ``home``, ``brother``.
        value: What it is: ``baker``, ``the house by the ford``.
        until: When another value took its place, or it was taken back; None if it holds.
        told_by: Name of who said so; empty for what the agent saw itself.
    """

    attribute: str
    value: str
    since: datetime
    until: datetime | None = None
    numbers: tuple[int, ...] = ()
    told_by: str = ""
    origin: EntryOrigin = EntryOrigin.TOLD

    @property
    def holds(self) -> bool:
        """Whether it is the present one."""
        return self.until is None


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the agent made of its observations.

    Attributes:
        numbers: The memories that it rests on, ascending; empty only where a person wrote it
            into the file.
    """

    text: str
    numbers: tuple[int, ...]
    time: datetime


@dataclass(frozen=True, slots=True)
class Name:
    """What somebody was called, and since when."""

    name: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Company:
    """Somebody whom the agent has met at a place, counted.

    Attributes:
        meetings: How many times they met there; two with an hour or more between them are two.
        numbers: A memory of each meeting, ascending: of the first and of the newest.
    """

    key: str
    meetings: int
    days: int
    last: datetime
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """All that an agent knows of one person, place or thing.

    Attributes:
        key: Who it is, whatever they are called: see ``game.agent.surroundings``.
        names: What they were called, the present name last; never empty.
        before: When the meeting before this one ended, with time zone; None at the first.
        meetings: How many times; two with an hour or more between them are two.
        exchanges: How often one of them said something to the other.
        warmth: What the agent feels, -1 (hatred) to 1 (love).
        warmed: How far warmth has moved at this meeting, which has its bounds.
        observations: What was seen and heard, oldest first; the newest and the weightiest.
        through: Number of the last memory that was worked into it.
        formerly: Keys that it had before, when only the name was known.
        studied: Number of the last memory that was gone through for it, in sleep.
        company: Of a place: who was met there.
    """

    key: str
    kind: ProfileKind
    names: tuple[Name, ...]
    first_met: datetime
    last_met: datetime
    meetings: int = 1
    exchanges: int = 0
    warmth: float = 0.0
    warmed: float = 0.0
    facts: tuple[Fact, ...] = ()
    observations: tuple[Observation, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()
    shared: Observation | None = None
    through: int = 0
    studied: int = 0
    before: datetime | None = None
    formerly: tuple[str, ...] = ()
    company: tuple[Company, ...] = ()

    @property
    def name(self) -> str:
        """What they are called now."""
        return self.names[-1].name
