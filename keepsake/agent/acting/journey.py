"""A walk through several exits, which an act has begun."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred

from keepsake.happening import (
    Person,
)


class Journey:
    """A walk that an act has begun, through several exits. It ends once, there or elsewhere.

    Args:
        person: To whom it leads; None for a place.

    Attributes:
        plan: The number of the plan for which the agent has set off by itself; 0 for a walk that
            its model wants.
        ended: Fires with whether the agent got there, when the walk ends. What the agent wrote
            after the walk is done then.
        is_over: Whether the walk has ended.
        at_once: Whether it ended as it began: the agent was there already.
        missed: Why the agent did not get there, as the prompt of its plan says it; empty if it did.
    """

    def __init__(self, person: Person | None = None) -> None:
        self.person = person
        self.plan = 0
        self.ended: Deferred[bool] = Deferred()
        self.is_over = False
        self.at_once = False
        self.missed = ""
        self._awaits: Callable[[], bool] = lambda: False

    @classmethod
    def already_there(cls, person: Person | None = None) -> Journey:
        """Return a walk that has ended, because the agent is where it would lead."""
        journey = cls(person)
        journey.at_once = True
        journey.end()
        return journey

    def await_by(self, awaits: Callable[[], bool]) -> Deferred[bool]:
        """Return :attr:`ended`, for a turn that goes on then.

        ``awaits``: Whether it still does when the walk ends.
        """
        self._awaits = awaits
        return self.ended

    def end(self, missed: str = "") -> bool:
        """End the walk, and let a turn that waits for that go on; return whether one does.

        ``missed``: Why the agent did not get where it wanted to; empty if it did.
        """
        awaited = self._awaits()
        self.is_over = True
        self.missed = missed
        self.ended.callback(not missed)
        return awaited
