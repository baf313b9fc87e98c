"""An agent's memory; what passes through it is in :mod:`keepsake.memory.types`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from typing import Unpack

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryFacts, MemoryKind
from keepsake.archive.tiers import Tiers
from keepsake.archive.verdicts import Rate, RoundtripQuestion
from keepsake.compaction.dependencies import Dependencies, MemoryParts
from keepsake.events.types import MemoryChange
from keepsake.memory.types import (
    CompactionResult,
    CompactReason,
    Load,
    MemoryContext,
    MemoryStatus,
    Undone,
)
from keepsake.memory.window import View


class AgentMemory(ABC):
    """What an agent remembers.

    ``append`` and ``context`` are quick and may be called on the reactor thread;
    ``compact`` calls a model and blocks, so it belongs in a worker thread.

    Attributes:
        archive: Where everything is kept.
        questions: Drawn before the last compaction from what it summarised, for the caller to
            ask.
    """

    def __init__(self, agent: str, archive: Archive, tiers: Tiers, outside: Dependencies) -> None:
        self.agent, self.archive = agent, archive
        self.questions: tuple[RoundtripQuestion, ...] = ()
        self._tiers, self._outside = tiers, outside
        self._parts = MemoryParts(agent, archive, tiers, outside)
        self._view = View(self._parts)
        self._lock = self._parts.lock

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
        with self._lock:
            memory = Memory(
                number=self._tiers.last_number + 1,
                time=time or self._outside.clock.now(),
                kind=kind,
                text=text,
                **facts,
            )
            window = self._tiers.window
            if window and (last := window[-1]).is_repeated_by(memory):
                return self._repeated(last, memory.time, last.repeats + 1)
            return self._added(memory)

    def _added(self, memory: Memory) -> Memory:
        self.archive.append_memory(memory)
        self._tiers.add(memory)
        self._grown(memory, None)
        return memory

    def _repeated(self, last: Memory, time: datetime, times: int) -> Memory:
        when = time.isoformat()
        self.archive.append({"type": "repeat", "n": last.number, "t": when, "times": times})
        memory = self._tiers.repeat_last(times)
        self._grown(memory, last)
        return memory

    @abstractmethod
    def _grown(self, memory: Memory, before: Memory | None) -> None:
        """The window ends with ``memory`` now, in place of ``before`` if that happened again."""

    @abstractmethod
    def context(self) -> MemoryContext:
        """What stands in the prompt now."""

    def weigh(self, overhead: int) -> None:
        """Say what the last prompt cost beside summaries and window, in tokens.

        Until it is said that is taken for nothing, so a memory that is never weighed
        compacts later than it should.
        """
        self._view.overhead = max(overhead, 0)

    @abstractmethod
    def load(self) -> Load:
        """What the prompt costs now; quick."""

    @abstractmethod
    def may_be_due(self) -> CompactReason | None:
        """What :meth:`next_turn` would think over; quick, for it makes no plan."""

    @abstractmethod
    def next_turn(self) -> CompactReason | None:
        """Whether a compaction is due, and why: count, high, sleep; plans it, in a worker thread.

        None while one runs or is backing off, or where none would pay.
        """

    @abstractmethod
    def before_thought(self) -> CompactReason | None:
        """Called before a prompt is built; EMERGENCY when it must not wait.

        Over the budget it is always EMERGENCY: such a prompt cannot be sent.
        """

    @abstractmethod
    def compact(self, reason: CompactReason) -> CompactionResult:
        """Make room in the prompt now.

        Raises:
            CompactionError: Nothing was changed; says why, or that nothing is left to do.
        """

    @abstractmethod
    def undo(self) -> Undone:
        """Take the newest compaction back; may be repeated until none is left.

        Raises:
            CompactionError: Nothing was changed; says why.
        """

    @abstractmethod
    def record_rate(self, number: int, rate: Rate) -> None:
        """Keep in the archive what asking :attr:`questions` after compaction ``number`` gave.

        Raises:
            ArchiveUnwritable: It was not kept.
        """

    @abstractmethod
    def status(self) -> MemoryStatus:
        """Figures about this memory."""

    def clear(self) -> None:
        """Empty the prompt; the archive keeps everything and the numbers go on.

        Raises:
            ArchiveUnwritable: Nothing was cleared.
            CompactionRunning: A compaction is under way.
        """
        with self._lock:
            number = self._tiers.last_number
            compactions, step = self._counted()
            record = {"type": "clear", "n": number, "t": self._outside.clock.now().isoformat()}
            self.archive.append(record | {"compactions": compactions, "step": step})
            self._tiers.clear(number)
        self._outside.tell(MemoryChange(agent=self.agent, op="clear", n=number))

    def _counted(self) -> tuple[int, int]:
        """How many compactions there were, and how many steps."""
        return self._tiers.compactions, self._tiers.step

    def is_empty(self) -> bool:
        """Whether nothing stands in the prompt."""
        tiers = self._tiers
        return not (tiers.window or tiers.state.recent or tiers.state.longterm)

    def close(self) -> None:
        """Bring everything to the disk and let go of the files."""
        self.archive.close()
