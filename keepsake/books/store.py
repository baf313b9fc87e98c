"""A store of records: text files that people and the game both write.

A kind of record is a function that reads a file's text. The store does the rest: it parses a
file again only when it changed, tells a person's edit from what the game itself writes, never
replaces what it has not read, and keeps the last good state of a file that cannot be read,
with a problem that names the cure.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from keepsake.books import files as vault_files
from keepsake.books.files import Stamp
from keepsake.errors import NoteRefused
from keepsake.events.types import MemoryChange

MOST_BYTES = 4_000_000
"""Of one file; a longer one is left alone."""

type Parse[T] = Callable[[Path, str, datetime], T]
"""Reads a file's text, last changed at that time; raises NoteRefused if it cannot."""
type Report = Callable[[str], None]
"""Told once about each state of a file in which something cannot be read; must ask no book."""
type Tell = Callable[[MemoryChange], None]
"""Takes what was done, for the event log: from any thread, quick."""
type Edited[T] = Callable[[Path, T | None, T | None], None]
"""Takes what a person did to a file: the record before and after, None for no file. Called under
the store's lock: quick, and asks the store nothing."""


@dataclass(slots=True)
class _File[T]:
    """A file as it was seen last; what cannot be read keeps digest and record of before."""

    stamp: Stamp | None = None
    digest: bytes = b""
    record: T | None = None
    problem: NoteRefused | None = None


