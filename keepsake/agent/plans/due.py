"""What wakes an agent for a plan: a plan that is due, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.books.plan import Plan
from keepsake.happening import Person
from keepsake.language.perception import names


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
