"""What an agent knows of one person, place or thing: what it observed apart from what it thinks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from keepsake.books.journal.entries import EntryOrigin

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
    """Something seen or heard, as it was."""

    number: int
    time: datetime
    text: str  # one line; what was said names who said it
    weight: int = 3  # how much it matters, 1 to 10, as it was judged when it happened


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that holds, or once held, of whom the profile is about."""

    attribute: str  # what it is about, lower case: ``work``, ``home``, ``brother``
    value: str  # what it is: ``baker``, ``the house by the ford``
    since: datetime
    # when another value took its place, or it was taken back; None if it holds
    until: datetime | None = None
    numbers: tuple[int, ...] = ()
    told_by: str = ""  # name of who said so; empty for what the agent saw itself
    origin: EntryOrigin = EntryOrigin.TOLD

    @property
    def holds(self) -> bool:
        """Whether it is the present one."""
        return self.until is None


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the agent made of its observations."""

    text: str
    # the memories that it rests on, ascending; empty only where a person wrote it into the file
    numbers: tuple[int, ...]
    time: datetime


@dataclass(frozen=True, slots=True)
class Name:
    """What somebody was called, and since when."""

    name: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Company:
    """Somebody whom the agent has met at a place, counted."""

    key: str
    meetings: int  # how many times they met there; two with an hour or more between them are two
    days: int
    last: datetime
    numbers: tuple[int, ...]  # a memory of each meeting, ascending: of the first and of the newest


@dataclass(frozen=True, slots=True)
class Profile:
    """All that an agent knows of one person, place or thing."""

    key: str  # who it is, whatever they are called: see ``keepsake.agent.surroundings``
    kind: ProfileKind
    names: tuple[Name, ...]  # what they were called, the present name last; never empty
    first_met: datetime
    last_met: datetime
    meetings: int = 1  # how many times; two with an hour or more between them are two
    exchanges: int = 0  # how often one of them said something to the other
    warmth: float = 0.0  # what the agent feels, -1 (hatred) to 1 (love)
    warmed: float = 0.0  # how far warmth has moved at this meeting, which has its bounds
    facts: tuple[Fact, ...] = ()
    # what was seen and heard, oldest first; the newest and the weightiest
    observations: tuple[Observation, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()
    shared: Observation | None = None
    through: int = 0  # number of the last memory that was worked into it
    studied: int = 0  # number of the last memory that was gone through for it, in sleep
    # when the meeting before this one ended, with time zone; None at the first
    before: datetime | None = None
    formerly: tuple[str, ...] = ()  # keys that it had before, when only the name was known
    company: tuple[Company, ...] = ()  # of a place: who was met there

    @property
    def name(self) -> str:
        """What they are called now."""
        return self.names[-1].name
