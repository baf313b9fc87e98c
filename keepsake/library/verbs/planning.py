"""What the agent means to do."""

from __future__ import annotations

from keepsake.books.plan import Plan, PlanState
from keepsake.books.plan_lines import read_plan
from keepsake.events.values import Author
from keepsake.happening import Person
from keepsake.language.perception import one_line
from keepsake.library.verbs.shared import OfMemory


class Planning(OfMemory):
    """The verbs ``plans``, ``plan`` and ``end_plan``."""

    def plans(self, *, ended: bool = False) -> list[Plan]:
        """Return what the agent means to do, in order of time.

        A plan whose time passed a quarter of an hour ago is missed. ``ended``: Whether to return
        plans that are done, dropped or missed, too.

        Raises:
            NoteRefused: The file of plans cannot be read or written.
        """
        with self._gate.together():
            book = self._opened.shelf.plans
            book.adopt()
            now = self._parts.clock.now()
            for plan in book.current:
                if plan.is_overdue(now):
                    why = "its time passed"
                    book.set_state(plan, PlanState.MISSED, why, by=Author.WORLD)
            found = book.items if ended else book.current
        return sorted(found, key=lambda plan: (plan.at is None, plan.at or now, plan.number))

    def plan(self, line: str) -> Plan:
        """Have the agent mean to do something.

        ``line``: ``tomorrow 12:00, the Quay, Anneke: show her the ferry``. Time, place and person
        may be left out.

        Raises:
            NoteRefused: The line says nothing to do, or twelve plans are open.
        """
        with self._gate.together():
            opened = self._opened
            people = [Person(page.name, page.key) for page in opened.shelf.people.known.values()]
            now = self._parts.clock.now().astimezone()
            return opened.shelf.plans.add(read_plan(one_line(line), now, (), people))

    def end_plan(self, number: int, *, done: bool = True, why: str = "") -> Plan:
        """Mark a plan as done, or as dropped.

        Raises:
            NoteRefused: There is no open plan with that number.
        """
        with self._gate.together():
            book = self._opened.shelf.plans
            state = PlanState.DONE if done else PlanState.DROPPED
            return book.set_state(book.find(str(number)), state, one_line(why))
