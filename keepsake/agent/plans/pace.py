"""How often an agent may think of its plans, and how fast the steps of one follow."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from keepsake.agent.runtime import Runtime

HOUR = 3600.0
"""Seconds of an hour, in which thoughts of plans are counted."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """What was done for a plan in one thought.

    Attributes:
        place: Where its agent was.
        deeds: The deeds that succeeded, as the model wrote them, without words.
        newest: The newest memory when it had ended.
    """

    place: str
    deeds: frozenset[str]
    newest: int


class FruitlessSteps:
    """Counts the steps of plans that brought nothing new, one after the other.

    Each lets the next one wait twice as long. So a model that says the same again and again, to
    nobody who answers, is soon asked rarely, and a plan that needs patience is not given up.

    Attributes:
        last: The last step of each plan, by number.
    """

    def __init__(self) -> None:
        self.last: dict[int, PlanStep] = {}
        self._counts: dict[int, int] = {}

    def fruitful(self, number: int) -> None:
        """Record that a step of a plan, by its number, has brought something new."""
        self._counts.pop(number, None)

    def fruitless(self, number: int) -> None:
        """Record that a step of a plan, by its number, has brought nothing new."""
        self._counts[number] = self._counts.get(number, 0) + 1

    def pause(self, number: int, seconds: float) -> float:
        """Return for how long a plan's next step waits that would come after some seconds."""
        doublings = max(self._counts.get(number, 0) - 1, 0)
        return seconds if not doublings else min(seconds * 2.0**doublings, HOUR)


class ThoughtAllowance:
    """The thoughts about plans that an agent may have in an hour: the setting ``plan_thoughts``."""

    def __init__(self, services: Runtime) -> None:
        self._services = services
        self._begun = deque[float]()  # when those of the last hour began, in seconds

    def take(self) -> bool:
        """Count a thought that begins now; return False if those of this hour are used."""
        seconds = self._services.seconds()  # not the clock, which may be set back
        while self._begun and seconds - self._begun[0] > HOUR:
            self._begun.popleft()
        most: int = self._services.thinking.current.plan_thoughts
        if len(self._begun) >= most:
            return False
        self._begun.append(seconds)
        return True

    @property
    def seconds_left(self) -> float:
        """Seconds until the oldest thought of this hour no longer counts."""
        if not self._begun:
            return HOUR
        return HOUR - (self._services.seconds() - self._begun[0])
