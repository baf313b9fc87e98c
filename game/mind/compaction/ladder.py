"""When to compact, and whether it pays: decisions alone, made from figures.

One ladder has several triggers: the count, the high mark, the sleep mark and the
emergency mark. Between the mark that starts a compaction and the low mark that it goes
down to lies the hysteresis. What a compaction is expected to save has to exceed
``min_saving_tokens`` and, over ``rounds`` thoughts, what its model calls cost. If two in a
row leave the prompt over the mark that started them, the next waits until the prompt has
grown by a real saving.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from game.mind.compaction.config import CompactionConfig
from game.mind.memory import CompactReason, Load

MOST_IN_VAIN = 2
"""Compactions in a row that may leave the prompt over their mark."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What a compaction is expected to bring.

    Attributes:
        saving: Tokens that each later prompt has less.
        cost: Tokens that are sent and written for it where a model is asked.
        leaving: Tokens of the memories that leave the window.
    """

    saving: int
    cost: int
    leaving: int = 0

    def pays(
        self,
        config: CompactionConfig,
        *,
        priced: bool = True,
        reason: CompactReason = CompactReason.HIGH,
    ) -> bool:
        """Whether an automatic compaction is worth it; ``priced`` if it asks a model at all."""
        if self.saving < max(self._least(config, reason), 1):
            return False
        return self.saving * config.rounds > (self.cost if priced else 0)

    def _least(self, config: CompactionConfig, reason: CompactReason) -> int:
        """What it has to save.

        ``min_saving_tokens`` is meant for a way from the high mark to the low one. By count
        less may leave, as the sizes of the windows say, and has to save the same share.
        """
        if reason is not CompactReason.COUNT:
            return config.min_saving_tokens
        way = max(high_tokens(config) - low_tokens(config), 1)
        return min(config.min_saving_tokens, config.min_saving_tokens * self.leaving // way)


@dataclass(frozen=True, slots=True)
class Streak:
    """Compactions that did not bring the prompt under the mark that had started them.

    Attributes:
        vain: How many in a row.
        left: What the prompt cost after the last of them.
    """

    vain: int = 0
    left: Load | None = None

    def after(self, reason: CompactReason, config: CompactionConfig, load: Load) -> Streak:
        """The streak after a compaction that left the prompt at ``load``."""
        mark = mark_of(reason, config)
        if mark is None or load.share < mark:
            return Streak()
        return Streak(self.vain + 1, load)

    def blocks(self, config: CompactionConfig, load: Load) -> bool:
        """Whether one more would be the third of its kind, with nothing new to save.

        That the rest of the prompt has grown is no reason: nothing of it can be saved. That
        it has shrunk, or that the budget is another one, is.
        """
        if self.vain < MOST_IN_VAIN or self.left is None or load.budget != self.left.budget:
            return False
        grown = load.summaries + load.window - self.left.summaries - self.left.window
        shrunk = self.left.overhead - load.overhead
        return max(grown, shrunk) < max(config.min_saving_tokens, 1)


def mark_of(reason: CompactReason, config: CompactionConfig) -> float | None:
    """The share at which ``reason`` holds; None for what does not go by the load."""
    return {
        CompactReason.HIGH: config.high,
        CompactReason.SLEEP: config.sleep,
        CompactReason.EMERGENCY: config.emergency,
    }.get(reason)


def wanted(
    config: CompactionConfig, load: Load, *, full: bool, asleep: Callable[[], bool]
) -> list[CompactReason]:
    """The reasons that hold now for a compaction in the background, the strongest first.

    Args:
        config: Marks and switches.
        load: What the prompt costs.
        full: Whether the window has reached its count.
        asleep: Whether the agent sleeps; asked only where it matters.
    """
    reasons = []
    if config.on_high and load.share >= config.high:
        reasons.append(CompactReason.HIGH)
    if config.on_sleep and load.share >= config.sleep and asleep():
        reasons.append(CompactReason.SLEEP)
    if config.on_count and full:
        reasons.append(CompactReason.COUNT)
    return reasons


def urgent(config: CompactionConfig, load: Load) -> bool:
    """Whether the prompt is over the emergency mark."""
    return config.on_emergency and load.share >= config.emergency


def low_tokens(config: CompactionConfig) -> int:
    """Tokens that a compaction goes down to."""
    return int(config.low * config.budget)


def high_tokens(config: CompactionConfig) -> int:
    """Tokens from which on an ordinary compaction starts."""
    return int(config.high * config.budget)


def emergency_tokens(config: CompactionConfig) -> int:
    """Tokens from which on one cannot wait."""
    return int(config.emergency * config.budget)
