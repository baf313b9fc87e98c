"""Builders read and write an agent's notes, pins and rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from keepsake.books.commitments import Commitment, Commitments
from keepsake.books.notes import Note, NoteBook
from keepsake.books.pins import LIMIT, Pinned
from keepsake.contrib.evennia.commands.base import Query, ago, one_line, plain, table
from keepsake.contrib.evennia.wording import counted
from keepsake.errors import KeepsakeError


def listing(query: Query) -> Callable[[], str]:
    """``@notes``: the notes that an agent keeps; what cannot be read is named."""
    name, book = query.name, query.mind.keeper.notes
    return lambda: _listed(name, book)


def _listed(name: str, book: NoteBook) -> str:
    notes, now = book.all(), datetime.now(UTC)
    problems = "".join(f"\n|r{plain(problem)}|n" for problem in book.problems)
    if not notes:
        return f"{name} has no notes.{problems}"
    rows = [
        (plain(each.title), ago(each.updated, now), len(each.text), one_line(each.text, 80))
        for each in notes
    ]
    shown = table(("Title", "Updated", "Size", "Text"), rows)
    return f"{shown}\n{counted(len(notes), 'note')} in {plain(str(book.folder))}{problems}"


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
        if found := keeper.notes.find(query.title):
            return _one(found)
        raise keeper.notes.unknown(query.title)

    return work


def _one(note: Note) -> str:
    facts = [f"written {note.created:%Y-%m-%d %H:%M}", f"updated {note.updated:%Y-%m-%d %H:%M}"]
    facts += [f"in {note.place}"] if note.place else []
    facts += [f"because: {note.reason}"] if note.reason else []
    head = f"|w{plain(note.title)}|n ({plain('; '.join(facts))})"
    return f"{head}\n{plain(note.text)}\n|x{plain(str(note.path))}|n"


def pin(query: Query) -> Callable[[], str]:
    """``@pin``: see the pinned block, pin a line, or take one out."""
    name, keeper, text = query.name, query.mind.keeper, query.words

    def work() -> str:
        told = ""
        if "remove" in query.options:
            told = f"|gNo longer pinned:|n {plain(keeper.pinned.remove(text))}\n"
        elif text:
            told = f"|gPinned:|n {plain(keeper.pinned.add(text))}\n"
        return told + _block(name, keeper.pinned)

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
    over = f"\n|rOnly {shown} of them are shown to {name}.|n" if shown < len(lines) else ""
    title = f"|w{name}'s pinned block|n ({used:,} of {LIMIT:,} characters)"
    return "\n".join([title, *rows]) + over


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

    gone = {name: count for name, book in books if (count := book.drop(theirs))}
    if not gone:
        raise KeepsakeError(f"No agent has one of {plain(person)}", "See them: @rules")
    told = ", ".join(f"{name} {count}" for name, count in gone.items())
    return f"|gDropped|n what was open with {plain(person)}: {told}."
