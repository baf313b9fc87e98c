"""Keeps the clock of one agent's plans, and wakes the agent when one is due.

A plan comes from the model alone. The world keeps the time: when a plan's time has come, when the
person for whom it waits is met, or when its last step is done, the agent thinks with the plan
before it. A plan that was begun is ``doing`` in the file, so neither a restart nor a clock that is
set back wakes anybody twice. A plan whose time passed while the agent could not think is missed.

Everything here runs on the reactor thread; what writes the file runs in a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from twisted.internet.defer import Deferred

from keepsake.agent.plans.due import Due
from keepsake.agent.plans.meetings import Meetings
from keepsake.agent.plans.next_steps import NextSteps
from keepsake.agent.plans.pace import ThoughtAllowance
from keepsake.agent.plans.plan_states import PlanStates
from keepsake.agent.plans.shown_plans import missed_among, shown_among
from keepsake.agent.runtime import Runtime
from keepsake.agent.scheduler import Alarm
from keepsake.archive.privacy import Audience
from keepsake.books.plan import GRACE, Plan, PlanState
from keepsake.books.plans import PlanBook
from keepsake.happening import PersonId
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.PLANS)

CHECK_SECONDS = 20.0
"""The longest time between two looks at the clock: a person may edit the file or set the clock."""
AGAIN_SECONDS = 60.0
"""How long an agent that did not begin a due plan is left alone before it is woken again."""
THOUGHT_SECONDS = 15.0
"""How long before its walk an agent is woken for a plan elsewhere: about one call of a model."""
SOON = timedelta(minutes=5)
"""How long before the time of a plan an agent does not set out on its ordinary day any more. A walk
through a village takes a minute or less, and a thought some seconds."""
AT_ONCE = timedelta(minutes=1)
"""How soon after it is made a plan comes that is for now: the shortest time that can be named."""
BUSY = timedelta(hours=1)
"""How long a plan that was begun and not ended keeps an agent from its ordinary day."""
ITS_TIME = "its time has come"
"""Why a plan is due, as its prompt says it."""


class Plans:
    """The plans of one agent, and their clock.

    Args:
        name: The agent's name, for the log.
        book: The plans as a file.
        wake: Begins a thought about a due plan as soon as the agent can think.
        walk_seconds: Returns how long the way to a named place takes, in seconds; 0 if the agent
            is there, or knows no way.

    Attributes:
        steps: When the next step of a plan that was begun comes, and what plans wait for.
        set_off: Lets the agent walk by itself to the place of a plan whose time has come; returns
            whether it does. Then it thinks when it is there, with its person.
        meetings: Which plans wait for people, and who of them is here.
        is_by_rule: Returns whether a rule carries out a plan, and not the model.
    """

    def __init__(
        self,
        name: str,
        book: PlanBook,
        services: Runtime,
        wake: Callable[[Due], None],
        walk_seconds: Callable[[str], float],
    ) -> None:
        self.book = book
        self._name = name
        self._services = services
        self._wake = wake
        self._walk_seconds = walk_seconds
        self._alarm = Alarm(services.scheduler)  # for the clock
        self.steps = NextSteps(book, services.scheduler, self._wake_for_step)
        self.set_off: Callable[[Plan], bool] = lambda _: False
        self.is_by_rule: Callable[[Plan], bool] = lambda _: not services.acts_unprompted
        self.meetings = Meetings(
            book,
            self.steps,
            is_elsewhere=self._is_elsewhere,
            was_woken_lately=self._was_woken_lately,
            begin=self._begin,
        )
        self._woken: dict[int, float] = {}  # by plan: when the agent was woken for it, in seconds
        self._states = PlanStates(name, book, services)
        self._allowance = ThoughtAllowance(services)

    @property
    def enabled(self) -> bool:
        """Whether agents plan: the setting ``plans`` of ``thinking.md``."""
        enabled: bool = self._services.thinking.current.plans
        return enabled

    # -- what a prompt shows

    def shown(self, audience: Audience) -> tuple[Plan, ...]:
        """Return the plans that a prompt with this audience shows, in order of time.

        Plans without a time come last, in the order in which they were made.
        """
        return shown_among(self.book.current, audience) if self.enabled else ()

    def missed(self, audience: Audience) -> tuple[Plan, ...]:
        """Return the plans that were missed lately."""
        if not self.enabled:
            return ()
        return missed_among(self.book.items, audience, self._services.clock.now())

    # -- the clock

    def start(self) -> None:
        """Look at the clock now, and from then on every :data:`CHECK_SECONDS`.

        A plan that was begun goes on: the world may have been killed in the middle of a step.
        """
        self._alarm.set(0.0, self._resume)

    def _resume(self) -> None:
        self._alarm.set(CHECK_SECONDS, self._tick)
        plan = self.steps.begun
        # A rule can keep an appointment, but not do what a model was about.
        goes_on = plan is not None and (self._services.acts_unprompted or plan.whom is not None)
        if plan is not None and goes_on and not self._has_passed(plan):
            self._begin(Due(plan, "the world stopped in the middle of it"), again=True)
        self.check()

    def _has_passed(self, plan: Plan) -> bool:
        """Return whether a plan's time passed so long ago that it no longer matters to begin it."""
        return plan.at is not None and self._services.clock.now() - plan.at > BUSY

    def close(self) -> None:
        """Stop the clock."""
        self._alarm.cancel()
        self.steps.close()

    def _tick(self) -> None:
        self.check()
        self._alarm.set(CHECK_SECONDS, self._tick)

    def check(self) -> None:
        """Wake the agent for the first plan whose time has come; mark what was missed."""
        if not self.enabled:
            return
        now = self._services.clock.now()
        for plan in self.book.current:
            if not plan.is_overdue(now):
                continue
            if plan.state is PlanState.OPEN:
                self._states.set(plan, PlanState.MISSED, "its time passed")
            elif plan.whom is not None and self.is_by_rule(plan):
                # A model ends a plan itself; a rule waits for the person and then gives up.
                self._states.set(plan, PlanState.DROPPED, f"{plan.whom.name} did not come")
        due = [each for each in self.book.current if self._is_due(each, now)]
        if due:
            first = min(due, key=lambda each: each.at or now)
            if self.set_off(first):
                self._woken[first.number] = self._services.seconds()
                self.begin(first.number)
            else:
                self._begin(Due(first, ITS_TIME))

    def _is_due(self, plan: Plan, now: datetime) -> bool:
        if plan.state is not PlanState.OPEN or plan.at is None or plan.is_overdue(now):
            return False
        walk = self._walk_seconds(plan.where) if plan.where else 0.0
        before = timedelta(seconds=walk + THOUGHT_SECONDS if walk else 0.0)
        return now >= plan.at - before

    def take_due_with(self, person: PersonId, here: Collection[PersonId]) -> Due | None:
        """Take the plan that is due within a moment, here, with somebody who speaks to the agent.

        One answer is for both. None for no such plan, and for one of which somebody here may not
        know.

        ``here``: Everybody who is with the agent.
        """
        if not self.enabled:
            return None
        now = self._services.clock.now()
        for plan in self.book.current:
            is_open = plan.state is PlanState.OPEN and plan.may_be_done_before(here)
            if not is_open or plan.at is None or plan.whom is None or plan.whom.id != person:
                continue
            if not self.is_here(plan) or plan.is_overdue(now) or plan.at - now > AT_ONCE:
                continue
            if not self._allowance.take():
                return None
            due = Due(plan, ITS_TIME, plan.whom)
            self._woken[plan.number] = self._services.seconds()
            self.steps.reach(due)
            return due
        return None

    def may_ask(self, person: PersonId) -> bool:
        """Return whether what is said for a plan to another agent is certain to get an answer.

        One answer of each agent to each step is, and it counts as a thought about the plan.
        """
        if self.steps.was_asked(person) or not self.take_thought():
            return False
        self.steps.ask(person)
        return True

    def take_thought(self) -> bool:
        """Count a thought about plans; return False if those of this hour are used."""
        return self.enabled and self._allowance.take()

    def _begin(self, due: Due, *, again: bool = False) -> None:
        """Wake the agent, unless that was a moment ago or its thoughts of this hour are used."""
        if not self.enabled or (not again and self._was_woken_lately(due.plan.number)):
            return
        if not self._allowance.take():
            self._rest(due)
            return
        self._woken[due.plan.number] = self._services.seconds()
        self.steps.reach(due)
        self._wake(due)

    def _was_woken_lately(self, number: int) -> bool:
        """Return whether the agent was woken for a plan a moment ago."""
        last = self._woken.get(number)
        # Not by the clock, which may be set back.
        return last is not None and self._services.seconds() - last < AGAIN_SECONDS

    def _wake_for_step(self, due: Due) -> None:
        self._begin(due, again=True)

    def _rest(self, due: Due) -> None:
        """Let a plan that was begun wait until the agent may think about plans again."""
        left = self._allowance.seconds_left
        log.info(
            "The thoughts about plans of this hour are used: the plan goes on later",
            agent=self._name,
            plan=due.plan.number,
            seconds=round(left),
        )
        if due.plan.state is PlanState.DOING:
            self.steps.rest(due, left)

    @property
    def occupies(self) -> bool:
        """Whether the agent is about a plan now, or soon, so that its ordinary day has to wait."""
        if not self.enabled:
            return False
        now = self._services.clock.now()
        if any(
            self._keeps_here(each, now) or self._is_due(each, now) for each in self.book.current
        ):
            return True
        plan = self.steps.begun
        if plan is None:
            return False
        if plan.at is not None:
            return now - plan.at < BUSY
        woken = self._woken.get(plan.number)
        return woken is not None and self._services.seconds() - woken < BUSY.total_seconds()

    def _keeps_here(self, plan: Plan, now: datetime) -> bool:
        """Whether a plan is due soon: within minutes, or within the hour if its agent is there."""
        if plan.state is not PlanState.OPEN or plan.at is None or plan.at < now:
            return False
        return plan.at - now < (BUSY if self.is_here(plan) else SOON)

    def is_kept_here(self, plan: Plan, made: datetime | None) -> bool:
        """Return whether a plan is an appointment at the place where the agent is now.

        What was planned for the moment in which it was made, as an errand is, is none.

        Args:
            made: When the plan was made; None if that is not known.
        """
        if plan.at is None or not self.is_here(plan):
            return False
        is_errand = made is not None and plan.at - made < AT_ONCE
        return not is_errand and self._services.clock.now() - plan.at <= GRACE

    def is_here(self, plan: Plan) -> bool:
        """Return whether a plan has a place, and the agent is there."""
        return bool(plan.where) and self._walk_seconds(plan.where) == 0.0

    def _is_elsewhere(self, plan: Plan) -> bool:
        """Return whether a plan has a place, and the agent has to walk there."""
        return bool(plan.where) and self._walk_seconds(plan.where) > 0.0

    def named(self, number: int) -> Plan | None:
        """Return the current plan with that number; None if there is none."""
        return self.book.current_of(number)

    def made_for_now(self, acts: Collection[int]) -> Plan | None:
        """Return the open plan whose time has come and that one of these acts made; else None.

        ``acts``: The numbers of their memories.
        """
        now = self._services.clock.now()
        return next(
            (
                each
                for each in self.book.current
                if each.since in acts
                and each.state is PlanState.OPEN
                and each.at is not None
                and each.at <= now
            ),
            None,
        )

    # -- what became of a thought about a plan

    def begin(self, number: int) -> Deferred[None] | None:
        """Record that the agent acts on a plan now: it is not woken for its time again.

        Call it before the first deed. If the world is killed after it, the plan goes on at the next
        start, and the agent sees in its memory what it has done already.

        Returns:
            Fires when the state is on disk, or could not be written; None if it is there already.
        """
        plan = self.named(number)
        self.steps.act()
        if plan is None or plan.state is not PlanState.OPEN:
            return None
        # What was whispered and said aloud is one appointment: the agent is woken for it once, and
        # goes on with the other plan when it has ended this one.
        opened = (each for each in self.book.current if each.state is PlanState.OPEN)
        twins = (each for each in opened if each.is_twin(plan))
        return self._states.begin((plan, *twins))

    def began(self, plan: Plan) -> None:
        """Record that a rule acts on a plan now."""
        self.begin(plan.number)

    def end(self, plan: Plan, *, done: bool) -> None:
        """End a plan that was kept by rule; ``done``: whether it was kept."""
        self._states.set(plan, PlanState.DONE if done else PlanState.MISSED)
