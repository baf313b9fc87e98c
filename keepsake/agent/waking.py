"""What wakes an agent for a plan, and how often it may be woken."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from keepsake.agent.attention import Impulse, ImpulseKind
from keepsake.agent.runtime import Runtime
from keepsake.books.plan import Plan
from keepsake.happening import Person
from keepsake.language.perception import names

HOUR = 3600.0
"""Seconds of an hour, in which thoughts of plans are counted."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Whose answer a plan waited for in vain, and since which memory.

    The answer may come after the step is due and before its prompt is made. So the prompt says by
    its own window whether it has come.
    """

    person: Person
    since: int  # the newest memory that the agent knew when it spoke to them


@dataclass(frozen=True, slots=True)
class Due:
    """A plan that wakes its agent, and why."""

    plan: Plan
    why: str  # ``its time has come``, ``Anneke is here``, ``it goes on``
    person: Person | None = None  # who has answered what was asked for it, or has come for it
    silence: Silence | None = None  # who had not answered when the step was due
    gathers: bool = False  # whether somebody has just come for it, who may speak in a moment


def impulse_of_plan(due: Due, named: Iterable[Person] = ()) -> Impulse:
    """Return the impulse of a thought about a plan.

    Args:
        named: The people whom the agent knows.
    """
    plan = due.plan
    whom = due.person or person_of(plan, named) or Person("")
    return Impulse(
        ImpulseKind.PLAN,
        from_player=False,
        source=whom.name,
        source_id=whom.id,
        plan=plan.number,
        why=due.why,
        confided=plan.confided,
    )


def person_of(plan: Plan, known: Iterable[Person]) -> Person | None:
    """Return whom a plan is with: its person, or else the only one whom its words name.

    Args:
        known: The people whom the agent knows.
    """
    if plan.whom is not None:
        return plan.whom
    found = {each.id: each for each in known if names(plan.what, each.name)}
    return next(iter(found.values())) if len(found) == 1 else None


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
