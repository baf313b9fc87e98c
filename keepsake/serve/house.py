"""The memories that a service keeps: the folders below one folder, each opened at its first use."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from keepsake.errors import ArchiveInUse, KeepsakeError, refusing
from keepsake.events.log import EventLog
from keepsake.events.types import Events
from keepsake.files import OWN
from keepsake.json_lines import claim
from keepsake.library.memory import Memory
from keepsake.library.models import ModelName
from keepsake.library.parts import PROFILE

_ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class MemoryOptions:
    """How all memories of a service are opened; see :class:`keepsake.Memory`."""

    model: ModelName | None = None
    embedder: str | None = None
    prompt_tokens: int = 0
    settings: Mapping[str, str | int | float] = field(default_factory=dict)

    def open(self, folder: Path, events: Events | None = None) -> Memory:
        """Open the memory in a folder; it raises as :class:`keepsake.Memory`."""
        return Memory(
            folder,
            model=self.model,
            embedder=self.embedder,
            prompt_tokens=self.prompt_tokens,
            settings=self.settings,
            events=events,
        )


class House:
    """The memories below a folder; safe for threads.

    Args:
        folder: Each folder in it with an archive or a ``profile.md`` is an agent.

    Raises:
        ArchiveInUse: Another service serves the folder.
        KeepsakeError: The folder is missing, or cannot be written.

    Attributes:
        events: The event log, with the audit.
    """

    def __init__(self, folder: Path, options: MemoryOptions) -> None:
        self.folder = folder.expanduser().resolve()
        self._options = options
        self._memories: dict[str, Memory] = {}
        self._opening = threading.Lock()
        self._closed = False
        if not self.folder.is_dir():
            cure = f"Make an agent there: keepsake service add-agent {folder} mira"
            raise KeepsakeError(f"There is no folder {self.folder}", cure)
        own = self.folder / OWN
        with refusing(f"{own} cannot be written", "Fix its permissions, or free some disk space"):
            own.mkdir(exist_ok=True, mode=0o700)
            lock = claim(own / "serve.lock", 0o600)
        if lock is None:
            cure = "Ask that one (over MCP: its address with /mcp/, and a token), or stop it first"
            raise ArchiveInUse(f"Another service serves {self.folder}", cure)
        self._lock = lock
        self.events = EventLog(own / "events")

    def names(self) -> list[str]:
        """Return the agents, by the names of their folders."""
        return agents_in(self.folder)

    def memory(self, name: str) -> Memory:
        """Return the memory of an agent; blocks for some milliseconds at its first use.

        Raises:
            KeepsakeError: There is no such agent, or its memory cannot be opened.
        """
        with self._opening:
            if self._closed:
                raise KeepsakeError("The service is shutting down", "Ask again when it is back")
            if name not in self._memories:
                if name not in self.names():
                    raise KeepsakeError(
                        f"There is no agent {name!r}", "Make it: keepsake service add-agent"
                    )
                self._memories[name] = self._options.open(self.folder / name, self.events)
            return self._memories[name]

    def close(self) -> None:
        """Close all memories, then the event log."""
        with self._opening:
            self._closed = True
        for memory in self._memories.values():
            memory.close()
        self.events.close()
        os.close(self._lock)


def agents_in(folder: Path) -> list[str]:
    """Return the agents of a folder, by the names of their folders."""
    return sorted(
        each.name for each in folder.iterdir() if not each.name.startswith(".") and _is_agent(each)
    )


def holds_agents(folder: Path) -> bool:
    """Return whether a folder has agents in it, and is none itself."""
    return folder.is_dir() and not _is_agent(folder) and bool(agents_in(folder))


def _is_agent(folder: Path) -> bool:
    return (folder / _ARCHIVE).is_dir() or (folder / PROFILE).is_file()


def make_agent(folder: Path, name: str, persona: str) -> Path:
    """Make the folder of an agent, with its persona in ``profile.md``.

    Raises:
        KeepsakeError: The name cannot be used, the agent is there already, or the disk refuses.
    """
    path = folder.expanduser().resolve() / name
    with refusing(f"{path} cannot be written", "Fix its permissions, or free some disk space"):
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists():
            raise KeepsakeError(f"{path} is there already", f"Edit {path / PROFILE}")
        with Memory(path):  # checks the name
            pass
        (path / PROFILE).write_text(persona.strip() + "\n", encoding="utf-8")
    return path
