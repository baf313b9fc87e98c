"""Append-only files of JSON lines: a crash damages the last line at most.

All functions that read or write block, and raise OSError if the disk refuses.
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
_LAST_BLOCK = 4_096
"""Bytes that are read at once from the end of a file; and first, as often only the last line is
wanted."""
_datasync = getattr(os, "fdatasync", os.fsync)  # macOS has only fsync
in_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""The text of a line, without its line end."""


def line_of(record: Mapping[str, Any]) -> bytes:
    """Return a record as a line with its end; half a surrogate pair becomes a question mark."""
    return in_json(record).encode("utf-8", "replace") + b"\n"


def parsed(line: bytes | str) -> Record:
    """Return the object in a line; an empty one if there is none, as in a line torn by a crash."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def ended_lines(data: bytes) -> list[bytes]:
    """Return the complete lines without their ends; a line without one is still being written."""
    return data.split(b"\n")[:-1]


def lines_from_end(file: BinaryIO) -> Iterator[bytes]:
    """Yield the complete lines of a file, last first, reading block by block."""
    for block in blocks_from_end(file):
        yield from reversed(ended_lines(block))


def blocks_from_end(file: BinaryIO) -> Iterator[bytes]:
    """Yield the complete lines of a file with their ends, many at once, the last ones first."""
    end = file.seek(0, os.SEEK_END)
    size = _LAST_BLOCK
    rest = b""
    while end:
        start = max(end - size, 0)
        size = _BLOCK
        file.seek(start)
        block = file.read(end - start) + rest
        end = start
        whole = block[: block.rfind(b"\n") + 1]  # text after the last line end is being written
        # The text before the first line end of a block belongs to the block before.
        border = whole.find(b"\n") + 1 if start else 0
        rest = whole[:border] if whole else block
        if whole[border:]:
            yield whole[border:]


def claim(path: Path, mode: int) -> int | None:
    """Lock a file; return the descriptor that holds the lock, or None if another process has it."""
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
    """Another program has changed, replaced or moved an append-only file."""


class AppendedFile:
    """An append-only file; for one thread, except that any thread may sync and close it."""

    def __init__(self, path: Path, mode: int = 0o644) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, mode)
        self._own = os.fstat(self._fd)
        self.size = self._own.st_size
        self._failed = False
        self._dirty = False
        self._closing = threading.Lock()

    def append(self, data: bytes, *, watched: bool = False) -> None:
        """Hand complete lines to the operating system; after an error none of them counts.

        Raises:
            FileChanged: The file is ``watched``, and its path leads to another file, or another
                program has written to it.
        """
        if self._failed:  # an earlier append was written in part
            self.cut(self.size)
        if watched and not self._is_there():
            raise FileChanged(f"{self.path} was changed or replaced")
        self._failed = True
        written = 0
        while written < len(data):
            written += os.write(self._fd, data[written:])
        self._failed = False
        self._dirty = True
        self.size += len(data)

    def _is_there(self) -> bool:
        """Return whether its path still leads to it, and no other program has written to it."""
        try:
            there = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return os.path.samestat(there, self._own) and there.st_size == self.size

    def sync(self) -> None:
        """Write new lines to the disk; callable from any thread while another one appends."""
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
        """Close it without syncing; a second call does nothing."""
        with self._closing:
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = -1

    def whole_lines(self) -> bytes:
        """Return its complete lines, even if the path no longer leads to it."""
        data = os.pread(self._fd, self.size, 0)
        return data[: data.rfind(b"\n") + 1]

    def torn(self) -> bytes:
        """Return the text after its last line end."""
        end = self.size
        tail = b""
        while end and b"\n" not in tail:
            start = max(end - _BLOCK, 0)
            tail = os.pread(self._fd, end - start, start) + tail
            end = start
        return tail[tail.rfind(b"\n") + 1 :]

    def cut(self, end: int) -> None:
        """Truncate it to ``end`` bytes."""
        os.ftruncate(self._fd, end)
        self.size = end

    def count_lines(self) -> int:
        """Return its number of lines."""
        starts = range(0, self.size, _BLOCK)
        return sum(os.pread(self._fd, _BLOCK, start).count(b"\n") for start in starts)
