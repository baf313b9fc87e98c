"""When an agent thinks next: a schedule without clock or threads.

Time comes in as seconds of any monotonic clock, chance as a ``random.Random``.
The owner reports what happens (:meth:`Attention.notice`), asks when to look
again (:meth:`Attention.next_at`) and what is due (:meth:`Attention.due`).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from game.mind.thinking_config import ThinkingConfig

type Priority = Literal["player", "event", "idle"]

_RANK: dict[Priority, int] = {"player": 2, "event": 1, "idle": 0}


class EventKind(StrEnum):
    """What happened to an agent."""

    ADDRESSED = "addressed"  # spoken to
    NAMED = "named"  # spoken of
    GIVEN = "given"
    ARRIVAL = "arrival"
    DEPARTURE = "departure"
    HEARD = "heard"  # somebody spoke or acted, to nobody in particular
    OTHER = "other"


_AT_ONCE = (EventKind.ADDRESSED, EventKind.NAMED, EventKind.GIVEN, EventKind.ARRIVAL)
_MOVES = (EventKind.ARRIVAL, EventKind.DEPARTURE)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that an agent noticed.

    Attributes:
        kind: What it was.
        from_player: Whether a person is behind it.
        source: Who did it; empty for the world itself.
        memory: Number of the memory of it; 0 where that is not known.
    """

    kind: EventKind
    from_player: bool
    source: str
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Impulse:
    """A reason to think now.

    Attributes:
        trigger: The kind of the event, or ``idle``.
        priority: The place in the model's queue.
        source: Who caused it; empty for nobody.
        memory: Number of the memory of it; 0 where that is not known.
    """

    trigger: str
    priority: Priority
    source: str
    memory: int = 0


class Attention:
    """The schedule of one agent.

    Args:
        config: When to think; may be replaced at any time.
        rng: Where jitter comes from.
    """

    def __init__(self, config: ThinkingConfig, rng: random.Random) -> None:
        self.config = config
        self._rng = rng
        self._pending: Impulse | None = None
        self._pending_at = 0.0
        self._first_at = 0.0
        self._current: Impulse | None = None
        self._thinking = False
        self._ready_at = float("-inf")
        self._idle_at: float | None = None
        self._player_near = False
        self._chatter = 0
        self._last_event = float("-inf")
        self._moved: dict[str, float] = {}

    @property
    def thinking(self) -> bool:
        """Whether a thought is under way."""
        return self._thinking

    def notice(self, event: Event, now: float) -> None:
        """Something happened; it may lead to a thought, also to one after the present one."""
        self._count_chatter(event, now)
        self._last_event = now
        if event.from_player and event.kind is not EventKind.DEPARTURE:
            self.set_player_near(True, now)
        by_agent = bool(event.source) and not event.from_player
        if by_agent and self._chatter >= self.config.chatter_turns:
            return
        at_once = event.from_player and event.kind in _AT_ONCE
        priority: Priority = "player" if at_once else "event"
        impulse = Impulse(event.kind.value, priority, event.source, event.memory)
        self._plan(impulse, now, self._delay(event.from_player, at_once))

    def set_player_near(self, near: bool, now: float) -> None:
        """Tell whether a player is near; idle thoughts are rarer without one."""
        if near != self._player_near or self._idle_at is None:
            self._player_near = near
            self._plan_idle(now)

    def due(self, now: float) -> Impulse | None:
        """Why to think now, or None; asking changes nothing but starts the idle time."""
        if self._idle_at is None:
            self._plan_idle(now)
        at = self.next_at()
        if at is None or now < at:
            return None
        if self._pending is not None and now >= self._event_at():
            return self._pending
        return Impulse("idle", "idle", "")

    def next_at(self) -> float | None:
        """When something will be due; None while a thought is under way or nothing is planned."""
        if self._thinking:
            return None
        times = [] if self._idle_at is None else [max(self._idle_at, self._ready_at)]
        if self._pending is not None:
            times.append(self._event_at())
        return min(times, default=None)

    def thought_started(self, now: float) -> None:
        """The thought that was due begins; what is noticed from now on is for the next one."""
        self._current = self.due(now)
        if self._current is not None and self._current.priority != "idle":
            self._pending = None
        self._thinking = True

    def thought_done(self, now: float, *, spoke: bool = False, silent: bool = False) -> None:
        """The thought has ended.

        Args:
            now: When.
            spoke: It said or did something that others notice.
            silent: It chose to wait, or failed: no turn in a talk.
        """
        self._thinking = False
        if spoke and not silent and not self._answers_player():
            if self._paused(now):
                self._chatter = 0
            self._chatter += 1
            self._last_event = now
        self._current = None
        spread = self.config.jitter * self._rng.uniform(-1.0, 1.0)
        self._ready_at = now + self.config.cooldown * (1.0 + spread)
        self._plan_idle(now)

    def _answers_player(self) -> bool:
        return self._current is not None and self._current.priority == "player"

    def _paused(self, now: float) -> bool:
        """Whether it has been quiet so long that talk may start anew."""
        return now - self._last_event > self.config.chatter_pause

    def _count_chatter(self, event: Event, now: float) -> None:
        """Count lines exchanged by agents since something else happened."""
        if event.from_player or self._paused(now):
            self._chatter = 0
        if event.from_player or not event.source:
            return
        if event.kind in _MOVES:
            # One that comes from afar is news; two that run after each other are not.
            if now - self._moved.get(event.source, float("-inf")) > self.config.chatter_pause:
                self._chatter = 0
            self._moved[event.source] = now
        else:
            self._chatter += 1

    def _plan(self, impulse: Impulse, now: float, delay: float) -> None:
        if self._pending is None:
            self._pending, self._pending_at, self._first_at = impulse, now + delay, now
            return
        if _RANK[impulse.priority] < _RANK[self._pending.priority]:
            return
        if impulse.priority == self._pending.priority:  # one more line: listen on, but not for ever
            latest = self._first_at + 3.0 * self.config.gather
            self._pending_at = max(self._pending_at, min(now + delay, latest))
        else:
            self._pending_at, self._first_at = now + delay, now
        self._pending = impulse

    def _delay(self, from_player: bool, at_once: bool) -> float:
        delay = self.config.gather * self._rng.uniform(0.5, 1.5)
        return delay if at_once else delay * (2.0 if from_player else 4.0)

    def _event_at(self) -> float:
        """When the pending event is due; a player need not wait for the cooldown."""
        if self._pending is not None and self._pending.priority == "player":
            return self._pending_at
        return max(self._pending_at, self._ready_at)

    def _plan_idle(self, now: float) -> None:
        factor = 1.0 if self._player_near else self.config.idle_away_factor
        self._idle_at = now + self.config.idle_interval * factor * self._rng.uniform(2 / 3, 4 / 3)
