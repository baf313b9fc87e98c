"""An agent's memory over its archive: window, short-term summary, long-term summary.

Each compaction lets the short-term summary flow into the long-term one, and the memories outside
the immediate window become the new short-term summary. Between two compactions the window grows,
so nothing is invisible and the prompt grows only at its end. When one is due is decided in
:mod:`keepsake.memory.window`, how it is made in :mod:`keepsake.memory.compactor`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from operator import attrgetter
from typing import Unpack

from keepsake.archive import history, integrity
from keepsake.archive.integrity import IntegrityReport
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryFacts, MemoryKind
from keepsake.archive.tiers import load_tiers
from keepsake.errors import CompactionError, CompactionRunning, KeepsakeError
from keepsake.memory.compactor import Compactor
from keepsake.memory.plan import CompactionPlan, make_plan
from keepsake.memory.summary_files import SummaryFolder, VaultCopies
from keepsake.memory.types import (
    CompactionResult,
    CompactReason,
    Load,
    MemoryContext,
    Outcome,
    Undone,
)
from keepsake.memory.window import MemoryHost, Triggers, Window

_same = attrgetter("kind", "text", "source_id", "event")
"""What two memories share of which the second is the first once more."""


class AgentMemory:
    """What an agent remembers, with its summaries as files in ``summaries``.

    ``append`` and ``context`` are quick and may be called on the reactor thread;
    ``compact`` calls a model and blocks, so it belongs in a worker thread.

    Attributes:
        archive: Where everything is kept.
        summaries: The folder of its summaries, as files.
        lock: Guards the tiers; held for moments.
        tiers: Which memory is in which tier.
        compactor: Knows how often compactions failed, and why.
    """

    def __init__(
        self, agent: str, archive: Archive, summaries: SummaryFolder, host: MemoryHost
    ) -> None:
        self.agent, self.archive, self.summaries, self.host = agent, archive, summaries, host
        self.tiers, self.lock = load_tiers(archive), threading.Lock()
        self.window = Window(agent, self.tiers, host)
        # Held for the length of a compaction; nobody ever waits for it.
        self._busy = threading.Lock()
        for report in archive.reports:
            host.log(f"[Memory] {agent}: {report}")
        self._triggers = Triggers(self.tiers, self.window, host)
        self._copies = VaultCopies(summaries, self.tiers, archive, self.lock, host)
        parts = archive, self.tiers, self.lock, self.window, self._copies, host
        self.compactor = Compactor(*parts)
        self._copies.adopt_edits(mend=True)

    def append(
        self,
        text: str,
        kind: MemoryKind = MemoryKind.PERCEPTION,
        *,
        time: datetime | None = None,
        **facts: Unpack[MemoryFacts],
    ) -> Memory:
        """Remember one line; it is in the archive when this returns.

        Consecutive repeats of a perception become one memory that counts them. ``time``
        is when it happened, for what had to wait for the disk; now if not given.

        Raises:
            ArchiveUnwritable: Nothing was remembered.
        """
        with self.lock:
            memory = Memory(
                number=self.tiers.last_number + 1,
                time=time or self.host.clock.now(),
                kind=kind,
                text=text,
                **facts,
            )
            last = self.tiers.window[-1] if self.tiers.window else None
            # What the agent does itself is no repeat, nor is a deed one of the pose it looks like.
            if last and kind is not MemoryKind.ACT and _same(last) == _same(memory):
                when, times = memory.time.isoformat(), last.repeats + 1
                record = {"type": "repeat", "n": last.number, "t": when, "times": times}
                self.archive.append(record)
                return self.tiers.repeat_last(times)
            self.archive.append(memory.to_record())
            self.tiers.window.append(memory)
            self.tiers.last_number = memory.number
            return memory

    # -- what is in the prompt, and what it costs

    def context(self) -> MemoryContext:
        """What is in the prompt now."""
        with self.lock:
            return self.window.context()

    def weigh(self, prompt: int) -> None:
        """Say what the last prompt cost, in tokens: the more beside memories, the less for them.

        Until it is said, all else in it is taken for nothing, so a memory that is never weighed
        compacts later than it should.
        """
        with self.lock:
            load = self.window.load()
            self.window.overhead = max(prompt - load.summaries - load.window, 0)

    def load(self) -> Load:
        """What the prompt costs now; quick."""
        with self.lock:
            return self.window.load()

    # -- whether a compaction is due

    def may_be_due(self) -> CompactReason | None:
        """What asks for one now, whether it pays or not; quick, for it makes no plan."""
        return next(iter(self._holding()), None)

    def next_turn(self) -> CompactReason | None:
        """Whether a compaction is due, and why: count, high, sleep; plans it, in a worker thread.

        None while one runs or is backing off, or where none would pay.
        """
        return next(filter(self._pays, self._holding()), None)

    def before_thought(self) -> CompactReason | None:
        """Called before a prompt is built; EMERGENCY when it must not wait.

        Over the budget it is always EMERGENCY: such a prompt cannot be sent.
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

    def _holding(self) -> list[CompactReason]:
        if self._busy.locked() or self.compactor.backing_off:
            return []
        with self.lock:
            return self._triggers.holding()

    def _pays(self, reason: CompactReason) -> bool:
        plan = self._plan(reason)  # long, and nobody who is heard meanwhile waits
        with self.lock:
            return self._triggers.due(reason, plan)

    def _plan(self, reason: CompactReason) -> CompactionPlan | None:
        """What a compaction would do; None if there is nothing to do. Needs no lock."""
        snapshot = self.window.snapshot(self.context())
        return make_plan(reason, self.host.config(), snapshot)

    # -- compaction and undo

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Make room in the prompt now: go up the ladder once.

        Raises:
            CompactionError: Nothing was changed; says why, or that nothing is left to do.
        """
        emergency = reason is CompactReason.EMERGENCY
        with self._alone(), self.compactor.failing_safely():
            self.archive.sync()  # what cannot be written may not be compacted
            self._copies.adopt_edits()
            with self.lock:
                self.window.mask_as_far_as_it_goes()
                blocked, load = self._triggers.blocked(), self.window.load()
            plan = self._plan(reason)
            hopeless = blocked and (plan is None or plan.least > load.budget)
            made = None
            if plan and not (emergency and hopeless and load.used > load.budget):
                made = self.compactor.make(plan, again=blocked)
                load = self.load()
                # What came meanwhile says nothing of what this one could do.
                left = made.tokens_after if made else load.summaries + load.window
                rest = Load(load.overhead + left, 0, left, load.budget)
                with self.lock:
                    self._triggers.compacted(reason, rest)
            if made is None and emergency and load.used > load.budget:
                raise CompactionError(
                    f"{self.agent}'s prompt needs {load.used} tokens and may have {load.budget}, "
                    f"and nothing is left to compact; {load.overhead} are no memories",
                    "Raise context_tokens in memory_compaction.md if the model can look at more; "
                    "or shorten the profile, the pinned lines or the template in prompts/talk.md",
                )
            kept = len(self.tiers.window)
            why = (
                f"the {kept} memories since the last summary stay word for word, as the newest "
                f"{self.host.config().immediate_window} and an open talk do; the next compaction "
                f"is due at memory {self.next_due()}, and now it is {self.tiers.last_number}"
            )
            return made or CompactionResult(
                reason=reason, outcome=Outcome.NOTHING, detail=why, kept=kept
            )

    def undo(self) -> Undone:
        """Take the newest compaction back; may be repeated until none is left.

        Raises:
            CompactionError: Nothing was changed; says why.
        """
        with self._alone():
            try:
                undone = self.compactor.take_back(history.standing(self.archive))
            except KeepsakeError as error:
                raise CompactionError(error.what, error.cure) from error
            with self.lock:  # what was known of the load holds no longer
                self.window.forget()
                self._triggers.forget()
            return undone

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

    # -- files, figures, the end

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
        """Compare archive, tiers and files; blocks.

        Raises:
            ArchiveUnwritable: A person has edited a summary, and that could not be archived.
        """
        self.adopt_edits()
        with self._copies.in_step:  # just after a commit the files are still those of before
            return integrity.check(self.archive, self.context(), self.summaries)

    def next_due(self) -> int:
        """The memory number at which the next compaction falls due by count."""
        with self.lock:
            return self._triggers.next_due()

    def close(self) -> None:
        """Bring everything to the disk and let go of the files."""
        self.archive.close()
