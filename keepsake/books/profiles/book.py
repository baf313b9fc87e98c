"""The profiles of one agent: markdown files that people may read and edit.

Memories are worked in by number: every profile knows the last one that is in it, and the book
the last one that was sorted. Both are on the disk, the profiles first, so that a crash at any
moment costs doing the same again, which changes nothing.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.journal.entries import Importance
from keepsake.books.profiles.config import PeopleConfig
from keepsake.books.profiles.files import ProfileFiles
from keepsake.books.profiles.observing import within
from keepsake.books.profiles.profile import Profile, ProfileKind
from keepsake.books.profiles.profile_events import ProfileEvents
from keepsake.books.profiles.sorting import Edit, Sorter, SortingContext, Unknown, there
from keepsake.errors import NoteRefused
from keepsake.events.types import MemoryChange
from keepsake.language.fit import name as fit_name
from keepsake.records import files as vault_files
from keepsake.records.store import Report, Tell

MOST_FOUND = 20
"""Profiles that one search brings."""
BY_NAME = "name:"
"""Begins the key of somebody of whom only the name is known."""

type Weigh = Callable[[Memory], Importance]
"""How much a memory matters."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a book has come."""

    through: int = 0  # number of the last memory that is worked in
    # for each key whose file could not be read then, the last that is in that one
    behind: Mapping[str, int] = field(default_factory=dict)
    # what the next memories are understood by
    scene: SortingContext = field(default_factory=SortingContext)


class PeopleBook:
    """All that one agent knows of people, places and things; safe to use from several threads.

    :meth:`known`, :meth:`loaded` and :meth:`names_of` are quick and may be called on the reactor
    thread; all else reads or writes files and belongs in a worker thread.
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
        self._by_name: dict[str, list[str]] = {}
        self._now: dict[str, str] = {}

    # -- quick

    def loaded(self, key: str) -> Profile | None:
        """The profile as it was read last; None for all until the book was opened."""
        return self._files.profile(key)

    def known(self, key: str) -> bool:
        """Whether there is a profile; False for all until the book was opened."""
        return self.loaded(key) is not None

    def names_of(self, key: str) -> tuple[str, ...]:
        """What they were called, the present name first; empty for nobody known."""
        known = self.loaded(key)
        return tuple(each.name for each in reversed(known.names)) if known else ()

    # -- reading

    def open(self) -> None:
        """Learn whom there is; every other blocking method does it when nobody has."""
        self._opened()

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
        return list(self._files.problems().values())

    def look(self) -> None:
        """See which files people have changed."""
        self._opened()
        self._files.scan()

    def profile(self, key: str) -> Profile | None:
        """The profile as its file is now; None for nobody known."""
        self._opened()
        page = self._files.page(key)
        return page.profile if page else None

    def find(self, words: str) -> list[Profile]:
        """Profiles by a name, present or past, by the beginning of one, or by key.

        Those that are called just so come first, and people before places and things.
        """
        wanted = " ".join(words.split()).casefold()
        ranked = [(rank, each) for each in self.all() if (rank := _rank(each, wanted)) is not None]
        ranked.sort(key=lambda each: each[0])
        return [each for _, each in ranked[:MOST_FOUND]] if wanted else []

    def all(self) -> list[Profile]:
        """Everybody and everything, those met last first."""
        self.look()
        return sorted(self._files.all(), key=lambda each: each.last_met, reverse=True)

    # -- writing

    def take(self, memories: Iterable[Memory], own_name: str, importance_of: Weigh) -> int:
        """Work memories in, oldest first; those that are in already change nothing.

        ``memories``: All that the agent lived through after :attr:`through`, in one go or
        in several; what is left out is never worked in.

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
            self._learn_names()
            sorter = Sorter(own_name, self._called, self.known, cursor.scene)
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

    def change(self, key: str, edit: Callable[[Profile], Profile]) -> bool:
        """Change a known profile, asleep; whether anything changed.

        Raises:
            NoteRefused: Its file cannot be read or written.
        """
        events = ProfileEvents(self._agent, "night", gone="superseded")

        def edited(old: Profile | None) -> tuple[Profile, list[MemoryChange]]:
            profile = edit(there(old))
            return self._limited(profile, events.changes(old, profile))

        with self._turn:
            self._opened()
            return self._files.page(key) is not None and self._files.change(key, edited)

    # -- inside; it is one thread's turn

    def _opened(self) -> Cursor:
        with self._turn:
            if self._cursor is None:
                self._files.scan()
                self._files.settle_names()
                self._cursor = _read_cursor(self._cursor_path)
            return self._cursor

    @property
    def _cursor_path(self) -> Path:
        return self.folder / "people" / ".worked_in.json"

    def _advance(self, cursor: Cursor) -> None:
        """Keep the cursor, once the profiles are on the disk, so that nothing is skipped."""
        if cursor != self._cursor:
            text = json.dumps(_record_of(cursor), ensure_ascii=False, default=datetime.isoformat)
            vault_files.change(self._cursor_path, lambda _: f"{text}\n")
            self._cursor = cursor

    def _learn_names(self) -> None:
        """Who is called how now, and who took the place of whom."""
        people = [each for each in self._files.all() if each.kind is ProfileKind.PERSON]
        self._by_name = defaultdict(list)
        for each in people:
            self._by_name[each.name.casefold()].append(each.key)
        self._now = {old: each.key for each in people for old in each.formerly}

    def _called(self, name: str) -> Sequence[str]:
        return self._by_name.get(fit_name(name).casefold(), ())

    def _sorted(
        self, memories: Sequence[Memory], sorter: Sorter, importance_of: Weigh
    ) -> dict[str, list[tuple[int, Edit]]]:
        """What is to be done to each profile."""
        work: dict[str, list[tuple[int, Edit]]] = defaultdict(list)
        for memory in memories:
            if memory.kind is MemoryKind.PERCEPTION and memory.source_id:
                self._take_over(memory, work)
            for key, edit in sorter.edits(memory, importance_of(memory).score):
                # By name alone it may be in the profile of whoever took that name over.
                heir = self.loaded(self._now.get(key, ""))
                if heir is None or memory.number > heir.through:
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
        known = self.loaded(key)
        # What was worked in and is known no more, of a profile thrown away, stays so.
        through = known.through if known else cursor.through
        if key in cursor.behind:
            if first > cursor.behind[key] + 1 or self._files.broken(key):
                return False
        elif first <= cursor.through:
            edits = [(n, edit) for n, edit in edits if n > through]
        if not edits:
            return False
        try:
            changed = self._files.change(key, lambda old: self._edited(key, old, edits))
        except Unknown:  # somebody threw the file away meanwhile
            return False
        except NoteRefused:
            if not self._files.broken(key):  # it is the disk that refuses
                raise
            behind[key] = min(cursor.through, through)
            return False
        behind.pop(key, None)
        return changed

    def _edited(
        self, key: str, old: Profile | None, edits: Iterable[tuple[int, Edit]]
    ) -> tuple[Profile, list[MemoryChange]]:
        profile, worked_in, events = old, 0, ProfileEvents(self._agent, "rules")
        done: list[MemoryChange] = []
        for number, edit in edits:
            before = profile
            if before is not None and number <= before.through:
                continue  # worked in already
            try:
                profile = edit(before)
            except Unknown:  # only said of somebody who is not known any more
                continue
            if profile is not before:
                worked_in, events = worked_in + 1, ProfileEvents(self._agent, "rules", number)
                done.extend(events.changes(before, profile))
        profile = replace(there(profile), key=key)
        if worked_in:
            done.append(events.about(profile, "profile", times=worked_in))
        return self._limited(profile, done)

    def _limited(
        self, profile: Profile, done: Iterable[MemoryChange]
    ) -> tuple[Profile, list[MemoryChange]]:
        """The profile within its limits; what found no room is added to ``done``."""
        kept = within(profile, self._config())
        return kept, [*done, *ProfileEvents(self._agent, "rules").changes(profile, kept)]

    def _take_over(self, memory: Memory, work: dict[str, list[tuple[int, Edit]]]) -> None:
        """The first who comes under a name that was known without an identity is that person."""
        key, old = memory.source_id, f"{BY_NAME}{memory.source}"
        if self.known(key) or key in work or not (self.known(old) or old in work):
            return
        if any(other != old for other in self._called(memory.source)):
            return

        def identified(profile: Profile | None) -> Profile:
            known = there(profile)
            return replace(known, key=key, formerly=(*known.formerly, old))

        if self.known(old):
            events = ProfileEvents(self._agent, "rules", memory.number)
            try:
                self._files.change(
                    old, lambda known: (new := identified(known), list(events.changes(known, new)))
                )
            except NoteRefused:
                if not self._files.broken(old):
                    raise
                return  # it stays by name until somebody mends the file
            self._learn_names()
        else:
            work[old].append((memory.number, identified))
        if old in work:
            work[key] = work.pop(old)

    def _clear_things(self) -> None:
        """Keep no more things than the limit; those not seen for longest go."""
        things = [each for each in self._files.all() if each.kind is ProfileKind.THING]
        surplus = max(len(things) - self._config().things, 0)
        for thing in sorted(things, key=lambda each: each.last_met)[:surplus]:
            if self._files.remove(thing.key):
                self._tell(ProfileEvents(self._agent, "rules").about(thing, "forgotten"))


