"""What an archive keeps of a compaction's check."""

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
