"""The archive: everything an agent lived through, as append-only JSON lines.

One folder an agent. Lines go to segments of :data:`SEGMENT_LINES` lines, each named
after the first memory number that may stand in it. A line is written to the operating
system before :meth:`Archive.append` returns, and to the disk at the next
:meth:`Archive.sync`; a line is the commit point of whatever it says.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from game.mind.archive.records import Memory, Position
from game.mind.errors import ArchiveInUse, ArchiveUnwritable

SEGMENT_LINES = 4096
_SUFFIX = ".jsonl"
_fdatasync = getattr(os, "fdatasync", os.fsync)  # macOS has only the stronger one
_SEGMENT = re.compile(r"\d{10,}\.jsonl")
"""The archive's own files; a copy that a person made beside them is none."""
_BLOCK_BYTES = 16_384
_LIVED = (b'{"type":"memory",', b'{"type":"repeat",')
"""How the lines begin that say what was lived, as :meth:`Archive.append` writes them."""
_NUMBER = re.compile(rb'[^,]*,"n":(\d{1,15}),')

Record = dict[str, Any]


class Archive:
    """The append-only log of one agent; safe to call from several threads.

    Raises:
        ArchiveInUse: Another process, or another object, writes here.
        ArchiveUnwritable: The folder cannot be made or written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: list[str] = []
        self.torn = 0
        """Bytes of a torn last line that were set aside at the opening."""
        """What was found wrong at opening and set aside, in words."""
        self._lock = threading.Lock()
        self._dirty = False
        self._broken = False
        self._fd = -1
        self._lines: int | None = None
        self._lock_fd = self._claim()
        try:
            self._open_last_segment()
            self._last_number = self._find_last_number()
        except OSError as error:
            self.close()
            raise _unwritable(self.folder, error) from error
        except BaseException:
            self.close()
            raise

    # -- writing

    @property
    def last_number(self) -> int:
        """The number of the newest memory, 0 if there is none."""
        return self._last_number

    def append_memory(self, memory: Memory) -> Position:
        """Write a memory; its number must be the next one.

        Raises:
            ArchiveUnwritable: Nothing was written; the number is still free.
        """
        if memory.number != self._last_number + 1:
            raise ValueError(f"memory {memory.number} does not follow {self._last_number}")
        position = self.append(memory.to_record())
        self._last_number = memory.number
        return position

    def append(self, record: Mapping[str, Any]) -> Position:
        """Write one line and hand it to the operating system.

        Raises:
            ArchiveUnwritable: Nothing was written.
        """
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        data = text.encode("utf-8", "replace") + b"\n"
        with self._lock:
            if self._fd < 0:
                raise ArchiveUnwritable(f"the archive {self.folder} is closed")
            try:
                lines = self._write(data)
            except OSError as error:
                self._broken = True
                raise _unwritable(self.folder, error) from error
            self._lines = lines + 1
            self._size += len(data)
            self._dirty = True
            return Position(self._segment.name, lines + 1)

    def sync(self) -> None:
        """Bring what was appended to the disk; cheap when there is nothing new.

        Raises:
            ArchiveUnwritable: The disk refused.
        """
        with self._lock:
            if not self._dirty or self._fd < 0:
                return
            self._dirty = False
            # A duplicate, so that the slow part does not hold up append().
            duplicate = os.dup(self._fd)
        try:
            _fdatasync(duplicate)
        except OSError as error:
            self._dirty = True
            raise _unwritable(self.folder, error) from error
        finally:
            os.close(duplicate)

    def close(self) -> None:
        """Sync, close and let go of the folder; a second call does nothing."""
        try:
            self.sync()
        finally:
            with self._lock:
                for name in ("_fd", "_lock_fd"):
                    if (fd := getattr(self, name, -1)) >= 0:
                        os.close(fd)
                        setattr(self, name, -1)

    def _write(self, data: bytes) -> int:
        """Write a line; returns how many stood in its segment before."""
        if self._broken:
            # An earlier append failed half-way: cut its remains off first.
            os.ftruncate(self._fd, self._size)
            self._broken = False
        # A segment is named after its first memory, so one that holds none yet goes on.
        lines = self._count_lines() if self._lines is None else self._lines
        if lines >= SEGMENT_LINES and self._last_number >= int(self._segment.stem):
            lines = self._start_segment()
        written = 0
        while written < len(data):
            written += os.write(self._fd, data[written:])
        return lines

    def _count_lines(self) -> int:
        """Lines in the present segment; left to the first writing, as opening reads its end."""
        starts = range(0, self._size, _BLOCK_BYTES)
        return sum(os.pread(self._fd, _BLOCK_BYTES, start).count(b"\n") for start in starts)

    def _start_segment(self) -> int:
        path = self.folder / f"{self._last_number + 1:010d}{_SUFFIX}"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        _fdatasync(self._fd)
        os.close(self._fd)
        self._fd, self._segment, self._lines, self._size = fd, path, 0, os.fstat(fd).st_size
        return 0

    # -- opening

    def _claim(self) -> int:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(fd)
            raise ArchiveInUse(
                f"the archive {self.folder} is in use by another process",
                "Stop the other copy of Keepsake, or give this one its own KEEPSAKE_VAULT",
            ) from error
        return fd

    def _open_last_segment(self) -> None:
        names = self._names()
        self._segment = self.folder / (names[-1] if names else f"{1:010d}{_SUFFIX}")
        try:
            self._fd = os.open(self._segment, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._set_torn_line_aside()
            self._size = os.fstat(self._fd).st_size
        except OSError as error:
            raise _unwritable(self.folder, error) from error

    def _set_torn_line_aside(self) -> None:
        """Mend the end of the last segment after a crash."""
        size = os.fstat(self._fd).st_size
        end = self._end_of_lines(size)
        torn = os.pread(self._fd, size - end, end)
        if not torn:
            return
        if _parse(torn) is not None:
            # The line is whole, only its line end was lost.
            os.write(self._fd, b"\n")
            return
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        aside = self.folder / f"torn-{stamp}.txt"
        aside.write_bytes(torn)
        os.ftruncate(self._fd, end)
        self.torn = len(torn)
        self.reports.append(
            f"the last line of {self._segment.name} was torn ({len(torn)} bytes); "
            f"set aside as {aside.name}"
        )

    def _end_of_lines(self, size: int) -> int:
        """Where the last line end of the segment is passed, 0 if there is none."""
        for begin in range(size - _BLOCK_BYTES, -_BLOCK_BYTES, -_BLOCK_BYTES):
            start = max(begin, 0)
            block = os.pread(self._fd, begin + _BLOCK_BYTES - start, start)
            if (found := block.rfind(b"\n")) >= 0:
                return start + found + 1
        return 0

    def _find_last_number(self) -> int:
        for record in self.backwards():
            if record.get("type") == "memory":
                try:
                    return int(record["n"])
                except (KeyError, TypeError, ValueError):
                    self.reports.append(f"a memory without its number: {str(record)[:80]}")
        return 0

    # -- reading

    def _names(self) -> list[str]:
        """The segments, oldest first; names, as making paths of many costs most of opening."""
        return sorted(
            name
            for name in os.listdir(self.folder)  # noqa: PTH208 - names are wanted
            if _SEGMENT.fullmatch(name)
        )

    def _segments(self) -> list[Path]:
        return [self.folder / name for name in self._names()]

    def _segments_from(self, first: int) -> list[Path]:
        """The segment that holds memory ``first``, and those after it."""
        segments = self._segments()
        starts = [int(path.stem) for path in segments]
        return segments[max(bisect_right(starts, first) - 1, 0) :]

    def _lines_from(self, first: int) -> Iterator[bytes]:
        for segment in self._segments_from(first):
            yield from _lines(segment)

    def backwards(self) -> Iterator[Record]:
        """Every readable line, the newest first; reads no more than is asked for."""
        for name in reversed(self._names()):
            for line in _lines_from_end(self.folder / name):
                if (record := _parse(line)) is not None:
                    yield record

    def forwards(self, first: int = 1) -> Iterator[tuple[Position, Record | None]]:
        """Every line from the segment that holds memory ``first`` on.

        Yields:
            Position and record; None for a line that cannot be read.
        """
        for segment in self._segments_from(first):
            for index, line in enumerate(_lines(segment), start=1):
                yield Position(segment.name, index), _parse(line)

    def changes(self) -> Iterator[tuple[Position, Record | None]]:
        """Every line but the memories and their repeats, which are nearly all, and are not parsed.

        Yields:
            Position and record; None for a line that cannot be read.
        """
        for segment in self._segments():
            for index, line in enumerate(_lines(segment), start=1):
                if not line.startswith(_LIVED):
                    yield Position(segment.name, index), _parse(line)

    def read(self, first: int, last: int) -> list[Memory]:
        """The memories ``first`` … ``last``, both included, repeats folded in."""
        found: dict[int, Memory] = {}
        for line in self._lines_from(first):
            # Most lines of a segment come before the wanted ones, and are not worth parsing.
            if (record := None if _number_of(line) < first else _parse(line)) is None:
                continue
            if not apply_memory_line(found, record, first, last):
                break
        return list(found.values())

    def lines_with(self, word: bytes) -> Iterator[bytes]:
        """The ended lines with that word in them, unparsed, oldest first."""
        for segment in self._segments():
            data = segment.read_bytes()
            at = data.find(word)
            while at >= 0:
                start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
                if end < 0:
                    break
                yield data[start:end]
                at = data.find(word, end)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self._segments())


def segment_sizes(folder: Path) -> dict[str, int]:
    """Bytes of each segment of the archive in ``folder``, by name, whoever has it open.

    Raises:
        OSError: It cannot be read.
    """
    with os.scandir(folder) as entries:
        return {each.name: each.stat().st_size for each in entries if _SEGMENT.fullmatch(each.name)}


def apply_memory_line(found: dict[int, Memory], record: Record, first: int, last: int) -> bool:
    """Add what ``record`` says to ``found``; False once ``last`` has been passed for good.

    A repeat can only follow its memory before the next one comes, so the first memory
    after ``last`` ends the reading.
    """
    number = int(record.get("n", 0))
    match record.get("type"):
        case "memory":
            if number > last:
                return False
            if number >= first:
                found[number] = Memory.from_record(record)
        case "repeat":
            if number in found:
                found[number] = found[number].repeated(int(record["times"]))
    return True


class Syncable(Protocol):
    """What has lines that are not on the disk yet, such as an :class:`Archive`."""

    def sync(self) -> None:
        """Bring them there; raises ArchiveUnwritable when the disk refuses."""


class Syncer:
    """Brings archives to the disk in the background, so that no caller waits.

    Args:
        seconds: The longest time that a line stays with the operating system only.
        failed: Called in the syncer's thread with what a disk refused.
    """

    def __init__(
        self, seconds: float = 1.0, failed: Callable[[ArchiveUnwritable], None] | None = None
    ) -> None:
        self._archives: set[Syncable] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._seconds = seconds
        self._failed = failed
        self._thread = threading.Thread(target=self._run, name="archive-sync", daemon=True)
        self._thread.start()

    def add(self, archive: Syncable) -> None:
        """Look after this archive from now on."""
        with self._lock:
            self._archives.add(archive)

    def remove(self, archive: Syncable) -> None:
        """Look after it no longer."""
        with self._lock:
            self._archives.discard(archive)

    def stop(self) -> None:
        """Sync everything once more and end the thread."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            self._sync_all()
        self._sync_all()

    def _sync_all(self) -> None:
        with self._lock:
            archives = list(self._archives)
        for archive in archives:
            try:
                archive.sync()
            except ArchiveUnwritable as error:
                if self._failed is not None:
                    self._failed(error)


