"""Keeps the prompts of an agent within the token budget.

A prompt that is too large although everything was left out that a thought can do without is not
sent: a server would cut it where nobody chose.
"""

from __future__ import annotations

from keepsake.agent.agent_log import log, warn
from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.errors import KeepsakeError
from keepsake.models.profiles import SCRIPT, ModelProfile
from keepsake.prompt.budget import Costs

MOST_OFF = 0.25
"""The share by which a server's count may raise ours; more is no count of this prompt."""
_CURES = {
    "who it is": "Shorten its profile: @agent/profile {name}",
    "pinned": "Unpin something: @pin/remove {name} = <number>",
    "noticed": "Take lines out of noticed.md in its folder",
    "situation": "Shorten the description of the room",
    "window": "Look at @compaction {name} and agents.log for why nothing was summarised",
}
_ANY_CURE = "Raise context_tokens in memory_compaction.md, if the model can look at more"


class Fitting:
    """The prompts of one agent, weighed; on the reactor thread."""

    def __init__(self, memory: MemoryComponent, runtime: Runtime) -> None:
        self._name, self._memory, self._runtime = memory.name, memory, runtime
        self.costs: Costs | None = None
        """What the last prompt cost, whether it was sent or too large to be."""
        self._fits = False
        self._off = 0
        self._memories = 0
        """What summaries and window had in the last prompt; both may be others by the answer."""
        self._told: str | None = None
        self.counted: tuple[int, int] | None = None
        """Tokens of the last prompt that was answered: by our count, and by the server's."""

    def sizes(self, profile: ModelProfile) -> tuple[int, int]:
        """Tokens that a prompt may have, and those that it may have by our count.

        A transcript has those that ``memory_compaction.md`` says, less what the server's count
        of the last one was above ours.
        """
        most = profile.prompt_tokens
        if profile.form != SCRIPT:
            return most, most
        budget = min(self._runtime.ladder.budget, most)
        return budget, budget - self._off

    def takes(self, costs: Costs, room: int) -> bool:
        """Whether a prompt may be sent; weighs it.

        Args:
            costs: What it costs.
            room: Tokens that it may have.
        """
        memory = self._memory.memory
        load = memory.load()
        self._memories = load.summaries + load.window
        memory.weigh(max(costs.used + self._off - self._memories, 0))
        self.costs, self._fits = costs, costs.used <= room
        if self._fits and self._told is not None:
            self._told = None
            log(f"[Thinker] {self._name}: The prompt keeps within its budget again")
        return self._fits

    def answered(self, prompt_tokens: int) -> None:
        """The server has counted the last prompt: from now on we know better."""
        costs = self.costs
        if costs is None or not self._fits or prompt_tokens <= 0:
            return
        self.counted = (costs.used, prompt_tokens)
        self._runtime.tokens.heard(costs.used, prompt_tokens)
        # What was counted too much last time may be counted too little the next: ours is only
        # ever raised, for a prompt that seems to fit must fit.
        self._off = min(max(prompt_tokens - costs.used, 0), int(costs.used * MOST_OFF))
        try:
            self._memory.memory.weigh(max(costs.used + self._off - self._memories, 0))
        except KeepsakeError:  # the archive is closed by now; the memory itself says so
            return

    def tell(self, agent: Body) -> None:
        """Tell builders and the log that nothing helps; once, until a prompt fits again."""
        costs = self.costs
        if costs is None or self._fits:
            return
        heaviest = max(costs.sections, key=lambda section: section.tokens)
        if heaviest.name == self._told:
            return
        self._told = heaviest.name
        cure = _CURES.get(heaviest.name, _ANY_CURE).format(name=self._name)
        needs = f"Its prompt needs {costs.used + self._off:,} tokens and may have {costs.budget:,}"
        line = (
            f"{self._name} cannot think. {self._memory.no_room or needs}. The largest part of it "
            f"is {heaviest.name!r} with {heaviest.tokens:,} tokens. {cure}"
        )
        warn(f"[Thinker] {line}")
        agent.tell_builders(f"|r[{self._name}]|n {line.replace('|', '||')}")
