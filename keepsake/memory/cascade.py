"""The cascade: window, short-term summary, long-term summary, like a waterfall.

Each cycle the short-term summary flows into the long-term one, and the memories outside
the immediate window become the new short-term summary. Between two cycles the window
grows, so nothing is invisible and the prompt grows only at its end. When a cycle is due is
decided in :mod:`keepsake.memory.triggers`, how it is made in
:mod:`keepsake.memory.compactor`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from keepsake.agent_memory import AgentMemory
from keepsake.archive import history, integrity
from keepsake.archive.integrity import IntegrityReport
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.archive.tiers import load_tiers
from keepsake.archive.verdicts import Rate
from keepsake.compaction.dependencies import Dependencies
from keepsake.compaction.undo import take_back
from keepsake.errors import CompactionError, CompactionRunning, KeepsakeError
from keepsake.events.types import MemoryChange
from keepsake.memory.compactor import CompactionMaker, nothing_left
from keepsake.memory.plan import CompactionPlan
from keepsake.memory.strategy import Layout
from keepsake.memory.summary_files import SummaryFolder
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
from keepsake.summaries.copies import VaultCopies


class CascadeMemory(AgentMemory):
    """An agent's memory in three tiers, with its summaries as files in ``summaries``."""

    def __init__(
        self, agent: str, archive: Archive, summaries: SummaryFolder, outside: Dependencies
    ) -> None:
        super().__init__(agent, archive, load_tiers(archive), outside)
        self.summaries = summaries
        # Held for the length of a compaction; nobody ever waits for it.
        self._busy = threading.Lock()
        for report in archive.reports:
            self._parts.log(report)
        self._triggers = Triggers(self._parts, self._view)
        self._copies = VaultCopies(summaries, self._parts)
        self._maker = CompactionMaker(self._parts, self._copies)
        self._copies.adopt_edits(mend=True)

    def _grown(self, memory: Memory, before: Memory | None) -> None:
        self._view.weight.grown(memory, before)

    def context(self) -> MemoryContext:
        """What stands in the prompt now."""
        with self._lock:
            return self._view.context()

    def load(self) -> Load:
        """What the prompt costs now, added up anew."""
        with self._lock:
            self._view.weight.stale()
            return self._view.load()

    def may_be_due(self) -> CompactReason | None:
        """What asks for a compaction now, whether it pays or not."""
        if self._busy.locked() or self._maker.backing_off:
            return None
        with self._lock:
            return next(iter(self._triggers.holding()), None)

    def next_turn(self) -> CompactReason | None:
        """Whether a compaction is due and pays; None while one runs or is backing off."""
        if self._busy.locked() or self._maker.backing_off:
            return None
        with self._lock:
            if not (reasons := self._triggers.holding()):
                return None
            context = self._view.context()
        now = self._view.weighed(context)  # long, and nobody who is heard meanwhile waits for it
        for reason in reasons:
            plan = self._triggers.plan(reason, now)
            with self._lock:
                if self._busy.locked() or not self._follows(context):
                    return None
                if self._triggers.due(reason, plan):
                    return reason
        return None

    def before_thought(self) -> CompactReason | None:
        """EMERGENCY when the prompt is over its mark and something can be done about it."""
        with self._lock:
            due = self._triggers.emergency(busy=self._busy.locked())
        return CompactReason.EMERGENCY if due else None

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Go up the ladder once; see :meth:`keepsake.agent_memory.AgentMemory.compact`."""
        strategy = self._outside.strategy()
        if reason is CompactReason.AGENT and not self._outside.config().on_agent:
            raise CompactionError(
                "agents may not ask for a compaction here",
                "Set on_agent in memory_compaction.md to let them",
            )
        emergency = reason is CompactReason.EMERGENCY
        if strategy.layout is Layout.SLIDING and not emergency:
            detail = f"the strategy {strategy.name} makes no summaries"
            return CompactionResult(reason, Outcome.NOTHING, detail, kept=self.status().window)
        with self._alone():
            if emergency and self._exhausted():
                raise nothing_left(self.agent, self.load())
            began = self._outside.ticks()
            with self._maker.failing_safely():
                self.archive.sync()  # what cannot be written may not be compacted
                self._copies.adopt_edits()
                self._parts.importance.judge_anew(self.context().window)
                with self._lock:
                    self._view.mask_as_far_as_it_goes()
                    again = self._triggers.blocked()
                plan = self._plan(reason)
                result = (
                    self._maker.make(plan, began, again=again)
                    if plan
                    else self._maker.nothing(reason)
                )
            load = self.load()
            # What came meanwhile says nothing of what this one could do.
            left = result.tokens_after if result.number else load.summaries + load.window
            self._triggers.compacted(reason, Load(load.overhead, 0, left, load.budget))
            if result.number:
                self.questions = self._maker.questions
            elif emergency and load.used > load.budget:
                raise nothing_left(self.agent, load)
            return result

    def undo(self) -> Undone:
        """Take the newest compaction back; see :meth:`keepsake.agent_memory.AgentMemory.undo`."""
        with self._alone():
            try:
                undone = take_back(self._parts, self._copies, history.standing(self.archive))
            except CompactionError:
                raise
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

    def record_rate(self, number: int, rate: Rate) -> None:
        """Keep what asking the questions of compaction ``number`` gave."""
        record = {"type": "rate", "id": number, "t": self._outside.clock.now().isoformat()}
        with self._lock:
            self.archive.append(record | rate.to_record())
            if number == self._tiers.state.standing:
                self._tiers.state = replace(self._tiers.state, rate=rate)
        change = MemoryChange(agent=self.agent, op="rate", n=number, asked=rate.asked)
        self._outside.tell(replace(change, answered=rate.prompt, found=rate.recalled))

    def clear(self) -> None:
        """Empty the prompt; see :meth:`keepsake.agent_memory.AgentMemory.clear`."""
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
        """Take over edits by hand, then compare archive, tiers and files; blocks.

        Raises:
            ArchiveUnwritable: An edit is there, but could not be archived.
        """
        self.adopt_edits()
        with self._copies.in_step:  # just after a commit the files are still those of before
            return integrity.check(self.archive, self.context(), self.summaries)

    def status(self) -> MemoryStatus:
        """Figures about this memory."""
        with self._lock:
            tiers, tried = self._tiers, self._maker
            return MemoryStatus(
                total=tiers.last_number,
                window=len(tiers.window),
                next_due=self._triggers.next_due() if self._outside.config().on_count else None,
                running=self._busy.locked(),
                last_compaction=tiers.state.time,
                compactions=tiers.compactions,
                failures=tried.failures,
                retry_at=tried.retry_at,
                last_failure=tried.last_failure,
                last_number=tiers.state.standing,
                last_verdict=tiers.state.verdict,
                last_rate=tiers.state.rate,
            )

    def _plan(self, reason: CompactReason) -> CompactionPlan | None:
        """What a compaction would do now; for a worker, as it takes long."""
        return self._triggers.plan(reason, self._view.weighed(self.context()))

    def _exhausted(self) -> bool:
        """Whether one more emergency compaction would bring nothing: the rest is too large."""
        with self._lock:
            blocked = self._triggers.blocked()
        plan = self._plan(CompactReason.EMERGENCY) if blocked else None
        return blocked and (plan is None or plan.least > plan.config.budget)

    def _follows(self, context: MemoryContext) -> bool:
        """Whether nothing but new memories came since that was in the prompt."""
        now, old = self._tiers.state, context
        windows = (self._tiers.window, context.window)
        first, was = ([each.number for each in window[:1]] for window in windows)
        return now.longterm is old.longterm and now.recent is old.recent and first == was

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
        with self._lock:
            self._view.forget()
            self._triggers.forget()
        self.questions = ()
