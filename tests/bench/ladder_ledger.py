"""What lives cost at one setting of the ladder, and what its rungs saved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from keepsake.memory import Rung
from tests.bench.ladder_accounting import CostLedger

HORIZON = 50
"""Thoughts over which a saving is counted."""


@dataclass
class LadderLedger(CostLedger):
    """What lives cost and saved, in tokens."""

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
    def compactions(self) -> float:
        """Compactions in 1,000 memories: each of them loses something."""
        return 1000 * len(self.made) / max(self.memories, 1)

    @property
    def net_each(self) -> float:
        """What a compaction saves over 50 thoughts, less its cost."""
        return sum(self.net) / max(len(self.net), 1)


def together(ledgers: Iterable[LadderLedger]) -> LadderLedger:
    """Several lives as one account; they are closed already."""
    total = LadderLedger()
    for each in ledgers:
        for name in ("memories", "thoughts", "sent", "evaluated", "masked", "window", "over"):
            setattr(total, name, getattr(total, name) + getattr(each, name))
        total.made += each.made
        total.net += each.net
        total.largest = max(total.largest, each.largest)
        for rung, tokens in each.kept.items():
            total.kept[rung] = total.kept.get(rung, 0) + tokens
    return total
