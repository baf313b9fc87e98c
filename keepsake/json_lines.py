"""Files of JSON lines that are appended to: a crash tears the last line at most.

Whatever reads or writes here blocks, and raises OSError where the disk refuses.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

type Record = dict[str, Any]

_BLOCK = 65_536
_datasync = getattr(os, "fdatasync", os.fsync)  # macOS has only the stronger one
in_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""The text of a line, without its end."""


def line_of(record: Mapping[str, Any]) -> bytes:
    """A record as a line, with its end; half a surrogate pair becomes a question mark."""
    return in_json(record).encode("utf-8", "replace") + b"\n"


def parsed(line: bytes | str) -> Record:
    """The object of a line; an empty one for a line that holds none, as one torn by a crash."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def ended_lines(data: bytes) -> list[bytes]:
    """The lines without their ends; one that has none is just being written."""
    return data.split(b"\n")[:-1]


def lines_from_end(file: BinaryIO) -> Iterator[bytes]:
    """The ended lines of a file, the last first, read block by block."""
    end, rest, ended = file.seek(0, os.SEEK_END), b"", False
    while end:
        start = max(end - _BLOCK, 0)
        file.seek(start)
        # What stands before the first line end of a block belongs to the block before it.
        rest, *lines = (file.read(end - start) + rest).split(b"\n")
        end = start
        if lines and not ended:  # what follows the last line end is still being written
            lines.pop()
            ended = True
        yield from reversed(lines)
    if ended:
        yield rest


def claim(path: Path, mode: int) -> int | None:
    """A descriptor that holds the lock of this file; None if another process holds it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, mode)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError:
        os.close(fd)
        raise
    return fd


class FileChanged(OSError):
    """Somebody else has changed, replaced or moved a file that is appended to."""


class AppendedFile:
    """A file that grows at its end; for one thread, but for :meth:`sync` and :meth:`close`."""

    def __init__(self, path: Path, mode: int = 0o644) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, mode)
        self._own = os.fstat(self._fd)
        self.size = self._own.st_size
        self._failed = self._dirty = False
        self._closing = threading.Lock()

    def append(self, data: bytes, *, watched: bool = False) -> None:
        """Hand whole lines to the operating system; after an error none of them counts.

        Raises:
            FileChanged: It is ``watched``, and its path leads to another file, or somebody else
                has written to it.
        """
        if self._failed:  # an earlier one was written half-way
            self.cut(self.size)
        if watched and not self._is_there():
            raise FileChanged(f"{self.path} was changed or replaced")
        self._failed, written = True, 0
        while written < len(data):
            written += os.write(self._fd, data[written:])
        self._failed, self._dirty = False, True
        self.size += len(data)

    def _is_there(self) -> bool:
        """Whether its path leads to it, and nobody else has written to it."""
        try:
            there = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return os.path.samestat(there, self._own) and there.st_size == self.size

    def sync(self) -> None:
        """Bring what is new to the disk; from any thread, and appending goes on meanwhile."""
        with self._closing:
            if not self._dirty or self._fd < 0:
                return
            self._dirty = False
            duplicate = os.dup(self._fd)
        try:
            _datasync(duplicate)
        except OSError:
            self._dirty = True
            raise
        finally:
            os.close(duplicate)

    def close(self) -> None:
        """Let go of it, synced or not; a second call does nothing."""
        with self._closing:
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = -1

    def whole_lines(self) -> bytes:
        """What was appended and is still there, wherever the path leads."""
        data = os.pread(self._fd, self.size, 0)
        return data[: data.rfind(b"\n") + 1]

    def torn(self) -> bytes:
        """What stands behind its last line end."""
        end, tail = self.size, b""
        while end and b"\n" not in tail:
            start = max(end - _BLOCK, 0)
            tail, end = os.pread(self._fd, end - start, start) + tail, start
        return tail[tail.rfind(b"\n") + 1 :]

    def cut(self, end: int) -> None:
        """Take off what stands behind that byte."""
        os.ftruncate(self._fd, end)
        self.size = end

    def count_lines(self) -> int:
        """How many lines it has."""
        starts = range(0, self.size, _BLOCK)
        return sum(os.pread(self._fd, _BLOCK, start).count(b"\n") for start in starts)
