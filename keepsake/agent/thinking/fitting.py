"""Keeps the prompts of an agent within the token budget.

A prompt that is too large although everything was left out that a thought can do without is not
sent: a server would cut it where nobody chose.
"""

from __future__ import annotations

from keepsake.agent.agent_log import log, warn
from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.models.profiles import SCRIPT, ModelProfile
from keepsake.prompt.budget import Costs

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
        self._told: str | None = None
        self.counted: tuple[int, int] | None = None
        """Tokens of the last prompt that was answered: by our count, and by the server's."""

    def budget(self, profile: ModelProfile) -> int:
        """Tokens that a prompt may have; ``memory_compaction.md`` limits those of a transcript."""
        most = profile.prompt_tokens
        return min(self._runtime.ladder.budget, most) if profile.form == SCRIPT else most

    def takes(self, costs: Costs) -> bool:
        """Whether a prompt of these costs may be sent; tells the memory what the rest weighs."""
        memory = self._memory.memory
        load = memory.load()
        memory.weigh(max(costs.used - load.summaries - load.window, 0))
        self.costs = costs
        fits = costs.used <= costs.budget
        if fits and self._told is not None:
            self._told = None
            log(f"[Thinker] {self._name}: The prompt keeps within its budget again")
        return fits

    def answered(self, prompt_tokens: int) -> None:
        """The server has counted the last prompt: from now on our estimate follows it."""
        if self.costs is not None and prompt_tokens > 0:
            self.counted = (self.costs.used, prompt_tokens)
            self._runtime.tokens.heard(self.costs.used, prompt_tokens)

    def tell(self, agent: Body) -> None:
        """Tell builders and the log that nothing helps; once, until a prompt fits again."""
        costs = self.costs
        if costs is None:
            return
        heaviest = max(costs.sections, key=lambda section: section.tokens)
        if heaviest.name == self._told:
            return
        self._told = heaviest.name
        cure = _CURES.get(heaviest.name, _ANY_CURE).format(name=self._name)
        needs = f"Its prompt needs {costs.used:,} tokens and may have {costs.budget:,}"
        problem = self._memory.no_room or needs
        line = (
            f"{self._name} cannot think. {problem}. The largest part of it "
            f"is {heaviest.name!r} with {heaviest.tokens:,} tokens. {cure}"
        )
        warn(f"[Thinker] {line}")
        agent.tell_builders(f"|r[{self._name}]|n {line.replace('|', '||')}")
