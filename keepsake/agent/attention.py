"""When an agent thinks next: a schedule without clock or threads.

Time comes in as seconds of any monotonic clock, chance as a ``random.Random``.
The owner reports what happens (:meth:`Attention.notice`), asks when to look
again (:meth:`Attention.next_at`) and what is due (:meth:`Attention.due`), and asks once
more before a thought is sent (:meth:`Attention.still_wanted`).
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import replace

from keepsake.agent.conversations import Conversations
from keepsake.agent.impulses import (
    DIRECT,
    ELSE,
    IDLE,
    MOVES,
    EventKind,
    Impulse,
    Pending,
    PerceivedEvent,
    Priority,
    merged,
)
from keepsake.agent.thinking_config import ThinkingConfig

__all__ = ["Attention", "EventKind", "Impulse", "PerceivedEvent", "Priority"]


class Attention:
    """The schedule of one agent."""

    def __init__(self, config: ThinkingConfig, rng: random.Random) -> None:
        self.config = config
        self.conversations = Conversations()
        self._rng = rng
        self._pending = Pending()
        self._current: Impulse | None = None
        self._thinking = False
        self._spoke_meanwhile: set[str] = set()
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

    @property
    def outranked(self) -> bool:
        """Whether a player waits for an answer while the agent thinks of something less."""
        current, next_one = self._current, self._pending.head
        if current is None or current.priority == "player" or next_one is None:
            return False
        return next_one.impulse.priority == "player"

    def notice(self, event: PerceivedEvent, now: float) -> None:
        """Something happened; it may lead to a thought, also to one after the current one."""
        self._count_chatter(event, now)
        self._last_event = now
        if event.kind is EventKind.DEPARTURE:
            self._gone(event.who)
            return
        if event.from_player:
            self.set_player_near(True, now)
            if event.kind not in MOVES:
                self._player_spoke(event, now)
        if self._asks_for_nothing(event, now):
            return
        waits = event.from_player and event.kind in DIRECT
        self._plan(event, now, "player" if waits else "event")

    def _asks_for_nothing(self, event: PerceivedEvent, now: float) -> bool:
        """Whether it is not worth a thought."""
        if event.kind is EventKind.SEEN:
            return True
        if event.from_player:  # nobody is greeted over a talk, or again a moment later
            talks = self.conversations
            greeted = talks.going_on(now) or talks.met_lately(event.who, now)
            return event.kind is EventKind.ARRIVAL and greeted
        return bool(event.source) and self._chatter >= self.config.chatter_turns

    def _player_spoke(self, event: PerceivedEvent, now: float) -> None:
        """Whoever speaks needs no greeting; nor does anybody else once a talk begins."""
        self._spoke_meanwhile.add(event.who)
        direct = event.kind in DIRECT
        self._pending.no_greeting(event.who, nor_others=direct)
        if direct:
            self.conversations.turned(event.who, now)

    def answered(self, who: str, now: float, *, words: bool = False) -> None:
        """The agent has turned to a player unasked: what they did is answered.

        ``words``: So is what they said; else not a word of it.
        """
        self._spoke_meanwhile.add(who)
        self._pending.answered(who, words=words)
        self.conversations.turned(who, now)

    def set_player_near(self, near: bool, now: float) -> None:
        """Tell whether a player is near; idle thoughts are rarer without one."""
        if near != self._player_near or self._idle_at is None:
            self._player_near = near
            self._plan_idle(now)

    def only_here(self, present: Collection[str]) -> None:
        """Let go of whoever is not here any more, by name or by what tells them from others."""
        self.conversations.here(present)
        self._pending.only(present)

    def in_talk(self, now: float) -> bool:
        """Whether a player talks with the agent: spoke to it, or it to them, a short while ago."""
        return self.conversations.going_on(now)

    def due(self, now: float) -> Impulse | None:
        """Why to think now, or None; asking changes nothing but starts the idle time."""
        if self._idle_at is None:
            self._plan_idle(now)
        at = self.next_at()
        if at is None or now < at:
            return None
        head = self._pending.head
        return IDLE if head is None else self._placed(head.impulse)

    def next_at(self) -> float | None:
        """When something will be due; None while a thought is under way or nothing is planned."""
        if self._thinking:
            return None
        head = self._pending.head
        if head is not None and head.impulse.priority == "player":
            return head.at  # a player need not wait for the cooldown
        if head is not None:
            return max(head.at, self._ready_at)
        if self._idle_at is None:
            return None
        return max(self._idle_at, self._ready_at, self.conversations.over_at)

    def thought_started(self, now: float) -> None:
        """The thought that was due begins; what is noticed from now on is for the next one."""
        self._current = self.due(now)
        if self._current is not None:
            self._pending.take(self._current.key)
            self._pending.take(ELSE)  # whatever it thinks of, it sees that too
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
        newer = self._pending.take(current.key)
        if newer is not None:
            self._current = self._placed(merged(current, newer))
        elif current.kind is EventKind.ARRIVAL and current.who in self._spoke_meanwhile:
            return None
        return self._current

    def thought_done(self, now: float, *, spoke: bool = False, silent: bool = False) -> None:
        """The thought has ended; ``silent``: it chose to wait, or failed, which is no turn."""
        current, self._current = self._current, None
        self._thinking = False
        if spoke and not silent:
            self._has_spoken(current, now)
        spread = self.config.jitter * self._rng.uniform(-1.0, 1.0)
        self._ready_at = now + self.config.cooldown * (1.0 + spread)
        self._plan_idle(now)

    def _has_spoken(self, current: Impulse | None, now: float) -> None:
        if current is not None and current.from_player and current.key != ELSE:
            self.conversations.turned(current.who, now)
        if current is None or current.priority != "player":
            if self._paused(now):
                self._chatter = 0
            self._chatter += 1
            self._last_event = now

    def _paused(self, now: float) -> bool:
        """Whether it has been quiet so long that talk may start anew."""
        return now - self._last_event > self.config.chatter_pause

    def _count_chatter(self, event: PerceivedEvent, now: float) -> None:
        """Count lines exchanged by agents since something else happened."""
        if event.from_player or self._paused(now):
            self._chatter = 0
        if event.from_player or not event.source:
            return
        if event.kind in MOVES:
            # One that comes from afar is news; two that run after each other are not.
            if now - self._moved.get(event.source, float("-inf")) > self.config.chatter_pause:
                self._chatter = 0
            self._moved[event.source] = now
        else:
            self._chatter += 1

    # -- what is pending

    def _plan(self, event: PerceivedEvent, now: float, priority: Priority) -> None:
        what = (event.kind, event.from_player, event.source, event.memory, event.source_id)
        self._pending.add(
            Impulse(*what, priority),
            at=now + self._delay(event),
            now=now,
            listen=3.0 * self.config.gather,
        )

    def _gone(self, who: str) -> None:
        """They have left: nothing is to be said to them any more."""
        self.conversations.gone(who)
        self._pending.take(who)

    def _placed(self, impulse: Impulse) -> Impulse:
        """The impulse with its place in the model's queue: what no player sees can wait."""
        if impulse.priority == "event" and not self._player_near:
            return replace(impulse, priority="idle")
        return impulse

    def _delay(self, event: PerceivedEvent) -> float:
        delay = self.config.gather * self._rng.uniform(0.5, 1.5)
        if not event.from_player:
            return delay * 4.0
        return delay if event.kind in (*DIRECT, EventKind.ARRIVAL) else delay * 2.0

    def _plan_idle(self, now: float) -> None:
        factor = 1.0 if self._player_near else self.config.idle_away_factor
        self._idle_at = now + self.config.idle_interval * factor * self._rng.uniform(2 / 3, 4 / 3)
