"""Whom an agent knows: what it lives through goes into its profiles, and back into its prompt.

Profiles are files, so they are written and read in worker threads alone. What is new is
gathered first: a crowd that talks would otherwise write a file with every sentence, and what
was said a moment ago stands in the window anyway. Nothing is lost by that: the book knows the
last memory that it holds, and what is newer is read from the archive.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from operator import is_
from pathlib import Path
from random import Random
from typing import Any

from game.agent.agent_log import Complaints, log
from game.agent.memory.memory import MemoryComponent
from game.agent.services import Services
from game.agent.surroundings import identity_of, people_near
from game.mind.archive.log import Archive
from game.mind.archive.privacy import NOBODY
from game.mind.archive.records import Memory
from game.mind.books.journal.entries import Importance
from game.mind.books.profiles import shown
from game.mind.books.profiles.book import PeopleBook
from game.mind.books.profiles.config import PeopleConfig
from game.mind.books.profiles.observing import place_key
from game.mind.books.profiles.profile import Profile
from game.mind.books.profiles.shown import Present
from game.mind.errors import KeepsakeError

GATHER_SECONDS = (8.0, 16.0)
"""How long what happened waits for more of it before files are written: drawn anew each time, or
all who heard one sentence would write at the same moment."""
MOST_WAITING = 1024
"""Memories that wait; older ones are read from the archive."""
CHUNK = 2000
"""Memories that are read from the archive at once."""
_place_key = lru_cache(maxsize=1024)(place_key)


@dataclass(frozen=True, slots=True)
class _About:
    """What the lines of a prompt about people depend on."""

    present: tuple[Present, ...]
    known: Sequence[Profile | None]
    config: PeopleConfig
    minute: datetime

    def same_as(self, other: _About) -> bool:
        """Whether they would be the same; profiles are never changed, only replaced."""
        return (self.present, self.config, self.minute) == (
            other.present,
            other.config,
            other.minute,
        ) and all(map(is_, self.known, other.known))


class Acquaintances:
    """The profiles of one agent; on the reactor thread, but for what is said to block.

    Attributes:
        book: The profiles.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        memory: MemoryComponent,
        services: Services,
        *,
        importance_of: Callable[[Memory], Importance],
        home: Callable[[], str],
    ) -> None:
        self._trouble = Complaints(f"[People] {name}")
        self.book = PeopleBook(
            folder, lambda: services.people.current, self._trouble, name, services.events.emit
        )
        self.importance_of, self._home = importance_of, home
        self._name, self._memory, self._services = name, memory, services
        self._waiting: deque[Memory] = deque(maxlen=MOST_WAITING)
        self._new: set[str] = set()
        """Whom and what it has met since the server started, in the book or not yet."""
        self._taking = threading.Lock()
        self._alarm: Any = None
        self._open = self._closed = False
        self._drawn = Random(name)
        self._shown: tuple[_About, tuple[str, ...]] | None = None

    # -- from what is lived to the profiles

    def saw(self, memory: Memory) -> None:
        """Gather a new memory; quick."""
        if memory.repeats > 1:
            return
        self._waiting.append(memory)
        self._new.update(key for key in (memory.source_id, _place(memory)) if key)
        if self._alarm is None and not self._closed:
            self._alarm = self._services.timer.callLater(
                self._drawn.uniform(*GATHER_SECONDS), self._gathered
            )

    def _gathered(self) -> None:
        self._alarm = None
        self.catch_up()

    def catch_up(self) -> None:
        """Work in what is not in the profiles yet, in a worker thread."""
        if not self._closed:
            self._services.learners.submit(self.settle)

    def settle(self) -> None:
        """Work in all that is not in the profiles yet; blocks, never raises.

        After this the profiles hold whatever has happened, for somebody who wants to see them.
        """
        if self._closed:
            return
        try:
            with self._taking:
                self._settle()
        except KeepsakeError as error:
            self._trouble(str(error))
        except Exception as error:
            # Nobody looks at the future: without this line nobody would ever hear of it.
            log(f"[Error] {self._name}: Profiles broke off: {error!r}")

    def _settle(self) -> None:
        self.book.open()
        self._open = True
        for chunk in self._chunks(self._memory.memory.archive):
            if self._closed:
                return
            self.book.take(chunk, self._name, self.importance_of)

    def _chunks(self, archive: Archive) -> Iterator[list[Memory]]:
        """What is newer than the book, oldest first; from RAM if it is all there."""
        waiting = []
        while self._waiting:
            waiting.append(self._waiting.popleft())
        first = self.book.through + 1
        end = waiting[0].number if waiting else archive.last_number + 1
        while first < end:
            last = min(first + CHUNK, end) - 1
            yield archive.read(first, last)
            first = last + 1
        if waiting:
            yield waiting

    def look(self) -> None:
        """See what a person has changed in the files, once they were read; blocks."""
        if self._open and not self._closed:
            self.book.look()

    def close(self) -> None:
        """The agent is gone, or goes on under another name; what is missing is caught up then."""
        self._closed = True
        if self._alarm is not None and self._alarm.active():
            self._alarm.cancel()
        self._alarm = None

    # -- who is known

    def met(self, key: str) -> bool:
        """Whether it has met somebody of that identity; quick.

        Until the book is open it is not known, and taken for true: to take a friend for a
        stranger is worse than the other way round.
        """
        return not self._open or key in self._new or self.book.known(key)

    def been(self, place: str) -> bool:
        """Whether it has been in a place of that name, or lives there; quick, see :meth:`met`."""
        return place == self._home() or self.met(_place_key(place))

    # -- from the profiles into the prompt

    def lines(self, agent: Any) -> tuple[str, ...]:
        """What a prompt says of those who are with the agent, and of the place; quick."""
        config = self._services.people.current
        if not config.budget:
            return ()
        present, now = tuple(present_with(agent)), self._services.clock.now()
        known = [self.book.loaded(each.key) for each in present]
        about = _About(present, known, config, now.replace(second=0, microsecond=0))
        # A thought that is thought again, or in an empty room, says the same again.
        if self._shown is None or not self._shown[0].same_as(about):
            may = partial(self._memory.private.may_hear_all, audience=NOBODY)
            lines = shown.lines(present, self.book, config, now, self._services.tokens, may)
            self._shown = about, lines
        return self._shown[1]


def present_with(agent: Any) -> list[Present]:
    """Whoever is in the agent's room, and the room."""
    here = [Present(identity_of(person), person.key) for person in people_near(agent)]
    if agent.location is not None:
        place, home = agent.location.key, agent.location is agent.home
        here.append(Present(_place_key(place), place, home=home))
    return here


def _place(memory: Memory) -> str:
    return _place_key(memory.place) if memory.place else ""
