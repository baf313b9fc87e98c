"""The files that one agent keeps beside its memory, and that people read and edit too.

Nothing here knows a world: a game (:class:`keepsake.agent.memory.books.Books`) and a program that
is no game use the same shelf.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from keepsake.archive.log import Archive
from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience, PrivateWords
from keepsake.archive.records import Memory
from keepsake.books.editing import BookEditor, EditableBook, EditedBook
from keepsake.books.entries import JournalEntry, prompt_lines
from keepsake.books.files import Owner
from keepsake.books.journal import BUDGET as JOURNAL_BUDGET
from keepsake.books.journal import SHARE, Journal, importance
from keepsake.books.kept_lines import NOTICED, PINNED, Commitments, Pinned
from keepsake.books.notes import NoteBook
from keepsake.books.people import BUDGET as PEOPLE_BUDGET
from keepsake.books.people import PeopleBook, PromptContext
from keepsake.books.people import lines as people_lines
from keepsake.books.person_line import PersonLine
from keepsake.books.person_page import same_person
from keepsake.books.plans import PLANS, PlanBook
from keepsake.events.types import MemoryChange
from keepsake.happening import Person, PersonId
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import Clock, Tokens

log = get_logger(Subsystem.BOOKS)

CHUNK = 2000
"""How many memories are read from the archive at a time."""


@dataclass(frozen=True, slots=True)
class PageNeeds:
    """What decides which statements of a person a prompt shows.

    Attributes:
        partner: The identity of the person who is answered, who comes first; empty for nobody.
        texts: The summaries, journal and notes of the prompt, whose content is not repeated.
        nearest: The numbers of memories that are near to what is answered, the nearest first.
        shown: The numbers of memories that the prompt shows elsewhere.
    """

    partner: PersonId = ""
    texts: Sequence[str] = ()
    nearest: Sequence[int] = ()
    shown: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Reader:
    """For whom and when the lines of a prompt are chosen.

    Attributes:
        private: Which memories are private.
        first: The first memory of the window; None if there is none.
        prompt_tokens: The most tokens of the whole prompt; 0 if that is not known.
        masked: The numbers of the memories of the window that the prompt does not show in full.
    """

    private: PrivateWords
    first: int | None
    prompt_tokens: int = 0
    masked: frozenset[int] = frozenset()


class Shelf:
    """The notes, pins, promises, plans, journal and pages of people of one agent.

    Args:
        name: The agent's name.
        folder: The agent's folder.
        emit: Takes the event of each change; called in any thread.

    Attributes:
        record: Appends a line to the archive; set when the archive is open.
        closed: Whether the agent is gone or renamed; then no page is written.
        editor: Edits the files as people do, on a page.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        *,
        clock: Clock,
        tokens: Tokens,
        emit: Callable[[MemoryChange], None],
    ) -> None:
        def owner(subsystem: Subsystem = Subsystem.BOOKS) -> Owner:
            report = partial(log.warning, agent=name, subsystem=subsystem)
            return Owner(name, report, emit)

        self.notes = NoteBook(folder / "notes", owner())
        self.pinned = Pinned(folder / PINNED, owner())
        self.commitments = Commitments(folder / NOTICED, owner())
        self.journal = Journal(folder / "journal", owner())
        self.people = PeopleBook(folder, owner(Subsystem.PEOPLE))
        self.record: Callable[[dict[str, Any]], None] = lambda _: None
        self.plans = PlanBook(
            folder / PLANS,
            owner(),
            record=self._record,
            now=lambda: clock.now().astimezone(),
            people=lambda: [Person(each.name, each.key) for each in self.people.known.values()],
        )
        self.editor = BookEditor(
            folder,
            {
                EditableBook.JOURNAL: EditedBook(self.journal.store, self.journal.folder),
                EditableBook.PEOPLE: EditedBook(
                    self.people.store, self.people.folder, check=same_person
                ),
                EditableBook.NOTES: EditedBook(self.notes.store, self.notes.folder),
                EditableBook.PINS: EditedBook(self.pinned.store, folder, frozenset({PINNED})),
                EditableBook.PROMISES: EditedBook(
                    self.commitments.store, folder, frozenset({NOTICED})
                ),
                EditableBook.PLANS: EditedBook(self.plans.store, folder, frozenset({PLANS})),
            },
        )
        self.closed = False
        self._name = name
        self._clock = clock
        self._tokens = tokens
        self._lock = threading.Lock()

    def _record(self, line: dict[str, Any]) -> None:
        self.record(line)

    def read_for_thoughts(self) -> None:
        """Read the files that every thought needs, so that the first does not wait; blocks."""
        _ = self.pinned.shown, self.commitments.items, self.plans.items

    def read_edits(self) -> None:
        """Read files that a person has edited; blocks.

        Each reader checks for edits too. This is for files that are seldom read.
        """
        self.notes.all()
        _ = self.pinned.shown, self.commitments.items
        self.journal.entries()
        self.people.refresh()
        self.plans.adopt()

    def update_people(self, archive: Archive) -> None:
        """Add memories that are not on the pages of people yet; blocks."""
        with self._lock:
            while not self.closed and self.people.through < (newest := archive.last_number):
                first = self.people.through + 1
                self.people.take(archive.read(first, min(newest, first + CHUNK - 1)))

    def importance_of(self, memory: Memory) -> int:
        """Return how important a memory is, 1 to 10; fast, any thread.

        A journal entry about the memory takes precedence over the rules.
        """
        entry = self.journal.entry_about(memory.number)
        return entry.importance if entry is not None else importance(memory, self._name)

    def constraints(self, private: PrivateWords) -> tuple[str, ...]:
        """Return pins, open promises and rules, which prompts have word for word; fast, any thread.

        Promises that rest on private words are left out.
        """
        return (
            *self.pinned.shown,
            *self.commitments.lines(
                None, lambda number: private.may_hear([number], NO_PRIVATE_WORDS)
            ),
        )

    def entries(
        self, reader: Reader, about: Collection[PersonId] = (), words: str = ""
    ) -> tuple[str, ...]:
        """Return the journal entries for a prompt; those that concern the moment come first.

        Args:
            about: The identities of those who are here.
            words: What is answered; empty for nothing.
        """
        budget = max(JOURNAL_BUDGET, reader.prompt_tokens // SHARE)

        def may(entry: JournalEntry) -> bool:
            """Leave out entries that the window covers as a whole, and private entries."""
            numbers = entry.memories
            covered = reader.first and numbers and numbers[0] >= reader.first
            shown = covered and reader.masked.isdisjoint(numbers)
            return not shown and reader.private.may_hear(numbers, audience=NO_PRIVATE_WORDS)

        known = self.journal.known
        now = self._clock.now()
        return prompt_lines(known, budget, now, self._tokens, may, about=about, words=words)

    def pages(
        self,
        present: Sequence[tuple[PersonId, str]],
        reader: Reader,
        audience: Audience,
        needs: PageNeeds,
        *,
        of_old: frozenset[PersonId] = frozenset(),
        near: Collection[str] = (),
    ) -> tuple[PersonLine, ...]:
        """Return a prompt's lines about people, the partner first.

        Args:
            present: The identity and the name of everybody who is here.
            audience: Who hears the answer.
            of_old: Those whom the agent's persona names.
            near: The names of others who are here: words that call them tell the agent nothing.
        """
        # It takes a fifth of the time in which a memory without prompts is imported.
        from keepsake.agent.memory.telling import Shown, calls, told_in  # noqa: PLC0415 - slow

        hears = reader.private.may_hear
        budget = max(PEOPLE_BUDGET, reader.prompt_tokens // SHARE)
        known = {name for page in self.people.known.values() for name in page.names}
        known.update(near, (name for _, name in present))
        called = known - {self._name}

        @cache
        def shown_beside(texts: tuple[str, ...]) -> Shown:
            """Return what the prompt says, with what is written on the page of one person."""
            return Shown((*needs.texts, *texts))

        def told(words: str, name: str) -> str:
            """Return what words tell the agent; empty if nothing, or if they call somebody else."""
            return "" if calls(words, called) else told_in(words, (name, self._name))

        how = PromptContext(
            self._clock.now(),
            self._tokens,
            partial(hears, audience=audience),
            lambda numbers: not hears(numbers, audience=NO_PRIVATE_WORDS),
            reader.first,
            told=told,
            is_said=lambda words, texts: shown_beside(tuple(texts)).says(words),
            nearest=needs.nearest,
            shown=needs.shown,
            of_old=of_old,
        )
        return people_lines(present, self.people, budget, how, needs.partner)
