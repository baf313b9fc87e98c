"""What an agent did in one slice of time, added up from records of the event log.

The newest day is kept by the minute, the week before it in slots of 24 minutes, and of all before
that only how many memories there were: a week of an agent that never rests is 1,900 slices.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from keepsake.events.types import Compaction, MemoryChange, Recall, Thought

MINUTE = 60
SLOT = 24 * MINUTE
"""Seconds of one slot: the slices of a day's chart, and a whole part of those of a week's."""
ENDED = ("acted", "refused", "no answer", "too large", "broke off")
"""Outcomes of thoughts that count; one that was dropped was wanted by nobody any more."""
_OWN = ("thought", "agent")
"""For whom a search is the agent's own."""


@dataclass(slots=True)
class Slice:
    """One agent's doings in one slice of time."""

    thoughts: int = 0  # thoughts that ended
    failed: int = 0  # those of them of which nothing came
    no_answer: int = 0  # those of these that nobody answered
    prompts: int = 0  # those for which a prompt was built
    prompt_tokens: int = 0  # tokens of these, by our own count
    budget: int = 0  # tokens that the newest of these might have; 0 if it is not known
    answered: int = 0  # those that were answered, whatever came of it
    completion_tokens: int = 0  # tokens of the answers, by the server's count
    server_tokens: int = 0  # tokens of the prompts that were answered, by the server's
    cached: int = 0  # those of them that the server had in its cache
    latencies: array[float] = field(default_factory=lambda: array("f"))  # seconds until each answer
    memories: int = 0  # the newest memory's number; 0 if there was none
    recalls: int = 0  # searches of its own
    recalled: int = 0  # those that found something
    compactions: int = 0  # compactions that were made

    def take(self, record: Mapping[str, Any]) -> None:
        """Add one record of the log; what is no number counts for nothing."""
        match record.get("kind"):
            case Thought.kind if record.get("outcome") in ENDED:
                self._thought(record)
            case MemoryChange.kind if record.get("op") in ("append", "repeat"):
                self.memories = max(self.memories, int(record["n"]))
            case Recall.kind if record.get("by") in _OWN and record.get("searched"):
                self.recalls += 1
                self.recalled += int(record["found"]) > 0
            case Compaction.kind if record.get("number"):
                self.compactions += 1

    def _thought(self, record: Mapping[str, Any]) -> None:
        self.thoughts += 1
        self.failed += record["outcome"] != "acted"
        self.no_answer += record["outcome"] == "no answer"
        tokens = sum(map(int, record["sections"].values()))
        if tokens:
            self.prompts += 1
            self.prompt_tokens += tokens
            self.budget = int(record.get("budget") or 0) or self.budget
        if record["model"]:
            self.answered += 1
            self.completion_tokens += int(record["completion_tokens"])
            self.server_tokens += int(record["prompt_tokens"])
            self.cached += int(record["cached_tokens"])
            self.latencies.append(float(record["latency"]))

    def add(self, other: Slice) -> None:
        """Take what came of another, later one into this."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.latencies.extend(other.latencies)
        self.memories = max(self.memories, other.memories)
        self.budget = other.budget or self.budget


_SUMS = {each.name for each in fields(Slice)} - {"latencies", "memories", "budget"}


@dataclass(slots=True)
class Sums:
    """All slices of one agent that are kept."""

    # of the newest time, by the minute's number since 1970
    minutes: dict[int, Slice] = field(default_factory=dict)
    # of the time before, by the slot's number since 1970
    slots: dict[int, Slice] = field(default_factory=dict)
    memories: int = 0  # the newest memory's number from before all of these; 0 for none

    def at(self, second: float, fine: float) -> Slice:
        """The slice of a second since 1970; from ``fine`` on minutes are told apart."""
        if second < fine:
            return self.slots.setdefault(int(second // SLOT), Slice())
        return self.minutes.setdefault(int(second // MINUTE), Slice())

    def settle(self, fine: float, oldest: float) -> None:
        """Put minutes from before ``fine`` into slots; let go of slots from before ``oldest``."""
        for minute in sorted(each for each in self.minutes if each * MINUTE < fine):
            self.at(minute * MINUTE, fine).add(self.minutes.pop(minute))
        for slot in [each for each in self.slots if (each + 1) * SLOT <= oldest]:
            self.memories = max(self.memories, self.slots.pop(slot).memories)

    def spread(self, begin: float, seconds: float, count: int) -> tuple[list[Slice], int]:
        """So many slices from ``begin`` on, and the newest memory's number from before them.

        Slices that are no whole number of slots long are right to within one slot, where slots
        are all that is known of their time.
        """
        slices, before = [Slice() for _ in range(count)], self.memories
        for start, each in self._in_order():
            place = int((start - begin) // seconds)
            if place < 0:
                before = max(before, each.memories)
            elif place < count:
                slices[place].add(each)
        return slices, before

    @classmethod
    def joined(cls, parts: Iterable[tuple[Sums, float, float]]) -> Sums:
        """One agent's slices under several names, each borne from one second to another."""
        joined = cls()
        for sums, since, until in parts:
            if since == -math.inf:
                joined.memories = max(joined.memories, sums.memories)
            for length, mine, theirs in (
                (MINUTE, joined.minutes, sums.minutes),
                (SLOT, joined.slots, sums.slots),
            ):
                for number, each in theirs.items():
                    if (number + 1) * length > since and number * length <= until:
                        mine.setdefault(number, Slice()).add(each)
        return joined

    def _in_order(self) -> Iterator[tuple[int, Slice]]:
        yield from ((slot * SLOT, self.slots[slot]) for slot in sorted(self.slots))
        yield from ((minute * MINUTE, self.minutes[minute]) for minute in sorted(self.minutes))
