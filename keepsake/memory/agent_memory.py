"""An agent's memory on top of its archive: window, short-term summary, long-term summary.

Each compaction merges the short-term summary into the long-term one, and summarises the memories
outside the immediate window as the new short-term summary. Between two compactions the window
grows, so no memory is hidden and the prompt grows only at its end. :mod:`keepsake.memory.window`
decides when a compaction is due, :mod:`keepsake.memory.compactor` makes it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Unpack

from keepsake.archive import history, integrity
from keepsake.archive.integrity import IntegrityReport
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryFacts
from keepsake.archive.tiers import load_tiers
from keepsake.errors import CompactionError, CompactionRunning, KeepsakeError
from keepsake.happening import What
from keepsake.logs import Subsystem, get_logger
from keepsake.memory.compactor import Compactor
from keepsake.memory.plan import CompactionPlan, make_plan
from keepsake.memory.summary_files import SummaryFolder, VaultCopies
from keepsake.memory.types import (
    CompactionResult,
    CompactReason,
    Load,
    MemoryContext,
    Outcome,
    UndoResult,
)
from keepsake.memory.window import MemoryHost, Triggers, Window

log = get_logger(Subsystem.ARCHIVE)

REPEAT_TIME = timedelta(minutes=10)
"""The longest time after which the same line is a repeat. Later it is news: it happened again."""


class AgentMemory:
    """What an agent remembers, with its summaries as files in ``summaries``.

    ``append`` and ``context`` are quick and may be called on the reactor thread.
    ``compact`` calls a model and blocks, so call it in a worker thread.

    Attributes:
        archive: Stores everything.
        lock: Guards the tiers; held only briefly.
        tiers: Which memory is in which tier.
        compactor: Makes compactions; knows how many failed, and why.
    """

    def __init__(
        self, agent: str, archive: Archive, summaries: SummaryFolder, host: MemoryHost
    ) -> None:
        self.agent = agent
        self.archive = archive
        self.summaries = summaries
        self.host = host
        self.tiers = load_tiers(archive)
        self.lock = threading.Lock()
        self.window = Window(agent, self.tiers, host)
        # Held during a whole compaction; no thread ever waits for it.
        self._busy = threading.Lock()
        for report in archive.reports:
            log.warning(report, agent=agent)
        self._triggers = Triggers(self.tiers, self.window, host)
        self._copies = VaultCopies(summaries, self.tiers, archive, self.lock, host)
        self.compactor = Compactor(archive, self.tiers, self.lock, self.window, self._copies, host)
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
        """Archive a memory under the next number; see :meth:`append`.

        If the same happens again at the same place within :data:`REPEAT_TIME`, it is one memory
        with a count, unless it is the agent's own act.

        Returns:
            The memory as it is archived.
        """
        with self.lock:
            memory = replace(memory, number=self.tiers.last_number + 1)
            last = self.tiers.window[-1] if self.tiers.window else None
            if last and not memory.is_own and _is_repeat(last, memory):
                when = memory.time.isoformat()
                times = last.repeats + 1
                record = {"type": "repeat", "n": last.number, "t": when, "times": times}
                self.archive.append(record)
                return self.tiers.repeat_last(times)
            self.archive.append(memory.to_record())
            self.tiers.window.append(memory)
            self.tiers.last_number = memory.number
            return memory

    # -- what is in the prompt, and what it costs

    def context(self) -> MemoryContext:
        """Return what is in the prompt now."""
        with self.lock:
            return self.window.context()

    def report_prompt(self, prompt: int) -> None:
        """Report the tokens of the last prompt: its other parts leave less room for memories.

        Until the first report the other parts count as 0 tokens. A memory without reports
        compacts later than it should.
        """
        with self.lock:
            load = self.window.load()
            self.window.overhead = max(prompt - load.summaries - load.window, 0)

    def load(self) -> Load:
        """Return what the prompt costs now; quick."""
        with self.lock:
            return self.window.load()

    # -- whether a compaction is due

    def may_be_due(self) -> CompactReason | None:
        """Return a reason for a compaction, even if it would not pay. Quick: it makes no plan."""
        return next(iter(self._reasons()), None)

    def next_turn(self) -> CompactReason | None:
        """Return why a compaction is due (count, high, sleep). Makes a plan: for worker threads.

        None while a compaction runs, after a recent failure, or if none would pay.
        """
        return next(filter(self._pays, self._reasons()), None)

    def before_thought(self) -> CompactReason | None:
        """Return EMERGENCY if a compaction must come before the prompt that is built next.

        That is always so over the budget, because such a prompt cannot be sent.
        """
        emergency = CompactReason.EMERGENCY
        with self.lock:
            load = self.window.load()
            if load.used < self.host.config().emergency * load.budget:
                return None
            if load.used > load.budget:
                return emergency
            if self._busy.locked() or self._triggers.declines(emergency, load):
                return None
        return emergency if self._pays(emergency) else None

    def _reasons(self) -> list[CompactReason]:
        if self._busy.locked() or self.compactor.backing_off:
            return []
        with self.lock:
            return self._triggers.reasons()

    def _pays(self, reason: CompactReason) -> bool:
        plan = self._plan(reason)  # slow, so without the lock: appends need not wait
        with self.lock:
            return self._triggers.due(reason, plan)

    def _plan(self, reason: CompactReason) -> CompactionPlan | None:
        """Plan a compaction; None if there is nothing to do. Call it without the lock."""
        snapshot = self.window.snapshot(self.context())
        return make_plan(reason, self.host.config(), snapshot)

    # -- compaction and undo

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Make room in the prompt now: climb the ladder once.

        Raises:
            CompactionError: Nothing was changed. It says why, or that nothing is left to do.
        """
        emergency = reason is CompactReason.EMERGENCY
        with self._exclusively(), self.compactor.failing_safely():
            self.archive.sync()  # memories must be on disk before they are compacted
            self._copies.adopt_edits()
            with self.lock:
                self.window.mask_all_allowed()
                blocked = self._triggers.blocked()
                load = self.window.load()
            plan = self._plan(reason)
            hopeless = blocked and (plan is None or plan.least > load.budget)
            made = None
            if plan and not (emergency and hopeless and load.used > load.budget):
                made = self.compactor.make(plan, again=blocked)
                load = self.load()
                # Memories that came meanwhile say nothing about what this compaction achieved.
                left = made.tokens_after if made else load.summaries + load.window
                rest = Load(load.overhead + left, 0, left, load.budget)
                with self.lock:
                    self._triggers.compacted(reason, rest)
            if made is None and emergency and load.used > load.budget:
                raise CompactionError(
                    f"{self.agent}'s prompt needs {load.used} tokens and may have {load.budget}, "
                    f"and nothing is left to compact; {load.overhead} of them are not memories",
                    "Raise context_tokens in memory_compaction.md if the model allows more; "
                    "or shorten the profile, the pinned lines or the template in prompts/talk.md",
                )
            kept = len(self.tiers.window)
            why = (
                f"the {kept} memories since the last summary stay in the window, as the newest "
                f"{self.host.config().immediate_window} and an unfinished talk always do; the next "
                f"compaction is due at memory {self.next_due()}, now at {self.tiers.last_number}"
            )
            return made or CompactionResult(
                reason=reason, outcome=Outcome.NOTHING, detail=why, kept=kept
            )

    def undo(self) -> UndoResult:
        """Undo the newest compaction; may be repeated until none is left.

        Raises:
            CompactionError: Nothing was changed; the error says why.
        """
        with self._exclusively():
            try:
                undone = self.compactor.undo(history.undoable(self.archive))
            except CompactionError:  # there is nothing to undo
                raise
            except KeepsakeError as error:
                told = "The undo failed"
                log.error(told, agent=self.agent, subsystem=Subsystem.COMPACTION, exc_info=error)
                raise CompactionError(error.what, error.cure) from error
            with self.lock:  # what was known about the load is no longer valid
                self.window.forget()
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

    def check(self) -> IntegrityReport:
        """Compare archive, tiers and files; blocks.

        Raises:
            ArchiveUnwritable: A person has edited a summary, and that could not be archived.
        """
        self.adopt_edits()
        with self._copies.in_step:  # just after a commit the files still hold the old summaries
            return integrity.check(self.archive, self.context(), self.summaries)

    def next_due(self) -> int:
        """Return the memory number at which the next compaction is due by count."""
        with self.lock:
            return self._triggers.next_due()

    def close(self) -> None:
        """Write everything to disk and close the files."""
        self.archive.close()


def _is_repeat(last: Memory, memory: Memory) -> bool:
    """Whether the same happened again: in the same place, a moment after it was last archived."""
    # A deed does not repeat a pose with the same text, nor does a person repeat another one.
    same = (last.what, last.place, last.event) == (memory.what, memory.place, memory.event)
    return same and abs(memory.time - last.time) <= REPEAT_TIME
