"""What a life costs, in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from game.mind.memory import CompactReason, Rung


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
    """What a life costs, in tokens."""

    memories: int = 0  # how many were lived through
    thoughts: int = 0  # how many there were
    sent: int = 0  # tokens of all prompts
    evaluated: int = 0  # those behind the lines that the prompt before began with too
    masked: int = 0  # what the mask took from all prompts together
    window: int = 0  # memories that stood in the window, summed over the thoughts
    made: list[CompactionCost] = field(default_factory=list)  # the compactions
    over: int = 0  # thoughts whose prompt was over the budget
    largest: float = 0.0  # the largest prompt, as a share of the budget

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
