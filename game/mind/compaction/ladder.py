"""Whether a compaction is due, and whether it pays.

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
from game.mind.compaction.dependencies import MemoryParts
from game.mind.compaction.planning import CompactionPlan, make_plan
from game.mind.compaction.view import View
from game.mind.memory import CompactReason, Load
from game.mind.summaries.strategy import Layout, Strategy

MOST_IN_VAIN = 2
"""Compactions in a row that may leave the prompt over their mark."""
ASK_AGAIN_AFTER = 4
"""Memories after which a compaction that did not pay is thought over again."""
FAR_FROM_IT = 0.1
"""So far under the emergency mark a load that was added up a few memories ago is enough."""


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

    ``asleep``: Whether the agent sleeps; asked only where it matters.
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


class Triggers:
    """Decides for one memory; for callers that hold the lock of its tiers."""

    def __init__(self, parts: MemoryParts, view: View) -> None:
        self._tiers, self._view, self._outside = parts.tiers, view, parts.outside
        self._streak = Streak()
        self._declined: dict[CompactReason, int] = {}

    def ordinary(self) -> CompactReason | None:
        """Why a compaction is due in the background; None if none is, or none would pay."""
        config, load = self._outside.config(), self._view.load()
        full = self._tiers.last_number >= self.next_due()
        reasons = wanted(config, load, full=full, asleep=self._outside.asleep)
        if not reasons or self._held or self._outside.strategy().layout is Layout.SLIDING:
            return None
        return next((reason for reason in reasons if self._pays(reason, config, load)), None)

    def emergency(self, *, busy: bool) -> bool:
        """Whether one must be made before the next thought; ``busy`` while one is under way.

        A prompt over its budget cannot be sent at all, so then there is no question whether
        it pays.
        """
        config, load = self._outside.config(), self._view.load()
        if load.share < config.emergency - FAR_FROM_IT:
            return False
        self._view.weight.stale()  # so near the mark every line is added up anew
        load = self._view.load()
        if not urgent(config, load):
            return False
        if load.used > load.budget:
            return True
        return not busy and not self._held and self._pays(CompactReason.EMERGENCY, config, load)

    def exhausted(self) -> bool:
        """Whether one more emergency compaction would be made in vain like those before."""
        return self._streak.blocks(self._outside.config(), self._view.load())

    def next_due(self) -> int:
        """The memory number at which the window is full."""
        config, tiers = self._outside.config(), self._tiers
        due = tiers.summarised + config.immediate_window + config.recent_window
        return due if tiers.recent else due + 1

    def plan(
        self, reason: CompactReason, config: CompactionConfig, strategy: Strategy
    ) -> CompactionPlan | None:
        """What a compaction would do now; None if there is nothing to do."""
        return make_plan(reason, strategy.layout, config, self._view.snapshot())

    def compacted(self, reason: CompactReason, config: CompactionConfig, load: Load) -> None:
        """One was made, and left the prompt at ``load``."""
        self._declined.clear()
        self._streak = self._streak.after(reason, config, load)

    def forget(self) -> None:
        """The memory is another one now: cleared, or taken back."""
        self._declined.clear()
        self._streak = Streak()

    @property
    def _held(self) -> bool:
        """Whether a compaction was taken back just now: it is not made again at once."""
        since = self._tiers.undone_at
        return (
            since is not None
            and self._tiers.last_number < since + self._outside.config().recent_window
        )

    def _pays(self, reason: CompactReason, config: CompactionConfig, load: Load) -> bool:
        """Whether a compaction is worth it; a no is thought over only every few memories."""
        last = self._tiers.last_number
        if self._streak.blocks(config, load) or last < self._declined.get(reason, 0):
            return False
        plan = self.plan(reason, config, self._outside.strategy())
        if plan is not None and plan.worth.pays(
            config, priced=self._outside.priced(), reason=reason
        ):
            return True
        self._declined[reason] = last + ASK_AGAIN_AFTER
        return False
