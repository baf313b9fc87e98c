"""Builders see what became of an agent's memory: compactions, nights, insights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from keepsake.agent.runtime import runtime
from keepsake.archive.history import PastCompaction, compactions
from keepsake.contrib.evennia.commands.base import Query, ago
from keepsake.contrib.evennia.commands.figures import hung
from keepsake.errors import KeepsakeError
from keepsake.events.reader import newest_first
from keepsake.events.types import Sleep

MOST = 200
_MOST_BYTES = 64 << 20
"""How far back the event log is read."""
_INDENT = 18
_COLOURS = {"compaction": "|c", "sleep": "|w", "insight": "|y"}
"""What there is, and how it is shown."""


@dataclass(frozen=True, slots=True)
class PastNight:
    """One sleep, as the event log tells of it."""

    time: datetime  # when the agent fell asleep
    why: str
    calls: int
    lines: tuple[str, ...]  # its steps with what came of them, and who woke it


def nights(events: Path, agent_id: int) -> Iterator[PastNight]:
    """An agent's nights in an event log, the newest first; blocks."""
    lines, calls = list[str](), 0
    found = newest_first(events, kind=Sleep.kind, agent_id=agent_id, most=_MOST_BYTES)
    for record in found:
        why = str(record.get("why", ""))
        if record.get("op") == "falls asleep":
            time = datetime.fromisoformat(record["t"])
            yield PastNight(time, why, calls, tuple(lines[::-1]))
            lines, calls = [], 0
        elif record.get("op") == "wakes":
            lines.append(f"woken by {why}")
        else:
            figures = ", ".join(f"{n} {name}" for name, n in (record.get("figures") or {}).items())
            told = record.get("problem") or figures or "nothing to do"
            lines.append(f"{record.get('step')}: {told}")
            calls += int(record.get("calls", 0))


def view(query: Query) -> Callable[[], str]:
    """``@history``: what happened to an agent's memory; KeepsakeError for an unknown kind."""
    kind, name, mind, number = query.words, query.name, query.mind, query.agent.id
    if kind and kind not in _COLOURS:
        raise KeepsakeError(f"There is no kind {kind!r}", f"There are: {', '.join(_COLOURS)}")
    archive, journal = mind.memory.memory.archive, mind.diary.journal
    events, now, log = runtime().places.events, runtime().clock.now(), runtime().event_log

    def work() -> str:
        if log is not None:  # what has just happened is written down
            log.flush(1.0)
        found = [(each.time, "compaction", _compaction(each)) for each in compactions(archive)]
        for night in islice(nights(events, number), MOST):
            told = "; ".join([f"fell asleep: {night.why}", *night.lines])
            found.append((night.time, "sleep", told))
        found += [(e.time, "insight", e.text) for e in journal.entries() if e.is_insight]
        wanted = sorted(each for each in found if kind in ("", each[1]))[: -MOST - 1 : -1]
        if not wanted:
            what = f"of the kind {kind}" if kind else "but living"
            return f"Nothing has happened to {name}'s memory {what} yet."
        return "\n".join([f"|w{name}'s history|n", *(_line(*each, now) for each in wanted)])

    return work


def _compaction(past: PastCompaction) -> str:
    covered = f"memories {past.covered[0]}-{past.covered[1]}" if past.covered else "summaries only"
    undone = ", taken back" if past.undone else ""
    tokens = f"{past.tokens_before:,} -> {past.tokens_after:,} tokens"
    return f"Compaction {past.number}: {covered}, {past.outcome} ({past.reason}){undone}; {tokens}"


def _line(time: datetime, kind: str, told: str, now: datetime) -> str:
    when = f"{time.astimezone():%Y-%m-%d %H:%M}"
    return f"|x{when}|n  {_COLOURS[kind]}{hung(f'{told} ({ago(time, now)})', _INDENT)}|n"
