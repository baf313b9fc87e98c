"""With whom an agent talks, and whom it has greeted: two tables of names and times."""

from __future__ import annotations

from collections.abc import Collection

TALK_SECONDS = 180.0
"""Silence after which a talk is over, though both are still here."""
GREETED_SECONDS = 600.0
"""Who comes back within this time is not greeted again."""


class Conversations:
    """Whom one agent exchanged words with, and when last.

    People are told apart by any text that is theirs alone. Time is seconds of any clock.
    """

    def __init__(self) -> None:
        self._talks: dict[str, float] = {}
        self._met: dict[str, float] = {}

    @property
    def over_at(self) -> float:
        """When the last talk is over if nobody says anything more; minus infinity for none."""
        return max(self._talks.values(), default=float("-inf")) + TALK_SECONDS

    def turned(self, who: str, now: float) -> None:
        """A player has turned to the agent, or it to them."""
        self._talks[who] = self._met[who] = now
        self._met = {each: at for each, at in self._met.items() if now - at < GREETED_SECONDS}

    def gone(self, who: str) -> None:
        """They have left: the talk with them is over."""
        self._talks.pop(who, None)

    def here(self, present: Collection[str]) -> None:
        """Only these are here."""
        self._talks = {who: at for who, at in self._talks.items() if who in present}

    def going_on(self, now: float) -> bool:
        """Whether anybody and the agent talk with each other."""
        return any(now - at < TALK_SECONDS for at in self._talks.values())

    def met_lately(self, who: str, now: float) -> bool:
        """Whether they exchanged words so short a while ago that a greeting would be odd."""
        return now - self._met.get(who, float("-inf")) < GREETED_SECONDS
