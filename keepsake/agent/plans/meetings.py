"""Which plans of an agent wait for people, and who of them has come or gone.

Everything here runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from keepsake.agent.plans.due import Due
from keepsake.agent.plans.next_steps import NextSteps
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plans import PlanBook
from keepsake.happening import Person, PersonId
from keepsake.language.perception import names


class Begin(Protocol):
    """Wakes the agent for a plan."""

    def __call__(self, due: Due, *, again: bool = False) -> None:
        """Wake it; ``again``: also if it was woken for this plan a moment ago."""


class Meetings:
    """The plans of one agent that wait for people.

    Args:
        book: The plans as a file.
        steps: What plans that were begun wait for.
        is_elsewhere: Returns whether a plan has a place, and the agent is not there.
        was_woken_lately: Returns whether the agent was woken for a plan a moment ago, by number.
        begin: Wakes the agent for a plan.

    Attributes:
        present: The identities of those who are with the agent.
        is_known: Returns whether the agent knows somebody of that name.
    """

    def __init__(
        self,
        book: PlanBook,
        steps: NextSteps,
        *,
        is_elsewhere: Callable[[Plan], bool],
        was_woken_lately: Callable[[int], bool],
        begin: Begin,
    ) -> None:
        self.present: frozenset[PersonId] = frozenset()
        self.is_known: Callable[[str], bool] = lambda _: True
        self._book = book
        self._steps = steps
        self._is_elsewhere = is_elsewhere
        self._was_woken_lately = was_woken_lately
        self._begin = begin
        # by plan: its state when its person came, for whom the agent was not woken yet, and who
        self._met: dict[int, tuple[PlanState, Person]] = {}
        self._raised = 0  # the number of the last plan for whose person the agent was woken

    def set_present(self, people: Iterable[Person], *, but: int = 0) -> None:
        """Report who is with the agent; it is woken for a plan that waits for a newcomer.

        ``but``: The number of a plan that the agent has just acted on, where they are; 0 for none.
        """
        here = [each for each in people if each.id]
        came = [each for each in here if each.id not in self.present]
        self.present = frozenset(each.id for each in here)
        self._steps.set_present(self.present)
        self._begin_left(here)
        for plan in self._book.current:
            who = next((each for each in came if self._waits_for(plan, each)), None)
            if who is not None and plan.number != but:
                self._met[plan.number] = (plan.state, who)
        self._begin_met()

    def is_met(self, plan: Plan) -> bool:
        """Return whether the person for whom a plan waits is here; True if it waits for nobody."""
        if plan.is_begun or plan.when is None or not plan.when.meeting:
            return True
        whom = plan.whom
        return whom is None or not whom.id or whom.id in self.present

    def _begin_met(self) -> None:
        """Wake the agent for a plan whose person has come: one plan after the other.

        The next one comes when a thought has begun the one before, or a minute later.
        """
        waiting = [*self._still_met()]
        self._met = {plan.number: (plan.state, who) for plan, who in waiting}
        last = self._book.current_of(self._raised)
        is_new = self._was_woken_lately(self._raised)
        if not waiting or (is_new and last is not None and last.state is PlanState.OPEN):
            return
        plan, who = waiting[0]
        del self._met[plan.number]
        self._raised = plan.number
        due = Due(plan, f"{who.name} is here", who, gathers=True)
        self._begin(due, again=plan.number in self._steps.waits)

    def _still_met(self) -> Iterator[tuple[Plan, Person]]:
        """Yield the plans whose person came and is still here, and that have not changed since."""
        for number, (state, who) in self._met.items():
            plan = self._book.current_of(number)
            if plan is not None and plan.state is state and who.id in self.present:
                yield plan, who

    def _begin_left(self, here: Iterable[Person]) -> None:
        """Wake the agent for a plan that waits until somebody whom it knows has gone."""
        people = tuple(here)
        for plan in self._book.current:
            gone = plan.when.leaving if plan.when is not None and plan.is_left(people) else ""
            if gone and self.is_known(gone):
                self._begin(Due(plan, f"{gone} has gone"))
                return

    def _waits_for(self, plan: Plan, person: Person) -> bool:
        """Return whether a plan goes on when this person comes to where the agent is.

        That is a plan that waits for the meeting there, or one that was begun and is with them.
        """
        if self._is_elsewhere(plan):
            return False
        if plan.state is PlanState.OPEN:
            return plan.is_met([person])
        if names(self._steps.waits.get(plan.number, ""), person.name):
            return True
        return plan.is_begun and plan.whom is not None and plan.whom.id == person.id
