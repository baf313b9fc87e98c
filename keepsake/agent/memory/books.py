"""The files that one agent keeps beside its memory, and that people read and edit too.

Worker threads write the pages of people once a minute. Otherwise a talking crowd would write a
file with every sentence. Nothing is lost: the book knows the last memory that it contains, and
newer ones are read from the archive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from keepsake.agent.memory.telling import Shown, calls, told_in
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import AgentRef, Body, identity_of, is_agent, name_of, people_near
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
from keepsake.books.person_page import same_person
from keepsake.books.plans import PLANS, PlanBook
from keepsake.happening import PersonId
from keepsake.language.perception import names
from keepsake.logs import Subsystem, get_logger

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


class Books:
    """The notes, pins, promises, plans, journal and pages of people of one agent.

    Attributes:
        closed: Whether the agent is gone or renamed; then no page is written.
        editor: Edits the files as people do, on a page.
    """

    def __init__(self, ref: AgentRef, services: Runtime) -> None:
        name = ref.name
        folder = ref.folder
        emit = services.events.emit

        def owner(subsystem: Subsystem = Subsystem.BOOKS) -> Owner:
            report = partial(log.warning, agent=name, subsystem=subsystem)
            return Owner(name, report, emit)

        self.notes = NoteBook(folder / "notes", owner())
        self.pinned = Pinned(folder / PINNED, owner())
        self.commitments = Commitments(folder / NOTICED, owner())
        self.journal = Journal(folder / "journal", owner())
        self.people = PeopleBook(folder, owner(Subsystem.PEOPLE))
        # Appends a line to the archive; set by the memory when it has opened the archive.
        self.record: Callable[[dict[str, Any]], None] = lambda _: None
        self.plans = PlanBook(
            folder / PLANS,
            owner(),
            record=self._record,
            now=lambda: services.clock.now().astimezone(),
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
        self._services = services
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

    def journal_lines(
        self,
        private: PrivateWords,
        first: int | None,
        about: Collection[PersonId] = (),
        words: str = "",
    ) -> tuple[str, ...]:
        """Return the journal entries for a prompt; those that concern the moment come first.

        Args:
            private: Which memories are private.
            first: The first memory of the window; None if there is none.
            about: The identities of those who are here.
            words: What is answered; empty for nothing.
        """
        services = self._services
        budget = max(JOURNAL_BUDGET, services.limits.prompt_tokens // SHARE)

        def may(entry: JournalEntry) -> bool:
            """Leave out entries that the window covers as a whole, and private entries."""
            numbers = entry.memories
            shown = first and numbers and numbers[0] >= first
            return not shown and private.may_hear(numbers, audience=NO_PRIVATE_WORDS)

        now = services.clock.now()
        tokens = services.tokens
        known = self.journal.known
        return prompt_lines(known, budget, now, tokens, may, about=about, words=words)

    def _told_by(self, known: Collection[str], words: str, name: str) -> str:
        """Return what words tell the agent; empty if they tell nothing, or call somebody else.

        Args:
            known: The names of people, who may be called.
            name: Who said it.
        """
        called = calls(words, (each for each in known if each != self._name))
        return "" if called else told_in(words, (name, self._name))

    def people_lines(
        self,
        agent: Body,
        private: PrivateWords,
        first: int | None,
        audience: Audience,
        needs: PageNeeds,
    ) -> tuple[str, ...]:
        """Return a prompt's lines about the people who are with the agent, the partner first.

        Agents without a memory know nothing of people.
        """
        services = self._services
        if not services.thinking.current.memory:
            return ()
        hears = private.may_hear
        budget = max(PEOPLE_BUDGET, services.limits.prompt_tokens // SHARE)
        near = [(identity_of(each), each) for each in people_near(agent)]
        known = {name for page in self.people.known.values() for name in page.names}
        known.update(name_of(person, agent) for _, person in near)
        profile = str(agent.db.profile or "")
        how = PromptContext(
            services.clock.now(),
            services.tokens,
            partial(hears, audience=audience),
            lambda numbers: not hears(numbers, audience=NO_PRIVATE_WORDS),
            first,
            told=partial(self._told_by, known),
            is_said=lambda words, texts: Shown((*needs.texts, *texts)).says(words),
            nearest=needs.nearest,
            shown=needs.shown,
            # Its profile names its neighbours. A player who takes such a name is a stranger.
            of_old=frozenset(
                key
                for key, person in near
                if is_agent(person) and names(profile, name_of(person, agent))
            ),
        )
        # Skip agents that it has not met: its persona may describe them, as neighbours.
        told = [each for each in near if each[0] in self.people.known or not is_agent(each[1])]
        present = [(key, name_of(person, agent)) for key, person in told]
        return people_lines(present, self.people, budget, how, needs.partner)
