"""What lives cost at one setting of the ladder, and what its rungs saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from game.mind.memory import CompactReason, Rung

HORIZON = 50
"""Thoughts over which a saving is counted."""


@dataclass(frozen=True, slots=True)
class CompactionCost:
    """One compaction."""

    at: int  # thoughts before it
    saving: int  # tokens that the prompt became shorter by
    rungs: Mapping[Rung, int]  # the same by rung; what was put back afterwards is not in it
    spent: int  # tokens that a model would have read and written for it
    reason: CompactReason  # why it was made
    last: int  # the last memory that it summarised; 0 for none


@dataclass
class CostLedger:
    """What lives cost and saved, in tokens."""

    memories: int = 0  # how many were lived through
    thoughts: int = 0  # how many there were
    sent: int = 0  # tokens of all prompts
    evaluated: int = 0  # those behind the lines that the prompt before began with too
    masked: int = 0  # what the mask took from all prompts together
    window: int = 0  # memories that stood in the window, summed over the thoughts
    made: list[CompactionCost] = field(default_factory=list)  # the compactions
    over: int = 0  # thoughts whose prompt was over the budget
    largest: float = 0.0  # the largest prompt, as a share of the budget
    # for each compaction what it saved over the next thoughts, less its cost
    net: list[int] = field(default_factory=list)
    # tokens that each rung kept from being sent
    kept: dict[Rung, int] = field(default_factory=dict)

    def close(self) -> None:
        """The life is over: count what each compaction brought until then, or for 50 thoughts."""
        self.kept[Rung.MASK] = self.masked
        for each in self.made:
            thoughts = min(HORIZON, self.thoughts - each.at)
            self.net.append(each.saving * thoughts - each.spent)
            for rung, saved in each.rungs.items():
                self.kept[rung] = self.kept.get(rung, 0) + saved * thoughts

    @property
    def spent(self) -> int:
        """Tokens that all compactions took."""
        return sum(each.spent for each in self.made)

    def a_thought(self, tokens: int) -> float:
        """So many tokens, shared out among the thoughts."""
        return tokens / max(self.thoughts, 1)

    @property
    def cost(self) -> float:
        """Tokens evaluated or spent for one thought."""
        return self.a_thought(self.evaluated + self.spent)

    @property
    def compactions(self) -> float:
        """Compactions in 1,000 memories: each of them loses something."""
        return 1000 * len(self.made) / max(self.memories, 1)

    @property
    def net_each(self) -> float:
        """What a compaction saves over 50 thoughts, less its cost."""
        return sum(self.net) / max(len(self.net), 1)


def together(ledgers: Iterable[CostLedger]) -> CostLedger:
    """Several lives as one account; they are closed already."""
    total = CostLedger()
    for each in ledgers:
        total.memories += each.memories
        total.thoughts += each.thoughts
        total.sent += each.sent
        total.evaluated += each.evaluated
        total.masked += each.masked
        total.window += each.window
        total.made += each.made
        total.net += each.net
        total.over += each.over
        total.largest = max(total.largest, each.largest)
        for rung, tokens in each.kept.items():
            total.kept[rung] = total.kept.get(rung, 0) + tokens
    return total
