"""Files of JSON lines that are rotated by size and day; one writer, any number of readers.

A file is named after the day of its first line and that line's number,
``events-2026-11-21-0000000042.jsonl``, and is never renamed.

Functions that read or write block, and raise OSError if the disk refuses.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice, zip_longest
from pathlib import Path

from keepsake.json_lines import AppendedFile, Record, ended_lines, lines_from_end, parsed

EVENTS = "events"
"""The stem of the event log's file names."""
_NAME = re.compile(r"(?P<stem>[a-z]+)-(?P<day>\d{4}-\d\d-\d\d)-(?P<first>\d{10,})\.jsonl")
_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True, order=True)
class LogFile:
    """One file of a log."""

    first: int  # the number of its first line
    day: str  # the day of that line, ``2026-11-21``
    path: Path

    def lines(self) -> list[bytes]:
        """Return the complete lines, without line ends."""
        return ended_lines(self.path.read_bytes())

    def lines_from_end(self) -> Iterator[bytes]:
        """Yield the complete lines, last first; reads block by block."""
        with self.path.open("rb") as file:
            yield from lines_from_end(file)


def files_of(folder: Path, stem: str) -> list[LogFile]:
    """Return the files of a log, oldest first; none if the folder does not exist."""
    paths = folder.iterdir() if folder.is_dir() else ()
    found = ((_NAME.fullmatch(path.name), path) for path in paths)
    return sorted(
        LogFile(int(match["first"]), match["day"], path)
        for match, path in found
        if match and match["stem"] == stem
    )


class LineWriter:
    """Appends lines to the newest file of a log; for one thread, except :meth:`sync`.

    Opening cuts off an incomplete last line, which a killed process may leave.
    """

    def __init__(self, folder: Path, stem: str, limit: int) -> None:
        self._folder = folder
        self._stem = stem
        self._limit = limit
        self._day = ""
        self.file: AppendedFile | None = None
        if files := files_of(folder, stem):
            self.file = AppendedFile(files[-1].path, _OWNER_ONLY)
            self._day = files[-1].day
            self.file.cut(self.file.size - len(self.file.torn()))

    def begins_new(self, day: date, size: int) -> bool:
        """Whether writing ``size`` bytes on that day begins a new file."""
        file = self.file
        return file is None or self._day != day.isoformat() or file.size + size > self._limit

    def write(self, data: bytes, day: date, first: int) -> None:
        """Write whole lines and hand them to the operating system.

        Args:
            day: The day that a new file is named after, if these lines begin one.
            first: The number of the first line, which is in that name, too.

        Raises:
            OSError: The disk refused.
        """
        file = self.file
        if file is None or self.begins_new(day, len(data) if file.size else 0):
            file = self._rotate(day, first)
        file.append(data)

    def sync(self) -> None:
        """Sync written lines to the disk; from any thread, also while another one writes."""
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
        """Return the ``seq`` of the newest line that has one; 0 if there is none."""
        for file in reversed(files_of(self._folder, self._stem)):
            for line in file.lines_from_end():
                number = parsed(line).get("seq")
                if isinstance(number, int):
                    return number
            if file.first > 1:  # the file is empty: it was created for line ``first``
                return file.first - 1
        return 0

    def _rotate(self, day: date, first: int) -> AppendedFile:
        before = self.file
        path = self._folder / f"{self._stem}-{day.isoformat()}-{first:010d}.jsonl"
        if before is not None and before.path == path:  # it is still empty
            return before
        # The file holds what players say, so other users of this machine must not read it.
        self.file = AppendedFile(path, _OWNER_ONLY)
        self._day = day.isoformat()
        if before is not None:
            before.close()
        return self.file


@dataclass(frozen=True, slots=True)
class Filter:
    """Selects events by agent, kind and level."""

    agents: Collection[str] = ()  # names, in any case; empty for all agents
    kinds: Collection[str] = ()  # empty for all kinds
    levels: Collection[str] = ()  # of faults; empty for all, and for events without a level

    def __call__(self, record: Record) -> bool:
        """Whether the record is selected."""
        named = str(record.get("agent", "")).casefold()
        of_them = not self.agents or named in (each.casefold() for each in self.agents)
        of_kind = not self.kinds or record.get("kind") in self.kinds
        return of_them and of_kind and (not self.levels or record.get("level") in self.levels)


