"""Charts over time: the newest part of the event log, added up and kept in RAM.

The log is read from its end, no more than :data:`MOST_BYTES` of it, once somebody has asked; from
then on a thread of its own takes what is added. A page reads sums, and never the log.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from game.web.api.shapes import Point, Series
from game.web.live.slices import SLOT, Slice, Sums
from keepsake.events.agent_names import Names, id_of
from keepsake.events.files import files_of
from keepsake.events.reader import EventFollower, events
from keepsake.events.writer import STEM

POINTS = 60
MOST_HOURS = 7 * 24
FINE_HOURS = 24
"""Of these each minute is known; of the time before only slots, see :mod:`game.web.live.slices`."""
MOST_BYTES = 64_000_000
"""Of the log, compressed files by what they hold: about 1.5 s of one core."""
POLL_SECONDS = 2.0
PATIENCE = 0.15
"""Seconds that a page waits for the first reading; then it is told that it is not complete."""
_PACKED = 12
"""How many times smaller a compressed file of the log is, about."""
_log = logging.getLogger("keepsake.dashboard")

type Record = Mapping[str, Any]


def _utc() -> datetime:
    return datetime.now(UTC)


class Charts:
    """The sums of one event log; ``clock`` gives its present: nothing older than a week counts."""

    def __init__(
        self, folder: Path, most_bytes: int = MOST_BYTES, clock: Callable[[], datetime] = _utc
    ) -> None:
        self._folder, self._most, self._clock = folder, most_bytes, clock
        self._lock = threading.Lock()
        self._sums: dict[str | int, Sums] = {}
        """By the agent's id; by its name in lower case where lines have no id."""
        self._fine = 0.0
        self._from: float | None = None
        """Since when the log was read, in seconds since 1970; None before it was."""
        self._read = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to read, in a thread of its own; a second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="charts", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Read no more."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()

    def series(
        self, agent: str | Names, hours: int, now: datetime, patience: float = PATIENCE
    ) -> Series:
        """The last so many hours of one agent, 1 to :data:`MOST_HOURS`.

        The last slice is under way; the first reading is waited for, ``patience`` seconds.
        """
        self._read.wait(patience)
        seconds = hours * 3600 / POINTS
        # Slices begin at whole minutes, and the same ones each time: the last is not over yet.
        begin = (now.timestamp() // seconds + 1 - POINTS) * seconds
        with self._lock:
            slices, before = self._all_of(Names.of(agent)).spread(begin, seconds, POINTS)
            complete = self._from is not None and self._from <= begin
        points = []
        for place, each in enumerate(slices):
            before = max(before, each.memories)
            points.append(_point(each, begin + place * seconds, before))
        return Series(slice=seconds, points=tuple(points), complete=complete)

    def _all_of(self, names: Names) -> Sums:
        parts = [
            (sums, _second(each.since, -math.inf), _second(each.until, math.inf))
            for each in names.called
            if (sums := self._sums.get(each.name.casefold())) is not None
        ]
        if (known := self._sums.get(names.agent_id)) is not None:
            parts.append((known, -math.inf, math.inf))
        if len(parts) == 1 and parts[0][1:] == (-math.inf, math.inf):
            return parts[0][0]
        return Sums.joined(parts)

    # -- in the thread

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._follow(self._read_end())
            except Exception as error:
                # A disk, a file that somebody is just editing: the charts wait, nothing else does.
                _log.warning("[Warning] The charts cannot read the event log: %r", error)
            self._closing.wait(30 * POLL_SECONDS)

    def _read_end(self) -> int:
        """Read the newest part of the log; gives the number of its last event."""
        with self._lock:
            self._sums, self._from = {}, None
        self._settle()
        after, begin = self._beginning()
        last, since = after, begin
        for record in events(self._folder, after):
            self._take([record])
            last = record["seq"]
            since = since if since is not None else _time_of(record)
            if self._closing.is_set():
                break
        with self._lock:
            self._from = since if since is not None else self._clock().timestamp()
        self._read.set()
        return last

    def _beginning(self) -> tuple[int, float | None]:
        """After which event to begin, and since when nothing is missing, where that is known.

        With the whole log before one nothing is ever missing.
        """
        files, size = files_of(self._folder, STEM), 0
        horizon = self._clock().timestamp() - (MOST_HOURS + 24) * 3600
        for file in reversed(files):
            size += file.size() * (_PACKED if file.packed else 1)
            begun = datetime.fromisoformat(file.day).replace(tzinfo=UTC).timestamp()
            if size > self._most:  # this one, which is needed, and nothing before it
                needed = file if file is files[-1] else files[files.index(file) + 1]
                return needed.first - 1, None
            if begun < horizon:
                return file.first - 1, None
        return 0, 0.0

    def _follow(self, after: int) -> None:
        follower = EventFollower(self._folder, after)
        while not self._closing.wait(POLL_SECONDS):
            self._take(follower.added())
            self._settle()

    def _take(self, records: Iterable[Record]) -> None:
        with self._lock:
            for record in records:
                agent, at = record.get("agent"), _time_of(record)
                if isinstance(agent, str) and agent and at is not None:
                    with suppress(KeyError, TypeError, ValueError, AttributeError):
                        # A line that somebody has edited, or of a later version, says nothing.
                        sums = self._sums.setdefault(id_of(record) or agent.casefold(), Sums())
                        sums.at(at, self._fine).take(record)

    def _settle(self) -> None:
        """Once a slot: keep less of what is older than a day's chart, and nothing than a week's."""
        now = self._clock().timestamp()
        fine = (now // SLOT + 1 - FINE_HOURS * 3600 // SLOT) * SLOT
        if fine == self._fine:
            return
        with self._lock:
            self._fine = fine
            for sums in self._sums.values():
                sums.settle(fine, now - MOST_HOURS * 3600)


class _Current:
    """The charts of the logs that are shown in this process: mostly one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._charts: dict[Path, Charts] = {}

    def of(self, folder: Path, clock: Callable[[], datetime] = _utc) -> Charts:
        """Those of the log in ``folder``, begun when they are first asked for."""
        with self._lock:
            if folder not in self._charts:
                self._charts[folder] = Charts(folder, clock=clock)
                self._charts[folder].start()
            return self._charts[folder]

    def close(self) -> None:
        """Let go of them; whoever asks next has them begun anew."""
        with self._lock:
            known, self._charts = self._charts, {}
        for charts in known.values():
            charts.close()


current = _Current()


def _second(time: datetime | None, otherwise: float) -> float:
    return time.timestamp() if time is not None else otherwise


def _time_of(record: Record) -> float | None:
    try:
        return datetime.fromisoformat(record["t"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return None


def _point(found: Slice, at: float, memories: int) -> Point:
    latencies = sorted(found.latencies)
    return Point(
        at=datetime.fromtimestamp(at, UTC).isoformat(),
        thoughts=found.thoughts,
        failed=found.failed,
        no_answer=found.no_answer,
        prompt_tokens=_mean(found.prompt_tokens, found.prompts, 1),
        completion_tokens=_mean(found.completion_tokens, found.answered, 1),
        budget=found.budget or None,
        cached=_mean(found.cached, found.server_tokens, 4),
        latency=_percentile(latencies, 0.5),
        latency_p95=_percentile(latencies, 0.95),
        memories=memories or None,
        recalls=found.recalls,
        recalled=_mean(found.recalled, found.recalls, 4),
        compactions=found.compactions,
    )


def _mean(total: int, count: int, digits: int) -> float | None:
    return round(total / count, digits) if count else None


def _percentile(values: Sequence[float], share: float) -> float | None:
    """The value below which that share of ascending values lies; None for no values."""
    if not values:
        return None
    return round(values[min(int(len(values) * share), len(values) - 1)], 4)
