"""The archive: all memories of an agent, as append-only JSON lines.

Each agent has one folder. Lines are written to segments of :data:`SEGMENT_LINES` lines, each named
after the number of the first memory that it may contain. :meth:`Archive.append` hands a line to the
operating system before it returns. The next :meth:`Archive.sync` writes it to the disk. Writing the
line is the commit of the change that it describes.
"""

from __future__ import annotations

import math
import os
import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from keepsake.archive.line_types import LineType
from keepsake.archive.records import Memory
from keepsake.errors import ArchiveClosed, ArchiveError, ArchiveInUse, ArchiveUnwritable
from keepsake.json_lines import (
    AppendedFile,
    FileChanged,
    Record,
    claim,
    ended_lines,
    line_of,
    lines_from_end,
    parsed,
)

SEGMENT_LINES = 4096
"""Lines after which a segment ends, at its next memory: about 1.3 MB."""
_SUFFIX = ".jsonl"
_DIGITS = 10
"""Suffix and fewest digits of segment names. Copies that a person made beside them are ignored."""
_UNTIL_THEN = "new memories are kept in KEEPSAKE_HOME until then"
_CURE_GONE = f"Put its folder back; {_UNTIL_THEN}"
_MEMORY_LINES = (LineType.MEMORY.start, LineType.REPEAT.start)
"""Start of the lines that hold memories and repeats, as :meth:`Archive.append` writes them."""
_NUMBER = re.compile(rb'[^,]*,"n":(\d{1,15}),')


