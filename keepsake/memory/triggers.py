"""When a compaction is due: by count, by the marks of the load, and whether it is worth it."""

from __future__ import annotations

from keepsake.archive.tiers import Tiers
from keepsake.events.values import CompactReason
from keepsake.memory.plan import CompactionPlan, immediate_window
from keepsake.memory.types import Load
from keepsake.memory.window import MemoryHost, Window

ASK_AGAIN_AFTER = 4
"""Memories after which a compaction that did not pay is considered again."""
_MARKED = (CompactReason.HIGH, CompactReason.SLEEP, CompactReason.EMERGENCY)
"""The reasons that depend on the load. The setting of the same name is the mark."""


class Triggers:
    """Decides whether a compaction is due.

    One ladder has several triggers: the count, the high mark, the sleep mark and the emergency
    mark. The hysteresis is the gap between the mark that starts a compaction and the low mark, at
    which it stops. A compaction must be expected to save ``min_saving_tokens``. If one leaves the
    prompt over the mark that started it, it was in vain: the next one waits until that many
    tokens more can be saved. None of these rules holds for a prompt that is over its budget and
    can be brought under it, because such a prompt cannot be sent.

    A mark counts only after a prompt was reported: before that, nobody knows how much of the budget
    the rest of the prompt takes. If the rest alone takes all of it, nothing is due.
    """

    def __init__(self, tiers: Tiers, window: Window, host: MemoryHost) -> None:
        self._tiers = tiers
        self._window = window
        self._host = host
        # the load after the last compaction, if that was in vain; else None
        self._left_over: Load | None = None
        # the number of the memory at which a declined reason is considered again
        self._declined: dict[CompactReason, int] = {}

    def reasons(self, *, asleep: bool) -> list[CompactReason]:
        """Return the reasons for a background compaction; quick: no plan tells if it would pay."""
        config = self._host.config()
        load = self._window.load()
        known = self._window.is_overhead_known
        if known and load.leaves_no_room:
            return []
        holds = {
            CompactReason.HIGH: known and load.share >= config.high,
            CompactReason.SLEEP: known and asleep and load.share >= config.sleep,
            CompactReason.COUNT: self._tiers.last_number >= self.next_due(),
        }
        return [
            reason for reason, now in holds.items() if now and not self.is_declined(reason, load)
        ]

    def is_emergency(self) -> bool:
        """Whether a thought should wait for a compaction; quick: no plan tells if it would pay."""
        load = self._window.load()
        if not self._window.is_overhead_known or load.leaves_no_room:
            return False
        marked = load.share >= self._host.config().emergency
        return marked and not self.is_declined(CompactReason.EMERGENCY, load)

    def is_worth_it(self, plan: CompactionPlan) -> bool:
        """Whether ``plan`` brings the prompt under its budget, or saves enough."""
        load = self._window.load()
        if self.is_declined(plan.reason, load):
            return False
        pays = plan.pays and not self.last_was_in_vain()
        fits = load.used > load.budget and plan.least <= load.budget
        return pays or fits

    def decline(self, reason: CompactReason) -> None:
        """Do not consider that reason again before a few more memories."""
        self._declined[reason] = self._tiers.last_number + ASK_AGAIN_AFTER

    def last_was_in_vain(self) -> bool:
        """Whether the last compaction was in vain, and there is nothing new to save.

        Growth of the rest of the prompt does not count: a compaction saves nothing of it. If the
        rest has shrunk, or the budget has changed, another compaction may help.
        """
        left = self._left_over
        load = self._window.load()
        if left is None or load.budget != left.budget:
            return False
        grown = load.summaries + load.window - left.summaries - left.window
        shrunk = left.overhead - load.overhead
        return max(grown, shrunk) < max(self._host.config().min_saving_tokens, 1)

    def next_due(self) -> int:
        """Return the memory number at which the window is full."""
        config = self._host.config()
        tiers = self._tiers.view()
        due = tiers.state.summarised + immediate_window(config) + config.recent_window
        due += not tiers.state.recent
        return due if tiers.undone_at is None else max(due, tiers.undone_at + config.recent_window)

    def compacted(self, reason: CompactReason, left: Load) -> None:
        """Take note of a compaction and the load after it, without memories that came meanwhile."""
        self._declined.clear()
        self._left_over = None
        if reason in _MARKED and left.share >= getattr(self._host.config(), reason.value):
            self._left_over = left

    def forget(self) -> None:
        """Drop what was noted, after a compaction was undone or the memory was cleared."""
        self._declined.clear()
        self._left_over = None

    def is_declined(self, reason: CompactReason, load: Load) -> bool:
        """Whether an earlier refusal still holds, or a compaction was undone a short while ago.

        A refusal is reconsidered only every few memories. If the prompt is over its budget, an undo
        does not count, nor that the last compaction was in vain.
        """
        last = self._tiers.last_number
        if load.used > load.budget:
            return last < self._declined.get(reason, 0)
        since = self._tiers.view().undone_at
        undone = since is not None and last < since + self._host.config().recent_window
        return undone or last < self._declined.get(reason, 0) or self.last_was_in_vain()
