"""What one agent keeps in files beside its memory, which people read and change too.

The pages of people are written in worker threads, each minute: a crowd that talks would otherwise
write a file with every sentence. Nothing is lost by that: the book knows the last memory that it
holds, and what is newer is read from the archive.
"""

from __future__ import annotations

import threading
from functools import partial

from keepsake.agent.agent_log import log
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import Body, Life, identity_of, is_agent, people_near
from keepsake.archive.log import Archive
from keepsake.archive.privacy import NOBODY, Audience, PrivateWords
from keepsake.archive.records import Memory
from keepsake.books.entries import JournalEntry, standing
from keepsake.books.files import Owner
from keepsake.books.journal import BUDGET as JOURNAL_BUDGET
from keepsake.books.journal import SHARE, Journal, importance
from keepsake.books.kept_lines import Commitments, Pinned
from keepsake.books.notes import NoteBook
from keepsake.books.people import BUDGET as PEOPLE_BUDGET
from keepsake.books.people import PeopleBook, Telling
from keepsake.books.people import lines as people_lines

CHUNK = 2000
"""Memories that are read from the archive at once."""


class Books:
    """The notes, pins, promises, journal and pages of people of one agent.

    Attributes:
        closed: Whether the agent is gone, or goes on under another name: no page is written.
    """

    def __init__(self, life: Life, services: Runtime) -> None:
        name, folder, emit = life.name, life.folder, services.events.emit

        def owner(of: str) -> Owner:
            return Owner(name, lambda problem: log(f"[{of}] {name}: {problem}"), emit)

        self.notes = NoteBook(folder / "notes", owner("Notes"))
        self.pinned = Pinned(folder / "pinned.md", owner("Notes"))
        self.commitments = Commitments(folder / "noticed.md", owner("Notes"))
        self.journal = Journal(folder / "journal", owner("Journal"))
        self.people = PeopleBook(folder, owner("People"))
        self.closed = False
        self._name, self._services, self._taking = name, services, threading.Lock()

    def look(self) -> None:
        """See what a person has changed in the files; blocks.

        Whatever reads them sees it too: this is for those that nobody reads for a while.
        """
        self.notes.all()
        _ = self.pinned.shown, self.commitments.items
        self.journal.entries()
        self.people.look()

    def settle(self, archive: Archive) -> None:
        """Work in all that is not on the pages of people yet; blocks."""
        with self._taking:
            while not self.closed and self.people.through < (newest := archive.last_number):
                first = self.people.through + 1
                self.people.take(archive.read(first, min(newest, first + CHUNK - 1)))

    def importance_of(self, memory: Memory) -> int:
        """How much a memory matters, 1 to 10; quick, and may be asked in any thread.

        What the journal says of it counts over the rules.
        """
        entry = self.journal.resting_on(memory.number)
        return entry.importance if entry is not None else importance(memory, self._name)

    def journal_lines(
        self, private: PrivateWords, first: int | None, about: str = ""
    ) -> tuple[str, ...]:
        """The entries that a prompt shows now, those about one person first.

        ``about``: The identity of the person who is answered; empty if nobody is.
        """
        services = self._services
        budget = max(JOURNAL_BUDGET, services.chat_tokens // SHARE)

        def may(entry: JournalEntry) -> bool:
            """What the window shows is to be read there; what is private is for nobody else."""
            numbers = entry.memories
            shown = first and numbers and numbers[-1] >= first
            return not shown and private.may_hear(numbers, audience=NOBODY)

        now, tokens = services.clock.now(), services.tokens
        return standing(self.journal.known, budget, now, tokens, may, about)

    def people_lines(
        self, agent: Body, private: PrivateWords, first: int | None, audience: Audience = NOBODY
    ) -> tuple[str, ...]:
        """What a prompt says of those who are with the agent."""
        services, hears = self._services, private.may_hear
        budget = max(PEOPLE_BUDGET, services.chat_tokens // SHARE)
        telling = Telling(
            services.clock.now(),
            services.tokens,
            partial(hears, audience=audience),
            lambda numbers: not hears(numbers, audience=NOBODY),
            first,
        )
        near = [(identity_of(each), each) for each in people_near(agent)]
        # Of an agent that it has not met yet its persona may tell: they are neighbours.
        told = [each for each in near if each[0] in self.people.known or not is_agent(each[1])]
        present = [(key, person.key) for key, person in told]
        return people_lines(present, self.people, budget, telling)
