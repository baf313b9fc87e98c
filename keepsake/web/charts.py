"""Charts of one agent, added up from the event log whenever a page asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake.events.files import EVENTS, files_of
from keepsake.events.reader import id_of, time_of
from keepsake.events.types import Compaction, MemoryChange, Recall, Thought
from keepsake.json_lines import Record, parsed
from keepsake.web.shapes import Point, Series

POINTS = 60
MOST_HOURS = 7 * 24
MOST_BYTES = 64_000_000
"""How much of the log's end is read: a third of a second of one core."""
_ENDED = ("acted", "refused", "no answer", "too large", "broke off")
"""Outcomes of thoughts that count; nobody needed one that was dropped."""
_OWN = ("thought", "agent")
"""For whom a search is the agent's own."""


@dataclass(frozen=True, slots=True)
class _Thought:
    """What a chart needs of a thought."""

    outcome: str
    prompt: int  # tokens of its prompt by our own count; 0 if none was built
    budget: int
    latency: float | None  # seconds until the answer; None without one; so are the next three
    server: int  # tokens of the prompt by the server's count
    cached: int
    answer: int

    @classmethod
    def of(cls, record: Record) -> _Thought:
        return cls(
            record["outcome"],
            sum(map(int, record["sections"].values())),
            int(record.get("budget") or 0),
            float(record["latency"]) if record["model"] else None,
            int(record["prompt_tokens"]),
            int(record["cached_tokens"]),
            int(record["completion_tokens"]),
        )


@dataclass(slots=True)
class _Slice:
    """One agent's events in one slice of time, the newest first."""

    thoughts: list[_Thought] = field(default_factory=list)
    found: list[bool] = field(default_factory=list)  # of each search whether it found something
    compactions: int = 0
    memories: list[int] = field(default_factory=list)  # their numbers

    def take(self, record: Record) -> None:
        """Add an event, older than those before it."""
        match record.get("kind"):
            case Thought.kind if record.get("outcome") in _ENDED:
                self.thoughts.append(_Thought.of(record))
            case MemoryChange.kind if record.get("op") == "append":
                self.memories.append(int(record["n"]))
            case Recall.kind if record.get("by") in _OWN and record.get("searched"):
                self.found.append(int(record["found"]) > 0)
            case Compaction.kind if record.get("number"):
                self.compactions += 1


def series(folder: Path, agent_id: int, total: int, hours: int, now: datetime) -> Series:
    """The last hours of one agent, whose newest memory is number ``total``; blocks.

    Raises:
        OSError: The log cannot be read.
    """
    seconds = hours * 3600 / POINTS
    # Slices begin at whole multiples of their length; the last one is not over yet.
    begin = (now.timestamp() // seconds + 1 - POINTS) * seconds
    slices = [_Slice() for _ in range(POINTS)]
    reading = _LogReading(folder, agent_id, datetime.fromtimestamp(begin, UTC))
    for record, at in reading:
        place = int((at.timestamp() - begin) // seconds)
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            # A line that somebody has edited, or of another version, says nothing.
            slices[min(place, POINTS - 1)].take(record)
    points: list[Point] = []
    for place, each in reversed([*enumerate(slices)]):
        points.append(_point(each, begin + place * seconds, total))
        total = each.memories[-1] - 1 if each.memories else total
    return Series(slice=seconds, points=tuple(reversed(points)), complete=reading.complete)


class _LogReading:
    """An agent's events since a time, the newest first.

    Attributes:
        complete: Whether nothing was left unread.
    """

    def __init__(self, folder: Path, agent_id: int, since: datetime) -> None:
        self._folder, self._agent_id, self._since, self.complete = folder, agent_id, since, True

    def __iter__(self) -> Iterator[tuple[Record, datetime]]:
        needle = f'"agent_id":{self._agent_id}'.encode()
        for line in self._lines():
            record = parsed(line) if needle in line else {}
            at = time_of(record.get("t"))
            if at is None or id_of(record) != self._agent_id:
                continue
            if at < self._since:
                return
            yield record, at

    def _lines(self) -> Iterator[bytes]:
        left, early = MOST_BYTES, str((self._since - timedelta(days=1)).date())
        files = files_of(self._folder, EVENTS)
        for file in reversed(files):
            if file.day < early:  # a file holds one day, but for lines about midnight
                return
            for line in file.lines_from_end():
                if (left := left - len(line)) < 0:
                    self.complete = False
                    return
                yield line
        self.complete = not files or files[0].first <= 1  # else older files were removed


def _point(found: _Slice, at: float, memories: int) -> Point:
    thoughts = found.thoughts
    sent = [each for each in thoughts if each.prompt]
    answered = [each for each in thoughts if each.latency is not None]
    latencies = sorted(each.latency for each in answered if each.latency is not None)
    return Point(
        at=datetime.fromtimestamp(at, UTC).isoformat(),
        thoughts=len(thoughts),
        failed=sum(each.outcome != "acted" for each in thoughts),
        no_answer=sum(each.outcome == "no answer" for each in thoughts),
        prompt_tokens=_share(sum(each.prompt for each in sent), len(sent), 1),
        completion_tokens=_share(sum(each.answer for each in answered), len(answered), 1),
        budget=next((each.budget for each in sent if each.budget), None),
        cached=_share(
            sum(each.cached for each in answered), sum(each.server for each in answered), 4
        ),
        latency=_percentile(latencies, 0.5),
        latency_p95=_percentile(latencies, 0.95),
        memories=memories or None,
        recalls=len(found.found),
        recalled=_share(sum(found.found), len(found.found), 4),
        compactions=found.compactions,
    )


def _share(total: int, count: int, digits: int) -> float | None:
    return round(total / count, digits) if count else None


def _percentile(values: Sequence[float], share: float) -> float | None:
    """The value below which that share of ascending values lies; None for no values."""
    if not values:
        return None
    return round(values[min(int(len(values) * share), len(values) - 1)], 4)
