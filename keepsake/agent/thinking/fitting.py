"""Keeps the prompts of an agent within the token budget.

What a thought can do without is left out first, one thing after the other. A prompt that
is too large all the same is not sent: a server would cut it where nobody chose.
"""

from __future__ import annotations

from keepsake.agent.agent_log import log, warn
from keepsake.agent.body import Body
from keepsake.agent.happenings import Basis, basis_of
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.services import Services
from keepsake.agent.thinking.prompting import PromptExtras, costs_of, prompt_for, script_of_window
from keepsake.agent_memory import AgentMemory
from keepsake.errors import KeepsakeError
from keepsake.prompt.budget import Costs
from keepsake.prompt.template import Rendered

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

    def __init__(self, memory: MemoryComponent, services: Services) -> None:
        self._name, self._memory, self._services = memory.name, memory, services
        self._script = script_of_window()
        self._sent: Costs | None = None
        self._off = 0
        self._memories = 0
        """What summaries and window had in the last prompt; both may be others by the answer."""
        self._told: str | None = None
        self.basis: Basis | None = None
        """What the last prompt was made from."""
        self.too_large: Costs | None = None
        """What the last prompt cost, if it was too large to be sent; None if it was not."""
        self.counted: tuple[int, int] | None = None
        """Tokens of the last prompt that was answered: by our count, and by the server's."""

    @property
    def costs(self) -> Costs | None:
        """What the last prompt cost, whether it was sent or too large to be."""
        return self.too_large or self._sent

    def prompt(self, agent: Body, kept: PromptExtras, nudge: str = "") -> Rendered | None:
        """The prompt of a thought; None if it cannot be brought under the budget.

        Raises:
            KeepsakeError: The memory or the template cannot be read.
        """
        memory = self._memory.memory
        rendered, costs = self._smallest(agent, memory, kept, nudge)
        used, load = costs.used + self._off, memory.load()
        self._memories = load.summaries + load.window
        self._weigh(memory, used)
        if used > costs.budget:
            self.too_large, self._sent = costs, None
            return None
        self.too_large = None
        self._sent = costs
        self._fits()
        return rendered

    def takes(self, costs: Costs, basis: Basis) -> bool:
        """Whether a prompt that was made elsewhere may be sent; weighs it."""
        memory = self._memory.memory
        load = memory.load()
        self._memories = load.summaries + load.window
        self._weigh(memory, costs.used + self._off)
        self.basis = basis
        fits = costs.used <= costs.budget
        self._sent, self.too_large = (costs, None) if fits else (None, costs)
        if fits:
            self._fits()
        return fits

    def answered(self, prompt_tokens: int) -> None:
        """The server has counted the last prompt: from now on we know better."""
        if self._sent is None or prompt_tokens <= 0:
            return
        costs = self._sent
        self.counted = (costs.used, prompt_tokens)
        self._services.tokens.heard(costs.used, prompt_tokens)
        # What was counted too much last time may be counted too little the next: ours is only
        # ever raised, for a prompt that seems to fit must fit.
        self._off = min(max(prompt_tokens - costs.used, 0), int(costs.used * MOST_OFF))
        try:
            self._weigh(self._memory.memory, costs.used + self._off)
        except KeepsakeError:  # the archive is closed by now; the memory itself says so
            return

    def tell(self, agent: Body) -> None:
        """Tell builders and the log that nothing helps; once, until a prompt fits again."""
        costs = self.too_large
        if costs is None:
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

    def _fits(self) -> None:
        if self._told is not None:
            self._told = None
            log(f"[Thinker] {self._name}: The prompt keeps within its budget again")

    def _smallest(
        self, agent: Body, memory: AgentMemory, kept: PromptExtras, nudge: str
    ) -> tuple[Rendered, Costs]:
        """The first prompt that keeps within the budget, else the smallest there is."""
        services, context = self._services, memory.context()
        budget = services.ladder.budget
        for less in kept.ever_less():
            rendered = prompt_for(agent, context, services, less, nudge, script=self._script)
            costs = costs_of(rendered, services.tokens, budget)
            if costs.used + self._off <= budget:
                break
        self.basis = basis_of(context, less.related.hits, less.called_back)
        return rendered, costs

    def _weigh(self, memory: AgentMemory, used: int) -> None:
        memory.weigh(max(used - self._memories, 0))
