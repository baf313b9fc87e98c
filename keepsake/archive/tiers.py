"""The memory tiers: which memory is in which tier, replayed from archive lines.

At any moment the long-term summary covers ``cleared+1`` … L, the short-term summary L+1 … S and the
window S+1 … N. Every line of the archive is one step of this state, so a restart restores the state
from before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.archive.summaries import EDITED, Summary, Tier
from keepsake.json_lines import Record

REPEAT_TIME = timedelta(minutes=10)
"""The longest time after which the same line is a repeat. Later it is news: it happened again."""

_MOVES = (LineType.COMPACTION, LineType.UNDO, LineType.CLEAR)
"""Types of lines that move memories out of the window or back."""


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
            case LineType.COMPACTION | LineType.UNDO:
                return SummaryState.from_record(record)
            case LineType.EDIT:
                time = datetime.fromisoformat(record["t"])
                tier = Tier(record["tier"])
                summary = self.summary(tier)
                edited = summary and summary.with_text(str(record["text"]), EDITED, time=time)
                changes: dict[str, Any] = {tier.value: edited}
                return replace(self, **changes)
            case LineType.SOURCES:
                return self.with_sources(record)
            case LineType.CLEAR:  # earlier versions cleared a prompt with it
                return SummaryState(summarised=int(record["n"]), time=self.time)
        return self

    def with_sources(self, record: Record) -> SummaryState:
        """Return the state with what a model said of its summary in a line of type ``sources``.

        It stays as it was if another compaction made it, or if the text has changed since.

        Raises:
            KeyError, ValueError, TypeError: A field of the line is missing or wrong.
        """
        tier = Tier(record["tier"])
        summary = self.summary(tier)
        if int(record["id"]) != self.standing or summary is None:
            return self
        named = replace(summary, sources=tuple(tuple(map(int, x)) for x in record["sources"]))
        changes: dict[str, Any] = {tier.value: named}
        return replace(self, **changes) if named.cited else self

    def compaction_line(self, step: int, **details: Any) -> Record:
        """Return the archive line of the compaction that made this state, with ``details``."""
        assert self.time is not None  # set by the compaction
        return {
            "type": LineType.COMPACTION,
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
            "type": LineType.UNDO,
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
        if record["type"] == LineType.COMPACTION:
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


@dataclass(frozen=True, slots=True)
class TierView:
    """The three tiers at one moment."""

    state: SummaryState = field(default_factory=SummaryState)
    window: tuple[Memory, ...] = ()  # the memories S+1 … N, oldest first
    last_number: int = 0  # N
    compactions: int = 0  # number of compactions ever made, undone ones included
    # rises with every compaction and every undo, so that a summary file can name the step after
    # which it was written
    step: int = 0
    is_undone: bool = False  # whether an undo is newer than the newest compaction


class Tiers:
    """The three tiers of one agent; safe to use from several threads.

    Every change is one line of the archive, which is written first. If that fails, nothing has
    changed. :meth:`view` returns all tiers as they were at one moment.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._lock = threading.Lock()
        self._window: list[Memory] = []
        self._last_number = 0
        # everything else; :meth:`view` fills in the two above
        self._rest = TierView()

    def view(self) -> TierView:
        """Return the tiers as they are now; quick."""
        with self._lock:
            return self._view()

    @property
    def window(self) -> tuple[Memory, ...]:
        """The memories of the window, oldest first."""
        return self.view().window

    @property
    def state(self) -> SummaryState:
        """Both summaries."""
        return self._rest.state

    @property
    def last_number(self) -> int:
        """The number of the newest memory; 0 if there is none."""
        return self._last_number

    @property
    def compactions(self) -> int:
        """The number of compactions ever made, undone ones included."""
        return self._rest.compactions

    @property
    def step(self) -> int:
        """The number of compactions and undos."""
        return self._rest.step

    def remember(self, memory: Memory) -> Memory:
        """Archive a memory under the next number, or as one more repeat of the newest.

        If the same happens again at the same place within :data:`REPEAT_TIME`, it is one memory
        with a count, unless it is the agent's own act.

        Returns:
            The memory as it is archived.

        Raises:
            ArchiveUnwritable: Nothing was remembered.
        """
        with self._lock:
            memory = replace(memory, number=self._last_number + 1)
            last = self._window[-1] if self._window else None
            if last and not memory.is_own and _is_repeat(last, memory):
                when = memory.time.isoformat()
                times = last.repeats + 1
                self._archive.append(
                    {"type": LineType.REPEAT, "n": last.number, "t": when, "times": times}
                )
                self._window[-1] = last.repeated(times)
                return self._window[-1]
            self._archive.append(memory.to_record())
            self._add(memory)
            return memory

    def write(
        self, make: Callable[[TierView], Record | None], restored: Sequence[Memory] = ()
    ) -> TierView:
        """Write the line that ``make`` returns for the current tiers, and apply it.

        Args:
            make: Returns the line, or None to change nothing. It is called under the lock, so it
                must be quick.
            restored: The memories that the line brings back into the window, oldest first.

        Returns:
            The tiers afterwards.

        Raises:
            ArchiveUnwritable: Nothing was changed.
        """
        with self._lock:
            line = make(self._view())
            if line is not None:
                self._archive.append(line)
                self._window = [*restored, *self._window]
                self._apply(line)
            return self._view()

    def replay(self, record: Record) -> None:
        """Apply a line that the archive already has; lines of unknown types change nothing.

        Raises:
            KeyError, ValueError, TypeError: A field of the line is missing or wrong.
        """
        with self._lock:
            self._apply(record)

    def replayed_to(self, number: int) -> None:
        """Set the number of the newest memory, which may be in none of the replayed lines."""
        with self._lock:
            self._last_number = number

    def _view(self) -> TierView:
        return replace(self._rest, window=tuple(self._window), last_number=self._last_number)

    def _add(self, memory: Memory) -> None:
        self._window.append(memory)
        self._last_number = memory.number

    def _apply(self, record: Record) -> None:
        match record.get("type"):
            case LineType.MEMORY:
                self._add(Memory.from_record(record))
            case LineType.REPEAT if self._window and self._window[-1].number == int(record["n"]):
                self._window[-1] = self._window[-1].repeated(int(record["times"]))
            case kind:
                state = self._rest.state.after(record)
                changes: dict[str, Any] = {"state": state}
                if kind in _MOVES:
                    compactions = int(record.get("compactions", state.standing))
                    changes |= {
                        "compactions": compactions,
                        "step": int(record.get("step") or compactions),
                        "is_undone": kind == LineType.UNDO,
                    }
                    self._window = [m for m in self._window if m.number > state.summarised]
                self._rest = replace(self._rest, **changes)


def _is_repeat(last: Memory, memory: Memory) -> bool:
    """Whether the same happened again: in the same place, a moment after it was last archived."""
    # A deed does not repeat a pose with the same text, nor does a person repeat another one.
    # Words that everybody hears do not repeat the same words to one person, which are private.
    same = (
        last.what == memory.what
        and last.place == memory.place
        and last.event == memory.event
        and last.witnesses == memory.witnesses
    )
    return same and abs(memory.time - last.time) <= REPEAT_TIME


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
        if boundary is not None and kind == LineType.MEMORY and int(record["n"]) <= boundary:
            break
        if boundary is None or kind in (LineType.MEMORY, LineType.REPEAT):
            tail.append(record)
        if boundary is None and kind in _MOVES:
            boundary = SummaryState().after(record).summarised
    tiers = Tiers(archive)
    for record in reversed(tail):
        try:
            tiers.replay(record)
        except (KeyError, ValueError, TypeError) as error:
            archive.reports.append(f"a line was skipped ({error!r}): {str(record)[:80]}")
    tiers.replayed_to(archive.last_number)
    return tiers
