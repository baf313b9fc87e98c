"""The profiles of one agent: markdown files that people may read and edit.

Memories are worked in by number: every profile knows the last one that is in it, and the book
the last one that was sorted. Both are on the disk, the profiles first, so that a crash at any
moment costs doing the same again, which changes nothing.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from game.mind.archive.records import Memory, MemoryKind
from game.mind.books.journal.entries import Importance
from game.mind.books.profiles.config import PeopleConfig
from game.mind.books.profiles.cursor import Cursor, read_cursor, write_cursor
from game.mind.books.profiles.files import ProfileFiles
from game.mind.books.profiles.name_index import Light, NameIndex, answering, light
from game.mind.books.profiles.observing import within
from game.mind.books.profiles.page import PageUnreadable
from game.mind.books.profiles.profile import Profile, ProfileKind
from game.mind.books.profiles.profile_events import ProfileEvents
from game.mind.books.profiles.sorting import Edit, Sorter, Unknown
from game.mind.events.types import MemoryChange
from game.mind.records.store import Report, Tell

MOST_FOUND = 20
"""Profiles that one search brings."""
BY_NAME = "name:"
"""Begins the key of somebody of whom only the name is known."""

__all__ = ["BY_NAME", "Light", "PeopleBook", "Weigh"]

type Weigh = Callable[[Memory], Importance]
"""How much a memory matters."""


class PeopleBook:
    """All that one agent knows of people, places and things; safe to use from several threads.

    :meth:`known`, :meth:`loaded`, :meth:`head` and :meth:`names_of` are quick and may be called
    on the reactor thread; all else reads or writes files and belongs in a worker thread.
    """

    def __init__(
        self,
        folder: Path,
        config: Callable[[], PeopleConfig] = PeopleConfig,
        report: Report = lambda _: None,
        agent: str = "",
        tell: Tell = lambda _: None,
    ) -> None:
        self.folder = folder
        self._config = config
        self._agent, self._tell = agent, tell
        self._files = ProfileFiles(folder, report, agent, tell)
        self._turn = threading.RLock()
        self._cursor: Cursor | None = None
        self._name_index = NameIndex()

    # -- quick

    def loaded(self, key: str) -> Profile | None:
        """The profile if it is in RAM."""
        return self._files.loaded(key)

    def known(self, key: str) -> bool:
        """Whether there is a profile; False for all until the book was opened."""
        return self._files.head(key) is not None

    def head(self, key: str) -> Profile | None:
        """The profile without facts, observations and conclusions, which is always in RAM."""
        return self._files.head(key)

    def names_of(self, key: str) -> tuple[str, ...]:
        """What they were called, the present name first; empty for nobody known."""
        head = self._files.head(key)
        return tuple(each.name for each in reversed(head.names)) if head else ()

    # -- reading

    def open(self) -> None:
        """Learn whom there is; every other blocking method does it when nobody has."""
        with self._turn:
            if self._cursor is None:
                self._files.scan()
                self._files.settle_names()
                self._name_index.all(self._files.heads())
                self._cursor = read_cursor(self._cursor_path)

    @property
    def through(self) -> int:
        """Number of the last memory that is worked in everywhere.

        It falls back when a file that could not be read is mended: what came meanwhile is
        still to be worked into that one. Give :meth:`take` all memories after this one.
        """
        with self._turn:
            cursor = self._opened()
            mended = [n for key, n in cursor.behind.items() if not self._files.broken(key)]
            return min([cursor.through, *mended])

    @property
    def problems(self) -> list[str]:
        """What is wrong with files that cannot be read, one sentence each."""
        self.look()
        return self._files.problems()

    def look(self) -> None:
        """See which files people have changed."""
        self._opened()
        self._files.scan()

    def profile(self, key: str) -> Profile | None:
        """The profile as its file is now; None for nobody known."""
        self._opened()
        page = self._files.page(key)
        return page.profile if page else None

    def load(self, keys: Iterable[str]) -> None:
        """Have these profiles in RAM as their files are now; unknown keys are passed over."""
        for key in keys:
            self.profile(key)

    def find(self, words: str) -> list[Profile]:
        """Profiles by a name, present or past, by the beginning of one, or by key.

        Those that are called just so come first, and people before places and things.
        """
        self._opened()
        self._files.scan()
        best = answering(self._files.heads(), words)[:MOST_FOUND]
        found = (self.profile(head.key) for head in best)
        return [profile for profile in found if profile is not None]

    def all(self, now: datetime | None = None) -> list[Light]:
        """Everybody and everything, those met last first."""
        self._opened()
        self._files.scan()
        heads = sorted(self._files.heads(), key=lambda head: head.last_met, reverse=True)
        return [light(head, now) for head in heads]

    # -- writing

    def take(self, memories: Iterable[Memory], own_name: str, importance_of: Weigh) -> int:
        """Work memories in, oldest first; those that are in already change nothing.

        Args:
            memories: All that the agent lived through after :attr:`through`, in one go or in
                several; what is left out is never worked in.
            own_name: The agent's name.
            importance_of: How much each matters.

        Returns:
            How many profiles changed.

        Raises:
            NoteRefused: A file could not be written. Nothing is lost: give the same again.
        """
        with self._turn:
            cursor = self._opened()
            start = min([cursor.through, *cursor.behind.values()])
            fresh = sorted((m for m in memories if m.number > start), key=lambda m: m.number)
            if not fresh:
                return 0
            sorter = Sorter(own_name, self._name_index.of, self.known, cursor.scene)
            work = self._sorted(fresh, sorter, importance_of)
            behind = dict(cursor.behind)
            changed = sum(
                self._work_in(key, edits, fresh[0].number, cursor, behind)
                for key, edits in work.items()
            )
            through = max(cursor.through, fresh[-1].number)
            mended = [key for key in behind if key not in work and not self._files.broken(key)]
            for key in mended:  # nothing in between was about them
                if fresh[0].number <= behind[key] + 1:
                    del behind[key]
            self._advance(Cursor(through, behind, sorter.scene(fresh[-1].time)))
            if changed:
                self._clear_things()
            return changed

    def change(self, key: str, edit: Callable[[Profile], Profile], *, by: str = "night") -> bool:
        """Change a known profile; whether anything changed.

        Raises:
            NoteRefused: Its file cannot be read or written.
        """
        with self._turn:
            self._opened()
            if self._files.page(key) is None:
                return False
            done: list[MemoryChange] = []

            def edited(old: Profile | None) -> Profile:
                done.clear()  # it may be asked again
                doing, profile = ProfileEvents(self._agent, by, gone="superseded"), edit(_sure(old))
                done.extend(doing.changes(old, profile))
                return self._limited(profile, done)

            changed = self._files.change(key, edited)
            self._tell_if(changed, done)
            return changed

    def _tell_if(self, changed: bool, done: Iterable[MemoryChange]) -> None:
        """Have the event log told, once it is on the disk."""
        if changed:
            for each in done:
                self._tell(each)

    def _opened(self) -> Cursor:
        if self._cursor is None:
            self.open()
        assert self._cursor is not None
        return self._cursor

    @property
    def _cursor_path(self) -> Path:
        return self.folder / "people" / ".worked_in.json"

    def _advance(self, cursor: Cursor) -> None:
        if cursor != self._cursor:
            write_cursor(self._cursor_path, cursor)
            self._cursor = cursor

    def _sorted(
        self, memories: Sequence[Memory], sorter: Sorter, importance_of: Weigh
    ) -> dict[str, list[tuple[int, Edit]]]:
        """What is to be done to each profile."""
        work: dict[str, list[tuple[int, Edit]]] = defaultdict(list)
        for memory in memories:
            if memory.kind is MemoryKind.PERCEPTION and memory.source_id:
                self._take_over(memory, work)
            for key, edit in sorter.edits(memory, importance_of(memory).score):
                if not self._is_in(key, memory):
                    work[key].append((memory.number, edit))
        return work

    def _work_in(
        self,
        key: str,
        edits: Sequence[tuple[int, Edit]],
        first: int,
        cursor: Cursor,
        behind: dict[str, int],
    ) -> bool:
        """Write one profile; one that cannot be read, or lacks what came before, has to wait."""
        if key in cursor.behind:
            if first > cursor.behind[key] + 1 or self._files.broken(key):
                return False
        elif first <= cursor.through:
            edits = [(n, edit) for n, edit in edits if n > self._in_already(key, cursor)]
        if not edits:
            return False
        done: list[MemoryChange] = []

        def edited(old: Profile | None) -> Profile:
            done.clear()  # it may be asked again
            return self._edited(key, old, edits, done)

        try:
            changed = self._files.change(key, edited)
        except Unknown:  # somebody threw the file away meanwhile
            return False
        except PageUnreadable:
            head = self._files.head(key)
            behind[key] = min(cursor.through, head.through if head else cursor.through)
            return False
        behind.pop(key, None)
        self._name_index.met(self._files.head(key))
        self._tell_if(changed, done)
        return changed

    def _in_already(self, key: str, cursor: Cursor) -> int:
        """What was worked in and is known no more, of a profile thrown away, stays so."""
        head = self._files.head(key)
        return head.through if head else cursor.through

    def _edited(
        self,
        key: str,
        old: Profile | None,
        edits: Sequence[tuple[int, Edit]],
        done: list[MemoryChange],
    ) -> Profile:
        profile, worked_in, last = old, 0, 0
        for number, edit in edits:
            before = profile
            try:
                profile = edit(before)
            except Unknown:  # only said of somebody who is not known any more
                continue
            if profile is not before:
                worked_in, last = worked_in + 1, number
                done.extend(ProfileEvents(self._agent, "rules", number).changes(before, profile))
        if profile is None:
            raise Unknown
        profile = replace(profile, key=key)
        if worked_in:
            doing = ProfileEvents(self._agent, "rules", last)
            done.append(doing.about(profile, "profile", times=worked_in))
        return self._limited(profile, done)

    def _limited(self, profile: Profile, done: list[MemoryChange]) -> Profile:
        """The profile within its limits; what found no room is added to ``done``."""
        kept = within(profile, self._config())
        done.extend(ProfileEvents(self._agent, "rules").changes(profile, kept))
        return kept

    def _take_over(self, memory: Memory, work: dict[str, list[tuple[int, Edit]]]) -> None:
        """The first who comes under a name that was known without an identity is that person."""
        key, old = memory.source_id, f"{BY_NAME}{memory.source}"
        if self.known(key) or key in work or not (self.known(old) or old in work):
            return
        if any(other != old for other in self._name_index.of(memory.source)):
            return

        def identified(profile: Profile | None) -> Profile:
            known = _sure(profile)
            return replace(known, key=key, formerly=(*known.formerly, old))

        if self.known(old):
            try:
                changed = self._files.change(old, identified)
            except PageUnreadable:
                return  # it stays by name until somebody mends it
            self._name_index.all(self._files.heads())
            if changed and (head := self._files.head(key)) is not None:
                self._tell(ProfileEvents(self._agent, "rules", memory.number).about(head, "merged"))
        else:
            work[old].append((memory.number, identified))
        if old in work:
            work[key] = work.pop(old)

    def _is_in(self, key: str, memory: Memory) -> bool:
        """Whether a memory by name alone is in the profile of whoever took that name over."""
        head = self._files.head(self._name_index.now(key))
        return head is not None and memory.number <= head.through

    def _clear_things(self) -> None:
        """Keep no more things than the limit; those not seen for longest go."""
        things = [head for head in self._files.heads() if head.kind is ProfileKind.THING]
        surplus = len(things) - self._config().things
        for head in sorted(things, key=lambda each: each.last_met)[: max(surplus, 0)]:
            if self._files.remove(head.key):
                self._tell(ProfileEvents(self._agent, "rules").about(head, "forgotten"))


def _sure(profile: Profile | None) -> Profile:
    if profile is None:
        raise Unknown
    return profile
