"""The people whom one agent knows: a markdown file each, which people may read and edit.

Memories are worked in by number: every page knows the last one that is in it, and the book the
last one that it has looked at. Both are on the disk, the pages first, so that a crash at any moment
costs doing the same again, which changes nothing. A page that cannot be read is named and left
alone until somebody mends it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from keepsake.archive.records import BY_RULE, Memory, MemoryKind
from keepsake.books import files as vault_files
from keepsake.books.person_page import (
    LONGEST_LINE,
    PageLine,
    PersonPage,
    parse_page,
    written,
)
from keepsake.books.store import RecordStore, Report, Tell
from keepsake.errors import NoteRefused
from keepsake.events.types import MemoryChange
from keepsake.language.heard import GIVE, RULED, given_to_me, heard, key_of
from keepsake.language.perception import fit_name, for_prompt
from keepsake.names import folder_name

FOLDER = "people"
MEETING = timedelta(hours=1)
"""Two meetings lie at least so far apart."""
MOST_FOUND = 20
"""Pages that one search brings."""
MOST_NAMES = 12
"""Names that a page keeps: the first ones and the newest."""
_LONGEST_KEY = 41
_WORKED_IN = ".worked_in.json"


class PeopleBook:
    """All the people whom one agent knows; safe to use from several threads.

    :meth:`loaded` is quick and may be called on the reactor thread; all else reads or writes files
    and belongs in a worker thread.
    """

    def __init__(
        self,
        folder: Path,
        report: Report = lambda _: None,
        agent: str = "",
        tell: Tell = lambda _: None,
    ) -> None:
        self.folder = folder / FOLDER
        self._agent, self._tell = agent, tell
        self._store = RecordStore(
            lambda path, source, at: parse_page(path, source, at.replace(microsecond=0)),
            lambda _, before, after: self._edited(before, after),
            report,
        )
        self._through: int | None = None
        self._version: int | None = None
        self._paths: dict[str, Path] = {}
        """By key: made anew when a file changed, never changed, so that a reader needs no lock."""

    # -- reading

    def loaded(self, key: str) -> PersonPage | None:
        """The page as it was read last, quick; None for all until the book was opened."""
        path = self._paths.get(key)
        return self._store.known(path) if path else None

    def look(self) -> None:
        """See which files people have changed; every other blocking method does it too."""
        with self._store.lock:
            self._store.look(vault_files.pages(self.folder))
            self._index()

    @property
    def through(self) -> int:
        """Number of the last memory that was looked at; give :meth:`take` all after it."""
        with self._store.lock:
            if self._through is None:
                self.look()
                self._through = _read_cursor(self.folder / _WORKED_IN)
            return self._through

    @property
    def problems(self) -> list[str]:
        """What is wrong with files that cannot be read, one sentence each."""
        self.look()
        doubles = (
            f"{path} is not used: another page has the same key. Remove one"
            for path in self._store.records().keys() - set(self._paths.values())
        )
        return [*self._store.problems().values(), *doubles]

    def page(self, key: str) -> PersonPage | None:
        """The page as its file is now; None for nobody known."""
        self.look()
        return self.loaded(key)

    def find(self, words: str) -> list[PersonPage]:
        """Pages by key or by a part of a name, present or past: whole present names first."""
        wanted = " ".join(words.split()).casefold()
        found = [
            page
            for page in self.all()
            if page.key == wanted or any(wanted in each.casefold() for each in page.names)
        ]
        found.sort(key=lambda page: wanted not in (page.key, page.name.casefold()))
        return found[:MOST_FOUND] if wanted else []

    def all(self) -> list[PersonPage]:
        """Everybody, those met last first."""
        self.look()
        pages = filter(None, map(self.loaded, self._paths))
        return sorted(pages, key=lambda each: each.last_met, reverse=True)

    # -- writing

    def take(self, memories: Iterable[Memory]) -> None:
        """Work memories in; those that are in already change nothing.

        ``memories``: All that the agent lived through after :attr:`through`, in one go or in
        several; what is left out is never worked in.

        Raises:
            NoteRefused: A file could not be written. Nothing is lost: give the same again.
        """
        with self._store.lock:
            through = self.through
            fresh = sorted((m for m in memories if m.number > through), key=lambda m: m.number)
            if not fresh:
                return
            self.look()
            work: dict[str, list[Memory]] = {}
            for memory in fresh:
                if memory.kind is MemoryKind.PERCEPTION and (key := key_of(memory)):
                    work.setdefault(key, []).append(memory)
            for key, found in work.items():
                self._work_in(key, found)
            # Once the pages are on the disk, so that nothing is skipped.
            text = json.dumps({"through": fresh[-1].number})
            vault_files.change(self.folder / _WORKED_IN, lambda _: f"{text}\n")
            self._through = fresh[-1].number

    def conclude(self, key: str, edit: Callable[[PersonPage], PersonPage]) -> None:
        """Change what the agent makes of somebody, asleep.

        Raises:
            NoteRefused: Its file cannot be read or written.
        """
        with self._store.lock:
            self.look()
            if (known := self.loaded(key)) is None:
                return
            old, new = self._write(self._paths[key], lambda page: edit(page or known))
            if old != new:
                self._done("concluded", new, "night", size=len(new.portrait))

    def _work_in(self, key: str, memories: Sequence[Memory]) -> None:
        """Write one page; one that cannot be read is left as it is."""
        path, known = self._path_of(key), self.loaded(key)
        through = known.through if known else 0
        fresh = [each for each in memories if each.number > through]
        if not fresh or path in self._store.problems():
            return
        if path is None:
            name = folder_name(worked_in(None, key, fresh).name)
            path = vault_files.free_name(self.folder / f"{name}-{_suffix(key)}.md")
        old, new = self._write(path, lambda page: worked_in(page, key, fresh))
        if old is None:
            self._done("met", new, "rules", n=fresh[0].number)
        elif old.name != new.name:
            self._done("renamed", new, "rules", n=fresh[0].number)
        self._done("profile", new, "rules", n=fresh[-1].number, times=len(fresh))

    def _write(
        self, path: Path, edit: Callable[[PersonPage | None], PersonPage]
    ) -> tuple[PersonPage | None, PersonPage]:
        old, new = self._store.change(path, lambda _, page: written(edit(page)))
        self._index()
        return old, new

    def _index(self) -> None:
        """Know everybody by key; of two files for one key the one that knows more counts."""
        if self._version == self._store.version:
            return
        self._version = self._store.version
        records = self._store.records(broken=True).items()
        fullest_last = sorted(records, key=lambda each: each[1].through)
        self._paths = {page.key: path for path, page in fullest_last}

    def _path_of(self, key: str) -> Path | None:
        """The file of a page, also of one that cannot be read."""
        end = f"-{_suffix(key)}.md"
        broken = (path for path in self._store.problems() if path.name.endswith(end))
        return self._paths.get(key) or next(broken, None)

    # -- for the event log

    def _edited(self, before: PersonPage | None, after: PersonPage | None) -> None:
        """Tell of what a person has done to a file."""
        if page := after or before:
            op = "forgotten" if after is None else "edit" if before else "met"
            self._done(op, page, "hand")

    def _done(
        self, op: str, page: PersonPage, by: str, *, n: int = 0, size: int = 0, times: int = 1
    ) -> None:
        facts = MemoryChange(agent=self._agent, op=op, n=n, size=size, times=times, by=by)
        self._tell(replace(facts, of="person", about=page.name))


def worked_in(page: PersonPage | None, key: str, memories: Sequence[Memory]) -> PersonPage:
    """The page with what somebody said and did; a new one for nobody known."""
    if page is None:
        first, said = memories[0], heard(memories[0])
        name = fit_name(first.source or (said.who if said else ""))
        page = PersonPage(key, (name,), first.time, first.time)
    for memory in memories:
        time, names = memory.time, page.names
        if memory.source and (name := fit_name(memory.source)) != page.name:
            names = (*names[: MOST_NAMES - 1], name)
        page = replace(
            page,
            names=names,
            first_met=min(page.first_met, time),
            last_met=max(page.last_met, time),
            meetings=page.meetings + (time - page.last_met >= MEETING),
            through=max(page.through, memory.number),
        )
    new = [line for memory in memories if (line := line_of(memory)) is not None]
    return page.with_lines(new)


def line_of(memory: Memory) -> PageLine | None:
    """What somebody said to the agent or to all, gave, or did as a deed of the world."""
    if memory.event in BY_RULE:
        return None
    said = heard(memory)
    if said is not None:
        words = for_prompt(said.words, limit=LONGEST_LINE)
        is_mine = said.to in ("", "you") and any(char.isalnum() for char in words)
        return PageLine(words, (memory.number,), memory.time, True) if is_mine else None
    if memory.event not in (GIVE, *RULED) and not given_to_me(memory):
        return None
    text = for_prompt(memory.text.removeprefix(memory.source), limit=LONGEST_LINE)
    return PageLine(text, (memory.number,), memory.time)


def _suffix(key: str) -> str:
    """What ends a file's name after the person's, so that no two namesakes collide."""
    plain = key.isascii() and key.replace("-", "").isdecimal() and key[0] != "-"
    if plain and len(key) <= _LONGEST_KEY:
        return key
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _read_cursor(path: Path) -> int:
    """How far a book has come; the beginning where that cannot be read, which does no harm."""
    try:
        return max(int(json.loads(vault_files.read(path) or "{}").get("through", 0)), 0)
    except (OSError, ValueError, TypeError, AttributeError, NoteRefused):
        return 0
