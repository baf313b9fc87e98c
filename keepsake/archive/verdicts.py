"""What an archive keeps of a compaction's check, and of the questions that were asked after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

_COUNTS = ("wanted", "seen", "tries")


@dataclass(frozen=True, slots=True)
class SummaryVerdict:
    """What the check of a compaction found."""

    wanted: int = 0  # pins and open promises before the compaction
    seen: int = 0  # those of them that the prompt still shows word for word after it
    # what is wrong, one sentence each; empty for a good one
    problems: tuple[str, ...] = ()
    tries: int = 1  # how often a model was asked for one summary

    @property
    def words(self) -> str:
        """The finding in one line; empty if there is nothing to say."""
        parts = []
        if self.wanted:
            parts.append(f"{self.seen} of {self.wanted} pins and promises kept")
        if self.tries > 1:
            parts.append(f"written {self.tries} times")
        return "; ".join([*parts, *self.problems])

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def to_record(self) -> dict[str, Any]:
        """Part of the compaction's archive line."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> SummaryVerdict:
        """Read it back; a line of an earlier version has other fields, which are passed over."""
        values: dict[str, Any] = {key: int(record[key]) for key in _COUNTS if key in record}
        values["problems"] = tuple(map(str, record.get("problems", ())))
        if "seen" not in values:  # it put back whatever was missing
            values["seen"] = values.get("wanted", 0)
        return cls(**values)


@dataclass(frozen=True, slots=True)
class RoundtripQuestion:
    """A question that one memory answers."""

    text: str  # the question, in words that a search can use
    answer: str  # the word or words that answer it
    number: int  # of the memory


@dataclass(frozen=True, slots=True)
class Rate:
    """How many questions can still be answered after a compaction."""

    asked: int  # questions that were drawn
    prompt: int  # those that the prompt alone answers
    # those that prompt and recall together answer; None if recall was not asked
    recalled: int | None = None

    @property
    def words(self) -> str:
        """``7 of 8 answers are still there (3 in the prompt)``."""
        if self.recalled is None:
            return f"{self.prompt} of {self.asked} answers are still in the prompt (no recall)"
        there = f"{self.recalled} of {self.asked} answers are still there"
        return f"{there} ({self.prompt} in the prompt)"

    def to_record(self) -> dict[str, Any]:
        """Part of an archive line."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Rate:
        """Read it back."""
        recalled = record.get("recalled")
        known = None if recalled is None else int(recalled)
        return cls(int(record["asked"]), int(record["prompt"]), known)
