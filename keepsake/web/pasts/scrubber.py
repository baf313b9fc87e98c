"""How memories grew and shrank, and where agents were: for the pages with a scrubber of time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from heapq import merge
from pathlib import Path
from typing import Any

from keepsake.archive.log import Archive
from keepsake.events.files import NewestEvents, id_of, time_of
from keepsake.events.types import Move
from keepsake.json_lines import Record
from keepsake.tracing.past import Moment, Past, TierChange, as_time
from keepsake.web.access import NotFound
from keepsake.web.pasts.archives import Folders, forget_others, past_of
from keepsake.web.pasts.meant import open_plans, open_promises
from keepsake.web.pasts.past_shapes import AsOfView, PastAgent, PastTiers, PastView
from keepsake.web.remembered import views_of

MOST_POINTS = 6_000
MOST_CHANGES = 2_500
"""The most points of all agents' lines together, and the most changes of their summaries, so that
an answer stays below 300 kB."""
MOST_OWN_POINTS = 1_000
"""The most points of one agent's line: as many as its picture is wide."""
MOST_WINDOW = 50
"""The most memories of a window that an answer has."""
_LOGGED_BYTES = 16_000_000
"""The most bytes of the event log to read for moves, from its end: a fifth of a second."""
_MOST_LOGGED = 10_000
"""The most moves of one agent that are kept, the newest."""


class _LoggedMoves:
    """The moves of all agents that the event log has: its newest part, and what came since.

    An agent remembers nothing of a way that its ordinary day leads it, so its archive alone would
    leave it where it last remembered something.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._log = Path()
        self._events = NewestEvents(self._log, Move.kind, _LOGGED_BYTES)
        self._moves: dict[int, deque[tuple[float, str]]] = {}

    def of(self, log: Path) -> Mapping[int, Sequence[tuple[float, str]]]:
        """Return when each agent, by number, came to which place, oldest first; blocks.

        Raises:
            OSError: The log cannot be read.
        """
        with self._lock:
            if log != self._log:
                self._log = log
                self._events = NewestEvents(log, Move.kind, _LOGGED_BYTES)
                self._moves = {}
            for each in self._events.read_on():
                if (at := time_of(each.get("t"))) is not None:
                    moves = self._moves.setdefault(id_of(each), deque(maxlen=_MOST_LOGGED))
                    moves.append((at.timestamp(), str(each.get("place", ""))))
            return {number: tuple(moves) for number, moves in self._moves.items()}


_logged_moves = _LoggedMoves()


def _moves(
    past: Past, logged: Sequence[tuple[float, str]], places: dict[str, int]
) -> list[tuple[int, int]]:
    """Return when an agent was first in another place, by its archive and by the event log.

    ``places``: The number of each place; new ones are added.
    """
    remembered = ((time, past.places[where]) for time, where in past.moves())
    found = list[tuple[int, int]]()
    for time, place in merge(remembered, logged):
        where = places.setdefault(place, len(places)) if place else -1
        if where >= 0 and (not found or found[-1][1] != where):
            found.append((int(time), where))
    return found


def pasts(folders: Folders, log_folder: Path, now: datetime, *, may_act: bool = False) -> PastView:
    """Return the past of all agents; ``log_folder``: that of the event log."""
    forget_others(folders)
    logged = _logged_moves.of(log_folder)
    places: dict[str, int] = {}
    each_most = max(MOST_POINTS // max(len(folders), 1) // 2, 20)
    changes = max(MOST_CHANGES // max(len(folders), 1), 20)
    found = []
    first = now.timestamp()
    for number, name, folder in folders:
        if not (folder / "archive").is_dir():
            continue
        past = past_of(folder)
        if past.span is not None:
            first = min(first, past.span[0])
        moves = _moves(past, logged.get(number, ()), places)
        found.append(
            PastAgent(
                id=number,
                agent=name,
                moves=tuple(thinned(moves, each_most)),
                counts=tuple((int(time), count) for time, count in past.counts(each_most)),
                changes=len(past.changes),
                tiers=tuple(thinned(list(map(_tiers, past.changes)), changes)),
            )
        )
    return PastView(
        first=int(first),
        now=int(now.timestamp()),
        places=tuple(places),
        agents=tuple(found),
        may_act=may_act,
    )


def one_past(number: int, name: str, folder: Path) -> PastAgent:
    """Return the past of one agent. Its places are not named: where it was is not asked."""
    past = past_of(folder)
    return PastAgent(
        id=number,
        agent=name,
        moves=(),
        counts=tuple((int(time), count) for time, count in past.counts(MOST_OWN_POINTS)),
        changes=len(past.changes),
        tiers=tuple(thinned(list(map(_tiers, past.changes)), MOST_OWN_POINTS)),
    )


def thinned[T: tuple[int, *tuple[Any, ...]]](events: Sequence[T], most: int) -> list[T]:
    """Return at most ``most`` events: of those that follow each other quickly, only the last.

    ``events``: Tuples that begin with a time.
    """
    if len(events) <= most:
        return list(events)
    first = events[0][0]
    slice_of = max((events[-1][0] - first) // most, 1)
    kept = {(each[0] - first) // slice_of: each for each in events}
    return list(kept.values())[-most:]


def _tiers(change: TierChange) -> PastTiers:
    state = change.state
    oldest = state.longterm or state.recent
    first = oldest.first if oldest else state.summarised + 1
    return (
        int(change.time),
        change.kind,
        state.standing,
        first,
        state.longterm.last if state.longterm else first - 1,
        state.summarised,
    )


def as_of(folder: Path, time: datetime) -> AsOfView:
    """Return an agent's memory as it was at a time; ``folder``: the agent's."""
    past = past_of(folder)
    at = time.timestamp()
    return _as_of(folder, time, past.at(at), past.plans_at(at))


def as_of_memory(folder: Path, number: int) -> AsOfView:
    """Return an agent's memory as it was when it made a memory; ``folder``: the agent's.

    Raises:
        NotFound: It has no such memory.
    """
    past = past_of(folder)
    if number > past.last_number:
        what = f"There is no memory {number}: the newest is {past.last_number}"
        raise NotFound(what, "Give a smaller `n`")
    when = as_time(past.time_of(number))
    return _as_of(folder, when, past.when(number), past.plans_when(number))


def _as_of(folder: Path, time: datetime, moment: Moment, plans: Sequence[Record]) -> AsOfView:
    first = max(moment.window_first, moment.number - MOST_WINDOW + 1)
    archive = Archive(folder / "archive", read_only=True)
    window = archive.read(first, moment.number)
    meant = tuple(open_plans(plans))
    return AsOfView(
        time=time,
        number=moment.number,
        place=moment.place,
        compaction=moment.state.standing,
        since=moment.state.time,
        longterm=moment.state.longterm,
        recent=moment.state.recent,
        window_first=moment.window_first,
        window=views_of(archive, window),
        plans=meant,
        promises=open_promises(folder, moment, meant),
    )
