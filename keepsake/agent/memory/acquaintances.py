"""Whom an agent knows: what it lives through goes into its pages, and back into its prompt.

Pages are files, so they are written and read in worker threads alone. What is new waits a while
for more: a crowd that talks would otherwise write a file with every sentence, and what was said a
moment ago stands in the window anyway. Nothing is lost by that: the book knows the last memory that
it holds, and what is newer is read from the archive.
"""

from __future__ import annotations

import threading
from functools import partial
from random import Random
from typing import Any

from keepsake.agent.agent_log import Complaints, logged
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Alarm, Runtime
from keepsake.agent.surroundings import Life, identity_of, is_agent, people_near
from keepsake.archive.privacy import NOBODY, Audience
from keepsake.archive.records import Memory
from keepsake.books.files import Owner
from keepsake.books.people import PeopleBook, Telling
from keepsake.books.people import lines as people_lines
from keepsake.errors import KeepsakeError

GATHER_SECONDS = (30.0, 60.0)
"""How long what happened waits for more of it before files are written: drawn anew each time, or
all who heard one sentence would write at the same moment. It stands in the window for longer."""
CHUNK = 2000
"""Memories that are read from the archive at once."""


class Acquaintances:
    """The people whom one agent knows; on the reactor thread, but for what is said to block.

    Attributes:
        book: Their pages.
    """

    def __init__(self, life: Life, memory: MemoryComponent, services: Runtime) -> None:
        name, emit = life.name, services.events.emit
        self._trouble = Complaints(f"[People] {name}")
        self.book = PeopleBook(life.folder, Owner(name, self._trouble, emit))
        self._name, self._memory, self._services = name, memory, services
        self._taking = threading.Lock()
        self._alarm = Alarm(services.timer)
        self._open = self._closed = False
        self._drawn = Random(name)

    # -- from what is lived to the pages

    def saw(self, memory: Memory) -> None:
        """Gather a new memory; quick."""
        if memory.repeats > 1:
            return
        if not (self._closed or self._alarm.waits):
            self._alarm.set(self._drawn.uniform(*GATHER_SECONDS), self.catch_up)

    def catch_up(self) -> None:
        """Work in what is not on the pages yet, in a worker thread."""
        if not self._closed:
            self._services.workers.submit(self.settle)

    def settle(self) -> None:
        """Work in all that is not on the pages yet; blocks, never raises."""
        if self._closed:
            return
        with logged(f"{self._name}: The pages of people broke off"), self._taking:
            try:
                self.book.look()
                self._open = True
                archive = self._memory.memory.archive
                while not self._closed and self.book.through < (newest := archive.last_number):
                    first = self.book.through + 1
                    self.book.take(archive.read(first, min(newest, first + CHUNK - 1)))
            except KeepsakeError as error:
                self._trouble(str(error))

    def look(self) -> None:
        """See what a person has changed in the files, once they were read; blocks."""
        if self._open and not self._closed:
            self.book.look()

    def close(self) -> None:
        """The agent is gone, or goes on under another name; what is missing is caught up then."""
        self._closed = True
        self._alarm.cancel()

    # -- from the pages into the prompt

    def lines(self, agent: Any, audience: Audience = NOBODY) -> tuple[str, ...]:
        """What a prompt says of those who are with the agent; quick."""
        services, window = self._services, self._memory.context().window
        if not (budget := services.people.current.for_prompt(services.chat_tokens).budget):
            return ()
        hears = self._memory.private.may_hear_all
        telling = Telling(
            services.clock.now(),
            services.tokens,
            partial(hears, audience=audience),
            lambda numbers: not hears(numbers, audience=NOBODY),
            window[0].number if window else None,
        )
        near = [(identity_of(each), each) for each in people_near(agent)]
        # Of an agent that it has not met yet its persona may tell: they are neighbours.
        told = [each for each in near if not is_agent(each[1]) or self.book.loaded(each[0])]
        present = [(key, person.key) for key, person in told]
        return people_lines(present, self.book, budget, telling)
