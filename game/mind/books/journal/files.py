"""The files of a journal as they were read, kept in RAM until they change."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from pathlib import Path

from game.mind.books.journal import day_file
from game.mind.books.journal.day_file import DayFile
from game.mind.books.journal.entries import EntryOrigin, JournalEntry
from game.mind.books.journal.folding import is_gathered
from game.mind.errors import NoteRefused
from game.mind.events.types import MemoryChange
from game.mind.records import files as vault_files
from game.mind.records.files import Stamp

_NAME = re.compile(r"(\d{4}-\d\d-\d\d)\.md", re.ASCII)
OF = "journal"
"""What the event log calls whatever is done to an entry, beside what it is."""
_AT_ONCE = 2
"""Files that are read in a thought, which has no time for more: the newest first."""

type Rank = Callable[[Iterable[JournalEntry], date], tuple[JournalEntry, ...]]
"""Chooses and orders entries as they count on a day."""


@dataclass(frozen=True, slots=True)
class _Day:
    """A file as it was read."""

    stamp: Stamp
    entries: tuple[JournalEntry, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The entries of one version in the order in which they count on a day."""

    version: int
    today: date
    rank: Rank
    entries: tuple[JournalEntry, ...]


@dataclass(frozen=True, slots=True)
class JournalSnapshot:
    """All that was read, at one moment.

    Attributes:
        version: Rises with each change.
        entries: Oldest first.
        by_id: The same by their ids.
        by_number: The entry that tells of a memory, by its number: of several the weightiest.
    """

    version: int = 0
    entries: tuple[JournalEntry, ...] = ()
    by_id: Mapping[str, JournalEntry] = field(default_factory=dict)
    by_number: Mapping[int, JournalEntry] = field(default_factory=dict)


