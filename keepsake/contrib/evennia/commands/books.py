"""Builders read and write what an agent keeps: notes, pins, rules, journal, pages of people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime

from keepsake.agent.runtime import runtime
from keepsake.books.entries import JournalEntry
from keepsake.books.journal import Journal
from keepsake.books.kept_lines import PINNED_LIMIT, Commitment, Commitments, Pinned
from keepsake.books.notes import Note, NoteBook
from keepsake.books.people import PeopleBook
from keepsake.books.person_page import written
from keepsake.contrib.evennia.commands.base import (
    Query,
    ago,
    hung,
    one_line,
    plain,
    shortened,
    table,
)
from keepsake.contrib.evennia.wording import counted
from keepsake.errors import KeepsakeError

NEWEST = 30
"""Entries of the journal that are shown when nothing is asked for."""
MOST = 300
"""Entries, or people, that are shown at most."""

# -- notes and pins


def notes(query: Query) -> Callable[[], str]:
    """``@notes``: the notes that an agent keeps; what cannot be read is named."""
    name, book = query.name, query.mind.books.notes
    return lambda: _listed(name, book)


def _listed(name: str, book: NoteBook) -> str:
    found, now = book.all(), datetime.now(UTC)
    if not found:
        return "\n".join([f"{name} has no notes.", *_problems(book.problems)])
    rows = [
        (plain(each.title), ago(each.updated, now), len(each.text), one_line(each.text, 80))
        for each in found
    ]
    where = f"{counted(len(found), 'note')} in {plain(str(book.folder))}"
    shown = table(("Title", "Updated", "Size", "Text"), rows)
    return "\n".join([shown, where, *_problems(book.problems)])


def _problems(found: Sequence[str]) -> list[str]:
    return [f"|r{plain(each)}|n" for each in found]


def note(query: Query) -> Callable[[], str]:
    """``@note``: read a note, or write an entry into it; raises KeepsakeError without a title."""
    if not query.title:
        raise KeepsakeError("Give an agent and a title", "As in: @note Mira/well = <text>")
    keeper, owner, agent = query.mind.keeper, query.name, query.agent
    place = agent.location.key if agent.location else ""

    def work() -> str:
        if query.words:
            new = keeper.write_note(query.title, query.words, place=place, by="builder")
            return f"|gWritten|n into {owner}'s note {plain(new.title)} ({plain(str(new.path))})."
        if found := keeper.books.notes.find(query.title):
            return _one(found)
        raise keeper.books.notes.unknown(query.title)

    return work


def _one(found: Note) -> str:
    times = (("written", found.created), ("updated", found.updated))
    facts = [f"{what} {time.astimezone():%Y-%m-%d %H:%M}" for what, time in times]
    facts += [f"in {found.place}"] if found.place else []
    facts += [f"because: {found.reason}"] if found.reason else []
    head = f"|w{plain(found.title)}|n ({plain('; '.join(facts))})"
    return f"{head}\n{plain(found.text)}\n|x{plain(str(found.path))}|n"


def pin(query: Query) -> Callable[[], str]:
    """``@pin``: see the pinned block, pin a line, or take one out."""
    name, pinned, text = query.name, query.mind.books.pinned, query.words

    def work() -> str:
        told = ""
        if "remove" in query.options:
            told = f"|gNo longer pinned:|n {plain(pinned.remove(text))}\n"
        elif text:
            told = f"|gPinned:|n {plain(pinned.add(text))}\n"
        return told + _block(name, pinned)

    return work


def _block(name: str, pinned: Pinned) -> str:
    lines = pinned.lines
    if not lines:
        return f"Nothing is pinned for {name}."
    used, shown, own = sum(map(len, lines)), len(pinned.shown), set(pinned.own)
    rows = [
        f"{number:>3}. {plain(line)}{f' |x(by {name} itself)|n' if line in own else ''}"
        for number, line in enumerate(lines, start=1)
    ]
    over = [f"|rOnly {shown} of them are shown to {name}.|n"] if shown < len(lines) else []
    title = f"|w{name}'s pinned block|n ({used:,} of {PINNED_LIMIT:,} characters)"
    return "\n".join([title, *rows, *over])


# -- promises and rules


def rules(books: Sequence[tuple[str, Commitments]]) -> str:
    """``@rules``: the open promises and rules of some agents."""
    rows = [
        (name, each.kind.value, plain(each.who), each.number, one_line(each.text, 60))
        for name, book in books
        for each in book.items
    ]
    shown = table(("Agent", "What", "Who", "Memory", "Words"), rows)
    return f"{shown}\n{counted(len(rows), 'line')}" if rows else "No promise or rule is open."


def rules_dropped(books: Sequence[tuple[str, Commitments]], person: str) -> str:
    """``@rules/drop``: one person's are taken out; raises KeepsakeError if there are none."""
    wanted = person.casefold()

    def theirs(each: Commitment) -> bool:
        return wanted in (each.key.casefold(), each.who.casefold())

    gone = {name: count for name, book in books if (count := book.close(theirs))}
    if not gone:
        raise KeepsakeError(f"No agent has one of {plain(person)}", "See them: @rules")
    told = ", ".join(f"{name} {count}" for name, count in gone.items())
    return f"|gDropped|n what was open with {plain(person)}: {told}."


