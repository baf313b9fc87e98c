"""When an agent thinks next, and about what: a schedule without clock or threads.

Each person who turns to the agent has a place of their own among what waits, so that each is
answered, players first, in the order in which they spoke; all else shares one place. Time comes
in as seconds of any monotonic clock, chance as a ``random.Random``.

The owner says who is here (:meth:`Attention.look`) and what happens (:meth:`Attention.notice`),
asks what comes next and when (:meth:`Attention.upcoming`), and asks once more before a thought is
sent (:meth:`Attention.still_wanted`).
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from keepsake.agent.settings import ThinkingConfig

type Priority = Literal["player", "event", "idle"]

TALK_SECONDS = 180.0
"""Silence after which a talk is over, though both are still here."""
GREETED_SECONDS = 600.0
"""Anyone who comes back within this time is not greeted again."""
CHATTER_PAUSE = 120.0
"""Seconds of silence after which agents may talk among themselves anew."""
_NEVER = float("-inf")


class EventKind(StrEnum):
    """What happened to an agent."""

    ADDRESSED = "addressed"  # spoken to
    NAMED = "named"  # spoken of
    GIVEN = "given"
    ARRIVAL = "arrival"  # somebody came whom this agent greets
    HEARD = "heard"  # somebody spoke or acted, to nobody in particular
    OTHER = "other"
    IDLE = "idle"  # nothing happened for long


DIRECT = (EventKind.NAMED, EventKind.GIVEN, EventKind.ADDRESSED)
"""What turns to the agent itself; what asks more for an answer comes later."""
ANSWERED = frozenset({*DIRECT, EventKind.ARRIVAL})
"""What is answered with words to somebody; everything else is a reason to act."""
_WORDLESS = (EventKind.ARRIVAL, EventKind.GIVEN)
ELSE = ""
"""The key of the one place for all that nobody in particular is answered for."""


@dataclass(frozen=True)
class Impulse:
    """Something that happened to an agent: a reason to think.

    Attributes:
        who: What tells the one who did it from all others, as far as is known.
        priority: How urgent it is: a player who waits for an answer comes first.
        key: What it shares its place with: all else that the same person wants of the agent.
    """

    kind: EventKind  # what it was
    from_player: bool  # whether a person is behind it
    source: str  # who did it; empty for the world itself
    memory: int = 0  # number of the memory of it; 0 where that is not known
    source_id: str = ""  # what tells them from others of that name; empty where that is not known
    aside: bool = False  # whether it is meant for somebody else who is here: nothing to think about
    who: str = field(init=False)
    priority: Priority = field(init=False)
    key: str = field(init=False)

    def __post_init__(self) -> None:
        who, player = self.source_id or self.source, self.from_player and self.kind in DIRECT
        other = "idle" if self.kind is EventKind.IDLE else "event"
        key = who if self.kind in ANSWERED else ELSE
        self.__dict__.update(who=who, priority="player" if player else other, key=key)


IDLE = Impulse(EventKind.IDLE, from_player=False, source="")


@dataclass(slots=True)
class _Waiting:
    """An impulse that waits: ``at`` is when it is due, ``since`` when it was first noticed."""

    impulse: Impulse
    at: float
    since: float


class Attention:
    """The schedule of one agent.

    Attributes:
        config: The settings.
        talkativeness: How often it does something unasked, 0 to 1.
        present: Who is here, by name and by what tells them from others.
    """

    def __init__(self, config: ThinkingConfig, rng: random.Random, now: float) -> None:
        self.config, self.talkativeness, self._rng = config, 0.5, rng
        self.present: Collection[str] = ()
        self._current: Impulse | None = None  # what the thought under way is about
        self._waiting: dict[str, _Waiting] = {}  # in the order in which they came
        self._met: dict[str, float] = {}  # with whom words were exchanged, and when last
        self._player_near = False
        self._ready_at = self._last_event = _NEVER
        self._chatter = 0  # lines that agents exchanged since something else happened
        self._idle_from, self._idle_share = now, rng.uniform(2 / 3, 4 / 3)

    # -- what happens

    def look(self, present: Collection[str], *, player_near: bool, now: float) -> None:
        """Tell who is here; nobody else is answered."""
        self.present = present
        for key in [key for key in self._waiting if key != ELSE and key not in present]:
            del self._waiting[key]
        if player_near != self._player_near:  # idle thoughts are rarer without a player
            self._player_near, self._idle_from = player_near, now

    def notice(self, event: Impulse, now: float) -> bool:
        """Something happened; it may lead to a thought, also to one after the current one.

        Returns:
            Whether a player waits for an answer while the agent thinks of something less.
        """
        arrival = event.kind is EventKind.ARRIVAL
        if event.from_player or now - self._last_event > CHATTER_PAUSE:
            self._chatter = 0
        elif event.source and not arrival:
            self._chatter += 1
        self._last_event = now
        if not event.from_player:
            unwanted = bool(event.source) and self._chatter >= self.config.chatter_turns
        elif arrival:  # nobody is greeted over a talk, or again a moment later
            met = self._met.get(event.who, _NEVER)
            unwanted = self.in_talk(now) or now - met < GREETED_SECONDS
        else:  # who speaks needs no greeting; nor does anybody else once a talk begins
            unwanted, direct = False, event.kind in DIRECT
            greeted = {event.who, *(self._waiting if direct else ())}
            self._waiting = {
                key: each
                for key, each in self._waiting.items()
                if each.impulse.kind is not EventKind.ARRIVAL or key not in greeted
            }
            if direct:
                self._met[event.who] = now
        if unwanted or event.aside:
            return False
        # Two of one person become one, and that person is listened to longer.
        slower = (1.0 if event.kind in ANSWERED else 2.0) if event.from_player else 4.0
        at = now + self.config.gather * self._rng.uniform(0.5, 1.5) * slower
        if (before := self._waiting.get(event.key)) is None:
            self._waiting[event.key] = _Waiting(event, at, now)
        else:
            before.at = max(before.at, min(at, before.since + 3.0 * self.config.gather))
            before.impulse = _merged(before.impulse, event)
        less = self._current is not None and self._current.priority != "player"
        return less and event.priority == "player"

    def answered(self, who: str, now: float, *, words: bool = False) -> bool:
        """The agent has turned to a player unasked: what they did is answered.

        ``words``: So is what they said; else not a word of it.

        Returns:
            Whether the thought under way was to greet them.
        """
        for key in (who, ELSE):
            waiting = self._waiting.get(key)
            theirs = waiting is not None and waiting.impulse.who == who
            if waiting and theirs and (words or waiting.impulse.kind in _WORDLESS):
                del self._waiting[key]
        self._met[who] = now
        current = self._current
        return current is not None and current.kind is EventKind.ARRIVAL and current.who == who

    def in_talk(self, now: float) -> bool:
        """Whether a player who is here talks with the agent: either spoke a short while ago."""
        met = self._met.items()
        return any(now - at < TALK_SECONDS and who in self.present for who, at in met)

    # -- what is due

    def upcoming(self) -> tuple[float, Impulse] | None:
        """The next impulse and when it is due; None while a thought is running.

        Players who wait come first, then those who have come, agents who wait, all else.
        """
        if self._current is not None:
            return None
        first = max(
            self._waiting.values(),
            key=lambda each: (
                each.impulse.priority == "player",
                each.impulse.from_player and each.impulse.kind is EventKind.ARRIVAL,
                each.impulse.kind in DIRECT,
            ),
            default=None,
        )
        if first is not None:  # a player need not wait for the cooldown
            player = first.impulse.priority == "player"
            return (first.at if player else max(first.at, self._ready_at)), first.impulse
        away = 1.0 if self._player_near else self.config.idle_away_factor
        interval = self.config.idle_interval * 2.0 ** (1.0 - 2.0 * self.talkativeness)
        idle_at = self._idle_from + interval * away * self._idle_share
        here = (at for who, at in self._met.items() if who in self.present)
        return max(idle_at, self._ready_at, max(here, default=_NEVER) + TALK_SECONDS), IDLE

    @property
    def owed(self) -> list[Impulse]:
        """What players wait for, that of the thought under way first."""
        every = [self._current, *(each.impulse for each in self._waiting.values())]
        return [each for each in every if each is not None and each.priority == "player"]

    def begin(self, impulse: Impulse) -> None:
        """A thought begins; what is noticed from now on is for the next one."""
        self._current = impulse
        self._waiting.pop(impulse.key, None)
        self._waiting.pop(ELSE, None)  # of all else the agent sees the newest anyway

    def still_wanted(self) -> Impulse | None:
        """The reason for the thought under way as it is now; None if there is none any more.

        To be asked before it is sent: what the same person has said meanwhile is merged into
        it, and answered with it.
        """
        current = self._current
        if current is None or (current.key != ELSE and current.key not in self.present):
            return None
        if (newer := self._waiting.pop(current.key, None)) is not None:
            self._current = current = _merged(current, newer.impulse)
        return current

    def ended(self, now: float, *, spoke: bool = False) -> None:
        """The thought has ended; ``spoke``: others heard something."""
        current, self._current = self._current, None
        if spoke and current is not None and current.from_player and current.key != ELSE:
            self._met[current.who] = now
        if spoke and (current is None or current.priority != "player"):
            paused = now - self._last_event > CHATTER_PAUSE
            self._chatter, self._last_event = 1 if paused else self._chatter + 1, now
        self._met = {who: at for who, at in self._met.items() if now - at < GREETED_SECONDS}
        self._ready_at = now + self.config.cooldown
        self._idle_from, self._idle_share = now, self._rng.uniform(2 / 3, 4 / 3)


def _merged(old: Impulse, new: Impulse) -> Impulse:
    """One impulse for two of the same person: of the newer, unless the older asks for more."""
    urgency = {kind: rank for rank, kind in enumerate(DIRECT)}
    asks = new if urgency.get(new.kind, -1) >= urgency.get(old.kind, -1) else old
    return replace(asks, memory=asks.memory or old.memory or new.memory)
