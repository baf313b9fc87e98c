"""Books: markdown files that people and the game both edit.

Each kind of book has a function that parses a file's text. :class:`RecordStore` parses a file again
only when it has changed, and never overwrites text that it has not read. For a file that cannot be
read, it keeps the last good state and reports a problem with its cure. An empty file counts as
none. A file may be a link: the game then reads and writes what the link leads to.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

import yaml

from keepsake import regular_files
from keepsake.errors import NoteRefused
from keepsake.events.types import MemoryChange
from keepsake.events.values import Author, MemoryOp
from keepsake.files import Stamp, stamp, stamp_in, written_aside

type Parse[T] = Callable[[Path, str, datetime], T]
"""Parses a file's text, given the time of its last change; raises an error with the reason."""
_BROKEN = (ValueError, KeyError, TypeError, RecursionError, yaml.YAMLError)
"""What parsing raises for a file that a person has broken."""

_SUFFIX = ".md"
MOST_BYTES = 4_000_000  # of one file; longer files are not read
_TRIES = 5
"""How often a change is tried again, if a person has saved the file meanwhile."""
_MOST_REASON = 500
"""Characters of an error's reason that are shown; it may hold two paths."""


def read(path: Path, most: int = MOST_BYTES) -> str | None:
    """Return the text with its original line ends; None if there is no file.

    ``most``: The most bytes of the file.

    Raises:
        OSError, UnicodeDecodeError: The file exists but cannot be read, or is too long; or it is a
            link that leads to nothing.
    """
    try:
        data = regular_files.read_bytes(path, most)
    except FileNotFoundError:
        return None
    return data.decode("utf-8-sig")


def unusable(path: Path, error: Exception) -> NoteRefused:
    """Return the error for a file that cannot be read or written, with the cure of its cause."""
    reason = " ".join(str(getattr(error, "strerror", None) or error).split())[:_MOST_REASON]
    match error:
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            cure = "Free some disk space"
        case OSError():
            cure = "Fix the file, its folder or their permissions"
        case _:
            cure = "Save it as UTF-8, and fix the lines between its `---`"
    return NoteRefused(f"{path} cannot be read or written ({reason})", cure)


def free_name(path: Path) -> Path:
    """Return the first of ``garden.md``, ``garden-2.md`` … that does not exist or is empty."""
    beside = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(filter(_is_free, chain([path], beside)))


def _is_free(path: Path) -> bool:
    try:
        return not (read(path) or "").strip()
    except (OSError, UnicodeDecodeError):
        return not os.path.lexists(path)  # its folder may lead to nothing: the write says so


