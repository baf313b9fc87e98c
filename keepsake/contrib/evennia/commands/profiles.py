"""Builders see whom an agent knows, and what it makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from evennia.utils.ansi import strip_ansi

from keepsake.agent.memory.acquaintances import Acquaintances
from keepsake.agent.runtime import runtime
from keepsake.books.people import PeopleBook
from keepsake.books.person_page import PageLine, PersonPage
from keepsake.contrib.evennia.commands import figures
from keepsake.contrib.evennia.commands.base import Query, ago, plain, shortened, table
from keepsake.contrib.evennia.wording import counted, plural
from keepsake.errors import KeepsakeError

MOST = 300


def view(query: Query) -> Callable[[], str]:
    """``@people``: whom an agent knows, or its pages of one person."""
    name, who, known = query.name, query.words, query.mind.acquaintances
    now = runtime().clock.now()
    return lambda: _shown(name, known, who, now)


def _shown(name: str, known: Acquaintances, who: str, now: datetime) -> str:
    known.settle()  # what happened a moment ago is wanted too
    text = _one(name, known.book, who, now) if who else _all(name, known.book, now)
    return "\n".join([text, *(f"|r{plain(problem)}|n" for problem in known.book.problems)])


def _all(name: str, book: PeopleBook, now: datetime) -> str:
    found = book.all()
    if not found:
        return f"{name} knows nobody yet."
    cut = f", the {MOST} met last" if len(found) > MOST else ""
    known = counted(len(found), "person")
    return f"|w{name} knows {known}|n{cut}\n{_table(found[:MOST], now)}"


def _table(found: Sequence[PersonPage], now: datetime) -> str:
    rows = []
    for each in found:
        earlier = ", ".join(each.names[:-1])
        cells = [plain(each.name), plain(shortened(earlier, 30)) or "-"]
        rows.append([*cells, ago(each.last_met, now), each.meetings])
    return table(["Who", "Was called", "Last met", "Meetings"], rows)


def _one(name: str, book: PeopleBook, who: str, now: datetime) -> str:
    found = book.find(who)
    if not found:
        raise KeepsakeError(
            f"{name} knows nobody called {shortened(who)!r}", f"See all of them: @people {name}"
        )
    return "\n\n".join("\n".join(page_lines(each, now)) for each in found)


def page_lines(page: PersonPage, now: datetime) -> Iterator[str]:
    """A page for people: figures, what the agent makes of them, what they said and did."""
    yield f"|w{plain(page.name)}|n ({plain(page.key)})"
    yield figures.labelled(list(_figures(page, now)), 14)
    if page.portrait:
        yield "|wWhat it makes of them|n"
        yield f"  {figures.hung(page.portrait, 2)}"
    if page.remarks:
        yield "|wWritten by hand|n"
        yield from (f"  {figures.hung(each, 2)}" for each in page.remarks)
    if page.lines:
        yield "|wSaid and done|n"
        yield from map(_line, page.lines)


def _figures(page: PersonPage, now: datetime) -> Iterator[tuple[str, str]]:
    if len(page.names) > 1:
        yield "Names", ", then ".join(map(plain, page.names))
    yield "First met", f"{page.first_met.astimezone():%Y-%m-%d %H:%M}"
    last = ago(page.last_met, now)
    yield "Last met", f"{page.last_met.astimezone():%Y-%m-%d %H:%M} ({last})"
    yield "Meetings", f"{page.meetings}"
    yield "Worked in", f"up to memory {page.through}"


def _line(line: PageLine) -> str:
    cited = f"|x({plural('memory', len(line.numbers))} {', '.join(map(str, line.numbers))})|n"
    text = figures.hung(f"{line.shown} {strip_ansi(cited)}", 17)
    return f"  |x{line.time.astimezone():%d %b %H:%M}|n  {text}"
