"""One day of all agents: where each was, what it was about, and who spoke to whom.

Read from files alone, archives, nights and the event log, so a day long past costs the same as
today. In a view's thread.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path

from game.web.api.lives import Inhabitant
from game.web.api.openapi import BadRequest
from game.web.api.shapes import DayRow, RoomView, WayView, WorldView
from game.web.api.source import source
from game.web.world.day_log import thoughts_of_day
from keepsake.archive.log import Archive, segment_sizes
from keepsake.archive.records import Memory, MemoryKind, memories_in
from keepsake.events.agent_names import time_of
from keepsake.json_lines import parsed
from keepsake.sleep.log import SleepLog

MINUTES = 24 * 60
IDLE, ASLEEP, THINKING, TALKING, WALKING = ".", "z", "t", "s", "w"
"""What an agent is about in a minute; of several the last of these."""
MOST_TALKS = 20_000
MOST_DAYS = 1_000
"""Days of one agent each that are kept in RAM: some twenty kB each."""
_SPEECH = re.compile(r"(?:say|whisper|ask|tell|shout|answer)\b")
_TIME = re.compile(rb'"t":"(\d{4}-\d\d-\d\d)')


@dataclass(frozen=True, slots=True)
class DaySpan:
    """A day in a time zone, by its first moment and that of the next one, in UTC."""

    day: date
    begins: datetime
    ends: datetime

    @classmethod
    def of(cls, day: date, zone: tzinfo | None) -> DaySpan:
        """The day in that zone; in this machine's for None."""
        first, after = (_midnight(each, zone) for each in (day, day + timedelta(days=1)))
        return cls(day, first, after)

    def minute(self, at: datetime) -> int:
        """Its minute of this day, cut off at both ends."""
        return min(max(int((at - self.begins).total_seconds() // 60), 0), MINUTES - 1)

    def holds(self, at: datetime) -> bool:
        """Whether it is of this day."""
        return self.begins <= at < self.ends


@dataclass(slots=True)
class LivedDay:
    """One agent's day."""

    minutes: list[str] = field(default_factory=lambda: [IDLE] * MINUTES)
    places: list[tuple[int, str]] = field(default_factory=list)  # from which minute on it was where
    spoke: list[tuple[int, str]] = field(default_factory=list)  # when it spoke to whom

    def mark(self, first: int, last: int, what: str) -> None:
        """It was about this from one minute to another, both included, unless about more."""
        order = (IDLE, ASLEEP, THINKING, TALKING, WALKING).index
        for minute in range(first, last + 1):
            if order(self.minutes[minute]) < order(what):
                self.minutes[minute] = what


@dataclass(frozen=True, slots=True)
class WorldDay:
    """The day of all of them."""

    agents: tuple[tuple[Inhabitant, LivedDay], ...]
    talks: tuple[tuple[int, str, str], ...]  # minute, who spoke, to whom; oldest first


def first_day(agents: Sequence[Inhabitant], zone: tzinfo | None) -> date | None:
    """The day of the first memory of all; None if nobody remembers anything.

    Raises:
        OSError: An archive cannot be read.
    """
    found = (_first_memory(each.folder / "archive") for each in agents if _remembers(each))
    return min((each.astimezone(zone).date() for each in found if each is not None), default=None)


def lived_day(log: Path, agents: Sequence[Inhabitant], span: DaySpan, now: datetime) -> WorldDay:
    """That day, as far as archives and log tell of it by ``now``.

    Raises:
        OSError: A file cannot be read.
    """
    days = {each.number: (each, _lived(each, span, now)) for each in agents}
    heard: list[tuple[int, str, str]] = []
    names = {each.name for each in agents}
    numbers = {each.name.casefold(): each.number for each in agents}
    for thought in thoughts_of_day(log, span.begins, span.ends):
        number = thought.agent_id or numbers.get(thought.agent.casefold(), 0)
        if (known := days.get(number)) is not None:
            at = span.minute(thought.ended)
            known[1].mark(span.minute(thought.began), at, THINKING)
            if thought.addressed_by and thought.addressed_by not in names:
                heard.append((at, thought.addressed_by, known[0].name))  # who has no archive
    talks = [(at, who.name, to) for who, day in days.values() for at, to in day.spoke]
    return WorldDay(tuple(days.values()), tuple(sorted(talks + heard)[:MOST_TALKS]))


def _midnight(day: date, zone: tzinfo | None) -> datetime:
    naive = datetime.combine(day, time())
    # In UTC, so that what is counted from it is right on days of 23 and 25 hours as well.
    return (naive.replace(tzinfo=zone) if zone is not None else naive).astimezone(UTC)


# -- the archive


def _lived(agent: Inhabitant, span: DaySpan, now: datetime) -> LivedDay:
    folder = agent.folder / "archive"
    day = _from_archive(folder, span) if folder.is_dir() else LivedDay()
    for night in SleepLog(agent.folder).nights():
        woke = night.woke or now
        if night.fell_asleep < span.ends and woke >= span.begins:
            day.mark(span.minute(night.fell_asleep), span.minute(woke), ASLEEP)
    return day


def _live(day: LivedDay, memory: Memory, span: DaySpan) -> None:
    at, today = span.minute(memory.time), span.holds(memory.time)
    if memory.place and (not day.places or day.places[-1][1] != memory.place):
        if day.places and today:
            day.mark(at, at, WALKING)
        day.places.append((at, memory.place))
    if today and memory.kind is MemoryKind.ACT and _SPEECH.match(memory.text):
        day.mark(at, at, TALKING)
        if memory.to:
            day.spoke.append((at, memory.to))


class _ArchivedDay:
    """One agent's day by its archive: read once, and then what is added."""

    def __init__(self, span: DaySpan) -> None:
        self._span = span
        self._inodes: Mapping[str, int] = {}
        self._begin()

    def _begin(self) -> None:
        self._day, self._last, self._is_over = LivedDay(), 0, False
        self._sizes: Mapping[str, int] = {}

    def catch_up(self, folder: Path) -> LivedDay:
        """All that is there by now."""
        sizes = segment_sizes(folder)
        inodes = {name: (folder / name).stat().st_ino for name in sizes}
        # A segment is another file once somebody's words were taken out of it.
        if not self._inodes.items() <= inodes.items():
            self._begin()
        self._inodes = inodes
        if sizes != self._sizes and not self._is_over:
            for memory in self._added(folder):
                _live(self._day, memory, self._span)
            self._sizes = sizes
        day = self._day
        return LivedDay([*day.minutes], [*day.places], [*day.spoke])

    def _added(self, folder: Path) -> Sequence[Memory]:
        """The new memories of that day; at first the one before it too, which tells where it began.

        A line's own zone may be another, so it may bear the day before or after.
        """
        span, found = self._span, list[Memory]()
        early, late = (str(span.day + timedelta(days=each)) for each in (-1, 1))
        for line in Archive(folder, read_only=True).lines_back():
            if (day := _day_of(line)) > late:
                self._is_over = True
            elif day and (memory := next(memories_in([parsed(line)]), None)) is not None:
                if memory.number <= self._last:
                    break
                found.append(memory)
                if day < early:
                    break
        found.reverse()
        first, self._last = not self._last, max((each.number for each in found), default=self._last)
        earlier = [each for each in found if each.time < span.begins]
        today = (each for each in found if span.holds(each.time))
        return (*(earlier[-1:] if first else ()), *today)


_lock = threading.Lock()


@lru_cache(maxsize=MOST_DAYS)
def _archived_day(_folder: Path, span: DaySpan) -> _ArchivedDay:
    return _ArchivedDay(span)


def _from_archive(folder: Path, span: DaySpan) -> LivedDay:
    with _lock:
        return _archived_day(folder, span).catch_up(folder)


def _day_of(line: bytes) -> str:
    """The day that a line bears, in whatever zone it was written; empty for none."""
    found = _TIME.search(line[:200])
    return found[1].decode() if found else ""


def _remembers(agent: Inhabitant) -> bool:
    folder = agent.folder / "archive"
    return folder.is_dir() and any(segment_sizes(folder).values())


@lru_cache(maxsize=400)
def _first_memory(folder: Path) -> datetime | None:
    """The time of the first line that tells of a memory, which never changes."""
    for _, record in Archive(folder, read_only=True).forwards():
        if record is not None and record.get("type") == "memory":
            return time_of(record.get("t"))
    return None


def world(day: date | None) -> WorldView:
    """That day, or today.

    Raises:
        BadRequest: That day is not lived yet.
        KeepsakeError: The world cannot answer now.
        OSError: A file cannot be read.
    """
    shown = source()
    now = shown.now().astimezone(shown.zone)
    if day is not None and day > now.date():
        raise BadRequest(f"{day} is not lived yet", f"Today is {now.date()}")
    span = DaySpan.of(day or now.date(), shown.zone)
    there, grounds = shown.inhabitants(), shown.grounds()
    lived = lived_day(shown.events, there, span, now)
    first = first_day(there, shown.zone) or now.date()
    return WorldView(
        day=span.day.isoformat(),
        begins=span.begins.isoformat(),
        first=min(first, span.day).isoformat(),
        last=now.date().isoformat(),
        minute=span.minute(now) if span.holds(now) else MINUTES - 1,
        rooms=tuple(RoomView(id=number, name=name) for number, name in grounds.rooms),
        ways=tuple(WayView.of(each) for each in grounds.ways),
        agents=tuple(_row(*each) for each in lived.agents),
        talks=lived.talks,
    )


def _row(agent: Inhabitant, day: LivedDay) -> DayRow:
    minutes, places = "".join(day.minutes), tuple(day.places)
    return DayRow(
        id=agent.number, name=agent.name, place=agent.place, minutes=minutes, places=places
    )
