"""What the lines of an archive say about the summaries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from keepsake.archive.records import Summary, Tier
from keepsake.archive.verdicts import SummaryVerdict
from keepsake.json_lines import Record


@dataclass(frozen=True, slots=True)
class SummaryState:
    """Both summaries at one moment, and how far they go."""

    longterm: Summary | None = None
    recent: Summary | None = None
    summarised: int = 0  # S: the newest memory that is not in the window
    # the compaction that they are of, 0 for none; ``time`` is when that was made, ``verdict`` what
    # its check found
    standing: int = 0
    time: datetime | None = None
    verdict: SummaryVerdict | None = None

    def summary(self, tier: Tier) -> Summary | None:
        """The summary of that tier."""
        return self.longterm if tier is Tier.LONGTERM else self.recent

    def edited(self, tier: Tier, text: str, time: datetime) -> SummaryState:
        """The same after a person has rewritten one of them; what it covers stays the same."""
        summary = self.summary(tier)
        changes: dict[str, Any] = {tier.value: summary and summary.rewritten(text, time)}
        return replace(self, **changes)

    def after(self, record: Record) -> SummaryState:
        """The state after one archive line; most lines say nothing of it.

        Raises:
            KeyError, ValueError, TypeError: The line lacks a field or holds a wrong one.
        """
        match record.get("type"):
            case "compaction" | "undo":
                return SummaryState.from_record(record)
            case "edit":
                time = datetime.fromisoformat(record["t"])
                return self.edited(Tier(record["tier"]), str(record["text"]), time)
            case "clear":
                return SummaryState(summarised=int(record["n"]))
        return self

    def compaction_line(self, step: int, **details: Any) -> Record:
        """The archive line of the compaction that made them; ``details`` are other figures."""
        assert self.time is not None  # whoever makes one knows when
        return {
            "type": "compaction",
            "id": self.standing,
            "step": step,
            "t": self.time.isoformat(),
            **self._summaries(),
            "verdict": self.verdict.to_record() if self.verdict else None,
            **details,
        }

    def undo_line(
        self, number: int, step: int, *, compactions: int, total: int, time: datetime
    ) -> Record:
        """The archive line that takes a compaction back, so that these stand again.

        ``compactions``: How many were ever made; ``total``: N at that time.
        """
        return {
            "type": "undo",
            "id": number,
            "step": step,
            "t": time.isoformat(),
            **self._summaries(),
            "summarised": self.summarised,
            "standing": self.standing,
            "compactions": compactions,
            "total": total,
            "last": self.time.isoformat() if self.time else None,
            "verdict": self.verdict.to_record() if self.verdict else None,
        }

    def _summaries(self) -> Record:
        return {
            "longterm": self.longterm.to_record() if self.longterm else None,
            "recent": self.recent.to_record() if self.recent else None,
        }

    @classmethod
    def from_record(cls, record: Record) -> SummaryState:
        """What a line of type ``compaction`` or ``undo`` says; older lines have less.

        Raises:
            KeyError, ValueError, TypeError: A field is missing or wrong.
        """
        longterm, recent = (
            Summary.from_record(tier, record[tier.value]) if record[tier.value] else None
            for tier in (Tier.LONGTERM, Tier.RECENT)
        )
        verdict = SummaryVerdict.from_record(said) if (said := record.get("verdict")) else None
        if record["type"] == "compaction":
            if recent is None:
                raise ValueError("a compaction without a short-term summary")
            time = datetime.fromisoformat(record["t"])
            return cls(longterm, recent, recent.last, int(record["id"]), time, verdict)
        last = record.get("last")
        return cls(
            longterm,
            recent,
            int(record["summarised"]),
            int(record["standing"]),
            datetime.fromisoformat(last) if last else None,
            verdict,
        )
