"""What all verbs of a memory share."""

from __future__ import annotations

import threading
from pathlib import Path

from keepsake.library.gate import Gate
from keepsake.library.happenings import HappeningReader
from keepsake.library.opened import AgentProfile, OpenMemory, Parts

_CLOSED = ("The memory is closed", "Open it again with Memory(folder)")


class OfMemory:
    """A part of :class:`keepsake.Memory`, whose verbs work on the same open memory.

    Args:
        folder: The folder of the memory.
        agent: Its agent.
        parts: What it works with.

    Raises:
        ArchiveInUse: The folder is open already.
        ArchiveUnwritable: The folder cannot be created or written.
    """

    def __init__(self, folder: Path, agent: AgentProfile, parts: Parts) -> None:
        self.folder = folder
        self._agent = agent
        self._parts = parts
        self._reader = HappeningReader(agent.name)
        self._gate = Gate(*_CLOSED)
        self._turn = threading.Lock()  # held during an answer: an agent says one thing at a time
        self._opened = OpenMemory(folder, agent, parts)

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._agent.name
