"""Where a fact went among all agents: for the page "Where did it go?"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.happening import Manner
from keepsake.tracing import following
from keepsake.tracing.facts import Knower, Telling
from keepsake.tracing.outsiders import outsiders
from keepsake.tracing.past import Archived
from keepsake.tracing.paths import Step
from keepsake.tracing.tellings import telling_in
from keepsake.tracing.typed.choice import AS_FOUND, LineChoice
from keepsake.tracing.typed.proper import with_proper
from keepsake.tracing.wording import Wording
from keepsake.web.access import BadRequest, NotFound
from keepsake.web.fact_shapes import (
    EchoView,
    FactView,
    HearingView,
    KnowerView,
    OutsiderView,
    SpellView,
    StepView,
    TellingView,
    WordCount,
)
from keepsake.web.pasts.archives import Folders, archives_of
from keepsake.web.pasts.strands import people_of, strand_views
from keepsake.web.pasts.who import who_knows
from keepsake.web.pasts.who_shapes import NewsKind, NewsView
from keepsake.web.people.agents import KnownAgent
from keepsake.web.people.noted import noted
from keepsake.web.privacy import WHISPERED, privacy_of
from keepsake.web.questions.quoted import with_quotations
from keepsake.web.remembered import view_of, views_of, words_in_archive
from keepsake.web.shapes import MemoryView

MOST_ACTS = 50
LEAST_ACTS = 1
"""The most acts of all who know a fact together; and how many each may have in any case."""
MOST_SHOWN = 300
"""The most tellings of a fact that an answer has, the newest: more are no way but a crowd."""
MOST_NUMBERS = 200
"""The most memories of a fact that are named of one agent, the newest."""


def fact(
    folders: Folders,
    words: str,
    number: int | None,
    n: int | None,
    agents: Sequence[KnownAgent] = (),
    *,
    events: Path | None = None,
    choice: LineChoice = AS_FOUND,
    now: datetime | None = None,
) -> FactView:
    """Return where a fact went.

    Args:
        agents: Those whose books may have it, too.
        events: The folder of the event log, if there is one: it has the prompts.
        words: The ways of saying it; empty to follow the memory itself, in whatever words.
        number: The agent whose memory ``n`` it is; None if there are only words.
        choice: Which lines mean the words, as somebody says who read them.
        now: The present time; None if the answer need not name the day.

    Raises:
        BadRequest: There are neither words nor a memory.
        NotFound: There is no such agent or memory.
    """
    archives = archives_of(folders)
    people = people_of(agents)
    begin = _memory(archives, number, n) if number is not None else None
    if begin is None and not words.strip():
        raise BadRequest("There is nothing to follow", "Give words, or an agent and a memory")
    asked = following.follow_sentence(archives, str(number), begin) if begin else None
    found = asked.fact if asked else None
    wording = None
    if words.strip() or found is None:
        try:
            wording = with_proper(archives, Wording.of(words))
        except KeepsakeError as error:
            raise BadRequest(error.what, error.cure) from error
        found = following.follow_words(
            archives,
            wording,
            begin.happening if begin else "",
            people,
            choice=choice,
        )
    if events is not None:
        found = with_quotations(found, events, partial(_remembered, archives))
    names = {key: each.name for key, each in archives.items()}
    speakers = {each.happening: each for each in found.tellings}
    suggested = asked.words if asked else ()
    tellings = [_telling(each, archives) for each in found.tellings[-MOST_SHOWN:]]
    how = {each.happening: each.private for each in tellings}
    acts = max(MOST_ACTS // max(len(found.knowers), 1), LEAST_ACTS)
    view = FactView(
        words=words.strip(),
        memory=_begun_with(begin, archives[str(number)]) if begin else None,
        suggested=tuple(WordCount(word=word, count=count) for word, count in suggested),
        complete=found.complete and len(found.tellings) <= MOST_SHOWN,
        tellings=tuple(tellings),
        knowers=tuple(_knower(each, names, speakers, archives, acts) for each in found.knowers),
        outsiders=tuple(
            OutsiderView(**{**asdict(each), "private": how.get(each.happening, each.private)})
            for each in outsiders(archives, found.tellings, people)
        ),
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
        strands=strand_views(found.strands, words, names, choice.meant),
    )
    who = who_knows(
        view,
        {int(key): name for key, name in names.items()},
        tuple(_asked(each, names) for each in found.asked),
        chosen=bool(choice.meant or choice.other),
        now=now,
    )
    return view.model_copy(update={"who": who})


def _asked(heard: Sequence[tuple[str, Memory]], names: Mapping[str, str]) -> NewsView:
    """Return a line that only asks about a fact. ``heard``: Who remembers it, by key."""
    telling = telling_in("", heard, names)
    key, memory = heard[0]
    return NewsView(
        id=int(key),
        n=memory.number,
        time=telling.time,
        speaker=names.get(telling.agent, telling.speaker),
        to=telling.to,
        text=telling.text,
        private=privacy_of(memory),
        kind=NewsKind.ASKED,
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


def _privacy(telling: Telling, archives: Mapping[str, Archived]) -> str:
    """Return how a telling was private, as who said it or heard it remembers it."""
    if not telling.private:
        return ""
    if telling.manner == Manner.WHISPER:
        return WHISPERED
    own = [each for each in telling.hearings if each.agent == telling.agent]
    known = next(iter(own or telling.hearings))
    memory = _remembered(archives, known.agent, known.memory)
    return privacy_of(memory) if memory else ""


def _telling(telling: Telling, archives: Mapping[str, Archived]) -> TellingView:
    return TellingView(
        happening=telling.happening,
        time=telling.time,
        place=telling.place,
        speaker=telling.speaker,
        id=int(telling.agent) if telling.agent else None,
        to=telling.to,
        manner=telling.manner,
        text=telling.text,
        private=_privacy(telling, archives),
        hearings=tuple(
            HearingView(id=int(each.agent), n=each.memory, way=each.way)
            for each in telling.hearings
        ),
        rests_on=telling.rests_on,
        link=telling.link,
        came_from=telling.came_from,
        asks=telling.asks,
        gift=telling.is_gift,
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
