"""Which memory is in which tier: the state of a memory, replayed from archive lines.

At any moment the long-term summary covers ``cleared+1`` … L, the short-term summary
L+1 … S and the window S+1 … N. Every line of the archive is one step of this state,
so that a restart arrives at what was there before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from keepsake.archive.log import Archive
from keepsake.archive.records import EDITED, Memory, Summary, Tier
from keepsake.json_lines import Record

_MOVES = ("compaction", "undo", "clear")
"""Lines with which memories leave the window, or come back."""


@dataclass(frozen=True, slots=True)
class SummaryState:
    """Both summaries at one moment, and how far they go."""

    longterm: Summary | None = None
    recent: Summary | None = None
    summarised: int = 0  # S: the newest memory that is not in the window
    # the compaction that they are of, 0 for none; ``time`` is when that was made
    standing: int = 0
    time: datetime | None = None

    def summary(self, tier: Tier) -> Summary | None:
        """The summary of that tier."""
        return self.longterm if tier is Tier.LONGTERM else self.recent

    def after(self, record: Record) -> SummaryState:
        """The state after one archive line; most lines say nothing of it.

        Raises:
            KeyError, ValueError, TypeError: The line lacks a field or holds a wrong one.
        """
        match record.get("type"):
            case "compaction" | "undo":
                return SummaryState.from_record(record)
            case "edit":
                time, tier = datetime.fromisoformat(record["t"]), Tier(record["tier"])
                summary = self.summary(tier)
                edited = summary and replace(
                    summary, text=str(record["text"]), model=EDITED, time=time
                )
                changes: dict[str, Any] = {tier.value: edited}
                return replace(self, **changes)
            case "clear":  # as earlier versions emptied a prompt
                return SummaryState(summarised=int(record["n"]), time=self.time)
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
        if record["type"] == "compaction":
            if recent is None:
                raise ValueError("a compaction without a short-term summary")
            time = datetime.fromisoformat(record["t"])
            return cls(longterm, recent, recent.last, int(record["id"]), time)
        last = record.get("last")
        return cls(
            longterm,
            recent,
            int(record["summarised"]),
            int(record["standing"]),
            datetime.fromisoformat(last) if last else None,
        )


@dataclass(slots=True)
class Tiers:
    """The three tiers of one agent."""

    state: SummaryState = field(default_factory=SummaryState)
    window: list[Memory] = field(default_factory=list)
    last_number: int = 0  # N
    compactions: int = 0  # number of compactions ever made, those taken back included
    # rises with every compaction and every undoing, so that a summary file tells which of them it
    # was written after
    step: int = 0
    undone_at: int | None = None  # N when a compaction was last taken back and none was made since

    def repeat_last(self, times: int) -> Memory:
        """The newest memory happened again."""
        self.window[-1] = self.window[-1].repeated(times)
        return self.window[-1]

    def apply(self, record: Record) -> None:
        """Take one archive line; lines of unknown types say nothing about the tiers.

        Raises:
            KeyError, ValueError: The line lacks a field or holds a wrong one.
        """
        match record.get("type"):
            case "memory":
                self.window.append(Memory.from_record(record))
                self.last_number = self.window[-1].number
            case "repeat" if self.window and self.window[-1].number == int(record["n"]):
                self.repeat_last(int(record["times"]))
            case kind:
                state, total = self.state.after(record), record.get("total")
                if kind in _MOVES:
                    self.compactions = int(record.get("compactions", state.standing))
                    self.step = int(record.get("step") or self.compactions)
                    self.undone_at = total if kind == "undo" else None
                    self.window = [each for each in self.window if each.number > state.summarised]
                self.state = state


def load_tiers(archive: Archive) -> Tiers:
    """Read the state back from the end of the archive.

    Reads backwards until the last compaction (or clearing, or undoing) and the first memory
    of the window have been seen, then replays those lines: the cost does not grow with the
    length of the life before. Lines from before that last one say what holds no longer.

    Raises:
        KeyError, ValueError, TypeError: That last one cannot be read, so nobody knows what holds.
    """
    tail: list[Record] = []
    boundary: int | None = None
    for record in archive.backwards():
        kind = record.get("type")
        if boundary is not None and kind == "memory" and int(record["n"]) <= boundary:
            break
        if boundary is None or kind in ("memory", "repeat"):
            tail.append(record)
        if boundary is None and kind in _MOVES:
            boundary = SummaryState().after(record).summarised
    tiers = Tiers()
    for record in reversed(tail):
        try:
            tiers.apply(record)
        except (KeyError, ValueError, TypeError) as error:
            archive.reports.append(f"a line was passed over ({error!r}): {str(record)[:80]}")
    tiers.last_number = archive.last_number
    return tiers