class JournalFiles:
    """The day files of one journal; safe to use from several threads.

    Args:
        folder: Where they lie; need not be there yet.
        report: Told once about each state of a file in which something cannot be read.
        days: How many of them are looked at, the newest.
        agent: Whose they are, for the event log.
        tell: Takes what was done, for the event log: from any thread, quick.
    """

    def __init__(
        self,
        folder: Path,
        report: Callable[[str], None],
        days: Callable[[], int],
        agent: str = "",
        tell: Callable[[MemoryChange], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self._report = report
        self._agent, self._tell = agent, tell
        self._most = days
        self._lock = threading.RLock()
        self._days: dict[Path, _Day] = {}
        self._listed: tuple[int, list[Path]] | None = None
        self._ranked: _Ranked | None = None
        self._turn = 0
        self._told: dict[Path, Mapping[str, JournalEntry]] = {}
        """What the event log knows of, by their ids."""
        self._oldest: Path | None = None
        """A file that is older and comes up was there before; None before all were looked at."""
        self._ours: set[tuple[JournalEntry, ...]] = set()
        """What this program is writing just now, so that a reader knows it from a person's."""
        self.current = JournalSnapshot()
        """What was read last; quick."""

    def path(self, day: date) -> Path:
        """Where a day's file is, or would be."""
        return self.folder / f"{day.isoformat()}.md"

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot be read of the files, one sentence each; blocks."""
        self.snapshot()
        with self._lock:
            days = [self._days[path] for path in sorted(self._days)]
        return tuple(chain.from_iterable(day.problems for day in days))

    def snapshot(self) -> JournalSnapshot:
        """What the files hold now; blocks while those that changed are read."""
        with self._lock:
            return self._look(most=None)

    def glance(self) -> JournalSnapshot:
        """What the files hold, for who cannot wait: quick, the oldest news may come later.

        After opening, :meth:`entries` in a worker thread makes it complete.
        """
        if not self._lock.acquire(blocking=False):
            return self.current
        try:
            return self._look(_AT_ONCE)
        finally:
            self._lock.release()

    def ranked(self, today: date, rank: Rank) -> tuple[JournalEntry, ...]:
        """The entries by ``rank``, which is asked once a day and once a change; quick."""
        now, known = self.glance(), self._ranked
        if known is None or (known.version, known.today) != (now.version, today):
            known = self._ranked = _Ranked(now.version, today, rank, rank(now.entries, today))
        return known.entries

    def _look(self, most: int | None) -> JournalSnapshot:
        """Read what has changed, at most so many files, the newest first; the lock is held."""
        listed = self._listed
        paths = self._paths()
        relisted = self._listed is not listed or len(self._days) > len(paths)
        stamps = {path: vault_files.stamp(path) for path in self._looked_at(paths, relisted, most)}
        stale = [
            (path, stamp)
            for path, stamp in stamps.items()
            if stamp is not None and (path not in self._days or self._days[path].stamp != stamp)
        ][:most]
        kept = set(paths) if relisted else None
        gone = [path for path in self._days if kept is not None and path not in kept]
        for path in gone:
            del self._days[path]
            self._put_away(path)
        for path, stamp in stale:
            self._days[path] = self._read_day(path, stamp)
            self._notice(path, self._days[path].entries, whole=not self._days[path].problems)
        if gone or stale:
            self._show()
        if most is None:
            self._oldest = min(paths, default=self.folder)
        return self.current

    # -- for the event log; the lock is held

    def _notice(self, path: Path, entries: Sequence[JournalEntry], *, whole: bool) -> None:
        """Tell of what a person has changed in the file of a day.

        Args:
            path: The file.
            entries: What it holds.
            whole: Whether all of it can be read; if not, what is missing may still be there.
        """
        known = self._told.get(path)
        now = {entry.id: entry for entry in entries}
        self._told[path] = now if whole or known is None else {**known, **now}
        if tuple(entries) in self._ours:
            return
        if known is None and (self._oldest is None or path < self._oldest):
            return  # it is read for the first time, and was there before
        for entry in entries:
            if known is None or known.get(entry.id) != entry:
                self.done("journal", entry, "hand")
        for entry_id, entry in (known or {}).items() if whole else ():
            if entry_id not in now:
                self.done("unjournal", entry, "hand")

    def _put_away(self, path: Path) -> None:
        """Tell of a file that a person took away; one that is too old now is only not looked at."""
        if path.exists():
            self._told.pop(path, None)
            return
        for entry in self._told.pop(path, {}).values():
            self.done("unjournal", entry, "hand")

    def done(self, op: str, entry: JournalEntry, by: str, *, times: int = 1) -> None:
        """Have the event log told of something that was done to an entry."""
        first, size = min(entry.memories, default=0), len(entry.text)
        self._tell(
            MemoryChange(agent=self._agent, op=op, n=first, of=OF, size=size, times=times, by=by)
        )

    def writes(self, path: Path, before: DayFile | None, after: DayFile) -> None:
        """Know what is about to be written from what a person writes; before each try.

        Args:
            path: The file of the day.
            before: What it holds, which a person may have changed since it was read.
            after: What it is to hold.
        """
        with self._lock:
            if before is not None:
                self._notice(path, before.entries, whole=not before.problems)
            elif self._oldest is not None:
                self._put_away(path)
                self._told[path] = {}
            self._ours.add(after.entries)

    def wrote(self, path: Path, tries: Iterable[DayFile], *, done: bool) -> None:
        """The end of it.

        Args:
            path: The file of the day.
            tries: What was given to :meth:`writes`; the last of it stands there now.
            done: Whether it was written.
        """
        with self._lock:
            written = [each.entries for each in tries]
            if done and written:
                self._told[path] = {entry.id: entry for entry in written[-1]}
                self.changed(path)
            self._ours.difference_update(written)

    def _looked_at(self, paths: list[Path], everything: bool, most: int | None) -> list[Path]:
        """The files to look at: all of them, or in a thought the newest and one other in turn."""
        if most is None or everything or len(self._days) < len(paths) or not paths:
            return paths
        self._turn = (self._turn + 1) % len(paths)
        return [*paths[:most], paths[self._turn]]

    def _show(self) -> None:
        """Put what was read where the quick ones find it."""
        self.current = _snapshot(self.current.version + 1, self._days)
        if last := self._ranked:  # here, so that no thought has to
            entries = last.rank(self.current.entries, last.today)
            self._ranked = replace(last, version=self.current.version, entries=entries)

    def _paths(self) -> list[Path]:
        """The files of the days that are looked at, the newest first."""
        try:
            changed = self.folder.stat().st_mtime_ns
            if self._listed is None or self._listed[0] != changed:
                names = sorted((path.name for path in self.folder.iterdir()), reverse=True)
                found = [self.folder / name for name in names if _day_of(name)]
                self._listed = changed, found
        except OSError:
            self._listed = None
            return []
        return self._listed[1][: self._most()]

    def _read_day(self, path: Path, stamp: Stamp) -> _Day:
        day = _day_of(path.name)
        try:
            if day is None or stamp[1] > 4 * day_file.LONGEST_FILE:  # bytes; before it is read
                raise too_long(path)
            read = read_day(day, path)
        except NoteRefused as problem:
            self._report(str(problem))
            return _Day(stamp, problems=(str(problem),))
        cure = "Mend it; until then it is left alone"
        problems = tuple(f"{path}, {problem}. {cure}" for problem in read.problems)
        for each in problems:
            self._report(each)
        return _Day(stamp, read.entries, problems)

    def changed(self, path: Path) -> None:
        """Read a file anew that was written a moment ago."""
        with self._lock:
            # Two writes within one tick of the clock may leave the same stamp.
            self._days.pop(path, None)
            self._listed = None
            self._look(most=None)


def read_day(day: date, path: Path) -> DayFile:
    """The file of a day.

    Raises:
        NoteRefused: It cannot be read at all, or is far too long.
    """
    try:
        source = vault_files.read(path) or ""
    except (OSError, UnicodeDecodeError) as error:
        raise vault_files.unusable(path, error) from error
    return parsed(day, path, source)


def parsed(day: date, path: Path, source: str) -> DayFile:
    """The file of a day that ``source`` is.

    Raises:
        NoteRefused: It is far too long.
    """
    if len(source) > day_file.LONGEST_FILE:
        raise too_long(path)
    return day_file.parse(day, source)


def too_long(path: Path) -> NoteRefused:
    """The error for a file that is longer than any day."""
    return NoteRefused(
        f"{path} is longer than {day_file.LONGEST_FILE:,} characters",
        "Move a part of it into another file",
    )


def _day_of(name: str) -> date | None:
    match = _NAME.fullmatch(name)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def _snapshot(version: int, days: Mapping[Path, _Day]) -> JournalSnapshot:
    entries = [entry for path in sorted(days) for entry in days[path].entries]
    by_number: dict[int, JournalEntry] = {}
    for entry in filter(tells, entries):
        for number in entry.memories:
            best = by_number.get(number)
            if best is None or best.importance.score < entry.importance.score:
                by_number[number] = entry
    return JournalSnapshot(
        version, tuple(entries), {entry.id: entry for entry in entries}, by_number
    )


def tells(entry: JournalEntry) -> bool:
    """Whether an entry says what its memories say; a thought only points at them."""
    return entry.origin is not EntryOrigin.INFERRED or is_gathered(entry)
