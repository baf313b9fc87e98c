"""What the memory of an agent asks of its other components, and tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from keepsake.archive.records import Memory
from keepsake.memory.types import CompactionResult


class MemoryOwner(Protocol):
    """Whose memory it is; called on the reactor thread where nothing else is said."""

    @property
    def watchers(self) -> Sequence[Callable[[Memory], None]]:
        """Each is given every memory once it is archived; quick."""
        ...

    def pins(self) -> Sequence[str]:
        """The pinned lines as a prompt shows them; in any thread."""
        ...

    def importance(self, memory: Memory) -> int:
        """How much a memory matters, 1 to 10; in any thread."""
        ...

    def may_compact(self) -> bool:
        """Whether it may be compacted because the agent sleeps."""
        ...

    def leaving(self, window: Sequence[Memory]) -> None:
        """A compaction begins, in a worker thread.

        What is drawn out of the window is kept whatever becomes of the compaction.
        """
        ...

    def compacted(self, result: CompactionResult) -> None:
        """A compaction has ended."""
        ...
