"""Whether a compaction is due, and whether it pays.

One ladder has several triggers: the count, the high mark, the sleep mark and the emergency
mark. Between the mark that starts a compaction and the low mark that it goes down to lies
the hysteresis. What a compaction is expected to save has to exceed ``min_saving_tokens``.
One that left the prompt over the mark that started it is in vain: the next waits until
there is as much more to save. None of that holds where the prompt is over its budget and
can be brought under it: it could not be sent.
"""

from __future__ import annotations

from keepsake.archive.tiers import Tiers
from keepsake.memory.config import MemoryHost
from keepsake.memory.plan import CompactionPlan
from keepsake.memory.strategy import Layout
from keepsake.memory.types import CompactReason, Load
from keepsake.memory.window import Window

ASK_AGAIN_AFTER = 4
"""Memories after which a compaction that did not pay is thought over again."""
_MARKED = (CompactReason.HIGH, CompactReason.SLEEP, CompactReason.EMERGENCY)
"""What goes by the load; the mark is the setting of the same name."""


class Triggers:
    """Decides for one memory; for callers that hold the lock of its tiers."""

    def __init__(self, tiers: Tiers, window: Window, host: MemoryHost) -> None:
        self._tiers, self._window, self._host = tiers, window, host
        self._left: Load | None = None
        """What the last compaction left, if it was in vain."""
        self._declined: dict[CompactReason, int] = {}

    def holding(self) -> list[CompactReason]:
        """What asks for one in the background, without a plan that tells if it would pay; quick."""
        if self._host.strategy().layout is Layout.SLIDING:
            return []
        config, load = self._host.config(), self._window.load()
        asleep = load.share >= config.sleep and self._host.asleep()
        holds = {
            CompactReason.HIGH: load.share >= config.high,
            CompactReason.SLEEP: asleep,
            CompactReason.COUNT: self._tiers.last_number >= self.next_due(),
        }
        if self._undone_just_now and load.used <= load.budget:
            return []
        return [reason for reason, now in holds.items() if now and not self._declines(reason, load)]

    def pressing(self, *, busy: bool) -> Load | None:
        """The load if one may have to be made before the next thought; None if not.

        ``busy``: Whether one is under way.
        """
        config, load = self._host.config(), self._window.load()
        if load.share < config.emergency:
            return None
        if load.used <= load.budget and (
            busy or self._undone_just_now or self._declines(CompactReason.EMERGENCY, load)
        ):
            return None
        return load

    def due(self, reason: CompactReason, plan: CompactionPlan | None) -> bool:
        """Whether ``plan`` brings the prompt under its budget, or is worth it."""
        load = self._window.load()
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
        left, load = self._left, self._window.load()
        if left is None or load.budget != left.budget:
            return False
        grown = load.summaries + load.window - left.summaries - left.window
        shrunk = left.overhead - load.overhead
        return max(grown, shrunk) < max(self._host.config().min_saving_tokens, 1)

    def next_due(self) -> int:
        """The memory number at which the window is full."""
        config, tiers = self._host.config(), self._tiers
        due = tiers.state.summarised + config.immediate_window + config.recent_window
        return due if tiers.state.recent else due + 1

    def compacted(self, reason: CompactReason, left: Load) -> None:
        """One was made, and left the prompt at ``left``, without what came meanwhile."""
        self.forget()
        if reason in _MARKED and left.share >= getattr(self._host.config(), reason.value):
            self._left = left

    def forget(self) -> None:
        """The memory is another one now: cleared, or taken back."""
        self._declined.clear()
        self._left = None

    @property
    def _undone_just_now(self) -> bool:
        """Whether a compaction was taken back just now: it is not made again at once."""
        since, few = self._tiers.undone_at, self._host.config().recent_window
        return since is not None and self._tiers.last_number < since + few

    def _declines(self, reason: CompactReason, load: Load) -> bool:
        """Whether a no still holds.

        It is thought over only every few memories, unless the prompt is over its budget.
        """
        declined = self._tiers.last_number < self._declined.get(reason, 0)
        return load.used <= load.budget and (declined or self.blocked())
