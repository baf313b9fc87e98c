"""The tools with which an agent commits itself: plans, promises, answers to invitations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from keepsake.agent.memory.books import Books
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.plans.appointments import Appointments
from keepsake.agent.plans.shown_plans import Known, missed_among, reminds_of
from keepsake.agent.runtime import Runtime
from keepsake.archive.records import Memory
from keepsake.books.aloud import Aloud
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plan_deeds import Seen
from keepsake.books.plan_lines import read_plan
from keepsake.errors import KeepsakeError, NoteRefused
from keepsake.events.values import Author
from keepsake.happening import KnownVerb, Person, PersonId
from keepsake.language.due import due_by, due_in
from keepsake.language.when import When
from keepsake.logs import Subsystem, get_logger
from keepsake.prompt import results
from keepsake.prompt.verbs import PRIVATE, Command

log = get_logger(Subsystem.TOOLS)

_MOST_WORDS_OF_A_NAME = 3
"""More words after ``promise`` are no name, but what is promised: ``a bowl of soup``."""


_SAME_HOUR = timedelta(hours=1)
"""How far apart a promise and a plan for it may be, if one answer makes both: "before noon" and
eleven."""


class CommitmentTools:
    """The tool calls about what the agent will do. Each method blocks.

    Each takes a command and the place where the agent is, and returns its result in a line.

    Attributes:
        places, in_reach: What a plan may name besides those of whom the agent has a page: places,
            and the people to whom it can walk. Set before a plan is made.
        seen: What the end of a plan is compared with. Set before a plan is ended.
        asked_back: The plans that were not ended, because the agent still carries what it got for
            them, each with that thing. The second time they are ended.
        to_bring: The plans whose answer the agent meant to bring by another plan, which was
            refused, each with the name of whom it is for. They are not ended in the same answer.
    """

    def __init__(self, memory: MemoryComponent, books: Books, services: Runtime) -> None:
        self.places: frozenset[str] = frozenset()
        self.in_reach: tuple[Person, ...] = ()
        self.seen = Seen()
        self.asked_back: dict[int, str] = {}
        self.to_bring: dict[int, str] = {}
        # by plan: a number of no plan, by which the agent has tried to end it
        self._wrong_numbers: dict[int, str] = {}
        self._memory = memory
        self._books = books
        self._services = services

    def promise(
        self,
        command: Command,
        _place: str,
        *,
        to: Person | None = None,
        act: int = 0,
        witnesses: tuple[PersonId, ...] | None = None,
        aloud: Aloud | None = None,
    ) -> str:
        """Note a promise; one for an hour to come is a plan, too, which reminds the agent.

        Args:
            act: The number of the memory of this act.
            witnesses: Who else may know of it; None for everybody.
            aloud: What was said aloud that asks for it; None for nothing.
        """
        who = command.to.removeprefix("to ")
        what = command.words.strip()
        if len(who.split()) > _MOST_WORDS_OF_A_NAME:  # no name: ``a bowl of soup``
            who = ""
            what = command.argument.strip()
        person = to if who and to is not None else Person(who)
        made = self._basis_of_promise(person)
        key = person.id or ("" if made is None else made.source_id or made.to_id)
        number = self._memory.memory.archive.last_number if made is None else made.number
        is_private = witnesses is not None
        if is_private and act:  # so that it is shown to those who may know of the act
            number = act
        now = self._services.clock.now().astimezone()
        due = due_by(command.when, now) if command.when else None
        if command.when and due is None:  # ``when you come``: it is for no certain day
            what = f"{command.when}: {what}"
        due = due or due_in(what, now)
        kind = CommitmentKind.PROMISE
        promise = Commitment(kind, who, what, number, key, aloud if is_private else None, due)
        noted = self._books.commitments.add(promise)
        plan = self._plan_for(noted, act, witnesses)
        reminded = f"{results.REMINDED}{plan.number}" if plan is not None else ""
        return f"{results.PROMISED}{noted.line}{reminded}"

    def _plan_for(
        self,
        promise: Commitment,
        act: int,
        witnesses: tuple[PersonId, ...] | None,
    ) -> Plan | None:
        """Return the plan that reminds the agent of a promise; None if its hour is not known.

        A plan that stands already for that person and hour is enough.

        Args:
            act: The number of the memory of the promise.
            witnesses: Who else may know of it; None for everybody.
        """
        now = self._services.clock.now().astimezone()
        hour = promise.due.clock if promise.due is not None else None
        if promise.due is None or hour is None or not self._services.thinking.current.plans:
            return None
        plan = Plan(
            what=promise.text,
            when=When(at=datetime.combine(promise.due.day, hour, now.tzinfo)),
            whom=Person(promise.who, promise.key) if promise.who else None,
            since=act,
            private=None if witnesses is None else frozenset(witnesses),
        )
        if promise.aloud is not None and promise.aloud.names(promise.who):
            plan = replace(plan, aloud=promise.aloud)  # others are shown the same of the promise
        if plan.at is None or plan.at <= now:
            return None
        book = self._books.plans
        stands = (
            each for each in book.current if each.is_one_with(plan) or self._is_for_one(each, plan)
        )
        try:
            return next(stands, None) or book.add(plan)
        except NoteRefused as refused:  # as many plans as there may be: the promise stands alone
            log.info(f"A promise has no plan: {refused}", agent=self._memory.name)
            return None

    def plan(
        self,
        command: Command,
        place: str,
        *,
        act: int,
        known: Known,
        witnesses: tuple[PersonId, ...] | None,
        aloud: Aloud | None,
        people: Iterable[Person],
        appointments: Appointments | None,
    ) -> str:
        """Make a plan.

        Args:
            act: The number of the memory of this act.
            known: The plans that its prompt showed.
            witnesses: Who else may know of it; None for everybody.
            aloud: What was said aloud that asks for it; None for nothing.
            people: Everybody whom the agent knows. The plan may name them, and who is in reach.
            appointments: The invitations, one of which it may answer.

        Raises:
            NoteRefused: It says nothing to do, stands already, or would keep an answer from whom
                it is for.
        """
        now = self._services.clock.now().astimezone()
        people = [*people, *self.in_reach]
        plan = replace(read_plan(command.words, now, self.places, people, place), since=act)
        if witnesses is not None:
            plan = replace(plan, private=frozenset(witnesses))
            self._check_sender(plan, known.plan)
            plan = plan if aloud is None else plan.with_aloud(aloud, people)
        before = self._books.plans.current
        reminder = self._reminder_for(plan)
        if reminder is not None:
            made = self._books.plans.put(reminder, plan)
        else:
            made = self._books.plans.add_or_join(plan)
        if appointments is not None:
            appointments.accept_by(made)
        if made in before:
            raise NoteRefused(f"That stands already as your plan {made.number}: {made.told}")
        return f"{results.PLANNED}{made.told}"

    def _reminder_for(self, plan: Plan) -> Plan | None:
        """Return the plan that only reminds of a promise of this answer, for that hour.

        The agent's own plan for it is better: it says where, with whom and how.
        """
        made = self._books.commitments.items
        reminders = (each for each in self._books.plans.current if reminds_of(each, made))
        return next((each for each in reminders if self._is_for_one(each, plan)), None)

    def _is_for_one(self, plan: Plan, other: Plan) -> bool:
        """Return whether two plans of one answer are for the same hour, whoever is named."""
        if plan.at is None or other.at is None or abs(plan.at - other.at) > _SAME_HOUR:
            return False
        if plan.private != other.private:
            return False
        window = self._memory.memory.context().window
        rests_on = {each.number: each.rests_on for each in window if each.is_own}
        return bool(rests_on.get(plan.since)) and rests_on.get(plan.since) == rests_on.get(
            other.since
        )

    def _check_sender(self, plan: Plan, carried_out: int) -> None:
        """Refuse a plan to bring an answer to who has sent the agent, if nobody may know of it.

        The answer was whispered, so the new plan would be known to nobody, and nobody could allow
        that it is told. The errand's own plan stays open instead.

        Args:
            plan: The new plan.
            carried_out: The number of the plan that is the reason for the answer; 0 for none.

        Raises:
            NoteRefused: It is such a plan.
        """
        open_plans = self._books.plans.current
        sent = next((each for each in open_plans if each.number == carried_out), None)
        if plan.private or plan.whom is None or sent is None:
            return
        if plan.whom.id in (sent.private or ()):
            self.to_bring[sent.number] = plan.whom.name
            told = f"{plan.whom.name} could not be told what was whispered to you for another plan"
            cure = f"leave plan {sent.number} open and write > wait for {plan.whom.name}"
            raise NoteRefused(told, cure)

    def answer(
        self,
        command: Command,
        _place: str,
        *,
        to: Person | None,
        act: int,
        appointments: Appointments | None,
    ) -> str:
        """Answer an invitation: ``agree`` or ``decline``.

        Raises:
            KeepsakeError: There is no invitation of that person, or the plan cannot be written.
        """
        if appointments is None or to is None:
            raise KeepsakeError("Nobody has asked you to meet")
        plan = appointments.settle(to, agrees=command.verb == KnownVerb.AGREE, act=act)
        return f"{results.DECLINED}{to.name}" if plan is None else f"{results.PLANNED}{plan.told}"

    def done(self, command: Command, _place: str, *, known: Known) -> str:
        """End a plan as done. ``known``: The plans that may be named.

        Raises:
            NoteRefused: No plan matches, or the agent still carries what it got for it. If it
                insists, the plan is done.
        """
        plan = self._plan_to_end(command.words, known)
        if whom := self.to_bring.pop(plan.number, ""):
            raise NoteRefused(f"{whom} is still to be told", f"> wait for {whom}, or go there")
        carries = self.seen.still_carried(plan) if plan.number not in self.asked_back else ""
        if carries and known.has_plan(plan):
            self.asked_back[plan.number] = carries
            cure = f"> give it first, or write > {KnownVerb.DONE} {plan.number} again"
            raise NoteRefused(f"You still carry the {carries}, so that it is not done", cure)
        lacks = self.seen.lacks(plan)
        self._books.plans.set_state(plan, PlanState.DONE, lacks)
        told = f" ({lacks})" if lacks and known.has_plan(plan) else ""
        return f"{results.PLAN_DONE}{known.told_of(plan)}{told}"

    def cancel(self, command: Command, _place: str, *, known: Known) -> str:
        """Drop a plan, with the reason after a colon. ``known``: The plans that may be named."""
        which, _, why = command.words.partition(": ")
        plan = self._plan_to_end(which, known)
        self._books.plans.set_state(plan, PlanState.DROPPED, why)
        return f"{results.PLAN_DROPPED}{known.told_of(plan)}"

    def _plan_to_end(self, which: str, known: Known) -> Plan:
        """Return the plan that an agent ends: by its number also one that the prompt did not show.

        By words that name its person also one that the prompt may not show, if it is the only one.

        Raises:
            NoteRefused: No plan matches, or several do.
        """
        number = which.strip(" .#")
        current = self._books.plans.current
        plan = next((each for each in current if number == str(each.number)), None)
        if plan is not None and known.may_end(plan):
            return plan
        if plan is None and number.isdecimal() and (meant := self._plan_meant(number, known)):
            return meant
        try:
            return self._plan_named(which, known)
        except NoteRefused:
            theirs = [each for each in current if known.means_unseen(each, which)]
            if len(theirs) != 1:
                raise
            return theirs[0]

    def _plan_meant(self, number: str, known: Known) -> Plan | None:
        """Return the plan that is carried out, if the agent insists on a number that no plan has.

        The first time it is told the right one. None if its prompt showed other plans, too.
        """
        shown = [each for each in self._books.plans.current if known.has_plan(each)]
        if [each.number for each in shown] != [known.plan]:
            return None
        if self._wrong_numbers.get(known.plan) == number:
            return shown[0]
        self._wrong_numbers[known.plan] = number
        return None

    def _plan_named(self, which: str, known: Known) -> Plan:
        """Return the plan that an agent names: a current one, or one that it missed lately.

        Raises:
            NoteRefused: No plan matches, or several do.
        """
        now = self._services.clock.now()
        missed = missed_among(self._books.plans.items, known.audience, now)
        numbers = {each.number for each in missed}
        return self._books.plans.find(which, known.has_plan, known.shown, also=numbers)

    def _basis_of_promise(self, person: Person) -> Memory | None:
        """Return the newest memory of that person and the agent, on which a promise is based."""
        if not person.name:
            return None
        for memory in reversed(self._memory.memory.context().window):
            if memory.is_own and memory.verb in PRIVATE:
                continue
            if any(_is(each, person) for each in (memory.actor, memory.addressee)):
                return memory
        return None

    def kept(self, command: Command, _place: str, *, known: Known) -> str:
        """Close a promise as kept, and the plan that was made to remind the agent of it.

        ``known``: Who hears the answer, and may know of it. Its plan ends by itself.
        """

        def shown(each: Commitment) -> Commitment | None:
            return each.as_known_to(lambda n: self._memory.private.may_hear([n], known.audience))

        promise = self._books.commitments.find(command.argument, shown)
        self._books.close_commitments(
            lambda each: each == promise, PlanState.DONE, by=Author.AGENT, going_on=known.plan
        )
        return f"{results.PROMISE_KEPT}{(shown(promise) or promise).line}"


def _is(known: Person | None, person: Person) -> bool:
    """Whether somebody in a memory is that person, whose identity may be unknown."""
    if known is None:
        return False
    if person.id:
        return known.is_same(person)
    return known.name.casefold() == person.name.casefold()
