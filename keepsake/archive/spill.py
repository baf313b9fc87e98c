"""What waits for an archive that cannot be written, kept in the home meanwhile.

One file for all agents, a line a memory: ``<checksum> <JSON>``. It is made with room for
:data:`ROOM_BYTES`, filled with zeros, so that it can be written while the disk is full. An
agent's lines count until a line says that they are in its archive; a line whose checksum is
wrong was torn by a crash and is left out.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from keepsake.archive.log import Archive
from keepsake.json_lines import Record, line_of, parsed

ROOM_BYTES = 4 << 20
"""Some 15,000 lines."""
_SEARCHED = 20_000
"""Lines at an archive's end in which lines that were brought there are looked for."""

type Line = Mapping[str, Any]
"""One memory that waits: ``text``, ``kind``, ``time`` and whatever else an archive line has."""


class Spill:
    """The file of waiting memories of one home; for one process, and one thread of it.

    Nothing here raises: whoever keeps a line is told whether it is kept.

    Args:
        path: The file; made when it is first needed, or by :meth:`reserve`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: dict[str, list[Line]] = {}
        self._end = 0
        self._dirty = False
        self._read()

    def waiting(self) -> dict[str, tuple[Line, ...]]:
        """What waits, by agent, in the order lived."""
        return {agent: tuple(lines) for agent, lines in self._waiting.items() if lines}

    def of(self, agent: str) -> tuple[Line, ...]:
        """What waits for the archive of that agent."""
        return tuple(self._waiting.get(agent, ()))

    def reserve(self) -> bool:
        """Make sure that there is room, also on a disk that is full later; whether there is."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                if os.fstat(fd).st_size < ROOM_BYTES:
                    os.posix_fallocate(fd, 0, ROOM_BYTES)
            finally:
                os.close(fd)
        except OSError:
            return False
        return True

    def keep(self, agent: str, line: Line) -> bool:
        """Write one line and hand it to the operating system; whether that could be done."""
        if not self._write({"agent": agent, "line": dict(line)}):
            return False
        self._waiting.setdefault(agent, []).append(line)
        return True

    def done(self, agent: str) -> None:
        """All that waited for this agent is in its archive, and on the disk."""
        if not self._waiting.get(agent):
            return
        if set(self.waiting()) != {agent}:
            self._write({"agent": agent, "done": True})
            self.sync()
        else:
            self._empty()
        self._waiting.pop(agent)

    def sync(self) -> None:
        """Bring what was written to the disk; cheap when there is nothing new; from any thread."""
        if not self._dirty:
            return
        self._dirty = False
        try:
            fd = os.open(self.path, os.O_RDONLY)
        except OSError:
            return
        try:
            os.fsync(fd)
        except OSError:
            self._dirty = True
        finally:
            os.close(fd)

    def _write(self, record: Line) -> bool:
        line = line_of(record)
        data = b"%08x %s" % (zlib.crc32(line[:-1]), line)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        except OSError:
            return False
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(fd, data[written:], self._end + written)
        except OSError:  # half a line has a wrong checksum, and the next is written over it
            return False
        finally:
            os.close(fd)
        self._end += len(data)
        self._dirty = True
        return True

    def _empty(self) -> None:
        """Nothing waits any more: the file is made anew, in one step."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            return  # it is read again at the next start, and nothing is brought twice
        self._end = 0
        self.reserve()

    def _read(self) -> None:
        try:
            data = self.path.read_bytes().rstrip(b"\0")
        except OSError:
            return
        for line in data.split(b"\n")[:-1]:
            record = _checked(line.lstrip(b"\0"))
            if record.get("done"):
                self._waiting.pop(record["agent"], None)
            elif record:
                self._waiting.setdefault(record["agent"], []).append(record["line"])
        # What a crash left of a last line is ended, not gone on with.
        self._end = data.rfind(b"\n") + 1


def not_yet_in(archive: Archive, lines: Sequence[Line]) -> list[Line]:
    """Those of ``lines`` that a start, cut off, has not brought into the archive before."""
    if not lines:
        return []
    there = Counter(_newest(archive))
    missing = []
    for line in lines:
        which = str(line["time"]), str(line["text"])
        if there[which]:
            there[which] -= 1
        else:
            missing.append(line)
    return missing


def _newest(archive: Archive) -> Iterator[tuple[str, str]]:
    """When the newest memories and repeats were lived, to the microsecond, and their texts."""
    repeats: list[str] = []
    for record, _ in zip(archive.backwards(), range(_SEARCHED), strict=False):
        if record.get("type") == "repeat":
            repeats.append(str(record.get("t", "")))
        elif record.get("type") == "memory":
            for time in (str(record.get("t", "")), *repeats):
                yield time, str(record.get("text", ""))
            repeats = []


def _checked(line: bytes) -> Record:
    """What a line says; nothing where its checksum is wrong."""
    checksum, _, body = line.partition(b" ")
    return parsed(body) if checksum == b"%08x" % zlib.crc32(body) else {}
