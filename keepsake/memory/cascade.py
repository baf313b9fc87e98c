"""The cascade: window, short-term summary, long-term summary, like a waterfall.

Each cycle the short-term summary flows into the long-term one, and the memories outside
the immediate window become the new short-term summary. Between two cycles the window
grows, so nothing is invisible and the prompt grows only at its end. When a cycle is due is
decided in :mod:`keepsake.memory.triggers`, how it is made in :mod:`keepsake.memory.compactor`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from keepsake.archive import history, integrity
from keepsake.archive.integrity import IntegrityReport
from keepsake.archive.log import Archive
from keepsake.archive.tiers import load_tiers
from keepsake.errors import CompactionError, CompactionRunning, KeepsakeError
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.compactor import Compactor, nothing_left
from keepsake.memory.host import MemoryHost
from keepsake.memory.plan import CompactionPlan, make_plan
from keepsake.memory.strategy import Layout
from keepsake.memory.summary_files import SummaryFolder, VaultCopies
from keepsake.memory.triggers import Triggers
from keepsake.memory.types import (
    CompactionResult,
    CompactReason,
    Load,
    MemoryContext,
    MemoryStatus,
    Outcome,
    Undone,
)


class CascadeMemory(AgentMemory):
    """An agent's memory in three tiers, with its summaries as files in ``summaries``."""

    def __init__(
        self, agent: str, archive: Archive, summaries: SummaryFolder, host: MemoryHost
    ) -> None:
        super().__init__(agent, archive, summaries, host, load_tiers(archive))
        # Held for the length of a compaction; nobody ever waits for it.
        self._busy = threading.Lock()
        for report in archive.reports:
            self.log(report)
        self._triggers = Triggers(self.tiers, self.window, host)
        self._copies = VaultCopies(summaries, self.tiers, archive, self.lock, host)
        self._compactor = Compactor(self, self._copies)
        self._copies.adopt_edits(mend=True)

    def may_be_due(self) -> CompactReason | None:
        """What asks for a compaction now, whether it pays or not."""
        return next(iter(self._holding()), None)

    def next_turn(self) -> CompactReason | None:
        """Whether a compaction is due and pays; None while one runs or is backing off."""
        if not (reasons := self._holding()):
            return None
        context = self.context()
        for reason in reasons:
            plan = self._plan(reason, context)  # long, and nobody who is heard meanwhile waits
            with self.lock:
                if self._triggers.due(reason, plan):
                    return reason
        return None

    def _holding(self) -> list[CompactReason]:
        if self._busy.locked() or self._compactor.backing_off:
            return []
        with self.lock:
            return self._triggers.holding()

    def before_thought(self) -> CompactReason | None:
        """EMERGENCY when the prompt is over its mark and something can be done about it."""
        with self.lock:
            load = self._triggers.pressing(busy=self._busy.locked())
        if load is None:
            return None
        if load.used <= load.budget:
            plan = self._plan(CompactReason.EMERGENCY, self.context())
            with self.lock:
                if not self._triggers.due(CompactReason.EMERGENCY, plan):
                    return None
        return CompactReason.EMERGENCY

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Go up the ladder once; see :meth:`AgentMemory.compact`."""
        strategy = self.host.strategy()
        if reason is CompactReason.AGENT and not self.host.config().on_agent:
            raise CompactionError(
                "agents may not ask for a compaction here",
                "A builder can make one: @compact-memories",
            )
        emergency = reason is CompactReason.EMERGENCY
        if strategy.layout is Layout.SLIDING and not emergency:
            detail = f"the strategy {strategy.name} makes no summaries"
            return CompactionResult(reason, Outcome.NOTHING, detail, kept=self.status().window)
        with self._alone(), self._compactor.failing_safely():
            began = self.host.ticks()
            self.archive.sync()  # what cannot be written may not be compacted
            self._copies.adopt_edits()
            with self.lock:
                self.window.mask_as_far_as_it_goes()
                blocked, load = self._triggers.blocked(), self.window.load()
            plan = self._plan(reason, self.context())
            hopeless = blocked and (plan is None or plan.least > load.budget)
            if emergency and hopeless and load.used > load.budget:
                raise nothing_left(self.agent, load)
            made = self._compactor.make(plan, began, again=blocked) if plan else None
            load = self.load()
            # What came meanwhile says nothing of what this one could do.
            left = made.tokens_after if made else load.summaries + load.window
            with self.lock:
                self._triggers.compacted(reason, Load(load.overhead, 0, left, load.budget))
            if made is None and emergency and load.used > load.budget:
                raise nothing_left(self.agent, load)
            return made or self._nothing(reason)

    def _nothing(self, reason: CompactReason) -> CompactionResult:
        """There is nothing to do, and why."""
        window, size = len(self.tiers.window), self.host.config().immediate_window
        by_count = reason is CompactReason.COUNT or reason.asked
        detail = (
            f"what is not summarised yet ({window}) stands in the immediate window of {size}"
            if by_count and window <= size
            else f"none of the {window} memories that are not summarised yet can leave the prompt"
        )
        return CompactionResult(reason, Outcome.NOTHING, detail, kept=window)

    def undo(self) -> Undone:
        """Take the newest compaction back; see :meth:`AgentMemory.undo`."""
        with self._alone():
            try:
                undone = self._compactor.take_back(history.standing(self.archive))
            except KeepsakeError as error:
                raise CompactionError(error.what, error.cure) from error
            self._forget_figures()
            load = self.load()
            if load.used > load.budget:
                warning = (
                    "; with that the prompt is over its budget, and will soon be compacted "
                    "again: to go further back, raise context_tokens in memory_compaction.md first"
                )
                undone = replace(undone, detail=undone.detail + warning)
            return undone

    def clear(self) -> None:
        """Empty the prompt; see :meth:`AgentMemory.clear`."""
        with self._alone():
            super().clear()
            self._forget_figures()
            self._copies.adopt_edits(mend=True)

    def adopt_edits(self) -> list[str]:
        """Take over summaries that a person changed in the vault.

        Returns:
            What was found, in words: adopted edits and files that cannot be read. Nothing
            while a compaction runs: it works on the texts of before, and sets an edit
            aside when it replaces the file.

        Raises:
            ArchiveUnwritable: The edit is there, but could not be archived.
        """
        try:
            with self._alone():
                return self._copies.adopt_edits()
        except CompactionRunning:
            return []

    def check(self) -> IntegrityReport:
        """Take over edits by hand, then compare; see :meth:`AgentMemory.check`."""
        self.adopt_edits()
        with self._copies.in_step:  # just after a commit the files are still those of before
            return integrity.check(self.archive, self.context(), self.summaries)

    def status(self) -> MemoryStatus:
        """Figures about this memory."""
        with self.lock:
            tiers, tried = self.tiers, self._compactor
            return MemoryStatus(
                total=tiers.last_number,
                window=len(tiers.window),
                next_due=self._triggers.next_due(),
                running=self._busy.locked(),
                last_compaction=tiers.state.time,
                compactions=tiers.compactions,
                failures=tried.failures,
                retry_at=tried.retry_at,
                last_failure=tried.last_failure,
                last_number=tiers.state.standing,
                last_verdict=tiers.state.verdict,
            )

    def _plan(self, reason: CompactReason, context: MemoryContext) -> CompactionPlan | None:
        """What a compaction would do; None if there is nothing to do. Needs no lock."""
        snapshot = self.window.snapshot(context)
        return make_plan(reason, self.host.strategy(), self.host.config(), snapshot)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            raise CompactionRunning(
                f"a compaction of {self.agent}'s memory is under way", "Wait for it to end"
            )
        try:
            yield
        finally:
            self._busy.release()

    def _forget_figures(self) -> None:
        """What was known of the load holds no longer."""
        with self.lock:
            self.window.forget()
            self._triggers.forget()
