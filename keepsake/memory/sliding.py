"""A memory without summaries: the newest memories and nothing else.

What falls out of the window stays in the archive. It serves where no summary is wanted,
and as what is left when none can be made. Old results are masked here as well, and the
window never holds more than the prompt has room for.
"""

from __future__ import annotations

from dataclasses import replace

from keepsake.agent_memory import AgentMemory
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.archive.tiers import Tiers
from keepsake.archive.verdicts import Rate
from keepsake.compaction.dependencies import Dependencies
from keepsake.errors import CompactionError
from keepsake.memory.plan import LEAST_VERBATIM
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
    """The newest memories, as many as the immediate window held when it was opened."""

    def __init__(self, agent: str, archive: Archive, outside: Dependencies) -> None:
        self._size = outside.config().immediate_window
        tiers = Tiers(window=_newest(archive, self._size), last_number=archive.last_number)
        super().__init__(agent, archive, tiers, outside)

    def _grown(self, memory: Memory, before: Memory | None) -> None:
        del self._tiers.window[: -self._size]

    def context(self) -> MemoryContext:
        """The newest memories that the prompt has room for; there are no summaries."""
        with self._lock:
            whole = self._view.context()
        room = self._outside.config().high_tokens - self._view.overhead
        first = 0
        for place, memory in enumerate(reversed(whole.shown)):
            room -= self._parts.counter.memory(memory)
            if room < 0 and place >= LEAST_VERBATIM:
                break
            first = memory.number
        window = tuple(memory for memory in whole.window if memory.number >= first)
        shown = tuple(memory for memory in whole.shown if memory.number >= first)
        return replace(whole, window=window, masked=None if whole.masked is None else shown)

    def load(self) -> Load:
        """What the prompt costs now."""
        window = self._parts.counter.memories(self.context().shown)
        return Load(self._view.overhead, 0, window, self._outside.config().budget)

    def may_be_due(self) -> None:
        """Never due."""

    def next_turn(self) -> None:
        """Never due."""

    def before_thought(self) -> None:
        """Never: the window slides by itself."""

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Do nothing and say so."""
        detail = "this memory keeps a sliding window and makes no summaries"
        return CompactionResult(reason, Outcome.NOTHING, detail, kept=len(self._tiers.window))

    def undo(self) -> Undone:
        """There is nothing to take back."""
        raise CompactionError("this memory makes no summaries, so there is none to take back")

    def record_rate(self, number: int, rate: Rate) -> None:
        """There are no compactions here to rate."""

    def status(self) -> MemoryStatus:
        """Figures about this memory."""
        return MemoryStatus(self._tiers.last_number, len(self.context().window))

    def _counted(self) -> tuple[int, int]:
        """What another kind of memory has made in this archive."""
        for record in self.archive.backwards():
            if record.get("type") in ("compaction", "undo", "clear"):
                made = int(record["id" if record["type"] == "compaction" else "compactions"])
                return made, int(record.get("step", made))
        return 0, 0


def _newest(archive: Archive, size: int) -> list[Memory]:
    """The last ``size`` memories since the last clearing, oldest first."""
    newest: list[Memory] = []
    repeats: dict[int, int] = {}
    for record in archive.backwards():
        match record.get("type"):
            case "clear":
                break
            case "repeat":
                # Backwards, the first one met is the highest count.
                repeats.setdefault(int(record["n"]), int(record["times"]))
            case "memory":
                memory = Memory.from_record(record)
                newest.append(memory.repeated(repeats.get(memory.number, 1)))
        if len(newest) == size:
            break
    return newest[::-1]
