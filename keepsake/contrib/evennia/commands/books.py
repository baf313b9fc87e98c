"""Builders read and write an agent's notes, pins, rules, journal and pages about people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from keepsake.agent.memory.books import Books
from keepsake.agent.runtime import now
from keepsake.agent.surroundings.routes import place_names
from keepsake.books.kept_lines import PINNED_LIMIT, Commitment, Pinned
from keepsake.books.plan import PlanState
from keepsake.books.plan_lines import read_plan
from keepsake.contrib.evennia.commands.base import Query, one_line, plain, table
from keepsake.contrib.evennia.wording import counted
from keepsake.errors import KeepsakeError
from keepsake.events.values import Author
from keepsake.happening import Person

SHOWN = 5
"""The most files that are shown whole; of the others only the names are shown."""


def book(kind: str, query: Query) -> Callable[[], str]:
    """``@journal``, ``@notes``, ``@people``: show the newest files, or those with the words."""
    name = query.name
    mind = query.mind
    words = query.words.casefold().split()

    def work() -> str:
        mind.read_edits()  # also shows what happened a moment ago
        pages = (mind.memory.folder / kind).glob("[!.]*.md")
        files = sorted(pages, key=lambda path: path.stat().st_mtime, reverse=True)
        texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in files}
        found = [
            path
            for path, text in texts.items()
            if all(word in f"{path.stem} {text}".casefold() for word in words)
        ]
        lines = [f"|w{name}'s {kind}|n, {len(found)} of {counted(len(files), 'file')}"]
        for path in found[:SHOWN]:
            lines += [f"|x-- {plain(path.name)} --|n", plain(texts[path].strip())]
        if more := [path.stem for path in found[SHOWN:]]:
            lines.append(f"|xand:|n {plain(', '.join(more))}")
        if files and not found:
            lines.append("No file has these words. Without words, all are shown.")
        return "\n".join(lines)

    return work


def note(query: Query) -> Callable[[], str]:
    """``@note``: read a note, or write an entry into it; raises KeepsakeError without a title."""
    if not query.title:
        raise KeepsakeError("Give an agent and a title", "Example: @note Mira/well = <text>")
    notes = query.mind.books.notes
    owner = query.name
    agent = query.agent
    place = agent.location.key if agent.location else ""

    def work() -> str:
        if not query.words:
            return book("notes", replace(query, words=query.title))()
        new = notes.write(query.title, query.words, place=place, now=now(), by=Author.BUILDER)
        return f"|gWritten|n to {owner}'s note {plain(new.title)} ({plain(str(new.path))})."

    return work


def plans(query: Query) -> Callable[[], str]:
    """``@agent/plans``: show what an agent means to do, or add a plan."""
    name = query.name
    book = query.mind.books.plans
    text = query.words
    places = place_names(query.agent)
    people = [Person(page.name, page.key) for page in query.mind.books.people.known.values()]

    def work() -> str:
        done = ""
        if text:
            made = book.add(read_plan(text, now().astimezone(), places, people), by=Author.BUILDER)
            done = f"|gPlanned:|n {plain(made.line)}\n"
        rows = [(str(each.number), f"{plain(each.line)} ({each.state})") for each in book.items]
        if not rows:
            return f"{done}{name} has no plans."
        return f"{done}|w{name}'s plans|n\n{table(('', 'plan'), rows)}"

    return work


def pin(query: Query) -> Callable[[], str]:
    """``@pin``: show the pinned block, pin a line, or remove one."""
    name = query.name
    pinned = query.mind.books.pinned
    text = query.words

    def work() -> str:
        done = ""
        if "remove" in query.options:
            done = f"|gUnpinned:|n {plain(pinned.remove(text))}\n"
        elif text:
            done = f"|gPinned:|n {plain(pinned.add(text))}\n"
        return done + _block(name, pinned)

    return work


def _block(name: str, pinned: Pinned) -> str:
    pins = pinned.items
    shown = len(pinned.shown)
    if not pins:
        return f"Nothing is pinned for {name}."
    rows = [
        f"{number:>3}. {plain(pin.text)}{f' |x(by {name} itself)|n' if pin.own else ''}"
        for number, pin in enumerate(pins, start=1)
    ]
    over = [f"|rOnly {shown} of them are in {name}'s prompt.|n"] if shown < len(pins) else []
    used = sum(len(pin.text) for pin in pins)
    title = f"|w{name}'s pinned block|n ({used:,} of {PINNED_LIMIT:,} characters)"
    return "\n".join([title, *rows, *over])


def rules(books: Sequence[tuple[str, Books]]) -> str:
    """``@rules``: list the open promises and rules of the agents."""
    rows = [
        (name, each.kind.value, plain(each.who), each.number, one_line(each.text, 60))
        for name, book in books
        for each in book.commitments.items
    ]
    shown = table(("Agent", "Kind", "Person", "Memory", "Text"), rows)
    return f"{shown}\n{counted(len(rows), 'line')}" if rows else "No promise or rule is open."


def rules_dropped(books: Sequence[tuple[str, Books]], person: str) -> str:
    """``@rules/drop``: drop one person's promises and rules; KeepsakeError if there are none.

    The plans that only remind an agent of such a promise are dropped, too.
    """
    wanted = person.casefold()

    def theirs(each: Commitment) -> bool:
        return wanted in (each.key.casefold(), each.who.casefold())

    gone = {name: count for name, book in books if (count := _dropped(book, theirs))}
    if not gone:
        raise KeepsakeError(f"No agent has a promise or rule of {plain(person)}", "See @rules")
    counts = ", ".join(f"{name} {count}" for name, count in gone.items())
    return f"|gDropped|n promises and rules of {plain(person)}: {counts}."


def _dropped(book: Books, which: Callable[[Commitment], bool]) -> int:
    return book.close_commitments(which, PlanState.DROPPED, by=Author.BUILDER)
