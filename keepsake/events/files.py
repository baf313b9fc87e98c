"""Files of JSON lines that are rotated by size and day; one writer, any number of readers.

A file is named after the day of its first line and that line's number,
``events-2026-11-21-0000000042.jsonl``, and is never renamed: whoever reads it while it is
rotated loses nothing, and goes on in the next one. Older files are compressed (``….jsonl.gz``).

Whatever reads or writes here blocks, and raises OSError where the disk refuses.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import re
import shutil
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice, zip_longest
from pathlib import Path
from typing import BinaryIO

from keepsake.json_lines import AppendedFile, Record, ended_lines, lines_from_end, parsed

EVENTS = "events"
"""How the names of the event log's files begin."""
SUFFIX, PACKED = ".jsonl", ".jsonl.gz"
_PART = ".part"
_NAME = re.compile(r"(?P<stem>[a-z]+)-(?P<day>\d{4}-\d\d-\d\d)-(?P<first>\d{10,})\.jsonl(\.gz)?")
_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True, order=True)
class LogFile:
    """One file of a log."""

    first: int  # the number of its first line
    day: str  # the day of it, ``2026-11-21``
    path: Path  # where it is; the compressed one if there are both

    @property
    def packed(self) -> bool:
        """Whether it is compressed."""
        return self.path.name.endswith(PACKED)

    def lines(self) -> list[bytes]:
        """Its ended lines, without their ends."""
        return ended_lines(self.read())

    def lines_from_end(self) -> Iterator[bytes]:
        """Its ended lines, the last first; one that is not compressed is read block by block."""
        if not self.packed:
            with contextlib.suppress(FileNotFoundError):  # compressed since it was listed
                # Once it is open, it can be read to its beginning, whatever becomes of its name.
                with self.path.open("rb") as file:
                    yield from lines_from_end(file)
                return
        yield from reversed(self.lines())

    def read(self, position: int = 0) -> bytes:
        """What is in it from that byte on, counted as if it were not compressed."""
        with contextlib.suppress(FileNotFoundError):  # compressed since it was listed
            if not self.packed:
                with self.path.open("rb") as file:
                    file.seek(position)
                    return file.read()
        packed = self.path.with_name(f"{self.path.name.split('.')[0]}{PACKED}")
        try:
            return gzip.decompress(packed.read_bytes())[position:]
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            told = f"{packed.name} is damaged; without it all other files can be read"
            raise OSError(errno.EIO, told) from error


def files_of(folder: Path, stem: str) -> list[LogFile]:
    """The files of a log, oldest first; none where there is no such folder."""
    found: dict[int, LogFile] = {}
    with contextlib.suppress(FileNotFoundError):
        for name in sorted(os.listdir(folder)):  # noqa: PTH208 - names are wanted
            match = _NAME.fullmatch(name)
            if match and match["stem"] == stem:  # a compressed one sorts behind its source
                file = LogFile(int(match["first"]), match["day"], folder / name)
                found[file.first] = file
    return sorted(found.values())


class LineWriter:
    """Appends lines to the newest file of a log; for one thread, but for :meth:`sync`.

    A torn last line, as a killed process leaves it, is cut off at opening.

    Args:
        most: Files that are kept, the oldest going first; 0: all.
    """

    def __init__(self, folder: Path, stem: str, limit: int, most: int = 0) -> None:
        self._folder, self._stem, self._limit, self._most = folder, stem, limit, most
        self._day = ""
        self.file: AppendedFile | None = None
        files = files_of(folder, stem)
        if files and not files[-1].packed:
            newest = files.pop()
            self.file, self._day = AppendedFile(newest.path, _OWNER_ONLY), newest.day
            self.file.cut(self.file.size - len(self.file.torn()))
        for old in folder.glob(f"{stem}-*{SUFFIX}"):  # the process ended before these were
            if self.file is None or old != self.file.path:
                _pack(old)

    def begins_new(self, day: date, size: int) -> bool:
        """Whether ``size`` bytes of that day would begin a new file."""
        file = self.file
        return file is None or self._day != day.isoformat() or file.size + size > self._limit

    def write(self, data: bytes, day: date, first: int) -> None:
        """Write whole lines and hand them to the operating system."""
        file = self.file
        if file is None or self.begins_new(day, len(data) if file.size else 0):
            file = self._rotate(day, first)
        file.append(data)

    def sync(self) -> None:
        """Bring what was written to the disk; from any thread, and writing goes on meanwhile."""
        if self.file is not None:
            self.file.sync()

    def close(self) -> None:
        """Sync and close; a second call does nothing."""
        if self.file is not None:
            try:
                self.file.sync()
            finally:
                self.file.close()

    def last_number(self) -> int:
        """The ``seq`` of the newest line that has one, 0 if there is none."""
        for file in reversed(files_of(self._folder, self._stem)):
            for line in file.lines_from_end():
                if isinstance(number := parsed(line).get("seq"), int):
                    return number
            if file.first > 1:  # nothing in it: it was begun for this number
                return file.first - 1
        return 0

    def _rotate(self, day: date, first: int) -> AppendedFile:
        before = self.file
        path = self._folder / f"{self._stem}-{day.isoformat()}-{first:010d}{SUFFIX}"
        if before is not None and before.path == path:  # nothing stands in it yet
            return before
        # What players say stands in it, so nobody else on this machine may read it.
        self.file, self._day = AppendedFile(path, _OWNER_ONLY), day.isoformat()
        if before is not None:
            before.close()
            _pack(before.path)
        for old in files_of(self._folder, self._stem)[: -self._most] if self._most else ():
            old.path.unlink(missing_ok=True)
        return self.file