class RecordStore[T]:
    """Files of one kind; safe to use from several threads.

    Args:
        edited: Takes what people change once the files were looked at.

    Attributes:
        lock: Held while the files are looked at; never while one is written.
        version: Rises with every change of what was read.
    """

    def __init__(
        self,
        parse: Parse[T],
        edited: Edited[T] = lambda *_: None,
        report: Report = lambda _: None,
    ) -> None:
        self.lock = threading.RLock()
        self.version = 0
        self._parse, self._edited, self._report = parse, edited, report
        self._files: dict[Path, _File[T]] = {}
        self._ours: set[tuple[Path, bytes]] = set()
        """What this program is writing just now; an empty digest for what it takes away."""
        self._looked = False

    # -- reading

    def known(self, path: Path) -> T | None:
        """The last good state of a file; quick."""
        file = self._files.get(path)
        return file.record if file else None

    def records(self, *, broken: bool = False) -> dict[Path, T]:
        """What can be read; with ``broken`` also the last good state of what cannot any more."""
        with self.lock:
            return {
                path: file.record
                for path, file in self._files.items()
                if file.record is not None and (broken or file.problem is None)
            }

    def problems(self) -> dict[Path, str]:
        """What is wrong with files that cannot be read, one sentence each."""
        with self.lock:
            found = [(path, file.problem) for path, file in self._files.items()]
        return {path: str(problem) for path, problem in found if problem is not None}

    def read(self, path: Path) -> T | None:
        """The record of the only file of this store; None for no file.

        Raises:
            NoteRefused: It cannot be read.
        """
        self.look([path])
        file = self._files.get(path)
        if file is not None and file.problem is not None:
            raise file.problem.with_traceback(None)
        return self.known(path)

    def look(self, paths: Collection[Path]) -> None:
        """Read what changed of these files, which are all that are looked at; never raises."""
        with self.lock:
            for path in paths:
                self.refresh(path)
            self.keep_only(paths)
            self._looked = True

    def keep_only(self, paths: Collection[Path]) -> None:
        """Forget all other files; a person took away those that are not there any more."""
        with self.lock:
            for path in sorted(self._files.keys() - set(paths)):
                if path.exists():
                    self._forget(path)
                else:
                    self._gone(path)

    def refresh(self, path: Path) -> bool:
        """Read one file again if it changed, and whether that was necessary; never raises."""
        with self.lock:
            stamp, file = vault_files.stamp(path), self._files.get(path)
            if file is None and stamp is None and self._looked:
                return False
            if file is not None and stamp is not None and file.stamp == stamp:
                return False
            try:
                if stamp is not None:
                    _check_size(path, stamp[1])
                source = vault_files.read(path)
                if source is None:
                    self._gone(path)
                else:
                    self._take(path, stamp, _digest(source), self._record(path, source))
            except NoteRefused as problem:
                self._trouble(path, stamp, problem)
            except (OSError, UnicodeDecodeError) as error:
                # Without a stamp: mended permissions leave none, so it is tried each time.
                self._trouble(path, None, vault_files.unusable(path, error))
            return True

    def _record(self, path: Path, source: str) -> T:
        """The record in a text, which is parsed only where it is not known."""
        file = self._files.get(path)
        if file is not None and file.record is not None and file.digest == _digest(source):
            return file.record
        _check_size(path, len(source))
        stamp = vault_files.stamp(path)
        changed = datetime.fromtimestamp(stamp[0] / 1e9, UTC) if stamp else datetime.now(UTC)
        return self._parse(path, source, changed)

    def _take(self, path: Path, stamp: Stamp | None, digest: bytes, record: T) -> None:
        before = self._files.get(path)
        self._files[path] = _File(stamp, digest, record)
        same = before is not None and before.digest == digest
        if not same or (before and before.problem):
            self.version += 1
        if not same and (before or self._looked) and (path, digest) not in self._ours:
            self._edited(path, before.record if before else None, record)

    def _gone(self, path: Path) -> None:
        file = self._forget(path)
        if file is not None and file.record is not None and (path, b"") not in self._ours:
            self._edited(path, file.record, None)

    def _forget(self, path: Path) -> _File[T] | None:
        file = self._files.pop(path, None)
        self.version += file is not None
        return file

    def _trouble(self, path: Path, stamp: Stamp | None, problem: NoteRefused) -> None:
        before = self._files.get(path) or _File[T]()
        known = before.problem is not None and str(before.problem) == str(problem)
        self._files[path] = _File(stamp, before.digest, before.record, problem)
        if not known or before.stamp != stamp:
            self.version += 1
            self._report(str(problem))

    # -- writing

    def change(self, path: Path, make: Callable[[str | None, T | None], str]) -> tuple[T | None, T]:
        """Write a file anew from what it holds; a reader sees the old text or the new one.

        ``make``: Gets text and record, None for no file, and gives the new text. Called
        again when somebody else saved the file meanwhile.

        Returns:
            The records before, None for no file, and after.

        Raises:
            NoteRefused: The file cannot be read or written, or is saved again and again; or
                ``make`` refused. Nothing was changed.
        """
        tries: list[tuple[T | None, T, bytes]] = []

        def text(before: str | None) -> str:
            with self.lock:  # what a person has written since somebody looked
                old = None
                if before is None:
                    self._gone(path)
                else:
                    old = self._record(path, before)
                    self._take(path, None, _digest(before), old)
            source = make(before, old)
            new = self._parse(path, source, datetime.now(UTC))
            tries.append((old, new, _digest(source)))
            self._ours.add((path, tries[-1][2]))
            return source

        try:
            vault_files.change(path, text)
            old, new, digest = tries[-1]
            with self.lock:
                self._take(path, None, digest, new)
                self.refresh(path)
        finally:
            self._ours.difference_update((path, digest) for _, _, digest in tries)
        return old, new

    def move_aside(self, path: Path, folder: Path) -> Path:
        """Move a file into ``folder`` under a name that is still free there.

        Raises:
            NoteRefused: It cannot be moved.
        """
        self._ours.add((path, b""))
        try:
            aside = vault_files.move_aside(path, folder)
            with self.lock:
                self._forget(path)
            return aside
        finally:
            self._ours.discard((path, b""))


def _digest(source: str) -> bytes:
    return hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _check_size(path: Path, size: int) -> None:
    if size > MOST_BYTES:
        raise NoteRefused(
            f"{path} has {size} bytes and is not read", "Move a part of it into another file"
        )
