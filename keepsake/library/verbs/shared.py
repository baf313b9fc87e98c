"""What all verbs of a memory share."""

from __future__ import annotations

import threading
from pathlib import Path

from keepsake.library.gate import Gate
from keepsake.library.happenings import HappeningReader
from keepsake.library.opened import OpenMemory, Parts, Who

_CLOSED = ("The memory is closed", "Open it again with Memory(folder)")


class OfMemory:
    """A part of :class:`keepsake.Memory`, whose verbs work on the same open memory.

    Args:
        folder: The folder of the memory.
        who: Its agent.
        parts: What it works with.

    Raises:
        ArchiveInUse: The folder is open already.
        ArchiveUnwritable: The folder cannot be created or written.
    """

    def __init__(self, folder: Path, who: Who, parts: Parts) -> None:
        self.folder = folder
        self._who = who
        self._parts = parts
        self._reader = HappeningReader(who.name)
        self._gate = Gate(*_CLOSED)
        self._turn = threading.Lock()  # held during an answer: an agent says one thing at a time
        self._opened = OpenMemory(folder, who, parts)

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._who.name
