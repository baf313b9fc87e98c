"""Whether a compaction is due, and whether it pays.

One ladder has several triggers: the count, the high mark, the sleep mark and the emergency
mark. Between the mark that starts a compaction and the low mark that it goes down to lies
the hysteresis. What a compaction is expected to save has to exceed ``min_saving_tokens``.
One that left the prompt over the mark that started it is in vain: the next waits until
there is as much more to save. None of that holds where the prompt is over its budget and
can be brought under it: it could not be sent, and whoever speaks to the agent would wait
for ever.
"""

from __future__ import annotations

from keepsake.compaction.dependencies import MemoryParts
from keepsake.memory.plan import CompactionPlan, MemorySnapshot, make_plan
from keepsake.memory.strategy import Layout
from keepsake.memory.types import CompactReason, Load
from keepsake.memory.window import View

ASK_AGAIN_AFTER = 4
"""Memories after which a compaction that did not pay is thought over again."""
FAR_FROM_IT = 0.1
"""So far under the emergency mark a load that was added up a few memories ago is enough."""
_MARKED = (CompactReason.HIGH, CompactReason.SLEEP, CompactReason.EMERGENCY)
"""What goes by the load; the mark is the setting of the same name."""


class Triggers:
    """Decides for one memory; for callers that hold the lock of its tiers, but for a plan."""

    def __init__(self, parts: MemoryParts, view: View) -> None:
        self._tiers, self._view, self._outside = parts.tiers, view, parts.outside
        self._left: Load | None = None
        """What the last compaction left, if it was in vain."""
        self._declined: dict[CompactReason, int] = {}

    def holding(self) -> list[CompactReason]:
        """What asks for one in the background, without a plan that tells if it would pay; quick."""
        config, load = self._outside.config(), self._view.load()
        full = self._tiers.last_number >= self.next_due()
        holds = {
            CompactReason.HIGH: config.on_high and load.share >= config.high,
            CompactReason.SLEEP: config.on_sleep
            and load.share >= config.sleep
            and self._outside.asleep(),
            CompactReason.COUNT: config.on_count and full,
        }
        reasons = [reason for reason, now in holds.items() if now]
        if not reasons or self._outside.strategy().layout is Layout.SLIDING:
            return []
        if self._held and load.used <= load.budget:
            return []
        return [reason for reason in reasons if not self._declines(reason, load)]

    def emergency(self, *, busy: bool) -> bool:
        """Whether one must be made before the next thought; ``busy`` while one is under way.

        A prompt over its budget cannot be sent at all, so then there is no question whether
        it pays.
        """
        config, load = self._outside.config(), self._view.load()
        if not config.on_emergency or load.share < config.emergency - FAR_FROM_IT:
            return False
        self._view.weight.stale()  # so near the mark every line is added up anew
        load = self._view.load()
        if load.used > load.budget:
            return True
        if load.share < config.emergency or busy or self._held:
            return False
        reason = CompactReason.EMERGENCY
        if self._declines(reason, load):
            return False
        return self.due(reason, self.plan(reason, self._view.snapshot()))

    def due(self, reason: CompactReason, plan: CompactionPlan | None) -> bool:
        """Whether ``plan`` brings the prompt under its budget, or is worth it."""
        load = self._view.load()
        if self._declines(reason, load):
            return False
        if plan is not None:
            pays = not self.blocked() and plan.pays
            if pays or (load.used > load.budget and plan.least <= load.budget):
                return True
        self._declined[reason] = self._tiers.last_number + ASK_AGAIN_AFTER
        return False

    def blocked(self) -> bool:
        """Whether the last one was in vain, and there is nothing new to save.

        That the rest of the prompt has grown is no reason: nothing of it can be saved. That it
        has shrunk, or that the budget is another one, is.
        """
        left, load = self._left, self._view.load()
        if left is None or load.budget != left.budget:
            return False
        grown = load.summaries + load.window - left.summaries - left.window
        shrunk = left.overhead - load.overhead
        return max(grown, shrunk) < max(self._outside.config().min_saving_tokens, 1)

    def next_due(self) -> int:
        """The memory number at which the window is full."""
        config, tiers = self._outside.config(), self._tiers
        due = tiers.state.summarised + config.immediate_window + config.recent_window
        return due if tiers.state.recent else due + 1

    def plan(self, reason: CompactReason, now: MemorySnapshot) -> CompactionPlan | None:
        """What a compaction would do; None if there is nothing to do. Needs no lock."""
        return make_plan(reason, self._outside.strategy(), self._outside.config(), now)

    def compacted(self, reason: CompactReason, left: Load) -> None:
        """One was made, and left the prompt at ``left``, without what came meanwhile."""
        self.forget()
        if reason in _MARKED and left.share >= getattr(self._outside.config(), reason.value):
            self._left = left

    def forget(self) -> None:
        """The memory is another one now: cleared, or taken back."""
        self._declined.clear()
        self._left = None

    @property
    def _held(self) -> bool:
        """Whether a compaction was taken back just now: it is not made again at once."""
        since, few = self._tiers.undone_at, self._outside.config().recent_window
        return since is not None and self._tiers.last_number < since + few

    def _declines(self, reason: CompactReason, load: Load) -> bool:
        """Whether a no still holds.

        It is thought over only every few memories, unless the prompt is over its budget.
        """
        declined = self._tiers.last_number < self._declined.get(reason, 0)
        return load.used <= load.budget and (declined or self.blocked())
