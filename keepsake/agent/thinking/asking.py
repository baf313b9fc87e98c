"""Asks the model for one agent's thoughts; a thought waits in the model queue.

Its prompt is built when its turn comes, and its answer is applied to the agent as it is then, if
it still is. Runs on the reactor thread throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from twisted.internet.defer import Deferred

from keepsake.agent.agent_log import log
from keepsake.agent.body import Body, Life
from keepsake.agent.impulses import Impulse
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import people_near, show
from keepsake.agent.thinking.fitting import Fitting
from keepsake.agent.thinking.reports import ThoughtReports
from keepsake.agent.thinking.scene import ANSWERED
from keepsake.agent.thinking.thought import PROFILE, ThoughtInProgress
from keepsake.agent.warming import cache_key
from keepsake.errors import KeepsakeError, ModelError, ModelUnavailable
from keepsake.models.profiles import CHAT, DIALOGUE, ModelProfile
from keepsake.models.queue import Outcome, Priority
from keepsake.ports import GenerationRequest

TURN, RULES, NOT = "turn", "rules", "not"
"""How a thought is thought: by asking the model, without a model, or not at all."""
_PRIORITIES = {"player": Priority.PLAYER, "event": Priority.EVENT, "idle": Priority.IDLE}

type Build = Callable[[Body, ModelProfile], GenerationRequest | None]
"""Makes the request of a thought whose turn has come; None if it is not to be sent."""


class ThoughtDropped(Exception):
    """Nothing comes of the thought: whose it was is gone, asleep or paused."""


class ThoughtAsker:
    """Has the model asked for one thought at a time.

    Args:
        life: Whose thoughts they are.
        memory: Its memory.
        reports: What is told of its thoughts.
        services: What all agents share.
        still_wanted: The impulse as it is when its turn has come; None if its cause is gone.

    Attributes:
        current: The thought under way; None if there is none.
        missed: Impulses of players who got no answer, as no model gave one, by who they are.
        key: The name of the agent's prompt in a server's cache.
    """

    def __init__(
        self,
        life: Life,
        memory: MemoryComponent,
        reports: ThoughtReports,
        services: Runtime,
        still_wanted: Callable[[Impulse], Impulse | None],
    ) -> None:
        self.reports, self.fitting = reports, Fitting(memory, services)
        self.current: ThoughtInProgress | None = None
        self.missed: dict[str, Impulse] = {}
        self.key = cache_key(life.number)
        self._find, self._memory, self._services = life.body, memory, services
        self._still_wanted = still_wanted

    def profile(self) -> ModelProfile:
        """How the model is asked; what its prompts may have counts for the memory too."""
        profile = self._services.gateway.profile(PROFILE)
        self._services.chat_tokens = profile.prompt_tokens if profile.form == CHAT else 0
        return profile

    @staticmethod
    def way(profile: ModelProfile, impulse: Impulse) -> str:
        """How a thought is thought with a model of that profile."""
        if profile.form != DIALOGUE:
            return TURN
        if not impulse.source or impulse.trigger not in ANSWERED:
            return NOT  # what such a model does of its own accord makes no sense to anybody
        return RULES if profile.is_stopgap else TURN

    async def make_room(self, thought: ThoughtInProgress) -> None:
        """Have the memory compacted first if it is over its emergency mark."""
        made: Deferred[None] = Deferred()
        self._memory.make_room(lambda: made.callback(None))
        await made
        self.check(thought)

    @contextmanager
    def asked(
        self, thought: ThoughtInProgress, build: Build, done: Callable[[Outcome], None]
    ) -> Iterator[ModelError | None]:
        """Within it the model is asked; why it cannot be, or None. Its end gives the call up."""

        def build_now(profile: ModelProfile) -> GenerationRequest | None:
            agent = self._find()
            thought.too_large = False
            if agent is None or agent.location is None or not self.is_wanted(agent, thought):
                return None
            return build(agent, profile)

        thought.queued = self._services.seconds()
        priority = _PRIORITIES[thought.impulse.priority]
        try:
            thought.ticket = self._services.gateway.submit(
                PROFILE, priority, self.key, build_now, done
            )
        except KeepsakeError as error:
            yield error if isinstance(error, ModelError) else ModelUnavailable(str(error))
            return
        try:
            yield None
        finally:
            thought.ticket.cancel()  # where it was broken off; too late does no harm

    def is_wanted(self, agent: Body, thought: ThoughtInProgress) -> bool:
        """Whether somebody needs it now that its turn has come; its impulse is of now then."""
        wanted = self._still_wanted(thought.impulse)
        if wanted is None or agent.db.paused or agent.db.asleep:
            return False
        thought.impulse = wanted
        return True

    def check(self, thought: ThoughtInProgress) -> None:
        """Go on with a thought, unless it was broken off while it waited.

        Raises:
            ThoughtDropped: It was.
        """
        if self.current is not thought:
            raise ThoughtDropped

    def able_body(self, thought: ThoughtInProgress) -> Body:
        """The agent as it is now, if it may still act.

        Raises:
            ThoughtDropped: It has been deleted, paused or put to sleep.
        """
        agent = self.body()
        if agent.db.paused or agent.db.asleep:  # since when the model wrote: nothing comes of it
            self.reports.ended(thought, "dropped")
            raise ThoughtDropped
        return agent

    def body(self) -> Body:
        """The agent as it is now.

        Raises:
            ThoughtDropped: It has been deleted.
        """
        if (agent := self._find()) is None:
            raise ThoughtDropped
        return agent

    def unanswered(self, agent: Body, thought: ThoughtInProgress, error: ModelError | None) -> None:
        """No model has answered, or nobody needed it any more."""
        if error is not None:
            log(f"[Thinker] {agent.key}: No answer: {error}")
            show_absent(agent, thought.impulse)
            if thought.impulse.priority == "player":
                self.missed[thought.impulse.key] = thought.impulse
        outcome = "no answer" if error else "dropped"
        self.reports.ended(thought, outcome, problem=str(error or ""))

    def too_large(self, agent: Body, thought: ThoughtInProgress) -> None:
        """Its prompt cannot be brought under the budget."""
        self.fitting.tell(agent)
        self.reports.ended(thought, "too large", costs=self.fitting.costs)
        show_absent(agent, thought.impulse)


def show_absent(agent: Body, impulse: Impulse) -> None:
    """Whoever waits for an answer is told that none will come, if they are still here."""
    here = [person.key for person in people_near(agent)]
    if impulse.priority == "player" and impulse.source in here:
        show_people(agent, f"{agent.key} seems far away, and does not answer.")


def show_people(agent: Any, text: str) -> None:
    """Tell the people in the room; agents would only remember it for nothing."""
    agents = tuple(person for person in people_near(agent) if person.is_agent)
    show(agent, text, "thinking", hidden_from=agents)
