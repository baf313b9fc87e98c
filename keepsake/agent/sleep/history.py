"""All that an agent's nights and compactions left behind, as one list by time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from keepsake.agent.sleep.log import Figures, Night, SleepLog, Step
from keepsake.archive.history import PastCompaction
from keepsake.books.entries import JournalEntry
from keepsake.books.journal import Journal

COMPACTION, SLEEP, INSIGHT = "compaction", "sleep", "insight"
_DID = {
    Step.CONSOLIDATE: "the day's journal was written",
    Step.REFLECT: "reflection",
    Step.PROFILES: "what is known of people was brought up to date",
    Step.COMPACT: "a look at whether to compact",
}


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """Something that happened to an agent's memory."""

    time: datetime  # when it began, with time zone; for a step of a night, when it ended
    kind: str  # ``compaction``, ``sleep``, ``insight``, or the step: ``reflect`` …
    title: str
    figures: Figures = field(default_factory=dict)


def events(
    log: SleepLog, compactions: Sequence[PastCompaction], journal: Journal
) -> tuple[HistoryEvent, ...]:
    """Compactions, sleeps with their steps, and insights, the newest first; reads files."""
    found = [
        *map(_compaction, compactions),
        *(event for night in log.nights() for event in _night(night)),
        *(_insight(entry) for entry in journal.entries() if entry.is_insight),
    ]
    # Turned round rather than sorted so: of one moment, what is told later is the newer.
    return tuple(sorted(found, key=lambda event: event.time)[::-1])


def _compaction(past: PastCompaction) -> HistoryEvent:
    covered = f"memories {past.covered[0]}-{past.covered[1]}" if past.covered else "summaries only"
    taken_back = ", taken back" if past.undone else ""
    title = f"Compaction {past.number}: {covered}, {past.outcome.value} ({past.reason}){taken_back}"
    figures: Figures = {
        "tokens before": past.tokens_before,
        "tokens after": past.tokens_after,
        "calls": past.calls,
        "seconds": round(past.seconds, 1),
    }
    return HistoryEvent(past.time, COMPACTION, title, figures)


def _night(night: Night) -> Iterator[HistoryEvent]:
    figures: dict[str, int | float | str] = {"calls": night.calls}
    if night.woke is None:
        end = "not woken yet" if night.left else "sleeps on"
    else:
        end = f"woken by {night.woken_by or 'nobody'}"
        figures["hours"] = round((night.woke - night.fell_asleep).total_seconds() / 3600, 1)
    left = f"; left for the next: {', '.join(night.left)}" if night.woke and night.left else ""
    title = f"Sleep {night.number}: {night.why}; {end}{left}"
    yield HistoryEvent(night.fell_asleep, SLEEP, title, figures)
    for step in night.steps:
        problem = f": {step.problem}" if step.problem else ""
        title = f"In sleep {night.number}, {_DID[step.step]}{problem}"
        calls = {"calls": step.calls} if step.calls else {}
        yield HistoryEvent(step.time, step.step.value, title, {**step.figures, **calls})


def _insight(entry: JournalEntry) -> HistoryEvent:
    rests = ", ".join(map(str, entry.memories))
    figures: Figures = {"importance": entry.importance, "memories": rests}
    return HistoryEvent(entry.time, INSIGHT, entry.text, figures)
