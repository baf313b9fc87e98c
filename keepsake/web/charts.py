"""Charts of one agent, added up from the event log whenever a page asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from keepsake.events.files import EVENTS, files_of, newest_first, time_of
from keepsake.events.types import Compaction, MemoryChange, Recall, Thought
from keepsake.json_lines import Record
from keepsake.web.shapes import Point, Series

POINTS = 60
MOST_HOURS = 7 * 24
_ENDED = ("acted", "refused", "no answer", "too large", "broke off")
"""Outcomes of thoughts that count; nobody needed one that was dropped."""
_ANSWER = ("latency", "prompt_tokens", "cached_tokens", "completion_tokens")
_DAY = 86_400


class _Thought(NamedTuple):
    """What a chart needs of a thought."""

    outcome: str
    tokens: int  # of its prompt by our own count; 0 if none was built
    budget: int
    answer: tuple[float, ...]  # seconds until it; tokens read, cached, written; empty without one


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
            case Thought.kind if (outcome := str(record.get("outcome"))) in _ENDED:
                answer = tuple(float(record[name]) for name in _ANSWER if record["model"])
                budget = int(record.get("budget") or 0)
                tokens = sum(map(int, (record.get("sections") or {}).values()))
                self.thoughts.append(_Thought(outcome, tokens, budget, answer))
            case MemoryChange.kind if record.get("op") == "append":
                self.memories.append(int(record["n"]))
            case Recall.kind if record.get("by") != "builder" and record.get("searched"):
                self.found.append(int(record["found"]) > 0)
            case Compaction.kind if record.get("number"):
                self.compactions += 1

    def point(self, at: float, memories: int) -> Point:
        """All of it; ``memories`` is the newest one's number at its end."""
        outcomes = [each.outcome for each in self.thoughts]
        sent = [each for each in self.thoughts if each.tokens]
        answers = [each.answer for each in self.thoughts if each.answer]
        latencies, read, cached, written = zip(*answers, strict=True) if answers else ((),) * 4
        return Point(
            at=datetime.fromtimestamp(at, UTC),
            thoughts=len(outcomes),
            failed=len(outcomes) - outcomes.count("acted"),
            no_answer=outcomes.count("no answer"),
            prompt_tokens=_share(sum(each.tokens for each in sent), len(sent)),
            completion_tokens=_share(sum(written), len(answers)),
            budget=next((each.budget for each in sent if each.budget), None),
            cached=_share(sum(cached), sum(read)),
            latency=_percentile(latencies, 0.5),
            latency_p95=_percentile(latencies, 0.95),
            memories=memories or None,
            recalled=_share(sum(self.found), len(self.found)),
            compactions=self.compactions,
        )


def series(folder: Path, agent_id: int, total: int, hours: int, now: datetime) -> Series:
    """The last hours of one agent, whose newest memory is number ``total``; blocks.

    Raises:
        OSError: The log cannot be read.
    """
    seconds = hours * 3600 / POINTS
    # Slices begin at whole multiples of their length; the last one is not over yet.
    begin = (now.timestamp() // seconds + 1 - POINTS) * seconds
    slices = [_Slice() for _ in range(POINTS)]
    for at, record in _since(folder, agent_id, begin):
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            # A line that somebody has edited, or of another version, says nothing.
            slices[min(int((at - begin) // seconds), POINTS - 1)].take(record)
    points: list[Point] = []
    for place, each in reversed([*enumerate(slices)]):
        points.append(each.point(begin + place * seconds, total))
        total = each.memories[-1] - 1 if each.memories else total
    oldest = next(iter(files_of(folder, EVENTS)), None)
    complete = oldest is None or oldest.first <= 1 or oldest.day < _day(begin)
    return Series(points=tuple(reversed(points)), complete=complete)


def _since(folder: Path, agent_id: int, begin: float) -> Iterator[tuple[float, Record]]:
    """An agent's events since a time, the newest first, each with its own."""
    # A file holds one day, but for lines about midnight.
    for record in newest_first(folder, agent_id=agent_id, since=_day(begin - _DAY)):
        if (at := time_of(record.get("t"))) is not None:
            if at.timestamp() < begin:
                return
            yield at.timestamp(), record


def _day(moment: float) -> str:
    return str(datetime.fromtimestamp(moment, UTC).date())


def _share(total: float, count: float) -> float | None:
    return round(total / count, 4) if count else None


def _percentile(values: Sequence[float], share: float) -> float | None:
    """The value below which that share of ascending values lies; None for no values."""
    return values[min(int(len(values) * share), len(values) - 1)] if values else None
