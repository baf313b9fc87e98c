"""The interface of an agent's memory; what passes through it is in :mod:`game.mind.memory`."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from game.mind.archive.log import Archive
from game.mind.archive.records import Memory, MemoryKind
from game.mind.memory import (
    CompactionResult,
    CompactReason,
    Load,
    MemoryContext,
    MemoryStatus,
    Undone,
)
from game.mind.summaries.roundtrip import Rate, RoundtripQuestion


class AgentMemory(Protocol):
    """What an agent remembers.

    ``append`` and ``context`` are quick and may be called on the reactor thread;
    ``compact`` calls a model and blocks, so it belongs in a worker thread.
    """

    archive: Archive
    """Where everything is kept."""
    questions: tuple[RoundtripQuestion, ...]
    """Drawn before the last compaction from what it summarised, for the caller to ask."""

    def append(
        self,
        text: str,
        kind: MemoryKind = MemoryKind.PERCEPTION,
        *,
        place: str = "",
        source: str = "",
        reason: str = "",
        source_id: str = "",
        event: str = "",
        to: str = "",
        time: datetime | None = None,
    ) -> Memory:
        """Remember one line; it is in the archive when this returns.

        Consecutive repeats of a perception become one memory that counts them. ``time``
        is when it happened, for what had to wait for the disk; now if not given.

        Raises:
            ArchiveUnwritable: Nothing was remembered.
        """
        ...

    def context(self) -> MemoryContext:
        """What stands in the prompt now."""
        ...

    def weigh(self, overhead: int) -> None:
        """Say what the last prompt cost beside summaries and window, in tokens.

        Until it is said that is taken for nothing, so a memory that is never weighed
        compacts later than it should.
        """
        ...

    def load(self) -> Load:
        """What the prompt costs now; quick."""
        ...

    def next_turn(self) -> CompactReason | None:
        """Called once a turn; says whether a compaction is due, and why: count, high, sleep."""
        ...

    def before_thought(self) -> CompactReason | None:
        """Called before a prompt is built; EMERGENCY when it must not wait."""
        ...

    def compact(self, reason: CompactReason) -> CompactionResult:
        """Make room in the prompt now.

        Raises:
            CompactionError: Nothing was changed; says why, or that nothing is left to do.
        """
        ...

    def undo(self) -> Undone:
        """Take the newest compaction back; may be repeated until none is left.

        Raises:
            CompactionError: Nothing was changed; says why.
        """
        ...

    def record_rate(self, number: int, rate: Rate) -> None:
        """Keep in the archive what asking :attr:`questions` after compaction ``number`` gave.

        Raises:
            ArchiveUnwritable: It was not kept.
        """
        ...

    def clear(self) -> None:
        """Empty the prompt; the archive keeps everything and the numbers go on."""
        ...

    def is_empty(self) -> bool:
        """Whether nothing stands in the prompt."""
        ...

    def status(self) -> MemoryStatus:
        """Figures about this memory."""
        ...

    def close(self) -> None:
        """Bring everything to the disk and let go of the files."""
        ...
