"""What asks an agent for a thought, and what of it waits.

Whoever turns to the agent has a place of their own among what waits, so that each is
answered, players first, in the order in which they spoke; all else shares one place.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

type Priority = Literal["player", "event", "idle"]

MOST_SPEAKERS = 16
"""How many may wait for an answer at once; of a larger crowd the newest."""


class EventKind(StrEnum):
    """What happened to an agent."""

    ADDRESSED = "addressed"  # spoken to
    NAMED = "named"  # spoken of
    GIVEN = "given"
    ARRIVAL = "arrival"
    SEEN = "seen"  # somebody came whom another greets
    DEPARTURE = "departure"
    HEARD = "heard"  # somebody spoke or acted, to nobody in particular
    OTHER = "other"
    IDLE = "idle"  # nothing happened for long


DIRECT = (EventKind.NAMED, EventKind.GIVEN, EventKind.ADDRESSED)
"""What turns to the agent itself; what asks more for an answer comes later."""
MOVES = (EventKind.ARRIVAL, EventKind.SEEN, EventKind.DEPARTURE)
_WORDLESS = (EventKind.ARRIVAL, EventKind.GIVEN)
ELSE = ""
"""The key of the one place for all that nobody in particular is answered for."""


@dataclass(frozen=True, slots=True)
class PerceivedEvent:
    """Something that an agent noticed."""

    kind: EventKind  # what it was
    from_player: bool  # whether a person is behind it
    source: str  # who did it; empty for the world itself
    memory: int = 0  # number of the memory of it; 0 where that is not known
    source_id: str = ""  # what tells them from others of that name; empty where that is not known

    @property
    def who(self) -> str:
        """What tells whoever did it from all others, as far as is known."""
        return self.source_id or self.source


@dataclass(frozen=True, slots=True)
class Impulse(PerceivedEvent):
    """A reason to think now: the newest of what one person did, or of what happened."""

    priority: Priority = "event"  # the place in the model's queue

    @property
    def trigger(self) -> str:
        """The kind of the event, or ``idle``."""
        return self.kind.value

    @property
    def direct(self) -> bool:
        """Whether somebody turned to the agent, who waits for an answer."""
        return self.kind in DIRECT

    @property
    def key(self) -> str:
        """What it shares its place with: whatever else the same person wants of the agent."""
        return self.who if self.direct or self.kind is EventKind.ARRIVAL else ELSE


IDLE = Impulse(EventKind.IDLE, False, "", priority="idle")


@dataclass(slots=True)
class Waiting:
    """An impulse that waits: ``at`` is when it is due, ``since`` when it was first noticed."""

    impulse: Impulse
    at: float
    since: float


class Pending:
    """The impulses of one agent that wait, in the order in which they came."""

    def __init__(self) -> None:
        self._all: dict[str, Waiting] = {}

    @property
    def head(self) -> Waiting | None:
        """What comes next: the most urgent, and of these what was noticed first."""
        return max(self._all.values(), key=lambda each: _rank(each.impulse), default=None)

    def add(self, new: Impulse, *, at: float, now: float, listen: float) -> None:
        """One more, due ``at``; two of one person become one.

        Whoever goes on talking is listened to for ``listen`` seconds at most.
        """
        before = self._all.get(new.key)
        if before is None:
            self._all[new.key] = Waiting(new, at, now)
            self._keep_to_the_newest()
        else:
            before.at = max(before.at, min(at, before.since + listen))
            before.impulse = merged(before.impulse, new)

    def take(self, key: str) -> Impulse | None:
        """Take what waits in that place out; None if nothing does."""
        found = self._all.pop(key, None)
        return found.impulse if found else None

    def only(self, present: Collection[str]) -> None:
        """Let go of whoever is not among these."""
        for key in [key for key in self._all if key != ELSE and key not in present]:
            del self._all[key]

    def no_greeting(self, who: str, *, nor_others: bool) -> None:
        """Let go of the wish to greet them, and of all such wishes where a talk begins."""
        for key, each in list(self._all.items()):
            greeting = each.impulse.kind is EventKind.ARRIVAL
            if greeting and (nor_others or key == who):
                del self._all[key]

    def answered(self, who: str, *, words: bool = False) -> None:
        """Let go of what they did without words, and with ``words`` of all they did."""
        for key in (who, ELSE):
            waiting = self._all.get(key)
            if waiting is None or waiting.impulse.who != who:
                continue
            if words or waiting.impulse.kind in _WORDLESS:
                del self._all[key]

    def _keep_to_the_newest(self) -> None:
        """Let go of the oldest agent, else of the oldest player, of a crowd that is too large."""
        speakers = [key for key, each in self._all.items() if each.impulse.direct]
        if len(speakers) > MOST_SPEAKERS:
            agents = [key for key in speakers if self._all[key].impulse.priority != "player"]
            del self._all[(agents or speakers)[0]]


def _rank(impulse: Impulse) -> int:
    """Players who wait, then those who have come, then agents who wait, then all else."""
    if impulse.priority == "player":
        return 3
    came = impulse.from_player and impulse.kind is EventKind.ARRIVAL
    return 2 if came else int(impulse.direct)


def merged(old: Impulse, new: Impulse) -> Impulse:
    """One impulse for two of the same person: of the newer, unless the older asks for more."""
    asks = new if _urgency(new) >= _urgency(old) else old
    return replace(asks, memory=asks.memory or old.memory or new.memory)


def _urgency(impulse: Impulse) -> int:
    return DIRECT.index(impulse.kind) if impulse.direct else -1
