"""What no compaction may contradict or lose, where nobody has pins and nobody whispers."""

from __future__ import annotations

from keepsake.books.commitments import Commitments
from keepsake.memory import MemoryContext


def must_keep(_context: MemoryContext, commitments: Commitments, _own_name: str) -> tuple[str, ...]:
    """Open promises and rules, which stand in a block of their own, as lines."""
    return commitments.lines
