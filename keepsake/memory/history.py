"""The history of an agent's compactions, and which of them can be undone.

It is read from the archive, which has the texts before and after each compaction, its figures, and
whether it was undone. Reading takes time in proportion to the archive, so call it in a worker
thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.archive.tiers import SummaryState
from keepsake.events.values import CompactionOutcome, known
from keepsake.json_lines import Record
from keepsake.memory.types import CompactionFigures, Rung, RungStep


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCompaction(CompactionFigures):
    """One compaction, read from the archive."""

    time: datetime
    # a :class:`keepsake.memory.types.CompactReason`, or the words of an older archive
    reason: str
    before: SummaryState
    after: SummaryState
    undone: datetime | None = None


def compactions(archive: Archive) -> list[PastCompaction]:
    """Return every compaction since the last clearing, oldest first, undone ones included."""
    return list(_replayed(archive)[0].values())


def summaries_at(archive: Archive, moment: datetime) -> SummaryState:
    """Return both summaries as of that moment, manual edits included; blocks."""
    return _replayed(archive, moment)[1]


def undoable(archive: Archive) -> list[PastCompaction]:
    """Return the compactions that are in effect. They can be undone, the last one first."""
    return [past for past in compactions(archive) if past.undone is None]


def _replayed(
    archive: Archive, until: datetime | None = None
) -> tuple[dict[int, PastCompaction], SummaryState]:
    """Return the compactions by number, and the summaries, as of ``until`` or now."""
    found = dict[int, PastCompaction]()
    now = SummaryState()
    for _, line in archive.forwards(memories=False):
        record = line or {}
        try:
            if until and record and datetime.fromisoformat(record["t"]) > until:
                break
            before = now
            now = now.after(record)
            match record.get("type"):
                case LineType.COMPACTION:
                    found[now.standing] = _past(record, before, now)
                case LineType.UNDO if past := found.get(int(record["id"])):
                    undone = datetime.fromisoformat(record["t"])
                    found[past.number] = replace(past, undone=undone)
                case LineType.SOURCES:
                    found = {each: _sourced(past, record) for each, past in found.items()}
                case LineType.CLEAR:
                    found = {}
        except (KeyError, ValueError, TypeError):
            continue  # an unreadable line; opening the memory reports it
    return found, now


def _sourced(past: PastCompaction, record: Record) -> PastCompaction:
    """Return a compaction with what a model said later of one of its summaries."""
    before = past.before.with_sources(record)
    return replace(past, before=before, after=past.after.with_sources(record))


def _past(record: Record, before: SummaryState, after: SummaryState) -> PastCompaction:
    tokens = record.get("tokens") or {}
    older = (
        CompactionOutcome.WATERFALL if after.longterm else CompactionOutcome.FIRST
    )  # older lines lack it
    first = max(after.recent.first if after.recent else 0, before.summarised + 1)
    return PastCompaction(
        number=after.standing,
        time=datetime.fromisoformat(record["t"]),
        reason=str(record.get("reason", "")),
        outcome=known(CompactionOutcome, record.get("outcome")) or older,
        covered=(first, after.summarised) if first <= after.summarised else None,
        kept=int(record.get("kept", 0)),
        tokens_before=int(tokens.get("before", 0)),
        tokens_after=int(tokens.get("after", 0)),
        seconds=float(record.get("seconds", 0.0)),
        calls=int(record.get("calls", 0)),
        prompt_tokens=int(tokens.get("prompt", 0)),
        completion_tokens=int(tokens.get("completion", 0)),
        steps=tuple(map(_step, record.get("steps", ()))),
        before=before,
        after=after,
    )


def _step(record: Record) -> RungStep:
    return RungStep(
        rung=Rung(record["rung"]),
        tokens_before=int(record["before"]),
        tokens_after=int(record["after"]),
        calls=int(record.get("calls", 0)),
    )
