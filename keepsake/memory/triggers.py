"""When a compaction is due: by count, by the marks of the load, and whether it is worth it."""

from __future__ import annotations

from keepsake.archive.tiers import Tiers
from keepsake.events.values import CompactReason
from keepsake.memory.plan import CompactionPlan, immediate_window
from keepsake.memory.types import Load
from keepsake.memory.window import MemoryHost, Window

IN_TALK = 0.90
"""The share of the budget from which a compaction does not wait for a pause: midway between the
high mark and the emergency mark, so that it has some ten exchanges of time."""
WHOLE = 1.40
"""The share of the budget from which the whole window, with the asides that a prompt leaves out, is
compacted in any case. A compaction goes down to the low mark, so one prompt can show its writer all
that leaves."""
ASK_AGAIN_AFTER = 4
"""Memories after which a compaction that did not pay is considered again."""
_MARKED = (CompactReason.HIGH, CompactReason.SLEEP, CompactReason.EMERGENCY)
"""The reasons that depend on the load. The setting of the same name is the mark."""


class Triggers:
    """Decides whether a compaction is due.

    One ladder has several triggers: the count, the high mark, the sleep mark, and the emergency: no
    room even for the memories that no compaction takes. The count decides together with the budget:
    while the prompt is far from full, more lines cost less than a summary. A prompt that passes the
    high mark first leaves out asides (:mod:`keepsake.memory.asides`). A compaction follows if that
    is not enough, or if much is left
    out. While an agent in its room talks, a compaction in the background waits for a pause, until
    little room is left. The hysteresis is the gap between the mark that starts a compaction and the
    low mark, at which it stops. A compaction must be expected to save ``min_saving_tokens``. If one
    leaves the prompt over the mark that started it, it was in vain: the next one waits until that
    many tokens more can be saved. None of these rules holds for a prompt that is over its budget
    and can be brought under it, because such a prompt cannot be sent.

    After an undo no compaction is due until a person asks for one. Lines for which the prompt then
    has no room are not shown.

    Whether a compaction in the background is due depends on what prompts usually cost
    (:meth:`Window.usually`), so that a whisper with many private words does not start one.

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

    def reasons(self, *, asleep: bool, in_talk: bool = False) -> list[CompactReason]:
        """Return the reasons for a background compaction; quick: no plan tells if it would pay.

        ``in_talk``: Whether an agent in its room talks with a player.
        """
        config = self._host.config()
        load = self._window.load()
        known = self._window.is_overhead_known
        if self.is_undone or (known and load.leaves_no_room):
            return []
        load = self._window.usually(load)
        is_long = load.share >= WHOLE
        shown = self._window.usually(self._window.lean_load())
        if in_talk and not (known and (is_long or shown.share >= IN_TALK)):
            return []
        holds = {
            CompactReason.HIGH: known and (is_long or shown.share >= config.high),
            CompactReason.SLEEP: known and asleep and load.share >= config.sleep,
            CompactReason.COUNT: self.is_count_due(shown),
        }
        return [
            reason for reason, now in holds.items() if now and not self.is_declined(reason, load)
        ]

    def is_emergency(self) -> bool:
        """Whether a thought must wait for a compaction; quick: no plan tells if it would pay.

        Only if the prompt has no room for the memories that no compaction takes: then a summary
        must become shorter. All other lines can be left out until a compaction in the background.
        """
        load = self._window.load()
        return self.must_wait and not self.is_declined(CompactReason.EMERGENCY, load)

    @property
    def must_wait(self) -> bool:
        """Whether the prompt is over its budget even with the memories that always stay alone."""
        load = self._window.load()
        if not self._window.is_overhead_known or load.leaves_no_room or load.used <= load.budget:
            return False
        return self._window.least_load().used > load.budget

    def is_worth_it(self, plan: CompactionPlan) -> bool:
        """Whether ``plan`` brings the prompt under its budget, or saves enough.

        Nothing is worth it after an undo, or while its reason is declined.
        """
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

    @property
    def is_undone(self) -> bool:
        """Whether a compaction was undone, and no other has been made since."""
        return self._tiers.view().is_undone

    def next_due(self) -> int:
        """Return the memory number at which the window is full, by count."""
        config = self._host.config()
        state = self._tiers.state
        due = state.summarised + immediate_window(config) + config.recent_window
        return due if state.recent else due + 1

    def is_count_due(self, shown: Load) -> bool:
        """Whether the window is full by count, and the prompt by so much that it matters.

        Before the first prompt its other parts are not known, so the count alone decides.

        ``shown``: What the prompt costs without the asides that it leaves out.
        """
        if self._tiers.last_number < self.next_due():
            return False
        return not self._window.is_overhead_known or shown.used >= self._host.config().count_tokens

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
        """Whether an earlier refusal still holds, or an undo.

        A refusal is reconsidered only every few memories. If the prompt is over its budget, it does
        not count that the last compaction was in vain.
        """
        if self.is_undone:
            return True
        if self._tiers.last_number < self._declined.get(reason, 0):
            return True
        return load.used <= load.budget and self.last_was_in_vain()
