"""An agent's walks through several exits: chosen by its model, for a plan, or by rule.

Everything here runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from keepsake.agent.acting.actor import Actor
from keepsake.agent.acting.acts import Basis
from keepsake.agent.acting.journey import Journey
from keepsake.agent.acting.walker import Walker, WalkKind
from keepsake.agent.body import Body
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of, place_of
from keepsake.agent.surroundings.routes import Goal, find_goal
from keepsake.agent.thinker import Thinker
from keepsake.agent.turns.setting_off import come_for, may_set_off, way_to
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.archive.transcript import day_and_time
from keepsake.books.plan import Plan
from keepsake.happening import KnownVerb, Person, Result


class Walks:
    """The walks of one agent.

    Args:
        walker: Moves the agent.
    """

    def __init__(self, thinker: Thinker, walker: Walker, actor: Actor, tools: MemoryTools) -> None:
        self._thinker = thinker
        self._walker = walker
        self._actor = actor
        self._tools = tools
        self._memory = tools.memory
        self._closed = False

    def close(self) -> None:
        """Remember no more where walks have ended."""
        self._closed = True

    def seconds_to(self, place: str) -> float:
        """Return how long the way to a place takes; 0 if the agent is there or knows no way."""
        agent = self._thinker.body()
        found = find_goal(agent, place) if agent is not None else None
        return len(found.ways) * WalkKind.ERRAND.pace if found is not None else 0.0

    def begin(self, agent: Body, words: str, act: int) -> Journey | str:
        """Start a walk that the agent chose; return it, or why there is none.

        ``words``: The place or person. ``act``: The number of the memory of the act.
        """
        found = find_goal(agent, words)
        if found is None:
            return "you know no way there"
        person = None
        if found.person is not None:
            person = Person(name_of(found.person, agent), identity_of(found.person))
        if not found.ways:
            place = place_of(agent)
            where = f"{person.name} is here" if person is not None else f"you are at {place}"
            what = Result(verb=KnownVerb.WALK, act=act, shown=f"You need not walk: {where}.")
            self._memory.remember(what, place=place)
            return Journey.already_there(person)
        journey = Journey(person)
        arrived = partial(self._arrived, found, act, journey)
        self._walker.go_on_errand(found.room, arrived, found.person)
        return journey

    def set_off(self, plan: Plan) -> bool:
        """Walk to the place of a plan, if nobody need be told; return whether the agent does."""
        agent = self._thinker.body()
        if agent is None or self._walker.walks_on_purpose or self.seconds_to(plan.where) == 0.0:
            return False
        if not may_set_off(agent, plan, self._thinker):
            return False
        act = self._actor.do(agent, way_to(plan.where), basis=Basis(plan=plan.number))
        if act.journey is None:
            return False
        act.journey.plan = plan.number
        return True

    def go_to(self, place: str, arrived: Callable[[], None]) -> bool:
        """Walk to a place by its name; return False if there is no way."""
        agent = self._thinker.body()
        found = find_goal(agent, place) if agent is not None else None
        if agent is None or found is None or agent.db.asleep:
            return False
        self._walker.go_on_errand(found.room, arrived, found.person)
        return True

    def _arrived(self, goal: Goal, act: int, journey: Journey) -> None:
        """Remember where a walk has ended, and go on with the answer that began it, or the plan.

        ``act``: The number of the memory of the walk.
        """
        agent = self._thinker.body()
        plans = self._tools.plans
        if agent is None or plans is None or self._closed:
            return
        place = place_of(agent)
        missed = ""
        if not goal.is_reached_by(agent):
            whom = journey.person
            missed = f"did not reach {whom.name}" if whom is not None else "did not get there"
        shown = f"You {missed}; you are at {place}." if missed else f"You arrive: {place}."
        if missed and journey.person is not None:
            shown = f"{shown}{self._last_met(journey.person)}"
        what = Result(verb=KnownVerb.WALK, act=act, done=not missed, shown=shown)
        self._memory.remember(what, place=place)
        if journey.end(f"you {missed}" if missed else ""):
            return
        if journey.plan:
            come_for(journey.plan, plans, journey.missed)
        elif (plan := plans.steps.begun) is not None:
            why = journey.missed or f"you are at {place}"
            plans.steps.go_on(plan, why, at_pace=True)
        self._thinker.schedule()

    def _last_met(self, person: Person) -> str:
        """Return where and when a person was last perceived, as a sentence; empty if unknown.

        Meetings that only some may know of are left out, because others may read it.
        """
        window = self._memory.memory.context().window
        public = self._memory.private.heard_by(window, NO_PRIVATE_WORDS)
        met = (each for each in reversed(public) if each.source_id == person.id and each.place)
        last = next(met, None)
        if last is None:
            return ""
        when = f"{day_and_time(last.time)}, {last.time.astimezone():%H:%M}"
        return f" You last met {person.name} at {last.place} ({when})."
