"""The files of an agent's profiles, and what of them is in RAM.

Of every profile the head (who, since when, how often) is in RAM once :meth:`ProfileFiles.scan` has
run; whole pages are for those who were asked for last. A file is read again when it changed.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from game.mind.books.profiles.page import Page, PageUnreadable, parse_page, written
from game.mind.books.profiles.profile import Profile, ProfileKind
from game.mind.books.profiles.profile_events import ProfileEvents
from game.mind.events.types import MemoryChange
from game.mind.names import folder_name
from game.mind.records import files as vault_files
from game.mind.records.files import Stamp

FOLDERS = {ProfileKind.PERSON: "people", ProfileKind.PLACE: "places", ProfileKind.THING: "things"}
MOST_PAGES = 256
"""Whole pages in RAM: those that were asked for last."""

_MADE_NAME = re.compile(r"[A-Za-z-]{0,80}_(?:[0-9a-f]{16})?")
"""What :func:`folder_name` made of a name that no file can have; not to be done twice."""
_PLAIN_KEY = re.compile(r"[0-9][0-9-]{0,40}")


@dataclass(slots=True)
class _Known:
    """A file, and the head of its profile."""

    path: Path
    stamp: Stamp
    head: Profile
    digest: bytes
    """Of the whole file: it may be saved without a change."""


class ProfileFiles:
    """All profiles of one agent; safe to use from several threads.

    Args:
        folder: ``vault/agents/<name>``.
        report: Told once about each state of a file that cannot be read.
        agent: Whose they are, for the event log.
        tell: Takes what a person has done, for the event log: from any thread, quick.
    """

    def __init__(
        self,
        folder: Path,
        report: Callable[[str], None],
        agent: str = "",
        tell: Callable[[MemoryChange], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self._report = report
        self._by_hand, self._tell = ProfileEvents(agent, "hand"), tell
        self._scanned = False
        self._lock = threading.RLock()
        self._known: dict[str, _Known] = {}
        self._pages: OrderedDict[str, tuple[Stamp, Page]] = OrderedDict()
        self._problems: dict[Path, tuple[Stamp, str]] = {}

    # -- quick, from RAM

    def head(self, key: str) -> Profile | None:
        """Who that is, without facts and observations."""
        known = self._known.get(key)
        return known.head if known else None

    def heads(self) -> list[Profile]:
        """Everybody and everything, as :meth:`head`."""
        with self._lock:
            return [known.head for known in self._known.values()]

    def loaded(self, key: str) -> Profile | None:
        """The whole profile if it is in RAM, as it was read last."""
        found = self._pages.get(key)
        return found[1].profile if found else None

    def problems(self) -> list[str]:
        """What is wrong with files that cannot be read, one sentence each."""
        with self._lock:
            return [problem for _, problem in self._problems.values()]

    # -- blocking

    def scan(self) -> None:
        """Look at all the files, and read those that changed."""
        with self._lock:
            known, pages = dict(self._known), dict(self._pages)
            found = dict(self._files())
            for path in self._problems.keys() - found.keys():
                del self._problems[path]
            by_path = {known.path: key for key, known in self._known.items()}
            for path in by_path.keys() - found.keys():
                self._forget(by_path[path])
            for path, stamp in found.items():
                key = by_path.get(path)
                if key is None or self._known[key].stamp != stamp:
                    self._read(path, stamp)
            if self._scanned:
                self._tell_differences(known, pages)
            self._scanned = True

    def _tell_differences(
        self, known: Mapping[str, _Known], pages: Mapping[str, tuple[Stamp, Page]]
    ) -> None:
        """Tell of what a person has done to the files; the lock is held.

        Args:
            known: The files before they were looked at.
            pages: Those that were in RAM.
        """
        for key, now in self._known.items():
            if key not in known or known[key].digest != now.digest:
                before, after = pages.get(key), self._pages.get(key)
                profiles = [each and each[1].profile for each in (before, after)]
                self._changed_by_hand(known.get(key), now.head, *profiles)
        for key, was in known.items():
            if key not in self._known:
                self._tell(self._by_hand.about(was.head, "forgotten"))

    def _changed_by_hand(
        self, known: _Known | None, head: Profile, before: Profile | None, after: Profile | None
    ) -> None:
        if known is None:
            self._tell(self._by_hand.about(head, "met"))
            return
        # Of what was in RAM no more it cannot be said what is new in it.
        done = list(self._by_hand.changes(before, after)) if before and after else []
        for each in done or [self._by_hand.about(head, "edit")]:
            self._tell(each)

    def settle_names(self) -> None:
        """Call files by present names where a crash left them under former ones."""
        with self._lock:
            for known in self._known.values():
                if known.path.name in _former_names(known.head):
                    known.path = self._renamed(known.path, known.path.name, known.head)

    def page(self, key: str) -> Page | None:
        """The page as its file is now; None if there is none, or it cannot be read."""
        with self._lock:
            known = self._known.get(key)
            if known is None:
                return None
            stamp = vault_files.stamp(known.path)
            if stamp is None:  # moved, or thrown away
                self.scan()
                return self.page(key) if key in self._known else None
            cached = self._pages.get(key)
            if cached is not None and cached[0] == stamp:
                self._pages.move_to_end(key)
                return cached[1]
            before, pages = dict(self._known), dict(self._pages)
            page = self._read(known.path, stamp, wanted=key)
            if known.stamp != stamp:
                self._tell_differences(before, pages)
            return page

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
            path = self._path_of(key)
            if page is not None and edit(page.profile) == page.profile:
                return False
            if path is None:
                path = self._new_path(edit(None))
            self._change(path, key, edit)
            return True

    def remove(self, key: str) -> bool:
        """Throw a profile away, unless a person has written into it."""
        with self._lock:
            page, known = self.page(key), self._known.get(key)
            if page is None or known is None or page.by_hand or page.profile.conclusions:
                return False
            known.path.unlink(missing_ok=True)
            self._forget(key)
            return True

    def broken(self, key: str) -> bool:
        """Whether there is a file for ``key`` that cannot be read now."""
        with self._lock:
            path = self._path_of(key)
            if path is not None and path in self._problems:
                self.page(key)
            return any(self._is_for(path, key) for path in self._problems)

    # -- files

    def _files(self) -> Iterator[tuple[Path, Stamp]]:
        for name in FOLDERS.values():
            try:
                paths = sorted((self.folder / name).glob("*.md"))
            except OSError:
                continue
            for path in paths:
                stamp = vault_files.stamp(path)
                if stamp is not None and not path.name.startswith("."):
                    yield path, stamp

    def _read(self, path: Path, stamp: Stamp, wanted: str = "") -> Page | None:
        try:
            source = vault_files.read(path)
            page = _parsed(path, source)
        except (PageUnreadable, OSError, UnicodeDecodeError) as error:
            self._trouble(path, stamp, error)
            return None
        self._problems.pop(path, None)
        key = page.profile.key
        if not self._is_the_one(key, path, page.profile):
            return None
        if wanted and key != wanted:  # a person gave the file to somebody else
            self._forget(wanted)
        self._keep(path, stamp, page, _digest(source or ""))
        return page if not wanted or key == wanted else None

    def _is_the_one(self, key: str, path: Path, profile: Profile) -> bool:
        """Of two files for one key the one that knows more counts; the other is named."""
        other = self._known.get(key)
        if other is None or other.path == path or not other.path.exists():
            return True
        if profile.through <= other.head.through:
            self._name_double(path, other.path)
            return False
        self._name_double(other.path, path)
        return True

    def _name_double(self, path: Path, used: Path) -> None:
        stamp = vault_files.stamp(path) or (0, 0, 0)
        self._note(path, stamp, f"{path} is not used: {used.name} has the same key")

    def _trouble(self, path: Path, stamp: Stamp, error: Exception) -> None:
        said = error if isinstance(error, PageUnreadable) else vault_files.unusable(path, error)
        self._note(path, stamp, str(said))

    def _note(self, path: Path, stamp: Stamp, problem: str) -> None:
        if self._problems.get(path, (None, ""))[0] != stamp:
            self._report(problem)
        self._problems[path] = (stamp, problem)

    def _keep(self, path: Path, stamp: Stamp, page: Page, digest: bytes) -> None:
        key = page.profile.key
        self._known[key] = _Known(path, stamp, _head(page.profile), digest)
        self._pages[key] = (stamp, page)
        self._pages.move_to_end(key)
        while len(self._pages) > MOST_PAGES:
            self._pages.popitem(last=False)

    def _forget(self, key: str) -> None:
        self._known.pop(key, None)
        self._pages.pop(key, None)

    def _path_of(self, key: str) -> Path | None:
        known = self._known.get(key)
        if known is not None:
            return known.path
        return next((path for path in self._problems if self._is_for(path, key)), None)

    def _is_for(self, path: Path, key: str) -> bool:
        known = self._known.get(key)
        if known is not None and known.path == path:
            return True
        suffix = _suffix(key)
        return path.stem.endswith(f"-{suffix}") if suffix else path.name == f"{_plain(key)}.md"

    def _new_path(self, profile: Profile) -> Path:
        path = self.folder / FOLDERS[profile.kind] / file_name(profile)
        return next(name for name in vault_files.names_beside(path) if not name.exists())

    def _change(self, path: Path, key: str, edit: Callable[[Profile | None], Profile]) -> None:
        page: Page | None = None
        name_before = text = ""
        known, cached = self._known.get(key), self._pages.get(key)
        by_hand: Page | None = None

        def make(before: str | None) -> str:
            nonlocal page, name_before, text, by_hand
            old = _parsed(path, before) if before is not None else None
            if known is not None and before is not None and known.digest != _digest(before):
                by_hand = old  # saved after it was looked at a moment ago
            name_before = file_name(old.profile) if old else ""
            profile = edit(old.profile if old else None)
            page = Page(profile, old.by_hand if old else {})
            text = written(page)
            return text

        vault_files.change(path, make)
        assert page is not None
        if by_hand is not None:
            before = cached[1].profile if cached else None
            self._changed_by_hand(known, by_hand.profile, before, by_hand.profile)
        if page.profile.key != key:
            self._forget(key)
        path = self._renamed(path, name_before, page.profile)
        self._keep(path, vault_files.stamp(path) or (0, 0, 0), page, _digest(text))

    def _renamed(self, path: Path, name_before: str, profile: Profile) -> Path:
        """Where the file is once it is called by the present name; a person's own name stays."""
        target = path.with_name(file_name(profile))
        if path.name != name_before or target == path or target.exists():
            return path
        try:
            path.rename(target)
        except OSError:  # the old name will do
            return path
        return target


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


def _parsed(path: Path, source: str | None) -> Page:
    status = vault_files.stamp(path)
    changed = datetime.fromtimestamp(status[0] / 1e9 if status else 0, UTC).replace(microsecond=0)
    return parse_page(path, source or "", changed)


def _digest(source: str) -> bytes:
    return hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _head(profile: Profile) -> Profile:
    return replace(profile, facts=(), observations=(), conclusions=(), shared=None, company=())
