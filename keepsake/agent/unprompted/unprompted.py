"""What an agent begins by itself if nobody has turned to it: a thought, or a talk of two."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from keepsake.agent.attention.impulse import IDLE, Impulse
from keepsake.agent.body import Body
from keepsake.agent.memory.concerns import bears_on, concerns_of
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.plans.due import Due, impulse_of_plan
from keepsake.agent.plans.plans import Plans
from keepsake.agent.plans.shown_plans import shown_among
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.people import persons_near
from keepsake.agent.surroundings.sights import is_thing_near
from keepsake.agent.unprompted.occasions import Occasion, Occasions
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.language.perception import names

AGAIN_SECONDS = 3600.0
"""How long words that are not said to an agent are no reason again to think of the same plan,
promise or wish. A whole talk may be about it, and one thought of it in an hour is enough."""


def talkativeness(agent: Body) -> float:
    """Return how often the agent acts unprompted, 0 to 1."""
    share = agent.attributes.get("talkativeness")  # a builder can set the attribute to any value
    return min(max(float(share), 0.0), 1.0) if isinstance(share, int | float) else 0.5


class Unprompted:
    """What one agent begins by itself; only with a model that can act.

    Args:
        names: Returns the names of all people and places.

    Attributes:
        begin_talk: Begins a talk with another agent who is here; returns whether it began one.
        talks_to: The identity of the agent with whom it talks in a talk of two; empty for none.
    """

    def __init__(
        self, tools: MemoryTools, services: Runtime, names: Callable[[], frozenset[str]]
    ) -> None:
        self._tools = tools
        self._names = names
        self._heeded: dict[str, float] = {}  # by concern: when words about it were heeded
        self.begin_talk: Callable[[Body], bool] = lambda _: False
        self.talks_to = ""
        self._services = services
        self._occasions = Occasions(tools.memory, tools.books.importance_of, services)

    def begin(self, agent: Body, plans: Plans | None) -> Impulse | None:
        """Return the impulse of an unprompted thought; None if there is nothing to think about.

        If the occasion is another agent who is free, the two talk instead. For a plan that only
        those who are here may know of, the thought is one about that plan.
        """
        if agent.location is None or not self._services.acts_unprompted:
            return None
        self._occasions.plans = plans
        private = self._occasions.take_private_plan(agent, self._services.clock.now())
        if private is not None:
            return impulse_of_plan(Due(private, "you have time for it"))
        occasions = self._occasions.take(agent, self._services.clock.now())
        if not occasions or self._talks_about(occasions):
            return None
        return replace(IDLE, why=" ".join(each.text for each in occasions))

    def has_news_for(self, agent: Body, other: Body) -> bool:
        """Return whether the agent has news for another one here that it would tell by itself."""
        if not self._services.acts_unprompted:
            return False
        return self._occasions.has_news_for(agent, other, self._services.clock.now())

    def concern_in(self, agent: Body, said: str, wishes: Collection[str]) -> str:
        """Return what words bear on that were not said to the agent; empty for nothing.

        Each plan, promise and wish is a reason once in :data:`AGAIN_SECONDS`, and each counts as a
        thought about a plan. So an hour of talk costs no more calls than an agent has plans, and no
        more than ``plan_thoughts``.

        Args:
            wishes: The names of things that the agent waits for. One that is here is no news.
        """
        plans = self._tools.plans
        if plans is None or not self._services.acts_unprompted:
            return ""
        memory = self._tools.memory
        open_plans = shown_among(plans.book.current, NO_PRIVATE_WORDS)
        promises = [
            promise
            for promise in memory.commitments.items
            if memory.private.may_hear([promise.number], NO_PRIVATE_WORDS)
        ]
        here = persons_near(agent)
        absent = self._names().difference(each.name for each in here)
        now = self._services.seconds()
        # What anybody may know of a private plan does not say for what it waits.
        mine = {each.number: each for each in plans.book.current}
        waits = {
            plan.number: plans.steps.waits.get(plan.number, "")
            for plan in open_plans
            if plan == mine[plan.number]
        }
        ended = [each for each in plans.book.items if each.state.has_ended]
        wished = [each for each in wishes if names(said, each) and not is_thing_near(agent, each)]
        for each in concerns_of(open_plans, ended, waits, promises, wished):
            last = self._heeded.get(each.key)
            if last is not None and now - last < AGAIN_SECONDS:
                continue
            if bears_on(said, each, here=here, absent=absent) and plans.take_thought():
                self._heeded[each.key] = now
                return each.text
        return ""

    def talk_with(self, other: Body | None) -> None:
        """Record that a talk of two has begun with another agent, or has ended with None."""
        self.talks_to = identity_of(other) if other is not None else ""
        if other is not None:
            self._occasions.met(other, self._services.clock.now())

    def _talks_about(self, occasions: Sequence[Occasion]) -> bool:
        """Begin a talk with the first agent whom an occasion is about; return whether it began."""
        others = (each.about for each in occasions if each.about is not None)
        other = next((each for each in others if is_agent(each)), None)
        return other is not None and self.begin_talk(other)