def events(folder: Path, after: int = 0) -> Iterator[Record]:
    """Yield every event with a number above ``after``, oldest first; blocks.

    Skips lines that cannot be read, and lines of newer versions that are not events.
    """
    files = files_of(folder, EVENTS)
    for file, following in zip_longest(files, files[1:]):
        if following is None or following.first > after + 1:
            yield from (each for each in _records(file.lines()) if each["seq"] > after)


def last(folder: Path, count: int, wanted: Callable[[Record], bool]) -> list[Record]:
    """Return the newest ``count`` wanted events, oldest first; reads no more than needed."""
    return list(islice(filter(wanted, newest_first(folder)), count))[::-1]


def newest_first(
    folder: Path, *, kind: str = "", agent_id: int = 0, most: int | None = None, since: str = ""
) -> Iterator[Record]:
    """Yield every event, newest first; reads no more than the caller consumes.

    ``kind``: Only events of that kind.
    ``agent_id``: Only events of the agent with that id.
    ``most``: The most bytes to read; None for no limit.
    ``since``: The day of the oldest file to read, ``2026-11-21``.
    """
    # Lines without these bytes are not parsed.
    needles = [f'"kind":"{kind}"'.encode()] if kind else []
    needles += [f'"agent_id":{agent_id}'.encode()] if agent_id else []
    left = most
    for file in reversed(files_of(folder, EVENTS)):
        if file.day < since:
            return
        for line in file.lines_from_end():
            if left is not None and (left := left - len(line) - 1) < 0:
                return
            if all(each in line for each in needles):
                for record in _records([line]):
                    if kind in ("", record.get("kind")) and agent_id in (0, id_of(record)):
                        yield record


class NewestEvents:
    """The events of one kind in a log: those of its newest part at first, then what was appended.

    For one thread.

    Args:
        folder: That of the log.
        kind: The kind.
        most: The most bytes to read at first, from the end.
    """

    def __init__(self, folder: Path, kind: str, most: int) -> None:
        self._folder = folder
        self._kind = kind
        self._needle = f'"kind":"{kind}"'.encode()
        self._most = most
        self._last = 0
        # By file: how many bytes were read. Older files are left out.
        self._read: dict[Path, int] = {}

    def read_on(self) -> Iterator[Record]:
        """Yield the events that came since the last call, oldest first; blocks.

        Raises:
            OSError: The log cannot be read.
        """
        files = files_of(self._folder, EVENTS)
        if not self._read:
            self._begin(files)
        oldest = min(self._read, default=Path())
        for file in files:
            if file.path < oldest:
                continue
            at = self._read.get(file.path, 0)
            with file.path.open("rb") as opened:
                if opened.seek(0, os.SEEK_END) < at:
                    at = 0  # it was rewritten
                opened.seek(at)
                data = opened.read()
            data = data[: data.rfind(b"\n") + 1]  # the last line may still be written
            self._read[file.path] = at + len(data)
            for record in _records(each for each in ended_lines(data) if self._needle in each):
                if record.get("kind") == self._kind and record["seq"] > self._last:
                    self._last = record["seq"]
                    yield record
        there = {file.path for file in files}
        self._read = {path: size for path, size in self._read.items() if path in there}

    def _begin(self, files: Iterable[LogFile]) -> None:
        """Leave out all but the newest part. Its first line is cut, and not read."""
        left = self._most
        for file in reversed([*files]):
            size = file.path.stat().st_size
            self._read[file.path] = max(size - left, 0)
            left -= size
            if left <= 0:
                return


def id_of(record: Record) -> int:
    """Return the id of the event's agent; 0 if it has none."""
    found = record.get("agent_id")
    return found if isinstance(found, int) else 0


def time_of(said: object) -> datetime | None:
    """Return the time in an event's field ``t``; None if it is not a valid time."""
    try:
        return datetime.fromisoformat(str(said)).astimezone()
    except (ValueError, OverflowError):
        return None


def newest(folder: Path) -> int:
    """Return the number of the last event; 0 if there is none."""
    return next((int(each["seq"]) for each in newest_first(folder)), 0)


def follow(folder: Path, after: int, poll: float = 0.2) -> Iterator[Record]:
    """Yield each event with a number above ``after``, once and in order; never ends.

    ``poll``: Seconds between two looks at the log.
    """
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
