"""The memory tiers: which memory is in which tier, replayed from archive lines.

At any moment the long-term summary covers ``cleared+1`` … L, the short-term summary L+1 … S and the
window S+1 … N. Every line of the archive is one step of this state, so a restart restores the state
from before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from keepsake.archive.log import Archive
from keepsake.archive.records import EDITED, Memory, Summary, Tier
from keepsake.json_lines import Record

_MOVES = ("compaction", "undo", "clear")  # line types that move memories out of the window or back


@dataclass(frozen=True, slots=True)
class SummaryState:
    """Both summaries at one moment, and the last memory that they cover."""

    longterm: Summary | None = None
    recent: Summary | None = None
    summarised: int = 0  # S: the newest memory that is not in the window
    # number of the compaction that made them, 0 for none; ``time`` is when it was made
    standing: int = 0
    time: datetime | None = None

    def summary(self, tier: Tier) -> Summary | None:
        """Return the summary of that tier."""
        return self.longterm if tier is Tier.LONGTERM else self.recent

    def after(self, record: Record) -> SummaryState:
        """Return the state after one archive line; most lines do not change it.

        Raises:
            KeyError, ValueError, TypeError: A field of the line is missing or wrong.
        """
        match record.get("type"):
            case "compaction" | "undo":
                return SummaryState.from_record(record)
            case "edit":
                time = datetime.fromisoformat(record["t"])
                tier = Tier(record["tier"])
                summary = self.summary(tier)
                edited = summary and replace(
                    summary, text=str(record["text"]), model=EDITED, time=time
                )
                changes: dict[str, Any] = {tier.value: edited}
                return replace(self, **changes)
            case "clear":  # earlier versions cleared a prompt with it
                return SummaryState(summarised=int(record["n"]), time=self.time)
        return self

    def compaction_line(self, step: int, **details: Any) -> Record:
        """Return the archive line of the compaction that made this state, with ``details``."""
        assert self.time is not None  # set by the compaction
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
        """Return the archive line that undoes a compaction, so that this state is current again.

        ``compactions``: The number ever made. ``total``: N at that time.
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
        """Read the state from a ``compaction`` or ``undo`` line; older lines have fewer fields.

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
    compactions: int = 0  # number of compactions ever made, undone ones included
    # rises with every compaction and every undo, so that a summary file can name the step after
    # which it was written
    step: int = 0
    # N at the last undo; None if there was none, or a compaction followed
    undone_at: int | None = None

    def repeat_last(self, times: int) -> Memory:
        """Set how many times the newest memory has happened, and return it."""
        self.window[-1] = self.window[-1].repeated(times)
        return self.window[-1]

    def apply(self, record: Record) -> None:
        """Apply one archive line; lines of unknown types change nothing.

        Raises:
            KeyError, ValueError: A field of the line is missing or wrong.
        """
        match record.get("type"):
            case "memory":
                self.window.append(Memory.from_record(record))
                self.last_number = self.window[-1].number
            case "repeat" if self.window and self.window[-1].number == int(record["n"]):
                self.repeat_last(int(record["times"]))
            case kind:
                state = self.state.after(record)
                total = record.get("total")
                if kind in _MOVES:
                    self.compactions = int(record.get("compactions", state.standing))
                    self.step = int(record.get("step") or self.compactions)
                    self.undone_at = total if kind == "undo" else None
                    self.window = [each for each in self.window if each.number > state.summarised]
                self.state = state


def load_tiers(archive: Archive) -> Tiers:
    """Load the state from the end of the archive.

    Reads backwards to the last compaction, clearing or undo and on to the first memory of the
    window, then replays those lines. So the cost does not grow with the age of the archive. Lines
    from before that last one no longer matter.

    Raises:
        KeyError, ValueError, TypeError: That last line is unreadable, so the state is unknown.
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
            archive.reports.append(f"a line was skipped ({error!r}): {str(record)[:80]}")
    tiers.last_number = archive.last_number
    return tiers
