"""What an agent means to do: ``plans.md`` in its folder, one line a plan.

::

    - [ ] 2026-11-29 12:00, at The Quay, with Anneke: show her the ferry (plan 3, memory 212)
    - [>] ask Bram for honey; bring it to Oswin (plan 4, memory 230, by 12-20261101090000)
    - [x] when Jonas comes: give him his soup (plan 2, memory 198; he had it)

The mark says its state: open, begun ``>``, done ``x``, dropped ``-`` or missed ``!``. The words
before the colon say when, where and with whom; each may be left out. A person may edit the file,
and may write a line as the agent does: ``- [ ] tomorrow noon, the Quay, Anneke: show her the
ferry``. :meth:`PlanBook.adopt` gives such a line a number and a date. Every change is also a line
in the archive, which :class:`PlanBook` passes on.

Reading is fast and never raises. Writing blocks, so do it in a worker thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from keepsake.archive.line_types import LineType
from keepsake.books.files import NO_OWNER, Owner
from keepsake.books.kept_lines import ListBook, find_item
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plan_lines import LONGEST_PLAN, clean_reason, line_of, plan_of
from keepsake.errors import NoteRefused
from keepsake.events.values import Author, MemoryOp
from keepsake.happening import Person
from keepsake.language.perception import shorten
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.PLANS)

PLANS = "plans.md"
"""The file of an agent's folder with its plans."""
MOST_OPEN = 12
"""The most plans that are open or begun. More would crowd a prompt, and nobody means so much."""
KEPT_ENDED = 20
"""How many ended plans the file keeps; the archive has all."""


