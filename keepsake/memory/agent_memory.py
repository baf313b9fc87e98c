"""An agent's memory on top of its archive: window, short-term summary, long-term summary.

Each compaction merges the short-term summary into the long-term one, and summarises the memories
outside the immediate window as the new short-term summary. Between two compactions the window
grows at its end. Now and then a batch of its older lines is masked, and lines for which the budget
has no room are not shown. :mod:`keepsake.memory.triggers` decides when a compaction is due,
:mod:`keepsake.memory.compactor` makes it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Unpack

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryFacts
from keepsake.archive.summaries import Tier
from keepsake.archive.tiers import load_tiers
from keepsake.errors import CompactionError, CompactionRunning, KeepsakeError, NoRoom
from keepsake.events.values import CompactionOutcome, CompactReason
from keepsake.happening import What
from keepsake.language.sourced_text import Sources
from keepsake.logs import Subsystem, get_logger
from keepsake.memory import history, integrity
from keepsake.memory.compactor import Compactor
from keepsake.memory.config import LARGEST_CONTEXT
from keepsake.memory.integrity import IntegrityReport
from keepsake.memory.plan import CompactionPlan, immediate_window, make_plan
from keepsake.memory.summary_files import SummaryFolder, VaultCopies
from keepsake.memory.triggers import Triggers
from keepsake.memory.types import (
    CompactionRequest,
    CompactionResult,
    Load,
    MemoryContext,
    UndoResult,
)
from keepsake.memory.window import MemoryHost, Window

log = get_logger(Subsystem.ARCHIVE)


class AgentMemory:
    """What an agent remembers, with its summaries as files in ``summaries``.

    ``append`` and ``context`` are quick and may be called on the reactor thread.
    ``compact`` calls a model and blocks, so call it in a worker thread.

    Attributes:
        archive: Stores everything.
        tiers: Which memory is in which tier.
        window: What a prompt shows of them, and what it costs.
        compactor: Makes compactions; knows how many failed, and why.
        earlier: How many memories the archive had when it was opened.
    """

    def __init__(
        self, agent: str, archive: Archive, summaries: SummaryFolder, host: MemoryHost
    ) -> None:
        self.agent = agent
        self.archive = archive
        self.earlier = archive.last_number
        self.summaries = summaries
        self.host = host
        self.tiers = load_tiers(archive)
        self.window = Window(agent, self.tiers, host)
        # Held during a whole compaction; no thread ever waits for it.
        self._busy = threading.Lock()
        for report in archive.reports:
            log.warning(report, agent=agent)
        self._triggers = Triggers(self.tiers, self.window, host)
        self._copies = VaultCopies(summaries, self.tiers, host)
        self.compactor = Compactor(archive, self.tiers, self.window, self._copies, host)
        self._copies.adopt_edits(mend=True)

    def append(
        self, what: What, *, time: datetime | None = None, **facts: Unpack[MemoryFacts]
    ) -> Memory:
        """Remember what happened; it is in the archive when this returns.

        ``time`` is when it happened; default: now.

        Raises:
            ArchiveUnwritable: Nothing was remembered.
        """
        return self.add(Memory(0, time or self.host.clock.now(), what, **facts))

    def add(self, memory: Memory) -> Memory:
        """Archive a memory under the next number; see :meth:`Tiers.remember`."""
        return self.tiers.remember(memory)

    # -- what is in the prompt, and what it costs

    def context(self) -> MemoryContext:
        """Return what is in the prompt now."""
        return self.window.context()

    def report_prompt(self, prompt: int) -> None:
        """Report the tokens of the last prompt: its other parts leave less room for memories.

        Until the first report, compactions are by count alone, because nobody knows how much of
        the budget the other parts take.
        """
        self.window.report_prompt(prompt)

    def load(self) -> Load:
        """Return what the prompt costs now; quick."""
        return self.window.load()

    def no_room(self) -> NoRoom | None:
        """Return the problem if the rest of the prompt alone needs the whole budget; quick.

        Then no compaction can help, so none is made: a budget that is too small by mistake, for
        however short a time, must not cost the agent its memory.
        """
        load = self.load()
        if not (self.window.is_overhead_known and load.leaves_no_room):
            return None
        return NoRoom(
            f"{self.agent}'s prompt has no room for memories: the persona, the commands and the "
            f"scene alone need {load.overhead:,} tokens, and a prompt may have {load.budget:,}. "
            "Nothing is compacted until that changes",
            "Raise prompt_tokens of the profile in llm.md, or context_tokens in "
            "memory_compaction.md, if the model allows more; or shorten the persona, the pinned "
            "lines or the template in prompts/talk.md",
        )

    # -- whether a compaction is due

    def may_be_due(self, *, asleep: bool = False, in_talk: bool = False) -> CompactReason | None:
        """Return a reason for a compaction, even if it would not pay. Quick: it makes no plan.

        None while a compaction runs, and after a recent failure.

        ``in_talk``: Whether an agent in its room talks with a player; then a compaction waits for a
        pause, as long as there is room.
        """
        if self._busy.locked():
            return None
        return next(iter(self._reasons(asleep=asleep, in_talk=in_talk)), None)

    def before_thought(self) -> CompactReason | None:
        """Return EMERGENCY if the prompt that is built next must wait for a compaction.

        It need not wait as long as lines can be left out of it. Quick: only the compaction itself
        finds out whether it pays.
        """
        running = self._busy.locked()
        waits = self._triggers.must_wait if running else self._triggers.is_emergency()
        return CompactReason.EMERGENCY if waits else None

    def next_due(self) -> int | None:
        """Return the memory number at which the next compaction may be due by count.

        None after an undo: then none is due until a person asks for one.
        """
        return None if self._triggers.is_undone else self._triggers.next_due()

    def next_compaction(self) -> str:
        """Return in words when the next compaction by count is due."""
        due = self.next_due()
        if due is None:
            return "after an undo, not before a person asks for one (@compact-memories)"
        left = due - self.tiers.last_number
        if left > 0:
            return f"at memory {due} ({left} more)"
        if self._triggers.is_count_due(self.window.usually(self.window.lean_load())):
            return f"at memory {due} (due now)"
        config = self.host.config()
        share = config.count_tokens / config.budget
        return f"when the prompt fills {share:.0%} of its budget (due by count at memory {due})"

    def _reasons(self, *, asleep: bool, in_talk: bool) -> list[CompactReason]:
        if self.compactor.backing_off:
            return []
        return self._triggers.reasons(asleep=asleep, in_talk=in_talk)

    def _asked_or_due(self, request: CompactionRequest) -> list[CompactReason]:
        if request.reason is not None:
            return [request.reason]
        return self._reasons(asleep=request.asleep, in_talk=request.in_talk)

    # -- compaction and undo

    def plan(self, request: CompactionRequest) -> CompactionPlan | None:
        """Plan the compaction that a request asks for; slow, because it counts the whole window.

        Returns:
            None if nothing is due, if it would not pay, or if nothing is left to do.
        """
        asked = request.reason
        reasons = self._asked_or_due(request)
        if not reasons:
            return None
        limits = request.limits
        if not self.window.is_overhead_known:
            # The budget says nothing yet, so only the number of memories counts.
            limits = replace(limits, context_tokens=LARGEST_CONTEXT)
        snapshot = self.window.snapshot(usual=asked is None)
        for reason in reasons:
            plan = make_plan(reason, limits, snapshot)
            must_pay = asked in (None, CompactReason.EMERGENCY)
            if plan is not None and (not must_pay or self._triggers.is_worth_it(plan)):
                return plan
            if must_pay:
                self._triggers.decline(reason)
        return None

    def compact(self, request: CompactionRequest) -> CompactionResult:
        """Make room in the prompt: mask, then carry out the first plan that is worth it, if any.

        Returns:
            What was done; its outcome is NOTHING if nothing was due or left to do.

        Raises:
            CompactionError: No memory and no summary was changed. It says why. Edited summaries
                are taken over.
        """
        with self._exclusively(), self.compactor.failing_safely(request.reason):
            if request.reason is not None and (problem := self.no_room()):
                raise problem
            self.archive.sync()  # memories must be on disk before they are compacted
            self._copies.adopt_edits()
            plan = self.plan(request)
            made = None
            if plan is not None:
                made = self._carry_out(plan, request)
            load = self.load()
            if made is None and request.reason is CompactReason.EMERGENCY:
                self._check_that_it_fits(load)
            return made or self._nothing_done(plan, request)

    def _carry_out(
        self, plan: CompactionPlan, request: CompactionRequest
    ) -> CompactionResult | None:
        """Carry out a plan; return None if masking was all that there was to do."""
        was_in_vain = self._triggers.last_was_in_vain()
        made = self.compactor.make(plan, request, was_in_vain=was_in_vain)
        # Not before: a prompt that is built while the summary is written would begin differently
        # from the one before it, and the next one once more.
        self.window.mask_all_allowed()
        load = self.load()
        # Memories that came meanwhile say nothing about what this compaction achieved.
        left = made.tokens_after if made else load.summaries + load.window
        rest = Load(load.overhead + left, 0, left, load.budget)
        self._triggers.compacted(plan.reason, rest)
        return made

    def _check_that_it_fits(self, load: Load) -> None:
        """Raise if the prompt is over its budget even with the newest memory alone."""
        shown = self.context().shown
        least = load.overhead + load.summaries + self.window.count(*shown)
        if least > load.budget:
            raise CompactionError(
                f"{self.agent}'s prompt needs {least:,} tokens and may have {load.budget:,}, "
                f"and nothing is left to compact; {load.overhead:,} of them are not memories",
                "Raise context_tokens in memory_compaction.md if the model allows more; "
                "or shorten the profile, the pinned lines or the template in prompts/talk.md",
            )

    def _nothing_done(
        self, plan: CompactionPlan | None, request: CompactionRequest
    ) -> CompactionResult:
        tiers = self.tiers.view()
        kept = len(tiers.window)
        least = immediate_window(request.limits)
        if kept == least + 1 and request.reason is not None:
            why = (
                f"only memory {tiers.window[0].number} is old enough, and a summary of a single "
                "memory would be no shorter"
            )
        else:
            why = (
                f"the {kept} memories since the last summary stay in the window, as the newest "
                f"{least} and an unfinished talk always do"
            )
        due = f"the next compaction is due {self.next_compaction()}"
        return CompactionResult(
            reason=plan.reason if plan else request.reason,
            outcome=CompactionOutcome.NOTHING,
            detail=f"{why}; {due}",
            kept=kept,
        )

    def undo(self) -> UndoResult:
        """Undo the newest compaction; may be repeated until none is left.

        Raises:
            CompactionError: Nothing was changed; the error says why.
        """
        with self._exclusively():
            try:
                undone = self.compactor.write_undo(history.undoable(self.archive))
            except CompactionError:  # there is nothing to undo
                raise
            except KeepsakeError as error:
                told = "The undo failed"
                log.error(told, agent=self.agent, subsystem=Subsystem.COMPACTION, exc_info=error)
                raise CompactionError(error.what, error.cure) from error
            self.window.forget()  # what was masked is shown again
            self._triggers.forget()
            return undone

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            raise CompactionRunning(
                f"a compaction of {self.agent}'s memory is under way", "Wait for it to end"
            )
        try:
            yield
        finally:
            self._busy.release()

    # -- files, checks, closing

    def adopt_edits(self) -> list[str]:
        """Adopt summaries that a person edited in the vault.

        Returns:
            Messages about adopted edits and unreadable files. Empty while a compaction runs: it
            works on the earlier texts, and renames an edited file before it writes a new one.

        Raises:
            ArchiveUnwritable: There is an edit, but it could not be archived.
        """
        try:
            with self._exclusively():
                return self._copies.adopt_edits()
        except CompactionRunning:
            return []

    def edit_summary(self, tier: Tier, text: str, was: str) -> str:
        """Replace the text of a summary, as if a person had edited its file; blocks.

        The archive gets a line, and both versions stay beside the summary's file.

        Args:
            was: The text that the person began with.

        Returns:
            What was done.

        Raises:
            KeepsakeError: There is no such summary, it has changed meanwhile, ``text`` is empty, a
                compaction runs, or the archive cannot be written.
        """
        with self._exclusively():
            return self._copies.edit(tier, text, was)

    def note_sources(self, number: int, tier: Tier, sources: Sources) -> None:
        """Archive which memories each sentence of a compaction's summary tells; blocks.

        Args:
            number: That of the compaction.
            sources: By sentence of the summary, in order.

        Raises:
            ArchiveUnwritable: Nothing was noted.
        """
        line = {
            "type": LineType.SOURCES,
            "id": number,
            "tier": tier.value,
            "t": self.host.clock.now().isoformat(),
            "sources": [list(each) for each in sources],
        }
        self.tiers.write(lambda _: line)

    def check(self) -> IntegrityReport:
        """Compare archive, tiers and files; blocks.

        Raises:
            ArchiveUnwritable: A person has edited a summary, and that could not be archived.
        """
        self.adopt_edits()
        with self._copies.in_step:  # just after a commit the files still hold the old summaries
            return integrity.check(self.archive, self.context(), self.summaries)

    def close(self) -> None:
        """Write everything to disk and close the files."""
        self.archive.close()