def _pack(path: Path) -> None:
    """Compress one file; killed at any line, it is done again at the next opening."""
    with contextlib.suppress(OSError):  # a full disk: it stays as it is until then
        with path.open("rb") as source:
            write_packed(path.with_name(f"{path.name}.gz"), source)
        path.unlink()


def write_packed(target: Path, source: BinaryIO) -> None:
    """Write a compressed file, whole or not at all; the same lines give the same bytes."""
    part = target.with_suffix(_PART)
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as raw:
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:  # without name and time
                shutil.copyfileobj(source, packed)
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


class Filter:
    """Which events are wanted."""

    def __init__(self, agents: Collection[str] = (), kinds: Collection[str] = ()) -> None:
        self._agents = {each.casefold() for each in agents}
        self._kinds = frozenset(kinds)

    def __call__(self, record: Record) -> bool:
        """Whether this one is."""
        if self._kinds and record.get("kind") not in self._kinds:
            return False
        return not self._agents or str(record.get("agent", "")).casefold() in self._agents


def events(folder: Path, after: int = 0) -> Iterator[Record]:
    """Every event with a number above ``after``, oldest first; blocks.

    Lines that cannot be read, and those of a later time that are no events, are passed over.
    """
    files = files_of(folder, EVENTS)
    for file, following in zip_longest(files, files[1:]):
        if following is None or following.first > after + 1:
            yield from (each for each in _records(file.lines()) if each["seq"] > after)


def last(folder: Path, count: int, wanted: Callable[[Record], bool]) -> list[Record]:
    """The newest ``count`` events that are wanted, oldest first; reads no more than needed."""
    return list(islice(filter(wanted, newest_first(folder)), count))[::-1]


def newest_first(
    folder: Path, *, kind: str = "", agent_id: int = 0, most: int | None = None
) -> Iterator[Record]:
    """Every event, the newest first; reads no more than is asked for.

    ``kind``: Only events of that kind.
    ``agent_id``: Only events of the agent with that id.
    ``most``: Bytes after which it ends; None for never.
    """
    # Lines that lack these are not even parsed.
    needles = [f'"kind":"{kind}"'.encode()] if kind else []
    needles += [f'"agent_id":{agent_id}'.encode()] if agent_id else []
    left = most
    for file in reversed(files_of(folder, EVENTS)):
        for line in file.lines_from_end():
            if left is not None and (left := left - len(line) - 1) < 0:
                return
            if all(each in line for each in needles):
                for record in _records([line]):
                    if kind in ("", record.get("kind")) and agent_id in (0, id_of(record)):
                        yield record


def id_of(record: Record) -> int:
    """The id of the agent that an event is of; 0 where it has none."""
    found = record.get("agent_id")
    return found if isinstance(found, int) else 0


def time_of(said: object) -> datetime | None:
    """The time of an event, as its field ``t`` has it; None if that is no time."""
    try:
        return datetime.fromisoformat(str(said)).astimezone()
    except (ValueError, OverflowError):
        return None


def newest(folder: Path) -> int:
    """The number of the last event; 0 if there is none."""
    return next((int(each["seq"]) for each in newest_first(folder)), 0)


def follow(folder: Path, after: int, poll: float = 0.2) -> Iterator[Record]:
    """Each event with a number above ``after``, once and in order; never ends."""
    while True:
        new = list[Record]()
        for record in newest_first(folder):
            if record["seq"] <= after:
                break
            new.append(record)
        after = new[0]["seq"] if new else after
        yield from reversed(new)
        time.sleep(poll)


def _records(lines: Iterable[bytes]) -> Iterator[Record]:
    return (each for each in map(parsed, lines) if isinstance(each.get("seq"), int))
