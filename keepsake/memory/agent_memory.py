"""An agent's memory over its archive, and the plainest one: the newest memories, no summaries.

What passes through a memory is in :mod:`keepsake.memory.types`.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime
from typing import Unpack

from keepsake.archive import integrity
from keepsake.archive.integrity import IntegrityReport
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryFacts, MemoryKind
from keepsake.archive.tiers import Tiers
from keepsake.errors import CompactionError
from keepsake.events.types import MemoryChange
from keepsake.memory.host import MemoryHost
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
from keepsake.memory.window import Window


class AgentMemory:
    """What an agent remembers; by itself it makes no summaries.

    ``append`` and ``context`` are quick and may be called on the reactor thread;
    ``compact`` calls a model and blocks, so it belongs in a worker thread.

    Attributes:
        archive: Where everything is kept.
        summaries: The folder of its summaries, as files.
        lock: Guards the tiers; held for moments.
    """

    def __init__(
        self, agent: str, archive: Archive, summaries: SummaryFolder, host: MemoryHost, tiers: Tiers
    ) -> None:
        self.agent, self.archive, self.summaries = agent, archive, summaries
        self.tiers, self.host = tiers, host
        self.window = Window(agent, tiers, host)
        self.lock = threading.Lock()

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
            window = self.tiers.window
            if window and (last := window[-1]).is_repeated_by(memory):
                return self._repeated(last, memory.time, last.repeats + 1)
            return self._added(memory)

    def _added(self, memory: Memory) -> Memory:
        self.archive.append_memory(memory)
        self.tiers.add(memory)
        return memory

    def _repeated(self, last: Memory, time: datetime, times: int) -> Memory:
        when = time.isoformat()
        self.archive.append({"type": "repeat", "n": last.number, "t": when, "times": times})
        return self.tiers.repeat_last(times)

    def context(self) -> MemoryContext:
        """What stands in the prompt now."""
        with self.lock:
            return self.window.context()

    def weigh(self, overhead: int) -> None:
        """Say what the last prompt cost beside summaries and window, in tokens.

        Until it is said that is taken for nothing, so a memory that is never weighed
        compacts later than it should.
        """
        self.window.overhead = max(overhead, 0)

    def load(self) -> Load:
        """What the prompt costs now; quick."""
        with self.lock:
            return self.window.load()

    def may_be_due(self) -> CompactReason | None:
        """What :meth:`next_turn` would think over; quick, for it makes no plan."""
        return None

    def next_turn(self) -> CompactReason | None:
        """Whether a compaction is due, and why: count, high, sleep; plans it, in a worker thread.

        None while one runs or is backing off, or where none would pay.
        """
        return None

    def before_thought(self) -> CompactReason | None:
        """Called before a prompt is built; EMERGENCY when it must not wait.

        Over the budget it is always EMERGENCY: such a prompt cannot be sent.
        """
        return None

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Make room in the prompt now.

        Raises:
            CompactionError: Nothing was changed; says why, or that nothing is left to do.
        """
        detail = "this memory keeps a sliding window and makes no summaries"
        return CompactionResult(reason, Outcome.NOTHING, detail, kept=len(self.tiers.window))

    def undo(self) -> Undone:
        """Take the newest compaction back; may be repeated until none is left.

        Raises:
            CompactionError: Nothing was changed; says why.
        """
        raise CompactionError("this memory makes no summaries, so there is none to take back")

    def status(self) -> MemoryStatus:
        """Figures about this memory."""
        return MemoryStatus(self.tiers.last_number, len(self.context().window))

    def clear(self) -> None:
        """Empty the prompt; the archive keeps everything and the numbers go on.

        Raises:
            ArchiveUnwritable: Nothing was cleared.
            CompactionRunning: A compaction is under way.
        """
        with self.lock:
            number, time = self.tiers.last_number, self.host.clock.now()
            compactions, step = self._counted()
            record = {"type": "clear", "n": number, "t": time.isoformat()}
            self.archive.append(record | {"compactions": compactions, "step": step})
            self.tiers.clear(number)
        self.host.emit(MemoryChange(agent=self.agent, op="clear", n=number))

    def _counted(self) -> tuple[int, int]:
        """How many compactions there were, and how many steps."""
        return self.tiers.compactions, self.tiers.step

    def check(self) -> IntegrityReport:
        """Compare archive, tiers and files; blocks.

        Raises:
            ArchiveUnwritable: A person has edited a summary, and that could not be archived.
        """
        return integrity.check(self.archive, self.context(), self.summaries, cascade=False)

    def log(self, text: str) -> None:
        """Write one line for people, with the agent's name."""
        self.host.log(f"[Memory] {self.agent}: {text}")

    def close(self) -> None:
        """Bring everything to the disk and let go of the files."""
        self.archive.close()


class SlidingMemory(AgentMemory):
    """The newest memories, as many as the immediate window held when it was opened.

    What falls out of the window stays in the archive. It serves where no summary is wanted, and
    where none can be read. Old results are masked, and the window never holds more than the prompt
    has room for.
    """

    def __init__(
        self, agent: str, archive: Archive, summaries: SummaryFolder, host: MemoryHost
    ) -> None:
        self._size = host.config().immediate_window
        tiers = Tiers(window=_newest(archive, self._size), last_number=archive.last_number)
        super().__init__(agent, archive, summaries, host, tiers)

    def context(self) -> MemoryContext:
        """The newest memories that the prompt has room for; there are no summaries."""
        with self.lock:
            del self.tiers.window[: -self._size]
            whole = self.window.context()
            room = self.host.config().high_tokens - self.window.overhead
            first = 0
            for place, memory in enumerate(reversed(whole.shown)):
                room -= self.window.counter.memory(memory)
                if room < 0 and place >= LEAST_VERBATIM:
                    break
                first = memory.number
        window = tuple(memory for memory in whole.window if memory.number >= first)
        shown = tuple(memory for memory in whole.shown if memory.number >= first)
        return replace(whole, window=window, masked=None if whole.masked is None else shown)

    def load(self) -> Load:
        """What the prompt costs now."""
        window = self.window.counter.memories(self.context().shown)
        return Load(self.window.overhead, 0, window, self.host.config().budget)

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
