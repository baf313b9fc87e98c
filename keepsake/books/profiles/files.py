"""The files of an agent's profiles: all that is in them is in RAM once they were scanned.

A file is read again when it changed. Of two files for one key the one that knows more counts.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from keepsake.books.profiles.page import Page, parse_page, rewritten
from keepsake.books.profiles.profile import Profile, ProfileKind
from keepsake.books.profiles.profile_events import ProfileEvents
from keepsake.events.types import MemoryChange
from keepsake.names import folder_name
from keepsake.records import files as vault_files
from keepsake.records.store import RecordStore, Report, Tell

FOLDERS = {ProfileKind.PERSON: "people", ProfileKind.PLACE: "places", ProfileKind.THING: "things"}

_MADE_NAME = re.compile(r"[A-Za-z-]{0,80}_(?:[0-9a-f]{16})?")
"""What :func:`folder_name` made of a name that no file can have; not to be done twice."""
_PLAIN_KEY = re.compile(r"[0-9][0-9-]{0,40}")

type Change = Callable[[Profile | None], tuple[Profile, Iterable[MemoryChange]]]
"""Makes the new profile of the old one, None for nobody known; and what the event log is told."""
type _Known = tuple[Path, Page]


class ProfileFiles:
    """All profiles of one agent; safe to use from several threads."""

    def __init__(self, folder: Path, report: Report, agent: str, tell: Tell) -> None:
        self.folder = folder
        self._report, self._tell = report, tell
        self._by_hand = ProfileEvents(agent, "hand")
        self._lock = threading.RLock()
        self._store = RecordStore(
            lambda path, source, at: parse_page(path, source, at.replace(microsecond=0)),
            report=report,
        )
        self._version: int | None = None
        self._scanned = False
        self._known: dict[str, _Known] = {}
        """By key: made anew when a file changed, never changed, so that a reader needs no lock."""
        self._doubles: dict[Path, str] = {}

    # -- quick, from RAM

    def profile(self, key: str) -> Profile | None:
        """The profile as it was read last; None for nobody known."""
        known = self._known.get(key)
        return known[1].profile if known else None

    def all(self) -> list[Profile]:
        """Everybody and everything, as :meth:`profile`."""
        return [page.profile for _, page in self._known.values()]

    def problems(self) -> dict[Path, str]:
        """What is wrong with files that cannot be read, one sentence each."""
        return self._store.problems() | self._doubles

    # -- blocking

    def scan(self) -> None:
        """Look at all the files, and read those that changed."""
        found = [self.folder / name for name in FOLDERS.values()]
        paths = [path for folder in found for path in sorted(folder.glob("*.md"))]
        with self._lock:
            self._update(lambda: self._store.look([path for path in paths if path.name[0] != "."]))
            self._scanned = True

    def settle_names(self) -> None:
        """Call files by present names where a crash left them under former ones."""
        with self._lock:
            for path, page in self._known.values():
                if path.name in _former_names(page.profile):
                    self._rename(path, page.profile)
            self._index()

    def page(self, key: str) -> Page | None:
        """The page as its file is now; None if there is none, or it cannot be read."""
        with self._lock:
            if (known := self._known.get(key)) is None:
                return None
            if known[0].exists():
                self._update(lambda: self._store.refresh(known[0]))
            else:  # moved, or thrown away
                self.scan()
            path, page = self._known.get(key) or (None, None)
            return None if path in self._store.problems() else page

    def change(self, key: str, edit: Change) -> bool:
        """Write what ``edit`` makes of a profile, and tell of it; whether anything changed.

        Args:
            key: Whose; ``edit`` may give it another key, which it has from then on.
            edit: It may be called again if a person saves the file meanwhile.

        Raises:
            NoteRefused: There is a file that cannot be read, or it could not be written.
        """
        with self._lock:
            page, edited = self.page(key), None
            if page is not None:
                edited = edit(page.profile)
                if edited[0] == page.profile:
                    return False
            if (path := self._path_of(key)) is None:
                edited = edit(None)
                path = self._new_path(edited[0])
            done: list[MemoryChange] = []

            def make(_: str | None, old: Page | None) -> tuple[str, Page]:
                known = old.profile if old else None
                profile, events = edit(known) if edited is None or old is not page else edited
                done[:] = events
                page_now, now = Page(profile, old.by_hand if old else {}), datetime.now(UTC)
                return rewritten(page_now, known, now.replace(microsecond=0))

            old, new = self._store.change(path, make)
            if page and old and old is not page:  # saved after it was looked at a moment ago
                self._changed_by_hand(page, old)
            if old and path.name == file_name(old.profile):
                self._rename(path, new.profile)
            self._index()
        for each in done:  # once it is on the disk
            self._tell(each)
        return True

    def remove(self, key: str) -> bool:
        """Throw a profile away, unless a person has written into it."""
        with self._lock:
            page, path = self.page(key), self._path_of(key)
            if page is None or path is None or page.by_hand or page.profile.conclusions:
                return False
            self._store.remove(path)
            self._index()
            return True

    def broken(self, key: str) -> bool:
        """Whether there is a file for ``key`` that cannot be read now."""
        with self._lock:
            path = self._path_of(key)
            if path is not None and path in self.problems():
                self._update(lambda: self._store.refresh(path))
            return any(self._is_for(path, key) for path in self.problems())

    # -- the lock is held

    def _index(self) -> None:
        """Know everybody by key."""
        if self._version == self._store.version:
            return
        self._version = self._store.version
        found: dict[str, _Known] = {}
        records = self._store.records(broken=True)
        for path, page in records.items():
            other = found.get(page.profile.key)
            if other is None or page.profile.through > other[1].profile.through:
                found[page.profile.key] = path, page
        doubles = {
            path: f"{path} is not used: {found[page.profile.key][0].name} has the same key"
            for path, page in records.items()
            if found[page.profile.key][0] != path
        }
        for path, problem in doubles.items():
            if self._doubles.get(path) != problem:
                self._report(problem)
        self._known, self._doubles = found, doubles

    def _update(self, look: Callable[[], object]) -> None:
        """Look at files, and have the event log told of what a person has changed in them."""
        was = self._known
        look()
        self._index()
        if not self._scanned or self._known is was:
            return
        for key, (_, page) in self._known.items():
            if key not in was:
                self._tell(self._by_hand.about(page.profile, "met"))
            elif was[key][1] is not page:
                self._changed_by_hand(was[key][1], page)
        for key in was.keys() - self._known.keys():
            self._tell(self._by_hand.about(was[key][1].profile, "forgotten"))

    def _changed_by_hand(self, before: Page, after: Page) -> None:
        done = [*self._by_hand.changes(before.profile, after.profile)]
        for each in done or [self._by_hand.about(after.profile, "edit")]:
            self._tell(each)

    def _path_of(self, key: str) -> Path | None:
        if known := self._known.get(key):
            return known[0]
        return next((path for path in self.problems() if self._is_for(path, key)), None)

    def _is_for(self, path: Path, key: str) -> bool:
        known = self._known.get(key)
        if known is not None and known[0] == path:
            return True
        suffix = _suffix(key)
        return path.stem.endswith(f"-{suffix}") if suffix else path.name == f"{_plain(key)}.md"

    def _new_path(self, profile: Profile) -> Path:
        return vault_files.free_name(self.folder / FOLDERS[profile.kind] / file_name(profile))

    def _rename(self, path: Path, profile: Profile) -> None:
        """Call a file by the present name, unless that is taken."""
        target = path.with_name(file_name(profile))
        if target != path:
            self._store.rename(path, target)


def file_name(profile: Profile) -> str:
    """``Tom-12-20261121103000.md``: the present name, and the key, so that no two collide."""
    suffix = _suffix(profile.key)
    return f"{folder_name(profile.name)}-{suffix}.md" if suffix else f"{_plain(profile.key)}.md"


def _former_names(profile: Profile) -> set[str]:
    """What its file was called under other names and keys."""
    if len(profile.names) == 1 and not profile.formerly:
        return set()
    keys = (profile.key, *profile.formerly)
    former = {file_name(replace(profile, key=k, names=(n,))) for k in keys for n in profile.names}
    return former - {file_name(profile)}


def _plain(key: str) -> str:
    name = key.partition(":")[2]
    return name if _MADE_NAME.fullmatch(name) else folder_name(name)


def _suffix(key: str) -> str:
    """The part of a file name that is the key; empty for places and things, whose name it is."""
    if key.startswith(("place:", "thing:")):
        return ""
    if _PLAIN_KEY.fullmatch(key):
        return key
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]
