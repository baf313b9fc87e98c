"""When an agent thinks next, and about what: a schedule without clock or threads.

Anyone who turns to the agent has a place of their own among what waits, so that each is
answered, players first, in the order in which they spoke; all else shares one place. Time comes
in as seconds of any monotonic clock, chance as a ``random.Random``.

The owner reports what happens (:meth:`Attention.notice`), asks when to look again
(:meth:`Attention.next_at`) and what is due (:meth:`Attention.due`), and asks once more before a
thought is sent (:meth:`Attention.still_wanted`).
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from keepsake.markdown_config import FileSettings, between, fixed

type Priority = Literal["player", "event", "idle"]

TALK_SECONDS = 180.0
"""Silence after which a talk is over, though both are still here."""
GREETED_SECONDS = 600.0
"""Anyone who comes back within this time is not greeted again."""
_DAY = 86_400.0
_NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class ThinkingConfig(FileSettings):
    """``thinking.md``: all times in seconds; each is explained in the file."""

    gather: float = between(0.6, high=30.0)
    cooldown: float = between(4.0, high=_DAY)
    jitter: float = fixed(0.3)
    idle_interval: float = between(270.0, low=5.0, high=_DAY)
    idle_away_factor: float = between(10.0, low=1.0)
    chatter_turns: int = between(4, high=1000)
    chatter_pause: float = fixed(120.0)
    pause_notice: float = fixed(2.0)


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
ANSWERED = frozenset({*DIRECT, EventKind.ARRIVAL})
"""What is answered with words to somebody; everything else is a reason to act."""
_MOVES = (EventKind.ARRIVAL, EventKind.SEEN, EventKind.DEPARTURE)
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
        """What tells the one who did it from all others, as far as is known."""
        return self.source_id or self.source


@dataclass(frozen=True, slots=True)
class Impulse(PerceivedEvent):
    """A reason to think now: the newest event of one person, or of the world."""

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
        """What it shares its place with: all else that the same person wants of the agent."""
        return self.who if self.kind in ANSWERED else ELSE


IDLE = Impulse(EventKind.IDLE, False, "", priority="idle")


@dataclass(slots=True)
class _Waiting:
    """An impulse that waits: ``at`` is when it is due, ``since`` when it was first noticed."""

    impulse: Impulse
    at: float
    since: float


class Attention:
    """The schedule of one agent."""

    def __init__(self, config: ThinkingConfig, rng: random.Random) -> None:
        self.config = config
        self._rng = rng
        self._waiting: dict[str, _Waiting] = {}  # in the order in which they came
        # With whom words were exchanged, and when last: while a talk goes on, and for greetings.
        self._talks: dict[str, float] = {}
        self._met: dict[str, float] = {}
        self._current: Impulse | None = None
        self._thinking = False
        self._spoke_meanwhile: set[str] = set()
        self._ready_at = _NEVER
        self._idle_at: float | None = None
        self._player_near = False
        self._chatter = 0
        self._last_event = _NEVER

    @property
    def thinking(self) -> bool:
        """Whether a thought is under way."""
        return self._thinking

    @property
    def outranked(self) -> bool:
        """Whether a player waits for an answer while the agent thinks of something less."""
        if self._current is None or self._current.priority == "player":
            return False
        return any(each.impulse.priority == "player" for each in self._waiting.values())

    # -- what happens

    def notice(self, event: PerceivedEvent, now: float) -> None:
        """Something happened; it may lead to a thought, also to one after the current one."""
        self._count_chatter(event, now)
        self._last_event = now
        if event.kind is EventKind.DEPARTURE:
            self._gone(event.who)
            return
        if event.from_player:
            self.set_player_near(True, now)
            if event.kind not in _MOVES:
                self._player_spoke(event, now)
            elif self.in_talk(now) or now - self._met.get(event.who, _NEVER) < GREETED_SECONDS:
                return  # nobody is greeted over a talk, or again a moment later
        elif event.source and self._chatter >= self.config.chatter_turns:
            return
        if event.kind is not EventKind.SEEN:
            self._add(event, now)

    def _count_chatter(self, event: PerceivedEvent, now: float) -> None:
        """Count lines exchanged by agents since something else happened."""
        if event.from_player or now - self._last_event > self.config.chatter_pause:
            self._chatter = 0
        elif event.source and event.kind not in _MOVES:
            self._chatter += 1

    def _player_spoke(self, event: PerceivedEvent, now: float) -> None:
        """Anyone who speaks needs no greeting; nor does anybody else once a talk begins."""
        self._spoke_meanwhile.add(event.who)
        direct = event.kind in DIRECT
        for key, each in list(self._waiting.items()):
            if each.impulse.kind is EventKind.ARRIVAL and (direct or key == event.who):
                del self._waiting[key]
        if direct:
            self._turned(event.who, now)

    def _turned(self, who: str, now: float) -> None:
        """A player has turned to the agent, or it to them."""
        self._talks[who] = self._met[who] = now
        self._met = {each: at for each, at in self._met.items() if now - at < GREETED_SECONDS}

    def _add(self, event: PerceivedEvent, now: float) -> None:
        """One more impulse; two of one person become one, that person is listened to longer."""
        player, gather = event.from_player, self.config.gather
        slower = 1.0 if player and event.kind in ANSWERED else 2.0 if player else 4.0
        at = now + gather * self._rng.uniform(0.5, 1.5) * slower
        new = Impulse(
            event.kind,
            player,
            event.source,
            event.memory,
            event.source_id,
            "player" if player and event.kind in DIRECT else "event",
        )
        before = self._waiting.setdefault(new.key, _Waiting(new, at, now))
        before.at = max(before.at, min(at, before.since + 3.0 * gather))
        before.impulse = _merged(before.impulse, new)

    def answered(self, who: str, now: float, *, words: bool = False) -> None:
        """The agent has turned to a player unasked: what they did is answered.

        ``words``: So is what they said; else not a word of it.
        """
        self._spoke_meanwhile.add(who)
        for key in (who, ELSE):
            waiting = self._waiting.get(key)
            if waiting is None or waiting.impulse.who != who:
                continue
            if words or waiting.impulse.kind in _WORDLESS:
                del self._waiting[key]
        self._turned(who, now)

    def set_player_near(self, near: bool, now: float) -> None:
        """Tell whether a player is near; idle thoughts are rarer without one."""
        if near != self._player_near or self._idle_at is None:
            self._player_near = near
            self._plan_idle(now)

    def only_here(self, present: Collection[str]) -> None:
        """Let go of anyone who is not here any more, by name or by what tells them from others."""
        self._talks = {who: at for who, at in self._talks.items() if who in present}
        for key in [key for key in self._waiting if key != ELSE and key not in present]:
            del self._waiting[key]

    def _gone(self, who: str) -> None:
        """They have left: nothing is to be said to them any more."""
        self._talks.pop(who, None)
        self._waiting.pop(who, None)

    def in_talk(self, now: float) -> bool:
        """Whether a player talks with the agent: spoke to it, or it to them, a short while ago."""
        return any(now - at < TALK_SECONDS for at in self._talks.values())

    # -- what is due

    def due(self, now: float) -> Impulse | None:
        """Why to think now, or None; asking changes nothing but starts the idle time."""
        if self._idle_at is None:
            self._plan_idle(now)
        at = self.next_at()
        if at is None or now < at:
            return None
        head = self._head()
        return IDLE if head is None else self._placed(head.impulse)

    def next_at(self) -> float | None:
        """When something will be due; None while a thought is under way or nothing is planned."""
        if self._thinking:
            return None
        if (head := self._head()) is not None:  # a player need not wait for the cooldown
            player = head.impulse.priority == "player"
            return head.at if player else max(head.at, self._ready_at)
        if self._idle_at is None:
            return None
        talks_over = max(self._talks.values(), default=_NEVER) + TALK_SECONDS
        return max(self._idle_at, self._ready_at, talks_over)

    def _head(self) -> _Waiting | None:
        """What comes next: players who wait, those who have come, agents who wait, all else."""

        def rank(each: _Waiting) -> int:
            impulse = each.impulse
            if impulse.priority == "player":
                return 3
            came = impulse.from_player and impulse.kind is EventKind.ARRIVAL
            return 2 if came else int(impulse.direct)

        return max(self._waiting.values(), key=rank, default=None)

    def thought_started(self, now: float) -> None:
        """The thought that was due begins; what is noticed from now on is for the next one."""
        self._current = self.due(now)
        if self._current is not None:
            self._waiting.pop(self._current.key, None)
            self._waiting.pop(ELSE, None)  # of all else the agent sees the newest anyway
        self._thinking = True
        self._spoke_meanwhile.clear()

    def still_wanted(self, present: Collection[str]) -> Impulse | None:
        """The reason for the thought under way as it is now; None if there is none any more.

        To be asked before it is sent: what the same person has said meanwhile is merged into
        it, and answered with it.
        """
        current = self._current
        if current is None:
            return None
        if current.key != ELSE and current.key not in present:
            self._gone(current.key)
            return None
        newer = self._waiting.pop(current.key, None)
        if newer is not None:
            self._current = self._placed(_merged(current, newer.impulse))
        elif current.kind is EventKind.ARRIVAL and current.who in self._spoke_meanwhile:
            return None
        return self._current

    def thought_done(self, now: float, *, spoke: bool = False, silent: bool = False) -> None:
        """The thought has ended; ``silent``: it chose to wait, or failed, which is no turn."""
        current, self._current = self._current, None
        self._thinking = False
        if spoke and not silent:
            if current is not None and current.from_player and current.key != ELSE:
                self._turned(current.who, now)
            if current is None or current.priority != "player":
                paused = now - self._last_event > self.config.chatter_pause
                self._chatter = 1 if paused else self._chatter + 1
                self._last_event = now
        spread = self.config.jitter * self._rng.uniform(-1.0, 1.0)
        self._ready_at = now + self.config.cooldown * (1.0 + spread)
        self._plan_idle(now)

    def _placed(self, impulse: Impulse) -> Impulse:
        """The impulse with its place in the model's queue: what no player sees can wait."""
        if impulse.priority == "event" and not self._player_near:
            return replace(impulse, priority="idle")
        return impulse

    def _plan_idle(self, now: float) -> None:
        factor = 1.0 if self._player_near else self.config.idle_away_factor
        self._idle_at = now + self.config.idle_interval * factor * self._rng.uniform(2 / 3, 4 / 3)


def _merged(old: Impulse, new: Impulse) -> Impulse:
    """One impulse for two of the same person: of the newer, unless the older asks for more."""
    urgency = {kind: rank for rank, kind in enumerate(DIRECT)}
    asks = new if urgency.get(new.kind, -1) >= urgency.get(old.kind, -1) else old
    return replace(asks, memory=asks.memory or old.memory or new.memory)
