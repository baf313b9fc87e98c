"""Reads the event log: what is in it, and what is added while one looks.

Any number of readers may read while it is written and rotated; nobody is locked out.

Whatever reads here blocks, and raises OSError where a file cannot be read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path

from keepsake.events.files import LogFile, files_of
from keepsake.events.writer import STEM
from keepsake.json_lines import Record, ended_lines, parsed


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


def events(folder: Path, after: int = 0, *, any_of: Collection[str] = ()) -> Iterator[Record]:
    """Every event with a number above ``after``, oldest first; blocks.

    Lines that cannot be read, and those of a later time that are no events, are passed over; with
    ``any_of`` also lines that hold none of these texts, as :func:`newest_first` has them.
    """
    files, either = files_of(folder, STEM), _encoded(any_of)
    for file, following in zip_longest(files, files[1:]):
        if following is None or following.first > after + 1:
            lines = file.lines()
            for record in _records(filter(partial(_holds, either), lines) if either else lines):
                if record["seq"] > after:
                    yield record


def last(folder: Path, count: int, wanted: Callable[[Record], bool]) -> list[Record]:
    """The newest ``count`` events that are wanted, oldest first; reads no more than needed."""
    return list(islice(filter(wanted, newest_first(folder)), count))[::-1]


def newest_first(
    folder: Path,
    *,
    holding: Collection[str] = (),
    any_of: Collection[str] = (),
    most: int | None = None,
) -> Iterator[Record]:
    """Every event, the newest first; reads no more than is asked for.

    ``holding``: Only events whose lines hold all of these, such as ``"kind":"thought"`` as it
    is written; others are not even parsed.
    ``any_of``: Only events whose lines hold one of these at least; all when empty.
    ``most``: Bytes after which it ends; None for never.
    """
    needles, either, left = _encoded(holding), _encoded(any_of), most
    for file in reversed(files_of(folder, STEM)):
        for line in file.lines_from_end():
            if left is not None and (left := left - len(line) - 1) < 0:
                return
            if all(each in line for each in needles) and (not either or _holds(either, line)):
                yield from _records([line])


def _encoded(texts: Collection[str]) -> list[bytes]:
    return [each.encode("utf-8", "replace") for each in texts]


def _holds(either: Collection[bytes], line: bytes) -> bool:
    return any(each in line for each in either)


class EventFollower:
    """Gives each event that is added, once and in order.

    Args:
        after: The number of the last event that is known; None for the newest there is.
    """

    def __init__(self, folder: Path, after: int | None = None) -> None:
        self._folder = folder
        self._file: LogFile | None = None
        self._position = 0
        self.after = after if after is not None else newest_number(folder)

    def added(self) -> list[Record]:
        """What came since the last call; empty when nothing did. Quick, but it reads files."""
        found: list[Record] = []
        for file in self._files():
            if self._file is None or file.first != self._file.first:
                self._file, self._position = file, 0
            found += self._read(file)
        return found

    def _files(self) -> list[LogFile]:
        """Those that may hold something new: the one that is being read and what follows it."""
        files = files_of(self._folder, STEM)
        here = self._file.first if self._file is not None else self.after + 1
        begun = [file.first for file in files if file.first <= here]
        return [file for file in files if file.first >= max(begun, default=0)]

    def _read(self, file: LogFile) -> Iterator[Record]:
        data = file.read_from(self._position)
        end = data.rfind(b"\n") + 1
        self._position += end
        for record in _records(ended_lines(data[:end])):
            if record["seq"] > self.after:
                self.after = record["seq"]
                yield record


def follow(follower: EventFollower, poll: float = 0.2) -> Iterator[Record]:
    """Each event that is added; never ends."""
    while True:
        added = follower.added()
        yield from added
        if not added:
            time.sleep(poll)


def newest_number(folder: Path) -> int:
    """The number of the last event; 0 if there is none."""
    newest = next(newest_first(folder), None)
    return int(newest["seq"]) if newest else 0


def _records(lines: Iterable[bytes]) -> Iterator[Record]:
    return (each for each in map(parsed, lines) if isinstance(each.get("seq"), int))
