"""People across agents: who is known to whom, and what each agent knows of one person.

Runs in a view's thread, because it reads the agents' books.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from keepsake.books.person_page import PersonPage
from keepsake.web.access import BadRequest, NotFound
from keepsake.web.people.about import MOST_LOOKED
from keepsake.web.people.agents import KnownAgent
from keepsake.web.people.known_by import errands_of, known_by
from keepsake.web.people.shapes import (
    KnownBy,
    PersonRow,
    PersonView,
)

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


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
        known_by(each, about, others, most, asked if each.id == by else None)
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


@dataclass(frozen=True, slots=True)
class KnownByOne:
    """What one agent knows of a person.

    Attributes:
        others: The names of everybody else whom any agent knows.
    """

    person: PersonRow
    known: KnownBy
    others: Collection[str]


def known_by_one(
    agents: Sequence[KnownAgent], number: int, key: str = "", name: str = ""
) -> KnownByOne | None:
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
    known = known_by(one, about, others, MOST_LOOKED, errands_of(agents))
    return KnownByOne(about, known, others) if known is not None else None
