"""The files of an agent's profiles, and what of them is in RAM.

Of every profile the head (who, since when, how often) is in RAM once :meth:`ProfileFiles.scan` has
run; whole pages are for those who were asked for last. A file is read again when it changed.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from game.mind.books.profiles.page import Page, parse_page, written
from game.mind.books.profiles.profile import Profile, ProfileKind
from game.mind.books.profiles.profile_events import ProfileEvents
from game.mind.events.types import MemoryChange
from game.mind.names import folder_name
from game.mind.records import files as vault_files
from game.mind.records.store import RecordStore, Report, Tell

FOLDERS = {ProfileKind.PERSON: "people", ProfileKind.PLACE: "places", ProfileKind.THING: "things"}
MOST_PAGES = 256
"""Whole pages in RAM: those that were asked for last."""

_MADE_NAME = re.compile(r"[A-Za-z-]{0,80}_(?:[0-9a-f]{16})?")
"""What :func:`folder_name` made of a name that no file can have; not to be done twice."""
_PLAIN_KEY = re.compile(r"[0-9][0-9-]{0,40}")


@dataclass(slots=True)
class _Known:
    """A profile as its file has it."""

    path: Path
    head: Profile
    page: Page | None
    """None once others were asked for."""
    digest: bytes
    """Of the whole file: it may be saved without a change."""


class ProfileFiles:
    """All profiles of one agent; safe to use from several threads."""

    def __init__(
        self,
        folder: Path,
        report: Report,
        agent: str = "",
        tell: Tell = lambda _: None,
    ) -> None:
        self.folder = folder
        self._report = report
        self._by_hand, self._tell = ProfileEvents(agent, "hand"), tell
        self._scanned = False
        self._lock = threading.RLock()
        self._store = RecordStore(self._parse, report=report)
        self._version = 0
        self._known: dict[str, _Known] = {}
        """By key: made anew when a file changed, never changed, so that a reader needs no lock."""
        self._doubles: dict[Path, str] = {}
        self._whole: OrderedDict[Path, _Known] = OrderedDict()
        """Those with their pages, the one that was asked for last at the end."""

    # -- quick, from RAM

    def head(self, key: str) -> Profile | None:
        """Who that is, without facts and observations."""
        known = self._known.get(key)
        return known.head if known else None

    def heads(self) -> list[Profile]:
        """Everybody and everything, as :meth:`head`."""
        return [known.head for known in self._known.values()]

    def loaded(self, key: str) -> Profile | None:
        """The whole profile if it is in RAM, as it was read last."""
        known = self._known.get(key)
        page = known.page if known else None
        return page.profile if page else None

    def problems(self) -> list[str]:
        """What is wrong with files that cannot be read, one sentence each."""
        return list(self._problems().values())

    # -- blocking

    def scan(self) -> None:
        """Look at all the files, and read those that changed."""
        with self._lock:
            self._update(lambda: self._store.look(self._paths()))
            self._scanned = True

    def settle_names(self) -> None:
        """Call files by present names where a crash left them under former ones."""
        with self._lock:
            for known in self._known.values():
                if known.path.name in _former_names(known.head):
                    self._rename(known)
            self._index()

    def page(self, key: str) -> Page | None:
        """The page as its file is now; None if there is none, or it cannot be read."""
        with self._lock:
            if (known := self._known.get(key)) is None:
                return None
            if known.path.exists():
                self._update(lambda: self._store.refresh(known.path))
            else:  # moved, or thrown away
                self.scan()
            there = self._known.get(key)
            if there is None or there.path in self._store.problems():
                return None
            return self._page(there, vault_files.read(there.path) if not there.page else "")

    def change(self, key: str, edit: Callable[[Profile | None], Profile]) -> bool:
        """Write what ``edit`` makes of a profile; whether anything changed.

        Args:
            key: Whose; ``edit`` may give it another key, which it has from then on.
            edit: Gets the profile as its file has it, None for nobody known. It may be called
                again if a person saves the file meanwhile.

        Raises:
            PageUnreadable: There is a file and it cannot be read; it stays as it is.
            NoteRefused: It could not be written.
        """
        with self._lock:
            page = self.page(key)
            if page is not None and edit(page.profile) == page.profile:
                return False
            path = self._path_of(key) or self._new_path(edit(None))
            known = self._known.get(key)

            def make(source: str | None, old: _Known | None) -> str:
                if old is None:
                    return written(Page(edit(None)))
                before = self._page(old, source)
                return written(Page(edit(before.profile), before.by_hand))

            old, new = self._store.change(path, make)
            if known and old and known.digest != old.digest:
                self._changed_by_hand(known, old)  # saved after it was looked at a moment ago
            if old and path.name == file_name(old.head):
                self._rename(new)
            self._index()
            return True

    def remove(self, key: str) -> bool:
        """Throw a profile away, unless a person has written into it."""
        with self._lock:
            page, known = self.page(key), self._known.get(key)
            if page is None or known is None or page.by_hand or page.profile.conclusions:
                return False
            self._store.remove(known.path)
            self._index()
            return True

    def broken(self, key: str) -> bool:
        """Whether there is a file for ``key`` that cannot be read now."""
        with self._lock:
            path = self._path_of(key)
            if path is not None and path in self._problems():
                self._update(lambda: self._store.refresh(path))
            return any(self._is_for(path, key) for path in self._problems())

    # -- what is in RAM; the lock is held

    def _parse(self, path: Path, source: str, changed: datetime) -> _Known:
        page = parse_page(path, source, changed.replace(microsecond=0))
        digest = hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        known = _Known(path, _head(page.profile), page, digest)
        self._keep_whole(known)
        return known

    def _page(self, known: _Known, source: str | None) -> Page:
        """The whole page, from its file's text where it is in RAM no more."""
        if known.page is None:
            stamp = vault_files.stamp(known.path)
            changed = datetime.fromtimestamp(stamp[0] / 1e9 if stamp else 0, UTC)
            page = parse_page(known.path, source or "", changed.replace(microsecond=0))
            known.page = page
        self._keep_whole(known)
        return known.page

    def _keep_whole(self, known: _Known) -> None:
        self._whole[known.path] = known
        self._whole.move_to_end(known.path)
        while len(self._whole) > MOST_PAGES:
            self._whole.popitem(last=False)[1].page = None

    def _index(self) -> None:
        """Know everybody by key; of two files for one key the one that knows more counts."""
        if self._version == self._store.version:
            return
        self._version = self._store.version
        found: dict[str, _Known] = {}
        doubles: dict[Path, str] = {}
        for known in self._store.records(broken=True).values():
            key = known.head.key
            other = found.setdefault(key, known)
            if other is not known:
                more = known.head.through > other.head.through
                found[key], double = (known, other) if more else (other, known)
                why = f"is not used: {found[key].path.name} has the same key"
                doubles[double.path] = f"{double.path} {why}"
        for path, problem in doubles.items():
            if self._doubles.get(path) != problem:
                self._report(problem)
        self._known, self._doubles = found, doubles

    def _problems(self) -> dict[Path, str]:
        return self._store.problems() | self._doubles

    # -- what a person has done

    def _update(self, look: Callable[[], object]) -> None:
        """Look at files, and have the event log told of what is different in them."""
        was = self._known
        look()
        self._index()
        if not self._scanned or self._known is was:
            return
        for key, now in self._known.items():
            before = was.get(key)
            if before is None:
                self._tell(self._by_hand.about(now.head, "met"))
            elif before.digest != now.digest:
                self._changed_by_hand(before, now)
        for key in was.keys() - self._known.keys():
            self._tell(self._by_hand.about(was[key].head, "forgotten"))

    def _changed_by_hand(self, before: _Known, after: _Known) -> None:
        # Of what was in RAM no more it cannot be said what is new in it.
        done: list[MemoryChange] = []
        if before.page and after.page:
            done += self._by_hand.changes(before.page.profile, after.page.profile)
        for each in done or [self._by_hand.about(after.head, "edit")]:
            self._tell(each)

    # -- names of files

    def _paths(self) -> list[Path]:
        found: list[Path] = []
        for name in FOLDERS.values():
            with suppress(OSError):
                found += sorted((self.folder / name).glob("*.md"))
        return [path for path in found if not path.name.startswith(".")]

    def _path_of(self, key: str) -> Path | None:
        known = self._known.get(key)
        if known is not None:
            return known.path
        return next((path for path in self._problems() if self._is_for(path, key)), None)

    def _is_for(self, path: Path, key: str) -> bool:
        known = self._known.get(key)
        if known is not None and known.path == path:
            return True
        suffix = _suffix(key)
        return path.stem.endswith(f"-{suffix}") if suffix else path.name == f"{_plain(key)}.md"

    def _new_path(self, profile: Profile) -> Path:
        path = self.folder / FOLDERS[profile.kind] / file_name(profile)
        return next(name for name in vault_files.names_beside(path) if not name.exists())

    def _rename(self, known: _Known) -> None:
        """Call a file by the present name, unless that is taken."""
        target = known.path.with_name(file_name(known.head))
        if target != known.path and self._store.rename(known.path, target):
            self._whole.pop(known.path, None)
            known.path = target
            self._keep_whole(known)


def file_name(profile: Profile) -> str:
    """``Tom-12-20261121103000.md``: the present name, and the key, so that no two collide."""
    suffix = _suffix(profile.key)
    return f"{folder_name(profile.name)}-{suffix}.md" if suffix else f"{_plain(profile.key)}.md"


def _former_names(head: Profile) -> set[str]:
    """What its file was called under other names and keys."""
    if len(head.names) == 1 and not head.formerly:
        return set()
    keys = (head.key, *head.formerly)
    former = {file_name(replace(head, key=k, names=(n,))) for k in keys for n in head.names}
    return former - {file_name(head)}


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


def _head(profile: Profile) -> Profile:
    return replace(profile, facts=(), observations=(), conclusions=(), shared=None, company=())
