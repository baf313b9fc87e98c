"""Builders see what became of an agent's memory: compactions, sleeps, reflections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from keepsake.agent.runtime import runtime
from keepsake.agent.sleep.history import HistoryEvent, events
from keepsake.agent.sleep.log import SleepLog, Step
from keepsake.archive import history
from keepsake.contrib.evennia.commands.base import Query, ago
from keepsake.contrib.evennia.commands.figures import hung
from keepsake.contrib.evennia.wording import counted
from keepsake.errors import KeepsakeError

MOST = 500
_INDENT = 18
_KINDS = ("compaction", "sleep", "insight", *(step.value for step in Step))
_COLOURS = {"compaction": "|c", "sleep": "|w", "insight": "|y"}


def view(query: Query) -> Callable[[], str]:
    """``@history``: what happened to an agent's memory; KeepsakeError for an unknown kind."""
    kind, name, mind = query.words, query.name, query.mind
    if kind and kind not in _KINDS:
        raise KeepsakeError(f"There is no kind {kind!r}", f"There are: {', '.join(_KINDS)}")
    archive, journal = mind.memory.memory.archive, mind.diary.journal
    log, now = SleepLog(mind.memory.folder), runtime().clock.now()
    return lambda: _told(name, events(log, history.compactions(archive), journal), kind, now)


def _told(name: str, found: Sequence[HistoryEvent], kind: str, now: datetime) -> str:
    wanted = [each for each in found if kind in ("", each.kind)]
    if not wanted:
        what = f"of the kind {kind}" if kind else "but living"
        return f"Nothing has happened to {name}'s memory {what} yet."
    counted = ", ".join(_counted(wanted))
    cut = f"; the newest {MOST} are shown" if len(wanted) > MOST else ""
    title = f"|w{name}'s history|n ({counted}{cut})"
    return "\n".join([title, *(_line(each, now) for each in wanted[:MOST])])


def _counted(found: Sequence[HistoryEvent]) -> list[str]:
    """``3 compactions``, ``2 sleeps``: the kinds that are no part of another."""
    kinds = [each.kind for each in found]
    whole = [kind for kind in _COLOURS if kind in kinds] or list(dict.fromkeys(kinds))
    return [counted(kinds.count(kind), kind) for kind in whole]


def _line(event: HistoryEvent, now: datetime) -> str:
    colour = _COLOURS.get(event.kind, "|n")
    when = f"{event.time.astimezone():%Y-%m-%d %H:%M}"
    title = hung(f"{event.title} ({ago(event.time, now)})", _INDENT)
    lines = [f"|x{when}|n  {colour}{title}|n"]
    if event.figures:
        lines.append(f"{' ' * _INDENT}|x{hung(_figures(event.figures), _INDENT)}|n")
    return "\n".join(lines)


def _figures(figures: Mapping[str, int | float | str]) -> str:
    shown = {name: v if isinstance(v, str) else f"{v:,}" for name, v in figures.items()}
    return "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in shown.items())
