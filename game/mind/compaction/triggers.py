"""Whether a compaction is due in one memory: the ladder's decisions, with what they go by."""

from __future__ import annotations

from collections.abc import Callable

from game.mind.archive.tiers import Tiers
from game.mind.compaction import ladder
from game.mind.compaction.config import CompactionConfig
from game.mind.compaction.ladder import Streak
from game.mind.compaction.planning import CompactionPlan, make_plan
from game.mind.compaction.view import View
from game.mind.memory import CompactReason, Load
from game.mind.summaries.strategy import Layout, Strategy

ASK_AGAIN_AFTER = 4
"""Memories after which a compaction that did not pay is thought over again."""

FAR_FROM_IT = 0.1
"""So far under the emergency mark a load that was added up a few memories ago is enough."""


class Triggers:
    """Decides for one memory; for callers that hold the lock of its tiers.

    Args:
        tiers: The memory.
        view: What it costs.
        config: Gives the settings that hold now.
        strategy: Gives the way of writing summaries that holds now.
        asleep: Whether the agent sleeps now.
        priced: Whether a compaction costs tokens.
    """

    def __init__(
        self,
        tiers: Tiers,
        view: View,
        *,
        config: Callable[[], CompactionConfig],
        strategy: Callable[[], Strategy],
        asleep: Callable[[], bool],
        priced: Callable[[], bool],
    ) -> None:
        self._tiers, self._view = tiers, view
        self._config, self._strategy = config, strategy
        self._asleep, self._priced = asleep, priced
        self._streak = Streak()
        self._declined: dict[CompactReason, int] = {}

    def ordinary(self) -> CompactReason | None:
        """Why a compaction is due in the background; None if none is, or none would pay."""
        config, load = self._config(), self._view.load()
        full = self._tiers.last_number >= self.next_due()
        reasons = ladder.wanted(config, load, full=full, asleep=self._asleep)
        if not reasons or self._held or self._strategy().layout is Layout.SLIDING:
            return None
        return next((reason for reason in reasons if self._pays(reason, config, load)), None)

    def emergency(self, *, busy: bool) -> bool:
        """Whether one must be made before the next thought; ``busy`` while one is under way.

        A prompt over its budget cannot be sent at all, so then there is no question whether
        it pays.
        """
        config, load = self._config(), self._view.load()
        if load.share < config.emergency - FAR_FROM_IT:
            return False
        self._view.weight.stale()  # so near the mark every line is added up anew
        load = self._view.load()
        if not ladder.urgent(config, load):
            return False
        if load.used > load.budget:
            return True
        return not busy and not self._held and self._pays(CompactReason.EMERGENCY, config, load)

    def exhausted(self, config: CompactionConfig) -> bool:
        """Whether one more emergency compaction would be made in vain like those before."""
        return self._streak.blocks(config, self._view.load())

    def next_due(self) -> int:
        """The memory number at which the window is full."""
        config, tiers = self._config(), self._tiers
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
        return since is not None and self._tiers.last_number < since + self._config().recent_window

    def _pays(self, reason: CompactReason, config: CompactionConfig, load: Load) -> bool:
        """Whether a compaction is worth it; a no is thought over only every few memories."""
        last = self._tiers.last_number
        if self._streak.blocks(config, load) or last < self._declined.get(reason, 0):
            return False
        plan = self.plan(reason, config, self._strategy())
        if plan is not None and plan.worth.pays(config, priced=self._priced(), reason=reason):
            return True
        self._declined[reason] = last + ASK_AGAIN_AFTER
        return False
