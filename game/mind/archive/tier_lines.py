"""What lines of the types ``compaction`` and ``undo`` say about the tiers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from game.mind.archive.records import Summary, Tier
from game.mind.json_lines import Record
from game.mind.summaries.roundtrip import Rate
from game.mind.summaries.verification import SummaryVerdict


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a line of type ``compaction`` says about the tiers."""

    longterm: Summary | None
    recent: Summary
    number: int
    step: int
    time: datetime
    verdict: SummaryVerdict | None = None

    def to_record(self, **details: Any) -> Record:
        """The archive line; ``details`` are figures that the tiers do not need."""
        return {
            "type": "compaction",
            "id": self.number,
            "step": self.step,
            "t": self.time.isoformat(),
            "longterm": self.longterm.to_record() if self.longterm else None,
            "recent": self.recent.to_record(),
            "verdict": self.verdict.to_record() if self.verdict else None,
            **details,
        }

    @classmethod
    def from_record(cls, record: Record) -> Compacted:
        """Read it back; older lines have neither step nor verdict.

        Raises:
            KeyError, ValueError: A field is missing or wrong.
        """
        longterm, recent = summaries_of(record)
        verdict = record.get("verdict")
        return cls(
            longterm=longterm,
            recent=recent or Summary.from_record(Tier.RECENT, record["recent"]),
            number=int(record["id"]),
            step=int(record.get("step") or record["id"]),
            time=datetime.fromisoformat(record["t"]),
            verdict=SummaryVerdict.from_record(verdict) if verdict else None,
        )


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What a line of type ``undo`` says: the tiers as they were before a compaction.

    Attributes:
        number: The compaction that was taken back.
        summarised: S as it holds again, with both summaries.
        standing: The compaction that those summaries are of, 0 for none; ``last_compaction`` is
            when that was made, ``verdict`` and ``rate`` are its.
        compactions: Number of compactions ever made.
        total: N at that time.
    """

    number: int
    longterm: Summary | None
    recent: Summary | None
    summarised: int
    standing: int
    compactions: int
    step: int
    total: int
    time: datetime
    last_compaction: datetime | None = None
    verdict: SummaryVerdict | None = None
    rate: Rate | None = None

    def to_record(self) -> Record:
        """The archive line."""
        return {
            "type": "undo",
            "id": self.number,
            "step": self.step,
            "t": self.time.isoformat(),
            "longterm": self.longterm.to_record() if self.longterm else None,
            "recent": self.recent.to_record() if self.recent else None,
            "summarised": self.summarised,
            "standing": self.standing,
            "compactions": self.compactions,
            "total": self.total,
            "last": self.last_compaction.isoformat() if self.last_compaction else None,
            "verdict": self.verdict.to_record() if self.verdict else None,
            "rate": self.rate.to_record() if self.rate else None,
        }

    @classmethod
    def from_record(cls, record: Record) -> TakenBack:
        """Read it back.

        Raises:
            KeyError, ValueError: A field is missing or wrong.
        """
        longterm, recent = summaries_of(record)
        verdict, rate, last = record.get("verdict"), record.get("rate"), record.get("last")
        return cls(
            number=int(record["id"]),
            longterm=longterm,
            recent=recent,
            summarised=int(record["summarised"]),
            standing=int(record["standing"]),
            compactions=int(record["compactions"]),
            step=int(record["step"]),
            total=int(record["total"]),
            time=datetime.fromisoformat(record["t"]),
            last_compaction=datetime.fromisoformat(last) if last else None,
            verdict=SummaryVerdict.from_record(verdict) if verdict else None,
            rate=Rate.from_record(rate) if rate else None,
        )


def summaries_of(record: Record) -> tuple[Summary | None, Summary | None]:
    """Long-term and short-term summary that a line of type ``compaction`` or ``undo`` holds."""
    longterm, recent = record["longterm"], record["recent"]
    return (
        Summary.from_record(Tier.LONGTERM, longterm) if longterm else None,
        Summary.from_record(Tier.RECENT, recent) if recent else None,
    )
