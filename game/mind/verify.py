"""Does what an agent sees after a compaction still hold what it must? The verdict on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the check of a compaction found.

    Attributes:
        wanted: Constraints and open loops that had to survive.
        put_back: Those of them that had not, and were put back word for word.
        details: Names, places and numbers in what was summarised.
        vanished: Those of them that the agent no longer sees.
        invented: Names and numbers in the summaries that nothing before them held.
        problems: What is wrong with the summaries, one sentence each; empty for a good one.
        tries: How often summaries were written until these were taken.
    """

    wanted: int = 0
    put_back: tuple[str, ...] = ()
    details: int = 0
    vanished: int = 0
    invented: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    tries: int = 1

    @property
    def good(self) -> bool:
        """Whether the summaries may stand as they are."""
        return not self.problems

    def to_record(self) -> dict[str, Any]:
        """Part of the compaction's archive line."""
        return {
            "wanted": self.wanted,
            "put_back": list(self.put_back),
            "details": self.details,
            "vanished": self.vanished,
            "invented": list(self.invented),
            "problems": list(self.problems),
            "tries": self.tries,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Verdict:
        """Read it back; what an older line lacks is empty."""
        return cls(
            wanted=int(record.get("wanted", 0)),
            put_back=tuple(map(str, record.get("put_back", ()))),
            details=int(record.get("details", 0)),
            vanished=int(record.get("vanished", 0)),
            invented=tuple(map(str, record.get("invented", ()))),
            problems=tuple(map(str, record.get("problems", ()))),
            tries=int(record.get("tries", 1)),
        )
