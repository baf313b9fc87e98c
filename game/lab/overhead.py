"""What stands in an agent's prompts beside its memory, in tokens, as the event log has it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

from game.mind.event_reader import Filter, Record, last

ASSUMED = 900
"""Tokens beside summaries and window where no log tells: what the shipped world has."""
_THOUGHTS = 200
_OF_THE_MEMORY = ("window", "long-term summary", "short-term summary")
"""Sections of a prompt that the replay counts itself."""


@dataclass(frozen=True, slots=True)
class Overhead:
    """Tokens of a prompt that are neither summaries nor window.

    Attributes:
        tokens: How many.
        thoughts: Over how many thoughts that is the median; 0 where it is assumed.
    """

    tokens: int
    thoughts: int


def overhead_of(log: Path, agent: str) -> Overhead:
    """The median over an agent's newest thoughts in the event log; else what is assumed."""
    try:
        found = last(log, _THOUGHTS, _Built(agent))
    except OSError:  # no log, or one that this user may not read: a figure is missing, no more
        found = []
    beside = [_beside(record) for record in found]
    return Overhead(round(statistics.median(beside)) if beside else ASSUMED, len(beside))


class _Built(Filter):
    """Thoughts for which a prompt was built."""

    def __init__(self, agent: str) -> None:
        super().__init__([agent], ["thought"])

    def __call__(self, record: Record) -> bool:
        sections = record.get("sections")
        return super().__call__(record) and isinstance(sections, dict) and bool(sections)


def _beside(record: Record) -> int:
    return sum(
        int(tokens) for name, tokens in record["sections"].items() if name not in _OF_THE_MEMORY
    )
