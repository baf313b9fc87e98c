"""A point of a world's log: now, an event, a moment, or a memory of an agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from game.lab.replays.lived import beginnings, find_agent, read_life
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.agent_names import id_of
from keepsake.events.reader import Filter, events
from keepsake.paths import Places

_MEMORY = re.compile(r"(?P<agent>.+?)\s+memory\s+(?P<number>\d{1,9})", re.I)
_NUMBER = re.compile(r"\d{1,12}")
_CURE = 'Write an event\'s number, a time such as 2026-05-04T12:00, or "Mira memory 120"'
_APPENDED = "append"


@dataclass(frozen=True, slots=True)
class LogPoint:
    """Where a world is cut."""

    time: datetime | None = None  # the moment, with time zone; None for now, when nothing is cut
    seq: int | None = None  # number of the last event before it; None for all there are
    # the last memory of agents, by their names in lower case, where it is known exactly; of the
    # others the time decides
    numbers: Mapping[str, int] = field(default_factory=dict)
    told: str = "as it is now"  # the point in words


NOW = LogPoint()


def point_at(here: Places, written: str) -> LogPoint:
    """The point that somebody names; reads the whole event log, so it blocks.

    Raises:
        KeepsakeError: It names nothing that there is.
    """
    written = " ".join(written.split())
    if not written:
        return NOW
    with refusing(f"The event log {here.events} cannot be read", "Look at who may read it"):
        if _NUMBER.fullmatch(written):
            return _at_event(here, int(written))
        if match := _MEMORY.fullmatch(written):
            return _at_memory(here, match["agent"], int(match["number"]))
        return _at_time(here, written)


def _at_event(here: Places, seq: int) -> LogPoint:
    first = last = 0
    time: datetime | None = None
    numbers = _LastMemories()
    for record in events(here.events):
        first, last = first or int(record["seq"]), int(record["seq"])
        if last <= seq:
            time = _time(record) or time
        numbers.take(record, beyond=last > seq)
    if time is None or seq > last:
        there = f"events {first:,} to {last:,}" if last else "no events"
        raise KeepsakeError(f"There is no event {seq:,}: {here.events} has {there}", _CURE)
    return LogPoint(time, seq, numbers.by_name, f"at event {seq:,}, {_short(time)}")


class _LastMemories:
    """The last memory of each agent up to a point, as the log's events tell of it."""

    def __init__(self) -> None:
        self._numbers: dict[str | int, int] = {}
        self._lived: set[str | int] = set()  # whose number is of a memory before the point
        self._called: dict[str | int, str] = {}

    def take(self, record: Mapping[str, Any], *, beyond: bool) -> None:
        """Take in an event; beyond the point, the memory before its own was the last until then."""
        number, name = record.get("n"), str(record.get("agent", "")).casefold()
        key = id_of(record) or name
        if name and key != name:  # before there were ids, whoever had that archive had its name
            self._called[key] = name
            if name in self._numbers:
                self._numbers.setdefault(key, self._numbers.pop(name))
                self._lived |= {key} if name in self._lived else set()
        appended = record.get("kind") == "memory" and record.get("op") == _APPENDED
        if not appended or not isinstance(number, int):
            return
        if beyond:
            self._numbers.setdefault(key, number - 1)
        else:
            self._numbers[key] = number
            self._lived.add(key)

    @property
    def by_name(self) -> dict[str, int]:
        """Under the names in lower case that the agents bear by the end of the log.

        One that was deleted and made again has its archive, and so two ids: the newest memory
        before the point counts, and if there is none, what comes before the oldest after it.
        """
        found: dict[str, int] = {}
        for key in sorted(self._numbers, key=lambda key: (key in self._lived, self._order(key))):
            found[self._called.get(key, str(key))] = self._numbers[key]
        return found

    def _order(self, key: str | int) -> int:
        return self._numbers[key] if key in self._lived else -self._numbers[key]


def _at_memory(here: Places, agent: str, number: int) -> LogPoint:
    folder, name = find_agent(here.agents, agent)
    steps = read_life(folder, name).steps
    step = next((each for each in reversed(steps) if each.number == number), None)
    if step is None:
        raise KeepsakeError(
            f"{name} has no memory {number}",
            f"They go from {steps[0].number} to {steps[-1].number}",
        )
    told = f"at {name}'s memory {number}, {_short(step.time)}"
    for record in filter(Filter([name], ["memory"]), events(here.events)):
        if record.get("op") == _APPENDED and record.get("n") == number:
            found = _at_event(here, _thought_of(here, record) or int(record["seq"]))
            return LogPoint(found.time, found.seq, {**found.numbers, name.casefold(): number}, told)
    return LogPoint(step.time, _last_before(here, step.time)[0], {name.casefold(): number}, told)


def _thought_of(here: Places, appended: Mapping[str, Any]) -> int:
    """The number of the thought whose act became that memory; 0 if it is no act, or unknown.

    It stands behind its memory: a copy that ends between the two holds an act without a cause.
    """
    agent = str(appended.get("agent", ""))
    wanted = Filter([agent], ["memory", "thought"])
    for record in filter(wanted, events(here.events, int(appended["seq"]))):
        if record["kind"] == "thought" and record.get("memory") == appended["n"]:
            return int(record["seq"])
        if record.get("op") == _APPENDED:
            return 0  # its next memory would be in the log, and not in the archive
    return 0


def _at_time(here: Places, written: str) -> LogPoint:
    try:
        time = datetime.fromisoformat(written)
    except ValueError as error:
        raise KeepsakeError(f"--at {written!r} is no point of a log", _CURE) from error
    time = time if time.tzinfo else time.astimezone()
    seq, at, later = _last_before(here, time)
    if seq == 0:
        _check_begun(here, time)
    told = f"at {_short(time)}"
    if at is not None and not later:
        told += f", after its last event, which was at {_short(at)}"
    return LogPoint(time, seq, {}, told)


def _last_before(here: Places, time: datetime) -> tuple[int, datetime | None, bool]:
    """Number and time of the last event up to that moment, and whether there is a later one."""
    seq, at = 0, None
    for record in events(here.events):
        happened = _time(record)
        if happened is not None and happened > time:
            return seq, at, True
        seq, at = int(record["seq"]), happened or at
    return seq, at, False


def _check_begun(here: Places, time: datetime) -> None:
    """Refuse a time at which nobody had lived yet: such a copy would hold nothing."""
    began = min(beginnings(here.agents), default=None)
    if began is None or time < began:
        said = f"The first memory is of {_short(began)}" if began else "Nobody remembers anything"
        raise KeepsakeError(f"There was nothing yet at {_short(time)}", f"{said}. {_CURE}")


def _short(time: datetime) -> str:
    return time.isoformat(timespec="seconds")


def _time(record: Mapping[str, Any]) -> datetime | None:
    try:
        return datetime.fromisoformat(str(record["t"]))
    except (KeyError, ValueError):
        return None
