"""Memories that wait until their archive can be written again, in a file in the home folder.

One file serves all agents, with one line a memory: ``<checksum> <JSON>``. The file is created with
:data:`ROOM_BYTES` of zeros, so that it can be written while the disk is full. An agent's lines
count until a later line says that they are in its archive. A line with a wrong checksum was torn by
a crash and is ignored.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.json_lines import Record, line_of, parsed

ROOM_BYTES = 4 << 20  # size of the file: about 15,000 lines
_SEARCHED = 20_000  # lines at an archive's end that are searched for waiting lines it has already

type Line = Mapping[str, Any]
"""One waiting memory: an archive line without its type and number. Lines that an earlier version
left have ``time`` in place of ``t``."""


def time_in(line: Line) -> str:
    """Return when a waiting memory happened, as ISO text.

    Raises:
        KeyError: The line has no time.
    """
    return str(line.get("t") or line["time"])


class Spill:
    """The file of waiting memories of one home; used by one thread of one process.

    No method raises: :meth:`keep` returns whether the line was written.

    Args:
        path: The file; created when it is first needed, or by :meth:`reserve`.

    Attributes:
        problem: The last error of the file; None if there was none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: OSError | None = None
        self._waiting: dict[str, list[Line]] = {}
        self._end = 0
        self._dirty = False
        self._read()

    def waiting(self) -> dict[str, tuple[Line, ...]]:
        """Return the waiting memories by agent, oldest first."""
        return {agent: tuple(lines) for agent, lines in self._waiting.items() if lines}

    def of(self, agent: str) -> tuple[Line, ...]:
        """Return the waiting memories of one agent."""
        return tuple(self._waiting.get(agent, ()))

    def reserve(self) -> bool:
        """Reserve space, in case the disk is full later; return whether that succeeded."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                if os.fstat(fd).st_size < ROOM_BYTES:
                    os.posix_fallocate(fd, 0, ROOM_BYTES)
            finally:
                os.close(fd)
        except OSError as error:
            self.problem = error
            return False
        return True

    def keep(self, agent: str, line: Line) -> bool:
        """Write one line and hand it to the operating system; return whether that succeeded."""
        if not self._write({"agent": agent, "line": dict(line)}):
            return False
        self._waiting.setdefault(agent, []).append(line)
        return True

    def done(self, agent: str) -> None:
        """Record that all waiting memories of this agent are in its archive, and on the disk."""
        if not self._waiting.get(agent):
            return
        if set(self.waiting()) != {agent}:
            self._write({"agent": agent, "done": True})
            self.sync()
        else:
            self._empty()
        self._waiting.pop(agent)

    def drop(self, unwanted: Callable[[str, Line], bool]) -> None:
        """Delete waiting memories, and the bytes of all lines that no longer wait.

        ``unwanted``: Called with an agent and a line of it; returns whether it is deleted.

        Raises:
            OSError: The file cannot be replaced; it is unchanged.
        """
        left = {
            agent: [line for line in lines if not unwanted(agent, line)]
            for agent, lines in self._waiting.items()
        }
        if not self.path.exists():
            return
        data = b"".join(
            _checksummed({"agent": agent, "line": dict(line)})
            for agent, lines in left.items()
            for line in lines
        )
        new = self.path.with_suffix(".new")
        try:
            fd = os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                os.posix_fallocate(fd, 0, max(ROOM_BYTES, len(data)))
                written = 0
                while written < len(data):
                    written += os.pwrite(fd, data[written:], written)
                os.fsync(fd)
            finally:
                os.close(fd)
            new.replace(self.path)
        finally:
            new.unlink(missing_ok=True)
        self._waiting = left
        self._end = len(data)

    def sync(self) -> None:
        """Write new lines to the disk; cheap if there are none; callable from any thread."""
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
        data = _checksummed(record)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
        except OSError as error:
            self.problem = error
            return False
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(fd, data[written:], self._end + written)
        except OSError as error:
            # A partial line has a wrong checksum, and the next one overwrites it.
            self.problem = error
            return False
        finally:
            os.close(fd)
        self._end += len(data)
        self._dirty = True
        return True

    def _empty(self) -> None:
        """Replace the file by an empty one, because nothing waits any more."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            return  # the next start reads it again, and :func:`not_yet_in` skips what is archived
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
        # Overwrite an incomplete last line that a crash left.
        self._end = data.rfind(b"\n") + 1


def not_yet_in(archive: Archive, lines: Sequence[Line]) -> list[Line]:
    """Return the lines that an earlier, interrupted start did not copy into the archive."""
    if not lines:
        return []
    there = Counter(_newest(archive))
    missing = []
    for line in lines:
        which = time_in(line), str(line["text"])
        if there[which]:
            there[which] -= 1
        else:
            missing.append(line)
    return missing


def _newest(archive: Archive) -> Iterator[tuple[str, str]]:
    """Yield time, to the microsecond, and text of the newest memories and repeats."""
    repeats: list[str] = []
    for record, _ in zip(archive.backwards(), range(_SEARCHED), strict=False):
        if record.get("type") == LineType.REPEAT:
            repeats.append(str(record.get("t", "")))
        elif record.get("type") == LineType.MEMORY:
            for time in (str(record.get("t", "")), *repeats):
                yield time, str(record.get("text", ""))
            repeats = []


def _checksummed(record: Line) -> bytes:
    line = line_of(record)
    return b"%08x %s" % (zlib.crc32(line[:-1]), line)


def _checked(line: bytes) -> Record:
    """Return the record of a line; an empty one if its checksum is wrong."""
    checksum, _, body = line.partition(b" ")
    return parsed(body) if checksum == b"%08x" % zlib.crc32(body) else {}
