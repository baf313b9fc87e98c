"""Reads the event log: what is in it, and what is added while one looks.

Any number of readers may read while it is written and rotated; nobody is locked out.

Whatever reads here blocks, and raises OSError where a file cannot be read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from itertools import islice, zip_longest
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