def pages(folder: Path) -> list[Path]:
    """Return a folder's markdown files, sorted by name; none if the folder cannot be listed.

    Links are among them, also those that lead to nothing: reading one reports the problem.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                each.name
                for each in entries
                if each.name.endswith(_SUFFIX)
                and not each.name.startswith(".")
                and (each.is_symlink() or each.is_file())
            )
    except OSError:
        return []
    return [folder / name for name in names]


def stamps(folder: Path) -> Mapping[str, Stamp] | None:
    """Return what shows later whether any markdown file of a folder has changed; quick.

    None if that is not known: the folder cannot be listed, or a link in it leads to nothing.
    """
    try:
        with os.scandir(folder) as entries:
            found = [each for each in entries if each.name.endswith(_SUFFIX)]
            return {each.name: stamp_in(each.stat()) for each in found}
    except OSError:
        return None


def time_of(given: Any, default: datetime | None) -> datetime:
    """Return a time with time zone, UTC if it names none; ``default`` for None.

    Raises:
        ValueError: The value is not a time.
    """
    given = default if given is None else given
    found = given if isinstance(given, datetime) else datetime.fromisoformat(str(given))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


# -- books


@dataclass(frozen=True, slots=True)
class Owner:
    """The agent that owns a book, and callbacks for its events; they run in any thread."""

    agent: str = ""
    # called with the problem of a file, once for each state of the file; must not use a book
    report: Callable[[str], None] = lambda _: None
    emit: Callable[[MemoryChange], None] = lambda _: None  # gets each change, for the event log


NO_OWNER = Owner()


@dataclass(slots=True)
class _File[T]:
    """The last known state of a file. An unreadable file keeps its earlier record."""

    stamp: Stamp | None = None
    record: T | None = None
    problem: str = ""


class RecordStore[T]:
    """Files of one kind; safe to use from several threads.

    Args:
        parse: Parses the text of a file.
        most: The most bytes of a file; a longer one is reported, and not read.

    Attributes:
        lock: Held while files are read or written.
        version: Rises whenever the records change.
    """

    def __init__(self, parse: Parse[T], owner: Owner = NO_OWNER, *, most: int = MOST_BYTES) -> None:
        self.lock = threading.RLock()
        self.version = 0
        self._parse = parse
        self._most = most
        self._owner = owner
        self._files: dict[Path, _File[T]] = {}
        self._refreshed = False

    def emit(self, op: MemoryOp, by: Author, **facts: Any) -> None:
        """Log a change of the book."""
        change = MemoryChange(agent=self._owner.agent, op=op, by=by, **{"n": 0, **facts})
        self._owner.emit(change)

    # -- reading

    def records(self) -> dict[Path, T]:
        """Return the last good state of every file."""
        with self.lock:
            found = self._files.items()
            return {path: file.record for path, file in found if file.record is not None}

    def problems(self) -> dict[Path, str]:
        """Return the problem of each file that cannot be read, one sentence each."""
        with self.lock:
            return {path: file.problem for path, file in self._files.items() if file.problem}

    def refresh(self, paths: Collection[Path], *, wait: bool = True) -> dict[Path, T]:
        """Read again those of these files that have changed, and forget all others; never raises.

        ``wait``: Whether to wait for another thread that writes now; otherwise return the earlier
        state.

        Returns:
            The last good state of each.
        """
        if self.lock.acquire(blocking=wait or not self._refreshed):
            try:
                for path in paths:
                    self._refresh_file(path)
                for path in sorted(self._files.keys() - set(paths)):
                    self._gone(path)
                self._refreshed = True
            finally:
                self.lock.release()
        files = ((path, self._files.get(path)) for path in paths)
        return {path: file.record for path, file in files if file and file.record is not None}

    def _refresh_file(self, path: Path) -> None:
        now = stamp(path)
        file = self._files.get(path)
        unchanged = now == (file.stamp if file else None) and (now or not file)
        if unchanged and (now or not path.is_symlink()):  # else it leads to nothing
            return
        try:
            source = read(path, self._most)
            if source and source.strip():
                self._take(path, now, source)
            else:
                self._gone(path)
        except NoteRefused as problem:
            self._broken(path, now, str(problem))
        except (OSError, UnicodeDecodeError) as error:
            # No stamp, so that the next refresh tries again: repaired permissions do not change the
            # stamp.
            self._broken(path, None, str(unusable(path, error)))

    def _take(self, path: Path, known: Stamp | None, source: str) -> T:
        """Parse and store what a person may have written; return the record."""
        seen = stamp(path)
        changed = datetime.fromtimestamp(seen[0] / 1e9, UTC) if seen else datetime.now(UTC)
        record = self.parsed(path, source, changed)
        self._files[path] = _File(known, record)
        self.version += 1
        return record

    def parsed(self, path: Path, source: str, changed: datetime) -> T:
        """Return the record of a text, without keeping it.

        Raises:
            NoteRefused: It cannot be parsed.
        """
        try:
            return self._parse(path, source, changed)
        except _BROKEN as error:
            raise unusable(path, error) from error

    def _gone(self, path: Path) -> None:
        self.version += self._files.pop(path, None) is not None

    def _broken(self, path: Path, known: Stamp | None, problem: str) -> None:
        before = self._files.get(path) or _File[T]()
        self._files[path] = _File(known, before.record, problem)
        if before.problem != problem or before.stamp != known:
            self.version += 1
            self._owner.report(problem)

    # -- writing

    def change(self, path: Path, make: Callable[[str | None, T | None], str]) -> tuple[T | None, T]:
        """Rewrite a file from its content; a reader sees either the old or the new text.

        If the path is a link, the file that it leads to is rewritten, and the link stays.

        ``make``: Returns the new text, given the text and the record; both are None for a missing
        or empty file. It is called again if somebody else saved the file meanwhile.

        Returns:
            The record before, None for no file, and the record after.

        Raises:
            NoteRefused: The file cannot be read or written, is saved again and again, or ``make``
                refused. Nothing was changed.
        """
        try:
            with self.lock:
                for _ in range(_TRIES):
                    source = read(path, self._most)
                    old = None
                    text = source if source and source.strip() else None
                    if text is None:
                        self._gone(path)
                    else:  # include what a person has written since the last refresh
                        old = self._take(path, None, text)
                    made = make(text, old)
                    new = self.parsed(path, made, datetime.now(UTC))
                    target = regular_files.target(path)
                    with written_aside(target, made) as temporary:
                        if read(path, self._most) != source:  # an editor saved: do not overwrite
                            continue
                        written = stamp(temporary)
                        temporary.replace(target)
                    self._files[path] = _File(written, new)
                    self.version += 1
                    if not made.strip():
                        self._gone(path)
                    return old, new
        except (OSError, UnicodeDecodeError) as error:
            raise unusable(path, error) from error
        raise NoteRefused(f"{path.name} is being changed by somebody else", "Try again")

    def move_aside(self, path: Path, folder: Path) -> Path:
        """Move a file into ``folder``, under a name that is free there, and return its new path.

        Raises:
            NoteRefused: The file cannot be moved.
        """
        with self.lock:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                aside = free_name(folder / path.name)
                if path.is_symlink():  # a relative link would lead elsewhere from there
                    aside.symlink_to(regular_files.target(path))
                    path.unlink()
                else:
                    path.rename(aside)
            except OSError as error:
                raise unusable(path, error) from error
            self._gone(path)
            return aside
