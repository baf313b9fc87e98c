"""A store of records: text files that people and the game both write.

A kind of record is a function that reads a file's text. The store does the rest: it parses a
file again only when it changed, tells a person's edit from what the game itself writes, never
replaces what it has not read, and keeps the last good state of a file that cannot be read,
with a problem that names the cure. A file that a person has emptied is as none.
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
    problem: str = ""


class RecordStore[T]:
    """Files of one kind; safe to use from several threads.

    Args:
        parse: Reads the text of a file.
        edited: Takes what people change once the files were looked at.
        report: Takes what is wrong with a file.

    Attributes:
        lock: Held while files are looked at or written.
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
                if file.record is not None and (broken or not file.problem)
            }

    def problems(self) -> dict[Path, str]:
        """What is wrong with files that cannot be read, one sentence each."""
        with self.lock:
            return {path: file.problem for path, file in self._files.items() if file.problem}

    def look(self, paths: Collection[Path], *, wait: bool = True) -> None:
        """Read what changed of these files, which are all that are looked at; never raises.

        ``wait``: Whether to wait for who writes one now; else what was read before stays.
        """
        if not self.lock.acquire(blocking=wait or not self._looked):
            return
        try:
            for path in paths:
                self._look_at(path)
            for path in sorted(self._files.keys() - set(paths)):
                self._gone(path, by_hand=not path.exists())
            self._looked = True
        finally:
            self.lock.release()

    def _look_at(self, path: Path) -> None:
        stamp, file = vault_files.stamp(path), self._files.get(path)
        if stamp is None and file is None:
            return
        if stamp is not None and file is not None and file.stamp == stamp:
            return
        try:
            if stamp is not None:
                _check_size(path, stamp[1])
            source = vault_files.read(path)
            if source and source.strip():
                self._take(path, stamp, source)
            else:
                self._gone(path, by_hand=True)
        except NoteRefused as problem:
            self._broken(path, stamp, str(problem))
        except (OSError, UnicodeDecodeError) as error:
            # Without a stamp: mended permissions leave none, so it is tried each time.
            self._broken(path, None, str(vault_files.unusable(path, error)))

    def _take(self, path: Path, stamp: Stamp | None, source: str) -> T:
        """Take over what a person may have written; the record."""
        before, digest = self._files.get(path), _digest(source)
        if before is not None and before.record is not None and before.digest == digest:
            self.version += bool(before.problem)
            self._files[path] = _File(stamp, digest, before.record)
            return before.record
        record = self._parse(path, source, _changed(path))
        self._files[path] = _File(stamp, digest, record)
        self.version += 1
        if before or self._looked:
            self._edited(path, before.record if before else None, record)
        return record

    def _gone(self, path: Path, *, by_hand: bool) -> None:
        file = self._files.pop(path, None)
        self.version += file is not None
        if by_hand and file is not None and file.record is not None:
            self._edited(path, file.record, None)

    def _broken(self, path: Path, stamp: Stamp | None, problem: str) -> None:
        before = self._files.get(path) or _File[T]()
        self._files[path] = _File(stamp, before.digest, before.record, problem)
        if before.problem != problem or before.stamp != stamp:
            self.version += 1
            self._report(problem)

    # -- writing

    def change(self, path: Path, make: Callable[[str | None, T | None], str]) -> tuple[T | None, T]:
        """Write a file anew from what it holds; a reader sees the old text or the new one.

        ``make``: Gets text and record, None for no file or an empty one, and gives the new text.
        Called again when somebody else saved the file meanwhile.

        Returns:
            The records before, None for no file, and after.

        Raises:
            NoteRefused: The file cannot be read or written, or is saved again and again; or
                ``make`` refused. Nothing was changed.
        """
        tries: list[tuple[T | None, T]] = []

        def new_text(source: str | None) -> str:
            old, text = None, source if source and source.strip() else None
            if text is None:
                self._gone(path, by_hand=True)
            else:  # what a person has written since somebody looked
                _check_size(path, len(text))
                old = self._take(path, None, text)
            made = make(text, old)
            tries.append((old, self._parse(path, made, datetime.now(UTC))))
            return made

        with self.lock:
            source = vault_files.change(path, new_text)
            old, new = tries[-1]
            self._files[path] = _File(None, _digest(source), new)
            self.version += 1
            self._look_at(path)
        return old, new

    def move_aside(self, path: Path, folder: Path) -> Path:
        """Move a file into ``folder`` under a name that is still free there.

        Raises:
            NoteRefused: It cannot be moved.
        """
        with self.lock:
            aside = vault_files.move_aside(path, folder)
            self._gone(path, by_hand=False)
            return aside


def _changed(path: Path) -> datetime:
    stamp = vault_files.stamp(path)
    return datetime.fromtimestamp(stamp[0] / 1e9, UTC) if stamp else datetime.now(UTC)


def _digest(source: str) -> bytes:
    return hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _check_size(path: Path, size: int) -> None:
    if size > MOST_BYTES:
        raise NoteRefused(
            f"{path} has {size} bytes and is not read", "Move a part of it into another file"
        )
