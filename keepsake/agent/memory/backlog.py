"""Memories of one agent that wait for an archive that cannot be written: in RAM and in the home."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from keepsake.agent.agent_log import log
from keepsake.archive.log import Archive
from keepsake.archive.records import MemoryKind
from keepsake.archive.spill import Line, Spill, not_yet_in

LIMIT = 10_000
"""Memories that wait at most; the oldest go first."""


@dataclass(slots=True)
class WaitingMemory:
    """What is to be archived, as :meth:`AgentMemory.append` takes it."""

    text: str
    kind: MemoryKind
    about: dict[str, Any]  # with its ``time``
    kept: bool = False  # whether the home has it too

    @property
    def line(self) -> Line:
        """The same as a line of the spill."""
        plain = {"text": self.text, "kind": self.kind.value}
        return plain | self.about | {"time": self.about["time"].isoformat()}


class Backlog:
    """What waits, in the order lived; on the reactor thread.

    Attributes:
        waiting: All of it.
        dropped: How many found no room since the archive could last be written.
    """

    def __init__(self, name: str, folder: str, spill: Spill) -> None:
        self.waiting = deque(map(_of_line, spill.of(folder)), LIMIT)
        self.dropped = 0
        self._name, self._folder, self._spill = name, folder, spill

    def add(self, memory: WaitingMemory) -> None:
        """Have one more wait."""
        self.dropped += len(self.waiting) == LIMIT
        self.waiting.append(memory)

    def keep(self, memory: WaitingMemory) -> None:
        """Write it into the home, so that no end of this process loses it."""
        memory.kept = self._spill.keep(self._folder, memory.line)

    @property
    def unkept(self) -> int:
        """How many are in RAM alone, as the home cannot be written either."""
        return sum(not each.kept for each in self.waiting)

    def leave_out(self, archive: Archive) -> None:
        """Of what waited since before this process, an earlier one may have brought a part."""
        lines = [each.line for each in self.waiting]
        missing = {id(line) for line in not_yet_in(archive, lines)}
        left = [m for m, line in zip(self.waiting, lines, strict=True) if id(line) in missing]
        self.waiting = deque(left, LIMIT)

    def brought(self, archive: Archive) -> None:
        """All of it is in the archive: it need not wait in the home any more."""
        if self._spill.of(self._folder):
            archive.sync()
            self._spill.done(self._folder)
            log(f"[Memory] {self._name}: What waited in the home is in the archive")

    def leave(self) -> None:
        """The process ends, and the archive still cannot be written."""
        if not self.waiting:
            return
        for each in self.waiting:
            if not each.kept:
                self.keep(each)
        self._spill.sync()
        lost = self.unkept
        kept = len(self.waiting) - lost
        log(f"[Memory] {self._name}: {kept} memories wait in {self._spill.path} for the archive")
        if lost:
            log(f"[Error] {self._name}: {lost} memories could be written nowhere and are lost")


def _of_line(line: Line) -> WaitingMemory:
    about = dict(line)
    text, kind = str(about.pop("text")), MemoryKind(about.pop("kind"))
    about["time"] = datetime.fromisoformat(about["time"])
    return WaitingMemory(text, kind, about, kept=True)
