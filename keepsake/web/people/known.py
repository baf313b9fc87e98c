"""People across agents: who is known to whom, and what each agent knows of one person.

Runs in a view's thread, because it reads the agents' books.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from keepsake.agent.memory.books import Books
from keepsake.agent.mind import Mind
from keepsake.books.entries import JournalEntry
from keepsake.books.kept_lines import CommitmentKind
from keepsake.books.person_page import PersonPage
from keepsake.language.citations import citations_in
from keepsake.language.perception import names as is_named
from keepsake.language.perception import sentences
from keepsake.web.access import BadRequest, NotFound
from keepsake.web.links import numbers_cited
from keepsake.web.people.shapes import (
    KnownBy,
    KnownLine,
    MentionLine,
    NoteAbout,
    PersonRow,
    PersonView,
    PromiseTo,
)
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
    agents: Sequence[KnownAgent], key: str = "", name: str = "", number: int | None = None
) -> PersonView:
    """Return what each agent knows of the person with a key, a name, or an agent's number.

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
    known = [
        each for agent in agents if agent.key != about.key and (each := _known_by(agent, about))
    ]
    known.sort(key=lambda each: each.last_met or _LONG_AGO, reverse=True)
    there = {each.id for each in known}
    strangers = (a.name for a in agents if a.id not in there and a.key != about.key)
    return PersonView(
        person=about, others=tuple(found[1:]), agents=tuple(known), strangers=tuple(strangers)
    )


def _known_by(agent: KnownAgent, about: PersonRow) -> KnownBy | None:
    """Return what an agent knows of somebody; None if it knows nothing."""
    if agent.mind is None:
        return None
    books = agent.mind.books
    page = books.people.known.get(about.key)
    whispered = agent.mind.memory.private.is_whispered
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
        lines=tuple(_lines(page, whispered)) if page else (),
        notes=tuple(_notes(books, about, whispered)),
        promises=tuple(_promises(books, about, whispered)),
        plans=tuple(_plans(agent, books, about)),
        mentions=tuple(_mentions(agent.mind, about, whispered)),
    )
    told = (page, known.notes, known.promises, known.plans, known.mentions)
    return known if any(told) else None


def _lines(page: PersonPage, whispered: Callable[[int], bool]) -> Iterator[KnownLine]:
    for each in page.lines:
        yield KnownLine(
            text=each.text,
            said=each.said,
            time=each.time,
            numbers=each.numbers,
            private=any(map(whispered, each.numbers)),
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
    mind: Mind, about: PersonRow, whispered: Callable[[int], bool]
) -> Iterator[MentionLine]:
    """Yield lines of the summaries that name a person, then entries of the journal about them."""
    state = mind.memory.memory.tiers.state
    named = []
    for summary in filter(None, (state.recent, state.longterm)):
        lines = (line.strip("-*# ") for line in summary.text.splitlines())
        for line in (sentence for each in lines for sentence in sentences(each)):
            if any(is_named(line, name) for name in about.names):
                cited = {n for each in citations_in(line) for n in (each.first, each.last)}
                numbers = tuple(sorted(cited))
                named.append(
                    MentionLine(
                        text=line,
                        tier=summary.tier,
                        time=summary.time,
                        numbers=numbers,
                        private=any(map(whispered, numbers)),
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
