"""The types of archive lines."""

from __future__ import annotations

from enum import StrEnum


class LineType(StrEnum):
    """What one line of an archive records, in its field ``type``.

    Lines of other types, such as those of later versions, are kept and change nothing.
    """

    MEMORY = "memory"
    REPEAT = "repeat"
    """The last memory happened again."""
    COMPACTION = "compaction"
    UNDO = "undo"
    """A compaction was undone."""
    EDIT = "edit"
    """A person edited a summary."""
    SOURCES = "sources"
    """A model said later which memories a summary tells."""
    CLEAR = "clear"
    """The prompt was cleared, which only early versions could."""
    PLAN = "plan"
    """A plan was made, or has another state."""

    @property
    def start(self) -> bytes:
        """The first bytes of a line of this type: ``{"type":"memory",``."""
        return f'{{"type":"{self}",'.encode()