class Archive:
    """The append-only log of one agent; safe to call from several threads.

    With ``read_only`` the archive takes no lock and repairs and writes nothing, so it works while
    another process has the archive open.

    Attributes:
        reports: Damage that was found at opening and set aside, in words.

    Raises:
        ArchiveInUse: Another process, or another object, writes to this archive.
        ArchiveUnwritable: The folder cannot be created or written.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self.reports: list[str] = []
        self._lock = threading.Lock()
        self._file: AppendedFile | None = None
        self._lines: int | None = None
        self._claimed: int | None = None
        self._last_number: int | None = None
        try:
            if read_only:
                self._names()  # the folder must be there
            else:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._claimed = _claim(self.folder)
                self._file = self._open_last_segment()
                self._last_number = self._find_last_number()
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise _unwritable(self.folder, error) from error
            raise

    @property
    def last_number(self) -> int:
        """The number of the newest memory, 0 if there is none.

        With ``read_only`` it is read from the disk when it is asked for first.
        """
        if self._last_number is None:
            self._last_number = self._find_last_number()
        return self._last_number

    # -- writing

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one line and hand it to the operating system.

        Raises:
            ArchiveUnwritable: Nothing was written.
            ValueError: The record is a memory whose number is not the next one.
        """
        data = line_of(record)
        number = record["n"] if record["type"] == LineType.MEMORY else 0
        if number and number != self.last_number + 1:
            raise ValueError(f"memory {number} does not follow {self.last_number}")
        with self._lock:
            if (file := self._file) is None:
                raise ArchiveClosed(f"the archive {self.folder} is closed")
            try:
                # Count at the first write, because opening reads only the end of the segment.
                lines = file.count_lines() if self._lines is None else self._lines
                # A segment is named after its first memory, so a segment without a memory is not
                # ended.
                if lines >= SEGMENT_LINES and self.last_number >= int(file.path.stem):
                    file.append(b"", watched=True)
                    file.sync()
                    following = AppendedFile(self.folder / f"{self.last_number + 1:010d}{_SUFFIX}")
                    file.close()
                    self._file = following
                    self._lines = 0
                    file = following
                    lines = 0
                file.append(data, watched=True)
            except FileChanged as error:
                raise self._put_back(file) from error
            except OSError as error:
                raise _unwritable(self.folder, error) from error
            self._lines = lines + 1
            self._last_number = number or self.last_number

    def _put_back(self, file: AppendedFile) -> ArchiveUnwritable:
        """Restore a last segment that somebody changed or moved; return the error to raise."""
        if not self.folder.is_dir():
            return ArchiveUnwritable(f"the archive {self.folder} is gone", _CURE_GONE)
        try:
            there = file.path.read_bytes() if file.path.exists() else b""
            aside = self._aside()
            if there:
                aside.write_bytes(there)
            restored = AppendedFile(file.path.with_suffix(".tmp"))
            restored.cut(0)
            restored.append(file.whole_lines())
            restored.sync()
            restored.path = restored.path.replace(file.path)
        except OSError as error:
            return _unwritable(self.folder, error)
        file.close()
        self._file = restored
        self._lines = None
        return ArchiveUnwritable(
            f"{file.path} was changed or replaced while the game ran; the game's lines are back"
            + (f", the other text is kept as {aside.name}" if there else ""),
            "Stop the game before you put another archive in place",
        )

    def _aside(self) -> Path:
        return self.folder / f"torn-{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.txt"

    def sync(self) -> None:
        """Write appended lines to the disk; cheap if there are none.

        Raises:
            ArchiveUnwritable: The disk refused.
        """
        if (file := self._file) is not None:
            try:
                file.sync()
            except OSError as error:
                raise _unwritable(self.folder, error) from error

    def close(self) -> None:
        """Sync, close and unlock the folder; a second call does nothing."""
        try:
            self.sync()
        finally:
            with self._lock:
                file = self._file
                self._file = None
                claimed = self._claimed
                self._claimed = None
                if file is not None:
                    file.close()
                if claimed is not None:
                    os.close(claimed)

    # -- opening

    def _open_last_segment(self) -> AppendedFile:
        """Open the last segment, and repair its end after a crash."""
        names = self._names()
        file = AppendedFile(self.folder / (names[-1] if names else f"{1:010d}{_SUFFIX}"))
        try:
            torn = file.torn()
            if torn and parsed(torn):  # the line is complete, only its line end is missing
                file.append(b"\n")
            elif torn:
                aside = self._aside()
                aside.write_bytes(torn)
                file.cut(file.size - len(torn))
                told = f"the last line of {file.path.name} was torn ({len(torn)} bytes); "
                self.reports.append(f"{told}set aside as {aside.name}")
        except OSError:
            file.close()
            raise
        return file

    def _find_last_number(self) -> int:
        for record in self.backwards():
            if record.get("type") == LineType.MEMORY:
                with suppress(KeyError, TypeError, ValueError):
                    return int(record["n"])
        return 0

    # -- reading

    def _names(self) -> list[str]:
        """Return the segments' names, oldest first; building paths instead would be slow."""
        try:
            return sorted(filter(_is_segment, os.listdir(self.folder)))  # noqa: PTH208 - names
        except FileNotFoundError as error:
            raise ArchiveError(f"the archive {self.folder} is gone", _CURE_GONE) from error

    def segments(self) -> list[Path]:
        """Return the paths of the segments, oldest first."""
        return [self.folder / name for name in self._names()]

    def _segments_from(self, first: int) -> list[Path]:
        """Return the segment that contains memory ``first``, and all later ones."""
        segments = self.segments()
        starts = [int(path.stem) for path in segments]
        return segments[max(bisect_right(starts, first) - 1, 0) :]

    def backwards(self) -> Iterator[Record]:
        """Yield every readable line, newest first, reading from the disk only as far as needed."""
        yield from filter(None, map(parsed, self.lines_back()))

    def lines_back(self) -> Iterator[bytes]:
        """Yield every complete line, unparsed and newest first, reading only as far as needed."""
        for name in reversed(self._names()):
            with (self.folder / name).open("rb") as file:
                yield from lines_from_end(file)

    def forwards(self, *, memories: bool = True) -> Iterator[tuple[str, Record | None]]:
        """Yield every line; without ``memories`` skip memories and repeats (most lines) unparsed.

        Yields:
            The position as ``segment:line``, and the record; None for an unreadable line.
        """
        for segment, index, line in _lines(self.segments()):
            if memories or not line.startswith(_MEMORY_LINES):
                yield f"{segment}:{index}", parsed(line) or None

    def lines_after(self, segment: str = "", offset: int = 0) -> Iterator[tuple[str, int, bytes]]:
        """Yield every complete line after a position, unparsed and oldest first.

        Args:
            segment: The name of a segment; empty for the beginning of the archive.
            offset: The bytes of that segment that were read before.

        Yields:
            The name of the segment, the offset after the line, and the line without its end.
        """
        for name in self._names():
            if name < segment:
                continue
            at = offset if name == segment else 0
            with (self.folder / name).open("rb") as file:
                file.seek(at)
                data = file.read()
            for line in ended_lines(data):
                at += len(line) + 1
                yield name, at, line

    def read(self, first: int, last: int) -> list[Memory]:
        """Return the memories ``first`` … ``last``, both included, with their repeats counted."""
        found: dict[int, Memory] = {}
        _read_into(found, self._segments_from(first), first, last, Path.read_bytes)
        return list(found.values())

    def read_each(self, numbers: Iterable[int]) -> dict[int, Memory]:
        """Return the memories with these numbers, in their order; each segment is read once."""
        segments = self.segments()
        starts = [int(path.stem) for path in segments]
        found: dict[int, Memory] = {}
        # A memory and its repeats may stand in two segments.
        data = lru_cache(maxsize=2)(Path.read_bytes)
        for number in sorted(set(numbers)):
            place = max(bisect_right(starts, number) - 1, 0)
            _read_into(found, segments[place:], number, number, data)
        return found

    def size(self) -> int:
        """Return the size on disk in bytes."""
        folder = str(self.folder)
        paths = (f"{folder}/{name}" for name in self._names())  # to make a Path takes far longer
        return sum(os.stat(path).st_size for path in paths)  # noqa: PTH116 - a Path is slow


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of an archive whose files are changed in another way than by appending.

    Raises:
        ArchiveInUse: The archive is open, in this process or in another.
        OSError: The lock cannot be taken.
    """
    if not folder.is_dir():
        yield
        return
    claimed = _claim(folder)
    try:
        yield
    finally:
        os.close(claimed)


def _claim(folder: Path) -> int:
    """Lock an archive; return the file descriptor that holds the lock."""
    if (fd := claim(folder / ".lock", 0o644)) is None:
        raise ArchiveInUse(
            f"the archive {folder} is in use by another process",
            "Stop the other copy of Keepsake, or give this one its own KEEPSAKE_VAULT",
        )
    return fd


def _take(found: dict[int, Memory], record: Record, first: int, last: int) -> bool:
    """Add a record to ``found``; return False once it lies after ``last``."""
    # A repeat always comes after its memory and before the next one.
    number = int(record.get("n", 0))
    match record.get("type"):
        case LineType.MEMORY:
            if number > last:
                return False
            if number >= first:
                found[number] = Memory.from_record(record)
        case LineType.REPEAT:
            if number in found:
                found[number] = found[number].repeated(int(record["times"]))
    return True


class Syncer:
    """A background thread that writes archives to the disk, so that no caller waits.

    Args:
        seconds: The longest time that a line is only in the operating system's buffers.
        failed: Called in this thread with the error when a disk refuses.

    Attributes:
        syncs: Functions such as :meth:`Archive.sync`; callers add and remove them here.
    """

    def __init__(
        self, seconds: float = 1.0, failed: Callable[[ArchiveUnwritable], None] = lambda _: None
    ) -> None:
        self.syncs: set[Callable[[], None]] = set()
        self._stop = threading.Event()
        self._seconds = seconds
        self._failed = failed
        self._thread = threading.Thread(target=self._run, name="archive-sync", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Sync everything once more and end the thread."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        stopped = False
        while not stopped:
            stopped = self._stop.wait(self._seconds)
            for sync in self.syncs.copy():
                try:
                    sync()
                except ArchiveUnwritable as error:
                    self._failed(error)


def _number_of(line: bytes) -> float:
    """Return the memory number in a line; infinite if only parsing can tell."""
    if not line.startswith(_MEMORY_LINES):
        return math.inf
    found = _NUMBER.match(line)
    return int(found[1]) if found else math.inf


def _read_into(
    found: dict[int, Memory],
    segments: Iterable[Path],
    first: int,
    last: int,
    data: Callable[[Path], bytes],
) -> None:
    """Add the memories ``first`` … ``last`` to ``found``; ``data``: Reads a segment."""
    for segment in segments:
        for line in _lines_from(data(segment), first):
            if _number_of(line) >= first and not _take(found, parsed(line), first, last):
                return


def _lines_from(data: bytes, number: int) -> Iterator[bytes]:
    """Yield the complete lines from that of a memory on; all lines if it is not found at once."""
    # Most lines of a segment come before the memory: they are not even taken apart.
    start = max(data.find(LineType.MEMORY.start + b'"n":%d,' % number), 0)
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start:end]
        start = end + 1


def _lines(segments: list[Path]) -> Iterator[tuple[str, int, bytes]]:
    for segment in segments:
        name = segment.name
        for index, line in enumerate(ended_lines(segment.read_bytes()), start=1):
            yield name, index, line


def _unwritable(folder: Path, error: OSError) -> ArchiveUnwritable:
    return ArchiveUnwritable(
        f"the archive {folder} cannot be written ({error.strerror or error})",
        f"Free some disk space or fix the permissions; {_UNTIL_THEN}",
    )


def _is_segment(name: str) -> bool:
    first = name.removesuffix(_SUFFIX)
    return first != name and len(first) >= _DIGITS and first.isascii() and first.isdecimal()
