"""Reads the event log: what is in it, and what is added while one looks.

Any number of readers may read while it is written and rotated; nobody is locked out.

Whatever reads here blocks, and raises OSError where a file cannot be read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from itertools import islice, takewhile, zip_longest
from pathlib import Path

from keepsake.events.files import EVENTS, files_of
from keepsake.json_lines import Record, parsed


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


class EventFollower:
    """Gives each event that is added, once and in order.

    Args:
        after: The number of the last event that is known; None for the newest there is.
    """

    def __init__(self, folder: Path, after: int | None = None) -> None:
        self._folder = folder
        newest = next(newest_first(folder), {"seq": 0}) if after is None else {"seq": after}
        self.after: int = newest["seq"]

    def added(self) -> list[Record]:
        """What came since the last call; empty when nothing did. Quick, but it reads files."""
        newest = newest_first(self._folder)
        found = list(takewhile(lambda each: each["seq"] > self.after, newest))[::-1]
        self.after = found[-1]["seq"] if found else self.after
        return found


def follow(follower: EventFollower, poll: float = 0.2) -> Iterator[Record]:
    """Each event that is added; never ends."""
    while True:
        added = follower.added()
        yield from added
        if not added:
            time.sleep(poll)


def _records(lines: Iterable[bytes]) -> Iterator[Record]:
    return (each for each in map(parsed, lines) if isinstance(each.get("seq"), int))