def _rank(profile: Profile, wanted: str) -> tuple[int, bool] | None:
    """How well a profile answers to a name, best first; None for not at all."""
    other = profile.kind is not ProfileKind.PERSON
    names = [each.name.casefold() for each in reversed(profile.names)]
    if wanted in (profile.key.casefold(), names[0]):
        return 0, other
    if wanted in names:
        return 1, other
    if any(name.startswith(wanted) for name in names):
        return 2, other
    return (3, other) if any(wanted in name for name in names) else None


def _record_of(cursor: Cursor) -> dict[str, Any]:
    """A cursor as it is kept, but for its times."""
    scene = cursor.scene
    kept = {"present": scene.present, "speaker": scene.speaker, "looked_at": scene.looked_at}
    return {"through": cursor.through, "behind": cursor.behind, "scene": kept}


def _read_cursor(path: Path) -> Cursor:
    """The cursor in a file; at the beginning if there is none that can be read.

    To begin anew does no harm: each profile knows what is in it already.
    """
    try:
        data = json.loads(vault_files.read(path) or "{}")
        behind = {str(key): int(number) for key, number in data.get("behind", {}).items()}
        scene = data.get("scene", {})
        time, speaker = datetime.fromisoformat, scene.get("speaker")
        present = ((str(key), str(name), time(at)) for key, name, at in scene.get("present") or ())
        context = SortingContext(
            tuple(present),
            (str(speaker[0]), time(speaker[1])) if speaker else None,
            str(scene.get("looked_at", "")),
        )
        return Cursor(max(int(data.get("through", 0)), 0), behind, context)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Cursor()