# -- the journal


def journal(query: Query) -> Callable[[], str]:
    """``@journal``: the newest entries, or those with some words, such as ``2026-11-21 cup``."""
    name, words, book = query.name, query.words, query.mind.books.journal
    return lambda: _entries(name, book, words)


def _entries(name: str, book: Journal, words: str) -> str:
    entries = book.entries()
    found, what = _asked(entries, words)
    none = f"{name}'s journal has nothing {plain(what)}." if entries else ""
    title = f"|w{name}'s journal|n {plain(what)}"
    lines = [title, *_told(found[-MOST:])] if found else [none or f"{name}'s journal is empty."]
    return "\n".join([*lines, *_problems(book.problems)])


def _asked(entries: Sequence[JournalEntry], words: str) -> tuple[Sequence[JournalEntry], str]:
    """The entries that are meant, oldest first, and what that is, in words."""
    if not words:
        newest = entries[-NEWEST:]
        return newest, f"(the newest {len(newest)} of {counted(len(entries), 'entry')})"
    wanted = words.casefold().split()
    texts = ((each, f"{_local(each)} {each.text}".casefold()) for each in entries)
    return [each for each, text in texts if all(word in text for word in wanted)], f"of {words!r}"


def _local(entry: JournalEntry) -> date:
    return entry.time.astimezone().date()


def _told(entries: Sequence[JournalEntry]) -> Iterator[str]:
    """Two lines an entry, with the day before those of a new day."""
    day: date | None = None
    for entry in entries:
        if _local(entry) != day:
            day = _local(entry)
            yield f"|x-- {day:%A %d %B %Y} --|n"
        head = f"|w{entry.importance:>3}|n |x{entry.time.astimezone():%H:%M}|n"
        yield f"{head} {plain(hung(entry.text, 10))}"
        of = f"; memories {', '.join(map(str, entry.memories))}" if entry.memories else ""
        yield f"{' ' * 10}|x{entry.id}, judged by {entry.judge}; {entry.origin.value}{of}|n"


# -- people


def people(query: Query) -> Callable[[], str]:
    """``@people``: whom an agent knows, or its pages of one person."""
    name, who, known = query.name, query.words, query.mind.books
    now, archive = runtime().clock.now(), query.mind.memory.memory.archive

    def work() -> str:
        known.settle(archive)  # what happened a moment ago is wanted too
        text = _pages(name, known.people, who) if who else _known(name, known.people, now)
        return "\n".join([text, *_problems(known.people.problems)])

    return work


def _known(name: str, book: PeopleBook, now: datetime) -> str:
    found = book.all()
    if not found:
        return f"{name} knows nobody yet."
    cut = f", the {MOST} met last" if len(found) > MOST else ""
    rows = [
        (
            plain(each.name),
            plain(shortened(", ".join(each.names[:-1]), 30)) or "-",
            ago(each.last_met, now),
            each.meetings,
        )
        for each in found[:MOST]
    ]
    shown = table(("Who", "Was called", "Last met", "Meetings"), rows)
    return f"|w{name} knows {counted(len(found), 'person')}|n{cut}\n{shown}"


def _pages(name: str, book: PeopleBook, who: str) -> str:
    """The pages of whoever is called so, as their files have them."""
    if found := book.find(who):
        return "\n".join(plain(written(each)) for each in found)
    raise KeepsakeError(
        f"{name} knows nobody called {shortened(who)!r}", f"See all of them: @people {name}"
    )