def _number_of(line: bytes) -> float:
    """The number of the memory that a line tells of; infinite where only parsing could tell."""
    if not line.startswith(_LIVED):
        return math.inf
    found = _NUMBER.match(line)
    return int(found[1]) if found else math.inf


def _lines(segment: Path) -> list[bytes]:
    """The ended lines; one without its line end is just being written."""
    return segment.read_bytes().split(b"\n")[:-1]


def _lines_from_end(segment: Path) -> Iterator[bytes]:
    """The ended lines, the last first, read in blocks from the end of the file."""
    with segment.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        # What stands before the first line end of a block belongs to the block before it.
        rest, ended = b"", False
        while position:
            begin = max(position - _BLOCK_BYTES, 0)
            file.seek(begin)
            lines = (file.read(position - begin) + rest).split(b"\n")
            position, rest = begin, lines[0]
            newest_first = reversed(lines[1:])
            if not ended and len(lines) > 1:
                next(newest_first)  # nothing, or a line that is just being written
                ended = True
            yield from newest_first
        if ended:
            yield rest


def _parse(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _unwritable(folder: Path, error: OSError) -> ArchiveUnwritable:
    return ArchiveUnwritable(
        f"the archive {folder} cannot be written ({error.strerror or error})",
        "Free some disk space or mend the permissions; what happens meanwhile waits in the home",
    )
