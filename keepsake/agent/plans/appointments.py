"""Appointments: a player asks an agent to meet at a place and a time, and the agent keeps it.

A model that can act answers the :class:`Invitation` with ``> agree NAME`` or ``> decline NAME``.
Any other agent agrees by rule if it is free, and keeps the appointment by rule: it walks to the
place in time, waits, and greets.

Everything here runs on the reactor thread, unless a function says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

from keepsake.agent.body import Body
from keepsake.agent.memory.books import Books
from keepsake.agent.plans.invitations import Invitation
from keepsake.agent.plans.plans import Plans
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.people import people_near
from keepsake.books.plan import GRACE, Plan, PlanState
from keepsake.errors import KeepsakeError
from keepsake.happening import Person
from keepsake.tasks.fallback import stock_line

STAY = timedelta(hours=1)
"""How long a kept appointment keeps an agent with its people, or one waits for somebody: about an
evening's table or a talk. Without a bound, guests who wait for each other to leave would stay for
ever."""
OPEN_SECONDS = 600.0
"""How long an invitation waits for an answer. After that the player has gone on to other things."""
APART = timedelta(hours=1)
"""The time that must lie between two appointments that are kept by rule: to walk, meet and talk."""
_COMES = (PlanState.OPEN, PlanState.DOING, PlanState.DONE)
"""The states of a plan whose agent has come to where it is kept, or means to."""


class Appointments:
    """The invitations of one agent, and its appointments that are kept by rule.

    Args:
        place: Returns the name of the place where the agent is; empty if it is nowhere.
        is_here: Returns whether a person is with the agent.
        walk: Walks to a place by its name, then calls; returns False if there is no way.
        speak: Says words to a person.
    """

    def __init__(
        self,
        books: Books,
        plans: Plans,
        services: Runtime,
        *,
        place: Callable[[], str],
        is_here: Callable[[Person], bool],
        walk: Callable[[str, Callable[[], None]], bool],
        speak: Callable[[str, Person], None],
    ) -> None:
        self._books = books
        self._plans = plans
        self._services = services
        self._place = place
        self._is_here = is_here
        self._walk = walk
        self._speak = speak
        self._open: dict[str, tuple[Invitation, float]] = {}  # by identity, with its second
        # By number of a plan: since when the agent waits where it means to meet somebody.
        self._waits_since: dict[int, datetime] = {}

    # -- invitations

    def invite(self, invitation: Invitation) -> None:
        """Take in an invitation; an older one of the same player is replaced."""
        self._open[invitation.by.key] = (invitation, self._services.seconds())

    def open_from(self, person: Person | None) -> Invitation | None:
        """Return the invitation of a person that waits for an answer; None if there is none."""
        found = self._open.get(person.key) if person is not None else None
        if found is None or self._services.seconds() - found[1] > OPEN_SECONDS:
            return None
        invitation = found[0]
        return invitation if invitation.at > self._services.clock.now() else None

    def settle(self, person: Person, *, agrees: bool, act: int = 0) -> Plan | None:
        """Answer an invitation, and tell the player. Blocks; call it in a worker thread.

        Args:
            act: The number of the memory of the answer; 0 for an answer by rule.

        Returns:
            The plan; None if the agent declined.

        Raises:
            KeepsakeError: There is no such invitation, or the plan cannot be written.
        """
        invitation = self.open_from(person)
        if invitation is None:
            raise KeepsakeError(f"{person.name} has not asked you to meet")
        plan = self._books.plans.add_or_join(invitation.plan(act)) if agrees else None
        self._settled(invitation, agrees=agrees)
        return plan

    def accept_by(self, plan: Plan) -> None:
        """Take a plan of the agent's own as its yes to the invitation that it is like."""
        for invitation, _ in [*self._open.values()]:
            still_open = self.open_from(invitation.by) is invitation
            if still_open and plan.is_alike(invitation.plan(plan.since)):
                self._settled(invitation, agrees=True)

    def _settled(self, invitation: Invitation, *, agrees: bool) -> None:
        """Close an invitation, and tell the player the answer."""
        self._open.pop(invitation.by.key, None)
        self._services.post(lambda: invitation.settled(agrees))

    def is_free(self, at: datetime) -> bool:
        """Return whether nothing else is planned at a time, and the agent is awake then.

        An agent that is asked is awake now, and for a while, whatever the hour.
        """
        for plan in self._plans.book.current:
            if plan.at is not None and abs(plan.at - at) < APART:
                return False
        is_soon = at - self._services.clock.now() < APART
        return is_soon or not self._services.sleeping.current.is_night(at)

    def answer_line(self, invitation: Invitation, words: str, *, agrees: bool) -> str:
        """Return what an agent says by rule to an invitation that was asked in ``words``."""
        kind = "agreed" if agrees else "busy"
        return stock_line(kind, words, invitation.by.name, self._random(invitation))

    def _random(self, invitation: Invitation) -> Random:
        return Random(invitation.at.timestamp())

    # -- staying at them

    def stays(self, agent: Body) -> bool:
        """Return whether the agent waits for somebody here, or is together with them still.

        It waits if a plan says that it will meet them here when they come. It has kept an
        appointment with the agents who have a plan for the same time and place, and the player whom
        it was to meet there. An errand that it has run there is none. It costs no call: the
        ordinary day only waits, until they part or for :data:`STAY`.
        """
        if self._waits_here():
            return True
        now = self._services.clock.now()
        here = people_near(agent)
        return any(
            self._is_with(plan, each, agent)
            for plan in self._plans.book.items
            if plan.state is PlanState.DONE
            and plan.at is not None
            and now - plan.at < STAY
            and self._is_met_here(plan)
            for each in here
        )

    def _waits_here(self) -> bool:
        """Whether somebody is to be met here who has not come yet."""
        now = self._services.clock.now()
        place = self._place()
        waiting = [
            plan.number
            for plan in self._plans.book.current
            if plan.when is not None and plan.when.meeting and plan.where and plan.where == place
        ]
        self._waits_since = {each: self._waits_since.get(each, now) for each in waiting}
        return any(now - since < STAY for since in self._waits_since.values())

    def _is_met_here(self, plan: Plan) -> bool:
        """Whether a plan is an appointment here, or one with somebody, wherever they meet.

        An errand names neither.
        """
        return plan.where == self._place() if plan.where else plan.whom is not None

    def _is_with(self, plan: Plan, person: CharacterObject, agent: Body) -> bool:
        """Whether somebody here is one of the people of an appointment that the agent has kept."""
        if is_agent(person):
            mind = person.mind
            return mind is not None and mind.appointments.comes_to(plan, self._place(), agent)
        whom = plan.whom
        return bool(plan.where) and whom is not None and whom.id == identity_of(person)

    def comes_to(self, plan: Plan, place: str, by: Body) -> bool:
        """Return whether this agent has come, or means to come, to another one's appointment.

        Args:
            plan: The plan of the other one.
            place: The name of the place where both are.
            by: The other one.
        """
        for each in self._plans.book.items:
            if each.at is None or plan.at is None or each.state not in _COMES:
                continue
            is_there = each.where == place
            is_with = not each.where and each.whom is not None and each.whom.id == identity_of(by)
            if abs(each.at - plan.at) <= GRACE and (is_there or is_with):
                return True
        return False

    # -- keeping them by rule

    def keep(self, plan: Plan) -> None:
        """Go on with a plan by rule: walk to its place, wait there, greet its person.

        It does nothing for a plan without place and person: a rule cannot do that.
        """
        if plan.where and self._place() != plan.where:
            self._set_off(plan)
        elif plan.whom is None:
            self._plans.end(plan, done=bool(plan.where))
        elif self._is_here(plan.whom):
            self._speak(stock_line("met", "", plan.whom.name, Random(plan.number)), plan.whom)
            self._plans.end(plan, done=True)
        else:
            self._plans.began(plan)

    def _set_off(self, plan: Plan) -> None:
        self._plans.began(plan)

        def arrived() -> None:
            current = self._plans.named(plan.number)
            if current is not None and self._place() == plan.where:
                self.keep(current)

        self._walk(plan.where, arrived)
