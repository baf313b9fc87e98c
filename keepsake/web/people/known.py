"""People across agents: who is known to whom, and what each agent knows of one person.

Runs in a view's thread, because it reads the agents' books.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from keepsake.agent.memory.books import Books
from keepsake.agent.mind import Mind
from keepsake.agent.why.causes import set_off_by
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.books.entries import JournalEntry
from keepsake.books.kept_lines import CommitmentKind
from keepsake.books.person_page import PersonPage
from keepsake.happening import addressees_of, is_me
from keepsake.language.citations import citations_in
from keepsake.language.perception import names as is_named
from keepsake.tracing.content import told_in
from keepsake.web.access import BadRequest, NotFound
from keepsake.web.links import numbers_cited
from keepsake.web.people.about import MOST_LOOKED, memories_about, passages_about, private_sentences
from keepsake.web.people.shapes import (
    KnownBy,
    KnownLine,
    MentionLine,
    NoteAbout,
    PersonRow,
    PersonView,
    PromiseTo,
)
from keepsake.web.people.telling import Weights, heard_from, weights_in
from keepsake.web.remembered import TEXTS, view_of, words_in_archive
from keepsake.web.shapes import PlanRow

MOST_ENTRIES = 12
MOST_MENTIONS = 20
"""The most journal entries, and the most lines of summaries, of one agent about one person."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_TOWARDS = {CommitmentKind.PROMISE: "to", CommitmentKind.RULE: "from"}


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent whose books are read.

    Attributes:
        key: Its identity, by which others know it.
        mind: None if its memory is not open.
    """

    id: int
    name: str
    key: str
    mind: Mind | None


def people(agents: Sequence[KnownAgent]) -> list[PersonRow]:
    """Return everybody whom an agent has met, and all agents; who was met last comes first."""
    pages: dict[str, list[tuple[int, PersonPage]]] = defaultdict(list)
    for agent in agents:
        if agent.mind is not None:
            books = agent.mind.books
            books.people.refresh()
            books.update_people(agent.mind.memory.memory.archive)  # what happened a moment ago
            for page in books.people.known.values():
                pages[page.key].append((agent.id, page))
    by_key = {agent.key: agent for agent in agents}
    rows = [_row(key, pages[key], by_key.get(key)) for key in {*pages, *by_key}]
    rows.sort(key=lambda each: each.name.casefold())
    return sorted(rows, key=lambda each: each.last_met or _LONG_AGO, reverse=True)


def _row(key: str, pages: Sequence[tuple[int, PersonPage]], agent: KnownAgent | None) -> PersonRow:
    newest_first = sorted(pages, key=lambda each: each[1].last_met, reverse=True)
    known_as = (name for _, page in newest_first for name in reversed(page.names))
    names = tuple(dict.fromkeys([*([agent.name] if agent else []), *known_as]))
    return PersonRow(
        key=key,
        name=names[0],
        names=names,
        id=agent.id if agent else None,
        known_by=tuple(sorted(number for number, _ in pages)),
        last_met=newest_first[0][1].last_met if pages else None,
    )


def person(
    agents: Sequence[KnownAgent],
    key: str = "",
    name: str = "",
    number: int | None = None,
    *,
    by: int | None = None,
) -> PersonView:
    """Return what each agent knows of the person with a key, a name, or an agent's number.

    ``by``: The agent of which all is wanted that it heard them say.

    Raises:
        BadRequest: Nobody is asked for.
        NotFound: No agent knows such a person.
    """
    if not (key or name or number):
        raise BadRequest("Nobody is asked for", "Give a `key`, a `name` or an agent's `id`")
    wanted = name.casefold().strip()
    rows = people(agents)
    found = [
        each
        for each in rows
        if (key and each.key == key)
        or (number and each.id == number)
        or (wanted and wanted in map(str.casefold, each.names))
    ]
    # A name that somebody bears now comes before one that somebody bore.
    found.sort(key=lambda each: each.name.casefold() != wanted)
    if not found:
        said = (name or key or str(number))[:60]
        raise NotFound(f"No agent knows {said!r}", "GET /agents/api/people lists all")
    about = found[0]
    others = {each for row in rows if row.key != about.key for each in row.names}
    most = MOST_LOOKED // max(len(agents), 1)
    asked = errands_of(agents) if by else frozenset[str]()
    found_by = (
        _known_by(each, about, others, most, asked if each.id == by else None)
        for each in agents
        if each.key != about.key
    )
    known = [each for each in found_by if each is not None]
    known.sort(key=lambda each: each.last_met or _LONG_AGO, reverse=True)
    there = {each.id for each in known}
    strangers = (a.name for a in agents if a.id not in there and a.key != about.key)
    return PersonView(
        person=about, others=tuple(found[1:]), agents=tuple(known), strangers=tuple(strangers)
    )


def known_by_one(
    agents: Sequence[KnownAgent], number: int, key: str = "", name: str = ""
) -> tuple[PersonRow, KnownBy] | None:
    """Return a person and what one agent knows of them; None if it knows nothing, or nobody.

    Args:
        agents: All agents, as a name is that of whom any of them knows.
        number: That of the one.
        key: The identity of the person; empty if only a name is known.
        name: A name of theirs, in any case of letters.
    """
    wanted = name.casefold().strip()
    rows = people(agents)
    found = [
        each
        for each in rows
        if (each.key == key if key else wanted in map(str.casefold, each.names))
    ]
    found.sort(key=lambda each: (number not in each.known_by, each.name.casefold() != wanted))
    one = next((each for each in agents if each.id == number), None)
    if not found or one is None:
        return None
    about = found[0]
    others = {each for row in rows if row.key != about.key for each in row.names}
    known = _known_by(one, about, others, MOST_LOOKED, errands_of(agents))
    return (about, known) if known is not None else None


def _known_by(
    agent: KnownAgent,
    about: PersonRow,
    others: Collection[str],
    most: int,
    asked: Collection[str] | None,
) -> KnownBy | None:
    """Return what an agent knows of somebody; None if it knows nothing.

    Args:
        others: The names of everybody else.
        most: The most of its memories to look through.
        asked: What asked for something to be done, as :func:`errands_of` returns it, if also what
            it heard them say to others is wanted, what tells most first.
    """
    if agent.mind is None:
        return None
    books = agent.mind.books
    page = books.people.known.get(about.key)
    whispered = agent.mind.memory.private.is_whispered
    there = {number for each in page.lines for number in each.numbers} if page else set[int]()
    folder = agent.mind.memory.folder / "archive"
    segments = TEXTS.of(folder)
    weights = _weights_of(page) if asked is None else weights_in(segments)
    heard = [] if asked is None else heard_from(segments, about.key, there, weights)
    archive = Archive(folder, read_only=True)
    own = () if asked is None else [each.number for each in _errands(books, archive)]
    there.update(each.number for each in heard)
    memories, total, complete = memories_about(segments, about.key, about.names, there, most)
    words = words_in_archive(archive) if memories else None
    known = KnownBy(
        id=agent.id,
        agent=agent.name,
        names=page.names if page else (),
        file=books.people.file_of(about.key),
        first_met=page.first_met if page else None,
        last_met=page.last_met if page else None,
        meetings=page.meetings if page else 0,
        portrait=page.portrait if page else "",
        remarks="\n".join(page.by_hand) if page else "",
        lines=tuple(_lines(page, whispered, weights, own)) if page else (),
        overheard=tuple(_overheard(each, weights, asked or ()) for each in heard),
        notes=tuple(_notes(books, about, whispered)),
        promises=tuple(_promises(books, about, whispered)),
        plans=tuple(_plans(agent, books, about)),
        mentions=tuple(_mentions(agent.mind, about, others, whispered)),
        memories=tuple(view_of(each, words) for each in memories) if words else (),
        more_memories=total - len(memories),
        complete=complete,
    )
    told = (page, known.notes, known.promises, known.plans, known.mentions, known.memories)
    return known if any(told) else None


def errands_of(agents: Sequence[KnownAgent]) -> frozenset[str]:
    """Return what happened to which a promise or a plan of some agent answers, by id; blocks.

    Also of plans that ended lately.
    """
    minds = (each.mind for each in agents if each.mind is not None)
    found = (_errands(mind.books, mind.memory.memory.archive) for mind in minds)
    return frozenset(each.happening for some in found for each in some if each.happening)


def _errands(books: Books, archive: Archive) -> list[Memory]:
    """Return the memories to which promises and plans answer, also plans that ended lately."""
    promises = {each.number for each in books.commitments.items}
    numbers = promises.union(each.since for each in books.plans.items) - {0}
    found = archive.read_each(numbers).values()
    causes = (set_off_by(archive, each) if each.is_own else each for each in found)
    return [each for each in causes if each is not None]


def _lines(
    page: PersonPage,
    whispered: Callable[[int], bool],
    weights: Weights,
    errands: Collection[int],
) -> Iterator[KnownLine]:
    for each in page.lines:
        yield KnownLine(
            text=each.text,
            weight=round(weights.of(each.text), 1),
            told=told_in(each.text),
            said=each.said,
            time=each.time,
            numbers=each.numbers,
            private=any(map(whispered, each.numbers)),
            errand=any(number in errands for number in each.numbers),
        )


def _weights_of(page: PersonPage | None) -> Weights:
    """Return how much the lines of a page tell, besides each other."""
    return Weights([told_in(each.text) for each in page.lines] if page else ())


def _overheard(memory: Memory, weights: Weights, asked: Collection[str]) -> KnownLine:
    return KnownLine(
        text=memory.words,
        weight=round(weights.of(memory.words), 1),
        told=told_in(memory.words),
        said=True,
        time=memory.time,
        numbers=(memory.number,),
        private=memory.confidants is not None,
        to=tuple(each.name for each in addressees_of(memory.what) if not is_me(each)),
        errand=memory.happening in asked,
    )


def _notes(books: Books, about: PersonRow, whispered: Callable[[int], bool]) -> Iterator[NoteAbout]:
    notes = sorted(books.notes.all(), key=lambda each: each.updated, reverse=True)
    for each in notes:
        if any(is_named(f"{each.title}. {each.text}", name) for name in about.names):
            numbers = tuple(numbers_cited(each.text))
            yield NoteAbout(
                title=each.title,
                text=each.text,
                time=each.updated,
                numbers=numbers,
                private=any(map(whispered, numbers)),
            )


def _promises(
    books: Books, about: PersonRow, whispered: Callable[[int], bool]
) -> Iterator[PromiseTo]:
    for each in books.commitments.items:
        # A line that a person wrote by hand has a name only.
        if each.key == about.key or (not each.key and each.who in about.names):
            text = f"{each.kind} {_TOWARDS[each.kind]} {each.who}: {each.text}"
            private = whispered(each.number)
            yield PromiseTo(text=text, memory=each.number, private=private)


def _plans(agent: KnownAgent, books: Books, about: PersonRow) -> Iterator[PlanRow]:
    for each in books.plans.current:
        whom = each.whom
        if whom and (whom.id == about.key or (not whom.id and whom.name in about.names)):
            yield PlanRow.of(agent.id, agent.name, each)


def _mentions(
    mind: Mind, about: PersonRow, others: Collection[str], whispered: Callable[[int], bool]
) -> Iterator[MentionLine]:
    """Yield passages of the summaries about a person, then entries of the journal about them."""
    state = mind.memory.memory.tiers.state
    archive = Archive(mind.memory.folder / "archive", read_only=True)

    def cites(number: int) -> bool:
        return any(each.source_id == about.key for each in archive.read(number, number))

    named = []
    for summary in filter(None, (state.recent, state.longterm)):
        for text, told in passages_about(summary, about.names, others, cites):
            cited = {n for each in citations_in(text) for n in (each.first, each.last)}
            numbers = tuple(sorted({*told, *cited}))
            hidden = private_sentences(text, summary, whispered)
            named.append(
                MentionLine(
                    text=text,
                    tier=summary.tier,
                    time=max(summary.time, state.time or summary.time),
                    numbers=numbers,
                    private=any(map(whispered, numbers)) and not hidden,
                    private_sentences=hidden,
                )
            )
    yield from named[:MOST_MENTIONS]
    entries = [each for each in mind.books.journal.known if about.key in each.who]
    for entry in entries[: -MOST_ENTRIES - 1 : -1]:
        yield _mention(entry, whispered)


def _mention(entry: JournalEntry, whispered: Callable[[int], bool]) -> MentionLine:
    return MentionLine(
        text=entry.text,
        tier=None,
        time=entry.time,
        numbers=entry.memories,
        private=any(map(whispered, entry.memories)),
    )
