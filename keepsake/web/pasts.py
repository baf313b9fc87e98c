"""The pasts of all agents, and where facts went among them: for the page "Where did it go?".

Runs in a view's thread, because it reads the archives. Pasts are kept in memory and only read on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from heapq import merge
from pathlib import Path
from typing import Any

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.events.files import NewestEvents, id_of, time_of
from keepsake.events.types import Move
from keepsake.logs import Subsystem, get_logger, logged
from keepsake.memory.history import compactions
from keepsake.tracing import facts
from keepsake.tracing.facts import Knower, Telling
from keepsake.tracing.losses import losses as find_losses
from keepsake.tracing.losses import summary_losses
from keepsake.tracing.past import Archived, Moment, Past, TierChange, as_time
from keepsake.tracing.paths import Step
from keepsake.tracing.unfounded import unfounded
from keepsake.tracing.wording import Wording
from keepsake.web.access import BadRequest, NotFound
from keepsake.web.fact_shapes import (
    AsOfView,
    EchoView,
    FactView,
    HearingView,
    KnowerView,
    LossesView,
    LossView,
    PastAgent,
    PastTiers,
    PastView,
    SentenceLossView,
    SpellView,
    StepView,
    TellingView,
    UnfoundedView,
    WordCount,
)
from keepsake.web.people.known import KnownAgent
from keepsake.web.people.noted import noted
from keepsake.web.questions.quoted import with_quotations
from keepsake.web.remembered import TEXTS, view_of, views_of, words_in_archive
from keepsake.web.shapes import MemoryView

log = get_logger(Subsystem.WEB)

type Folders = Sequence[tuple[int, str, Path]]
"""Number, name and folder of each agent."""

MOST_POINTS = 6_000
MOST_CHANGES = 2_500
"""The most points of all agents' lines together, and the most changes of their summaries, so that
an answer stays below 300 kB."""
MOST_OWN_POINTS = 1_000
"""The most points of one agent's line: as many as its picture is wide."""
MOST_WINDOW = 50
MOST_LOSSES = 1000
"""The most memories of a window, and memories or sentences of a compaction, that an answer has."""
MOST_ACTS = 50
LEAST_ACTS = 1
"""The most acts of all who know a fact together; and how many each may have in any case."""
MOST_SHOWN = 300
"""The most tellings of a fact that an answer has, the newest: more are no way but a crowd."""
_LOGGED_BYTES = 16_000_000
"""The most bytes of the event log to read for moves, from its end: a fifth of a second."""
_MOST_LOGGED = 10_000
"""The most moves of one agent that are kept, the newest."""
MOST_NUMBERS = 200
"""The most memories of a fact that are named of one agent, the newest."""

_pasts: dict[Path, Past] = {}
_lock = threading.Lock()
_warm = threading.Event()


def past_of(folder: Path) -> Past:
    """Return the past of an agent, read to the end of its archive; ``folder``: the agent's."""
    with _lock:
        past = _pasts.setdefault(folder, Past(folder / "archive"))
    past.read_on()
    return past


def _forget_others(folders: Folders) -> None:
    """Forget the pasts of agents that were deleted. ``folders``: Those of all agents."""
    there = {folder for _, _, folder in folders}
    with _lock:
        for gone in _pasts.keys() - there:
            del _pasts[gone]
    TEXTS.keep_only({folder / "archive" for folder in there})


def warm(folders: Folders) -> None:
    """Read all archives once in a thread of its own, so that the first scrubber need not wait."""
    if _warm.is_set():
        return
    _warm.set()

    def work() -> None:
        for _, name, folder in folders:
            if (folder / "archive").is_dir():
                with logged(log, "An archive could not be read for the scrubber", agent=name):
                    past_of(folder)
                    TEXTS.of(folder / "archive")

    threading.Thread(target=work, name="pasts", daemon=True).start()


# -- the scrubber


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
    _forget_others(folders)
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
    return _as_of(folder, time, past_of(folder).at(time.timestamp()))


def as_of_memory(folder: Path, number: int) -> AsOfView:
    """Return an agent's memory as it was when it made a memory; ``folder``: the agent's.

    Raises:
        NotFound: It has no such memory.
    """
    past = past_of(folder)
    if number > past.last_number:
        what = f"There is no memory {number}: the newest is {past.last_number}"
        raise NotFound(what, "Give a smaller `n`")
    return _as_of(folder, as_time(past.time_of(number)), past.when(number))


def _as_of(folder: Path, time: datetime, moment: Moment) -> AsOfView:
    first = max(moment.window_first, moment.number - MOST_WINDOW + 1)
    archive = Archive(folder / "archive", read_only=True)
    window = archive.read(first, moment.number)
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
    )


# -- a compaction


def losses(folder: Path, number: int, name: str) -> LossesView:
    """Return what a compaction kept and lost; ``folder`` and ``name``: the agent's.

    Raises:
        NotFound: There is no such compaction.
    """
    archive = Archive(folder / "archive", read_only=True)
    made = next((each for each in compactions(archive) if each.number == number), None)
    if made is None:
        raise NotFound(f"There is no compaction {number}", "GET …/compactions lists all")
    first, last = made.covered or (1, 0)
    memories = archive.read(first, min(last, first + MOST_LOSSES - 1))
    sentences = summary_losses(made)
    words = words_in_archive(archive)
    return LossesView(
        losses=tuple(
            LossView(
                memory=view_of(each.memory, words),
                kept=each.kept,
                missing=each.missing,
                told=each.told,
            )
            for each in find_losses(made, memories)
        ),
        sentences=tuple(map(SentenceLossView.model_validate, sentences[:MOST_LOSSES])),
        unfounded=tuple(map(UnfoundedView.model_validate, unfounded(made, memories, name))),
        named=bool(made.after.recent and made.after.recent.sources),
        complete=last - first < MOST_LOSSES and len(sentences) <= MOST_LOSSES,
    )


