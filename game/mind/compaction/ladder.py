"""Whether a compaction is due, and whether it pays.

One ladder has several triggers: the count, the high mark, the sleep mark and the
emergency mark. Between the mark that starts a compaction and the low mark that it goes
down to lies the hysteresis. What a compaction is expected to save has to exceed
``min_saving_tokens`` and, over ``rounds`` thoughts, what its model calls cost. One that left
the prompt over the mark that started it is in vain: the next waits until there is as much
more to save. None of that holds where the prompt is over its budget and can be brought under
it: it could not be sent, and whoever speaks to the agent would wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable

from game.mind.compaction.config import CompactionConfig
from game.mind.compaction.dependencies import MemoryParts
from game.mind.compaction.planning import CompactionPlan, make_plan
from game.mind.compaction.view import View
from game.mind.memory import CompactReason, Load
from game.mind.summaries.strategy import Layout, Strategy

ASK_AGAIN_AFTER = 4
"""Memories after which a compaction that did not pay is thought over again."""
FAR_FROM_IT = 0.1
"""So far under the emergency mark a load that was added up a few memories ago is enough."""


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


def in_vain(reason: CompactReason, config: CompactionConfig, left: Load) -> bool:
    """Whether a compaction for ``reason`` that left the prompt at ``left`` missed its mark."""
    mark = mark_of(reason, config)
    return mark is not None and left.share >= mark


def nothing_new(config: CompactionConfig, left: Load, load: Load) -> bool:
    """Whether one more would save as little as the one that left the prompt at ``left``.

    That the rest of the prompt has grown is no reason: nothing of it can be saved. That it has
    shrunk, or that the budget is another one, is.
    """
    grown = load.summaries + load.window - left.summaries - left.window
    shrunk = left.overhead - load.overhead
    return load.budget == left.budget and max(grown, shrunk) < max(config.min_saving_tokens, 1)


class Triggers:
    """Decides for one memory; for callers that hold the lock of its tiers."""

    def __init__(self, parts: MemoryParts, view: View) -> None:
        self._tiers, self._view, self._outside = parts.tiers, view, parts.outside
        self._left: Load | None = None
        """What the last compaction left, if it was in vain."""
        self._declined: dict[CompactReason, int] = {}

    def ordinary(self) -> CompactReason | None:
        """Why a compaction is due in the background; None if none is, or none would pay."""
        config, load = self._outside.config(), self._view.load()
        full = self._tiers.last_number >= self.next_due()
        reasons = wanted(config, load, full=full, asleep=self._outside.asleep)
        if not reasons or self._outside.strategy().layout is Layout.SLIDING:
            return None
        if self._held and load.used <= load.budget:
            return None
        return next((reason for reason in reasons if self._due(reason, config, load)), None)

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
        return not busy and not self._held and self._due(CompactReason.EMERGENCY, config, load)

    def exhausted(self) -> bool:
        """Whether one more emergency compaction would bring nothing: the rest is too large."""
        config = self._outside.config()
        plan = self.plan(CompactReason.EMERGENCY, config, self._outside.strategy())
        return self.blocked() and (plan is None or plan.least > config.budget)

    def blocked(self) -> bool:
        """Whether the last one was in vain, and there is nothing new to save."""
        config, load = self._outside.config(), self._view.load()
        return self._left is not None and nothing_new(config, self._left, load)

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

    def compacted(self, reason: CompactReason, config: CompactionConfig, left: Load) -> None:
        """One was made, and left the prompt at ``left``, without what came meanwhile."""
        self._declined.clear()
        self._left = left if in_vain(reason, config, left) else None

    def forget(self) -> None:
        """The memory is another one now: cleared, or taken back."""
        self._declined.clear()
        self._left = None

    @property
    def _held(self) -> bool:
        """Whether a compaction was taken back just now: it is not made again at once."""
        since = self._tiers.undone_at
        return (
            since is not None
            and self._tiers.last_number < since + self._outside.config().recent_window
        )

    def _due(self, reason: CompactReason, config: CompactionConfig, load: Load) -> bool:
        """Whether one brings the prompt under its budget, or is worth it.

        A no is thought over only every few memories, unless the prompt is over its budget.
        """
        last, over = self._tiers.last_number, load.used > load.budget
        if not over and (self.blocked() or last < self._declined.get(reason, 0)):
            return False
        plan, priced = self.plan(reason, config, self._outside.strategy()), self._outside.priced()
        if plan is not None and (
            (over and plan.least <= load.budget)
            or (not self.blocked() and plan.worth.pays(config, priced=priced, reason=reason))
        ):
            return True
        self._declined[reason] = last + ASK_AGAIN_AFTER
        return False
