"""The thoughts of one day, from the event log: read once, and then what is added.

A page of the world asks every few seconds; a day of a hundred agents is some ten megabytes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

from keepsake.events.agent_names import id_of, time_of
from keepsake.events.files import LogFile, files_of
from keepsake.events.types import Thought
from keepsake.events.writer import STEM
from keepsake.json_lines import Record, ended_lines, parsed

MOST_DAYS = 8
"""Days that are kept in RAM: some megabytes each at a hundred agents."""
_ADDRESSED = "addressed"
_NEEDLE = f'"kind":"{Thought.kind}"'.encode()


@dataclass(frozen=True, slots=True)
class LoggedThought:
    """What a page of the world needs to know of a thought."""

    agent: str
    agent_id: int  # 0 in older lines
    began: datetime  # when its prompt was sent
    ended: datetime
    addressed_by: str  # who had spoken to the agent; empty where nobody had


class _DayLog:
    """The thoughts of one day of one log, as far as they have been read."""

    def __init__(self, begins: datetime, ends: datetime) -> None:
        self._begins, self._ends = begins, ends
        self._positions: dict[int, int] = {}
        self._whole: set[int] = set()
        self._found: list[LoggedThought] = []

    def catch_up(self, files: Sequence[LogFile]) -> list[LoggedThought]:
        """All that are there by now, oldest first."""
        # A file is named after the day of its first line, in UTC, and may go on for a while.
        early, late = (
            str((each + timedelta(days=days)).date())
            for each, days in ((self._begins, -1), (self._ends, 1))
        )
        for file, following in zip_longest(files, files[1:]):
            if file.day > late or (following is not None and following.day < early):
                continue
            if file.first not in self._whole:
                self._found += self._added(file)
            if following is not None:  # nothing more comes into this one
                self._whole.add(file.first)
        return self._found

    def _added(self, file: LogFile) -> Iterator[LoggedThought]:
        data = file.read_from(self._positions.get(file.first, 0))
        end = data.rfind(b"\n") + 1
        self._positions[file.first] = self._positions.get(file.first, 0) + end
        for line in ended_lines(data[:end]):
            if _NEEDLE in line and (found := self._thought(parsed(line))) is not None:
                yield found

    def _thought(self, record: Record) -> LoggedThought | None:
        ended = time_of(record.get("t"))
        if record.get("kind") != Thought.kind or ended is None:
            return None
        if not self._begins <= ended < self._ends:
            return None
        addressed = record.get("trigger") == _ADDRESSED
        return LoggedThought(
            agent=str(record.get("agent") or ""),
            agent_id=id_of(record),
            began=ended - timedelta(seconds=float(record.get("latency") or 0.0)),
            ended=ended,
            addressed_by=str(record.get("source") or "") if addressed else "",
        )


_lock = threading.Lock()


@lru_cache(maxsize=MOST_DAYS)
def _day(_log: Path, begins: datetime, ends: datetime) -> _DayLog:
    return _DayLog(begins, ends)


def thoughts_of_day(log: Path, begins: datetime, ends: datetime) -> Sequence[LoggedThought]:
    """All thoughts that ended between these times, oldest first; blocks.

    Raises:
        OSError: The log cannot be read.
    """
    with _lock:
        return tuple(_day(log, begins, ends).catch_up(files_of(log, STEM)))