# -- a fact


def fact(
    folders: Folders,
    words: str,
    number: int | None,
    n: int | None,
    agents: Sequence[KnownAgent] = (),
    *,
    events: Path | None = None,
) -> FactView:
    """Return where a fact went.

    Args:
        agents: Those whose books may have it, too.
        events: The folder of the event log, if there is one: it has the prompts.
        words: The ways of saying it; empty to follow the memory itself, in whatever words.
        number: The agent whose memory ``n`` it is; None if there are only words.

    Raises:
        BadRequest: There are neither words nor a memory.
        NotFound: There is no such agent or memory.
    """
    archives = {
        str(each): Archived(name, folder / "archive", past_of(folder), TEXTS)
        for each, name, folder in folders
        if (folder / "archive").is_dir()
    }
    begin = _memory(archives, number, n) if number is not None else None
    if begin is None and not words.strip():
        raise BadRequest("There is nothing to follow", "Give words, or an agent and a memory")
    asked = facts.follow_sentence(archives, str(number), begin) if begin else None
    found = asked.fact if asked else None
    wording = None
    if words.strip() or found is None:
        try:
            wording = Wording.of(words)
        except KeepsakeError as error:
            raise BadRequest(error.what, error.cure) from error
        found = facts.follow_words(archives, wording, begin.happening if begin else "")
    if events is not None:
        found = with_quotations(found, events, partial(_remembered, archives))
    names = {key: each.name for key, each in archives.items()}
    speakers = {each.happening: each for each in found.tellings}
    suggested = asked.words if asked else ()
    acts = max(MOST_ACTS // max(len(found.knowers), 1), LEAST_ACTS)
    return FactView(
        words=words.strip(),
        memory=_begun_with(begin, archives[str(number)]) if begin else None,
        suggested=tuple(WordCount(word=word, count=count) for word, count in suggested),
        complete=found.complete and len(found.tellings) <= MOST_SHOWN,
        tellings=tuple(map(_telling, found.tellings[-MOST_SHOWN:])),
        knowers=tuple(_knower(each, names, speakers, archives, acts) for each in found.knowers),
        noted=tuple(noted(agents, found, wording, begin)),
        echoes=tuple(
            EchoView(
                id=int(each.agent),
                agent=names[each.agent],
                standing=each.standing,
                said=each.said,
                compaction=each.compaction,
                memories=each.memories,
            )
            for each in found.echoes
        ),
    )


def _remembered(archives: Mapping[str, Archived], key: str, number: int) -> Memory | None:
    found = Archive(archives[key].folder, read_only=True).read(number, number)
    return next(iter(found), None)


def _begun_with(memory: Memory, archived: Archived) -> MemoryView:
    return view_of(memory, words_in_archive(Archive(archived.folder, read_only=True)))


def _memory(archives: Mapping[str, Archived], number: int, n: int | None) -> Memory:
    archived = archives.get(str(number))
    if archived is None:
        raise NotFound(f"There is no agent {number}", "GET /agents/api/agents lists all")
    found = Archive(archived.folder, read_only=True).read(n or 0, n or 0)
    if not found:
        raise NotFound(f"{archived.name} has no memory {n}", "Give the number of a memory as `n`")
    return found[0]


def _telling(telling: Telling) -> TellingView:
    return TellingView(
        happening=telling.happening,
        time=telling.time,
        place=telling.place,
        speaker=telling.speaker,
        id=int(telling.agent) if telling.agent else None,
        to=telling.to,
        manner=telling.manner,
        text=telling.text,
        private=telling.private,
        hearings=tuple(
            HearingView(id=int(each.agent), n=each.memory, way=each.way)
            for each in telling.hearings
        ),
        rests_on=telling.rests_on,
        link=telling.link,
        came_from=telling.came_from,
    )


def _knower(
    knower: Knower,
    names: Mapping[str, str],
    speakers: Mapping[str, Telling],
    archives: Mapping[str, Archived],
    most: int,
) -> KnowerView:
    last = knower.path[-1]
    told = speakers.get(last.happening)
    source = ""
    if told is not None and last.step is not Step.SAID:
        source = names.get(told.agent, told.speaker)
    archive = Archive(archives[knower.agent].folder, read_only=True)
    acts = archive.read_each(knower.acts[-most:]).values()
    return KnowerView(
        id=int(knower.agent),
        agent=names[knower.agent],
        source=source,
        heard=knower.heard,
        path=tuple(
            StepView(id=int(each.agent), n=each.memory, time=each.time, step=each.step)
            for each in knower.path
        ),
        memories=knower.memories[-MOST_NUMBERS:],
        spells=tuple(
            SpellView(
                time=datetime.fromtimestamp(each.time, last.time.tzinfo),
                standing=each.standing,
                kept=each.kept,
                has=each.has,
                compaction=each.compaction,
                n=each.memory,
            )
            for each in knower.spells
        ),
        acts=views_of(archive, acts),
    )
