"""Where an agent's books have a fact: pages about people, notes, journal, pins, promises, plans.

They outlive the window and no compaction touches them, so an agent may know from them what its
summaries do not say. Runs in a view's thread, because it reads files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice

from keepsake.agent.memory.books import Books
from keepsake.archive.records import Memory
from keepsake.books.editing import EditableBook
from keepsake.language.perception import sentences
from keepsake.tracing.content import Content, Rarity
from keepsake.tracing.facts import Fact
from keepsake.tracing.wording import Wording
from keepsake.web.people.agents import KnownAgent
from keepsake.web.privacy import Privacy, kept_by
from keepsake.web.shapes import Shape

type Says = Callable[[str, Sequence[int]], bool]
"""Returns whether a text of a book says a fact; it rests on the memories of these numbers."""

MOST = 12
"""The most places of one agent that are named."""


class NotedView(Shape):
    """A place in an agent's books that has a fact."""

    id: int
    """The agent's number."""
    agent: str
    book: EditableBook
    title: str
    """The name of the person, the title of the note; empty for the other books."""
    text: str
    """What stands there."""
    numbers: tuple[int, ...]
    """The memories that it rests on; empty if that is not known."""
    time: datetime | None
    """When it was said or written; null if the book does not say."""
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""


def noted(
    agents: Sequence[KnownAgent], fact: Fact, wording: Wording | None, begun: Memory | None
) -> Iterator[NotedView]:
    """Yield the places of agents' books that have a fact, those of every prompt first.

    Args:
        fact: The fact, as it was followed.
        wording: The words that were followed; None if a memory was.
        begun: That memory.
    """
    known = {each.agent: frozenset(each.memories) for each in fact.knowers}
    content = Content(begun.words or begun.text if begun else "", Rarity())
    for agent in agents:
        own = known.get(str(agent.id), frozenset[int]())

        def says(text: str, numbers: Sequence[int], own: frozenset[int] = own) -> bool:
            if not own.isdisjoint(numbers):
                return True
            if wording is not None:
                return wording.is_said_in(text)
            return content.is_verbatim_in(text)

        yield from islice(_noted(agent, says), MOST)


def _noted(agent: KnownAgent, says: Says) -> Iterator[NotedView]:
    if agent.mind is None:
        return
    private = agent.mind.memory.private
    books = agent.mind.books
    books.people.refresh()
    books.update_people(agent.mind.memory.memory.archive)  # what happened a moment ago
    for book, title, text, numbers, time in places_in(books):
        if text and says(text, numbers):
            yield NotedView(
                id=agent.id,
                agent=agent.name,
                book=book,
                title=title,
                text=text,
                numbers=numbers,
                time=time,
                private=kept_by(private, numbers),
            )


type Place = tuple[EditableBook, str, str, tuple[int, ...], datetime | None]
"""A place in a book: which book, the name of the person or note, what stands there, the memories
that it rests on, and when it was said or written."""


def places_in(books: Books) -> Iterator[Place]:
    """Yield all places in an agent's books, those of every prompt first; reads files."""
    yield from _always(books)
    yield from _written(books)


def _always(books: Books) -> Iterator[Place]:
    """Yield what stands in every prompt of an agent."""
    for pin in books.pinned.items:
        yield EditableBook.PINS, "", pin.text, (), None
    for each in books.commitments.items:
        yield EditableBook.PROMISES, each.who, each.text, _numbers(each.number), None
    for plan in books.plans.current:
        yield EditableBook.PLANS, "", plan.line, _numbers(plan.since), None


def _numbers(number: int) -> tuple[int, ...]:
    return (number,) if number else ()


def _written(books: Books) -> Iterator[Place]:
    """Yield what stands on pages about people, in notes and in the journal of an agent."""
    for page in books.people.known.values():
        for line in page.lines:
            yield EditableBook.PEOPLE, page.name, line.text, line.numbers, line.time
        own = (sentence for text in (page.portrait, *page.by_hand) for sentence in sentences(text))
        yield from ((EditableBook.PEOPLE, page.name, text, (), None) for text in own)
    for note in books.notes.all():
        lines = note.text.splitlines()
        yield from ((EditableBook.NOTES, note.title, text, (), note.updated) for text in lines)
    for entry in reversed(books.journal.known):
        yield EditableBook.JOURNAL, "", entry.text, entry.memories, entry.time
