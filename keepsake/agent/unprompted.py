"""What an agent begins by itself if nobody has turned to it: a thought, or a talk of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from keepsake.agent.attention import IDLE, Impulse
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.occasions import Occasion, Occasions
from keepsake.agent.plans import Due, Plans, impulse_of
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import Body, identity_of, is_agent


class Unprompted:
    """What one agent begins by itself; only with a model that can act.

    Attributes:
        begin_talk: Begins a talk with another agent who is here; returns whether it began one.
        talks_to: The identity of the agent with whom it talks in a talk of two; empty for none.
    """

    def __init__(self, tools: MemoryTools, services: Runtime) -> None:
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
            return impulse_of(Due(private, "you have time for it"))
        occasions = self._occasions.take(agent, self._services.clock.now())
        if not occasions or self._talks_about(occasions):
            return None
        return replace(IDLE, why=" ".join(each.text for each in occasions))

    def has_news_for(self, agent: Body, other: Body) -> bool:
        """Return whether the agent has news for another one here that it would tell by itself."""
        if not self._services.acts_unprompted:
            return False
        return self._occasions.has_news_for(agent, other, self._services.clock.now())

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
