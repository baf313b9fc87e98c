"""With whom an agent talked lately, and how much agents talk among themselves.

All times are seconds of a monotonic clock, which the caller passes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.happening import PersonId

TALK_SECONDS = 180.0
"""Seconds of silence after which a talk is over, even if both people are still here."""
GREETED_SECONDS = 600.0
"""Seconds within which a person who comes back is not greeted again."""
CHATTER_PAUSE = 120.0
"""Seconds of silence after which agents may talk among themselves again."""
NEVER = float("-inf")
"""The time of what has not happened yet."""


class RecentTalks:
    """When one agent had the last words with each person, by identity."""

    def __init__(self) -> None:
        self._last: dict[PersonId, float] = {}

    def talk_with(self, people: Iterable[PersonId], now: float) -> None:
        """Record that the agent and these people exchange words now."""
        self._last |= dict.fromkeys(people, now)

    def forget_old(self, now: float) -> None:
        """Forget the people who would be greeted again."""
        self._last = {who: at for who, at in self._last.items() if now - at < GREETED_SECONDS}

    def was_greeted(self, who: PersonId, now: float) -> bool:
        """Return whether somebody who comes in needs no greeting."""
        return now - self._last.get(who, NEVER) < GREETED_SECONDS

    def is_in_talk(self, present: Collection[str], now: float, within: float) -> bool:
        """Return whether the last words with one of these are less than ``within`` seconds ago."""
        return any(now - at < within and who in present for who, at in self._last.items())

    def last_with(self, present: Collection[str]) -> float:
        """Return when the last words with one of these were; :data:`NEVER` if there were none."""
        return max((at for who, at in self._last.items() if who in present), default=NEVER)

    def ages(self, now: float) -> dict[PersonId, float]:
        """Return how many seconds ago the last words with people were."""
        return {who: now - at for who, at in self._last.items()}

    def restore(self, ages: Mapping[PersonId, float], now: float) -> None:
        """Take note of talks before a start; see :meth:`ages`. Newer ones count."""
        self._last = {who: now - age for who, age in ages.items()} | self._last


class Chatter:
    """Counts the lines that agents exchange among themselves while nothing else happens.

    Attributes:
        lines: How many there were since a player acted, or since :data:`CHATTER_PAUSE` of silence.
    """

    def __init__(self) -> None:
        self.lines = 0
        self._last_event = NEVER

    def notice(self, impulse: Impulse, now: float) -> None:
        """Count what somebody said or did; an agent that only comes in says nothing."""
        if impulse.from_player or now - self._last_event > CHATTER_PAUSE:
            self.lines = 0
        elif impulse.source and impulse.kind is not ImpulseKind.ARRIVAL:
            self.lines += 1
        self._last_event = now

    def speak(self, now: float) -> None:
        """Count a line that this agent has said to others than a player."""
        paused = now - self._last_event > CHATTER_PAUSE
        self.lines = 1 if paused else self.lines + 1
        self._last_event = now
