"""A memory without summaries: the newest memories alone."""

from __future__ import annotations

from keepsake.archive import integrity
from keepsake.archive.integrity import IntegrityReport
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.errors import CompactionError
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.config import MemoryHost
from keepsake.memory.plan import LEAST_VERBATIM
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import (
    CompactionResult,
    CompactReason,
    Load,
    MemoryContext,
    MemoryStatus,
    Outcome,
    Undone,
)


class SlidingMemory(AgentMemory):
    """A memory whose prompt has the newest memories alone, as many as the immediate window holds.

    It makes no summaries, and shows none; what a memory of the other kind has made stays in the
    archive. The window never has more than the prompt has room for.
    """

    def __init__(
        self, agent: str, archive: Archive, summaries: SummaryFolder, host: MemoryHost
    ) -> None:
        super().__init__(agent, archive, summaries, host)
        del self.tiers.window[: -host.config().immediate_window]

    def _added(self, memory: Memory) -> Memory:
        added = super()._added(memory)
        del self.tiers.window[: -self.host.config().immediate_window]
        return added

    def context(self) -> MemoryContext:
        """The newest memories that the prompt has room for."""
        with self.lock:
            whole = self.window.context()
            config, first = self.host.config(), 0
            room = config.of_budget(config.high) - self.window.overhead
            for place, memory in enumerate(reversed(whole.shown)):
                room -= self.window.counter.memories([memory])
                if room < 0 and place >= LEAST_VERBATIM:
                    break
                first = memory.number
        return MemoryContext(
            longterm=None,
            recent=None,
            window=tuple(memory for memory in whole.window if memory.number >= first),
            masked=tuple(memory for memory in whole.shown if memory.number >= first),
        )

    def load(self) -> Load:
        """What the prompt costs now."""
        window = self.window.counter.memories(self.context().shown)
        return Load(self.window.overhead, 0, window, self.host.config().budget)

    def _holding(self) -> list[CompactReason]:
        return []

    def before_thought(self) -> CompactReason | None:
        """None: the window is never larger than its room."""
        return None

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Nothing: there is nothing to compact."""
        detail = "this memory keeps a sliding window and makes no summaries"
        return CompactionResult(reason, Outcome.NOTHING, detail, kept=len(self.context().window))

    def undo(self) -> Undone:
        """Nothing: there is no summary to take back.

        Raises:
            CompactionError: Always.
        """
        raise CompactionError("this memory makes no summaries, so there is none to take back")

    def check(self) -> IntegrityReport:
        """Compare archive and files; there are no tiers."""
        return integrity.check(self.archive, self.context(), self.summaries, cascade=False)

    def status(self) -> MemoryStatus:
        """Figures about this memory."""
        return MemoryStatus(self.tiers.last_number, len(self.context().window))