class PlanBook(ListBook[Plan]):
    """The plans of one agent; safe to use from several threads.

    Args:
        record: Appends a line to the archive; called after each change, in the thread that made
            it. It may raise, and then the file has the change and the archive has not.
        now: Returns the present time, for lines that a person wrote.
        people: Returns the people whom such lines may name.
    """

    def __init__(
        self,
        path: Path,
        owner: Owner = NO_OWNER,
        *,
        record: Callable[[dict[str, Any]], None] = lambda _: None,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
        people: Callable[[], Iterable[Person]] = tuple,
    ) -> None:
        self._now = now
        self._people = people
        self._record = record
        self._told = set[str]()  # lines of which the log has said why they are no plans
        # The states that the archive has, by plan; None before they were read.
        self._recorded: dict[int, PlanState] | None = None
        self._changing = threading.RLock()  # held from a change of the file until it is recorded
        super().__init__(path, owner, self._plan_of, line_of)

    def _plan_of(self, line: str) -> Plan | None:
        """Return the plan that a line of the file says; the log says once why it says none."""

        def tell(refused: NoteRefused) -> None:
            if line not in self._told:
                self._told.add(line)
                log.warning(str(refused), path=self.path)

        return plan_of(line, self._now(), tell, self._people())

    @property
    def current(self) -> tuple[Plan, ...]:
        """The plans that are open or begun, in the order of the file."""
        return tuple(each for each in self.items if not each.state.has_ended)

    def current_of(self, number: int) -> Plan | None:
        """Return the plan with that number if it is open or begun; None if there is none."""
        return next((each for each in self.current if each.number == number), None)

    def add(self, plan: Plan, by: Author = Author.AGENT) -> Plan:
        """Add a plan, and return it with its number.

        Raises:
            NoteRefused: The same is planned already, too much is, or the file cannot be written.
        """
        made = plan

        def make(items: tuple[Plan, ...]) -> Plan:
            nonlocal made
            current = [each for each in items if not each.state.has_ended]
            if any(each.is_same(plan) for each in current):
                raise NoteRefused("That is planned already")
            if len(current) >= MOST_OPEN:
                public = (each.what for each in current if each.private is None)
                listed = "; ".join(shorten(each, 40) for each in public)
                raise NoteRefused(f"{len(current)} plans are open: {listed}", "Drop one first")
            number = max((each.number for each in items), default=0) + 1
            made = replace(plan, number=number)
            return made

        with self._changing:
            self._change(make)
            self._changed(made, "made", by)
        return made

    def add_or_join(self, plan: Plan, by: Author = Author.AGENT) -> Plan:
        """Add a plan; one for an appointment that stands already is joined with that.

        Returns:
            The plan with its number; the plan that stood, unchanged, if there was nothing to add.

        Raises:
            NoteRefused: As in :meth:`add`.
        """
        with self._changing:
            stands = next((each for each in self.current if self._may_join(each, plan)), None)
            if stands is None:
                return self.add(plan, by)
            joined = stands.joined_with(plan)
            if len(joined.what) > LONGEST_PLAN:
                return self.add(plan, by)
            if joined != stands:
                self._rewrite(stands, joined)
                self._changed(joined, joined.state.value, by)
            return joined

    def put(self, stands: Plan, plan: Plan, by: Author = Author.AGENT) -> Plan:
        """Write a plan into the place of one that stands, with its number, and return it.

        Raises:
            NoteRefused: The file has no such plan any more, or cannot be written.
        """
        made = replace(plan, number=stands.number)
        with self._changing:
            self._rewrite(stands, made)
            self._changed(made, made.state.value, by)
        return made

    def _may_join(self, stands: Plan, plan: Plan) -> bool:
        """Return whether two plans are for one appointment that is still to come."""
        now = self._now()
        to_come = stands.state is PlanState.OPEN and all(
            each.at is not None and each.at > now for each in (stands, plan)
        )
        return to_come and stands.is_one_with(plan)

    def adopt(self) -> list[Plan]:
        """Give plans that a person wrote into the file a number and a date; return them.

        Raises:
            NoteRefused: The file cannot be written.
        """
        adopted = list[Plan]()
        if all(each.number for each in self.items):
            return adopted

        def make(source: str | None, items: tuple[Plan, ...] | None) -> str:
            adopted.clear()
            last = max((each.number for each in items or ()), default=0)
            lines = list[str]()
            for line in (source or "").splitlines(keepends=True):
                item = self._plan_of(line.rstrip())
                if item is None or item.number:
                    lines.append(line)
                    continue
                last += 1
                adopted.append(replace(item, number=last))
                lines.append(line_of(adopted[-1]) + "\n")
            return "".join(lines)

        with self._changing:
            self.store.change(self.path, make)
            for each in adopted:
                self._changed(each, "made", Author.BUILDER)
        return adopted

    def record_changes(self, newest_first: Callable[[], Iterable[Mapping[str, Any]]]) -> None:
        """Record the states that the archive does not have; blocks.

        The file may be ahead of the archive: a person edited it, or the world was killed between
        the two. Call it after :meth:`adopt`.

        Args:
            newest_first: Returns the archive's lines. They are read once, back to the last change
                of each plan in the file.
        """
        with self._changing:
            items = [each for each in self.items if each.number]
            if self._recorded is None:
                self._recorded = _states_in(newest_first(), {each.number for each in items})
            for plan in items:
                if self._recorded.get(plan.number) is not plan.state:
                    made = plan.number not in self._recorded and plan.state is PlanState.OPEN
                    self._changed(plan, "made" if made else plan.state.value, Author.BUILDER)

    def find(
        self,
        which: str,
        may: Callable[[Plan], bool] = lambda _: True,
        shown: Callable[[Plan], Plan] = lambda plan: plan,
        *,
        also: Collection[int] = (),
    ) -> Plan:
        """Return the current plan that a number, or words that only it has, refer to.

        Args:
            may: Returns whether a plan may be named. No refusal tells of any other.
            shown: Returns a plan as it is known. Its words are those that refer to it.
            also: The numbers of plans that have ended and may be named, too.

        Raises:
            NoteRefused: No plan matches, or several do.
        """
        named = (x for x in self.items if not x.state.has_ended or x.number in also)
        current = [each for each in named if may(each)]
        numbers = [each.number for each in current]
        lines = [shown(each).line for each in current]
        return current[find_item(which, numbers, lines, "plans")]

    def set_state(
        self, plan: Plan, state: PlanState, why: str = "", by: Author = Author.AGENT
    ) -> Plan:
        """Change the state of a plan, and return it as it is now.

        Raises:
            NoteRefused: The file has no such plan, or cannot be written.
        """
        changed = replace(plan, state=state, why=clean_reason(why))
        with self._changing:
            self._rewrite(plan, changed)
            self._changed(changed, state.value, by)
        return changed

    def _rewrite(self, plan: Plan, changed: Plan) -> None:
        """Write a changed plan into its line, and drop the oldest ended plans.

        Raises:
            NoteRefused: The file has no such plan, or cannot be written.
        """
        found = False

        def make(source: str | None, _: tuple[Plan, ...] | None) -> str:
            nonlocal found
            lines = list[str]()
            ended = list[int]()
            for line in (source or "").splitlines(keepends=True):
                item = self._plan_of(line.rstrip())
                if item is not None and not found and item.is_same(plan):
                    found = True
                    item = changed
                    lines.append(line_of(changed) + "\n")
                else:
                    lines.append(line)
                if item is not None and item.state.has_ended:
                    ended.append(len(lines) - 1)
            for place in reversed(ended[:-KEPT_ENDED]):
                del lines[place]
            return "".join(lines)

        self.store.change(self.path, make)
        if not found:
            raise NoteRefused(f"There is no plan {shorten(plan.what, 60)!r} any more")

    def _changed(self, plan: Plan, change: str, by: Author) -> None:
        """Record a change in the archive, and as an event."""
        self._record(plan.to_record(change, self._now()))
        if self._recorded is not None:
            self._recorded[plan.number] = plan.state
        self.store.emit(MemoryOp.PLAN, by, n=plan.number, of=change, size=len(plan.what))


def _states_in(
    newest_first: Iterable[Mapping[str, Any]], numbers: set[int]
) -> dict[int, PlanState]:
    """Return the last recorded state of each of these plans, from lines of the archive."""
    found = dict[int, PlanState]()
    if not numbers:
        return found
    for line in newest_first:
        number = line.get("id")
        if line.get("type") == LineType.PLAN and number in numbers and number not in found:
            found[number] = PlanState(line["state"])
            if len(found) == len(numbers):
                break
    return found
