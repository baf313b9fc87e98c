"""The files of a journal as they were read, kept in RAM until they change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import chain
from pathlib import Path

from game.mind.books.journal import day_file
from game.mind.books.journal.day_file import DayFile
from game.mind.books.journal.entries import EntryOrigin, JournalEntry
from game.mind.books.journal.folding import is_gathered
from game.mind.errors import NoteRefused
from game.mind.events.types import MemoryChange
from game.mind.records import files as vault_files
from game.mind.records.store import RecordStore, Report, Tell

_NAME = re.compile(r"(\d{4}-\d\d-\d\d)\.md", re.ASCII)
OF = "journal"
"""What the event log calls whatever is done to an entry, beside what it is."""
_AT_ONCE = 2
"""Files that are read in a thought, which has no time for more: the newest first."""

type Rank = Callable[[Iterable[JournalEntry], date], tuple[JournalEntry, ...]]
"""Chooses and orders entries as they count on a day."""


@dataclass(frozen=True, slots=True)
class _Day:
    """What can be read of a file, and what is wrong with the rest."""

    entries: tuple[JournalEntry, ...]
    problems: tuple[str, ...]


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
    """The day files of one journal; safe to use from several threads."""

    def __init__(
        self,
        folder: Path,
        report: Report,
        days: Callable[[], int],
        agent: str = "",
        tell: Tell = lambda _: None,
    ) -> None:
        self.folder = folder
        self._report = report
        self._agent, self._tell = agent, tell
        self._most = days
        self._store = RecordStore(self._parse, self._edited, report, too_big=_too_big)
        self._listed: tuple[int, list[Path]] | None = None
        self._ranked: tuple[date, Rank, tuple[JournalEntry, ...]] | None = None
        self._turn = 0
        self._oldest = folder
        """The oldest file that was looked at: an older one that comes up was there before."""
        self._unreadable: dict[Path, dict[str, JournalEntry]] = {}
        """Entries that are not known to be gone: a part of their file cannot be read."""
        self.current = JournalSnapshot()
        """What was read last; quick."""

    def path(self, day: date) -> Path:
        """Where a day's file is, or would be."""
        return self.folder / f"{day.isoformat()}.md"

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot be read of the files, one sentence each; blocks."""
        self.snapshot()
        found = {path: day.problems for path, day in self._store.records().items()}
        found |= {path: (problem,) for path, problem in self._store.problems().items()}
        return tuple(chain.from_iterable(found[path] for path in sorted(found)))

    def snapshot(self) -> JournalSnapshot:
        """What the files hold now; blocks while those that changed are read."""
        with self._store.lock:
            paths, _ = self._paths()
            self._store.look(paths)
            self._oldest = min(paths, default=self.folder)
            return self._shown()

    def glance(self) -> JournalSnapshot:
        """What the files hold, for who cannot wait: quick, the oldest news may come later.

        After opening, :meth:`snapshot` in a worker thread makes it complete.
        """
        if not self._store.lock.acquire(blocking=False):
            return self.current
        try:
            paths, relisted = self._paths()
            left = _AT_ONCE
            for path in self._looked_at(paths, relisted):
                left -= self._store.refresh(path)
                if not left:
                    break
            self._store.keep_only(paths)
            return self._shown()
        finally:
            self._store.lock.release()

    def ranked(self, today: date, rank: Rank) -> tuple[JournalEntry, ...]:
        """The entries by ``rank``, which is asked once a day and once a change; quick."""
        now, known = self.glance(), self._ranked
        if known is None or known[0] != today:
            known = self._ranked = today, rank, rank(now.entries, today)
        return known[2]

    def change(
        self, day: date, make: Callable[[str | None], str]
    ) -> tuple[tuple[JournalEntry, ...], tuple[JournalEntry, ...]]:
        """Write the file of a day; what it held before, and what it holds now.

        Raises:
            NoteRefused: The file cannot be read or written, or ``make`` refused.
        """
        before, after = self._store.change(self.path(day), lambda source, _: make(source))
        self._listed = None  # two files made within one tick of the clock leave the same time
        self.snapshot()
        return before.entries if before else (), after.entries

    def _looked_at(self, paths: list[Path], relisted: bool) -> list[Path]:
        """What a thought looks at: the newest and one other in turn; all if some are unread."""
        if relisted or not paths or not all(map(self._store.seen, paths)):
            return paths
        self._turn = (self._turn + 1) % len(paths)
        return [*paths[:_AT_ONCE], paths[self._turn]]

    def _shown(self) -> JournalSnapshot:
        """Put what was read where the quick ones find it; the lock is held."""
        if self.current.version != self._store.version:
            days = self._store.records()
            entries = [entry for path in sorted(days) for entry in days[path].entries]
            self.current = _snapshot(self._store.version, entries)
            if self._ranked:  # here, so that no thought has to
                today, rank, _ = self._ranked
                self._ranked = today, rank, rank(entries, today)
        return self.current

    def _paths(self) -> tuple[list[Path], bool]:
        """The files of the days that are looked at, the newest first; and if they are others."""
        relisted = False
        try:
            changed = self.folder.stat().st_mtime_ns
            if self._listed is None or self._listed[0] != changed:
                names = sorted((path.name for path in self.folder.iterdir()), reverse=True)
                self._listed = changed, [self.folder / name for name in names if _day_of(name)]
                relisted = True
        except OSError:
            self._listed = None
            return [], True
        return self._listed[1][: self._most()], relisted

    def _parse(self, path: Path, source: str, _: datetime) -> _Day:
        day = _day_of(path.name)
        assert day is not None  # no other file is looked at
        read = parsed(day, path, source)
        cure = "Mend it; until then it is left alone"
        problems = tuple(f"{path}, {problem}. {cure}" for problem in read.problems)
        for each in problems:
            self._report(each)
        return _Day(read.entries, problems)

    # -- for the event log

    def _edited(self, path: Path, before: _Day | None, after: _Day | None) -> None:
        """Tell of what a person has changed in the file of a day."""
        if before is None and path < self._oldest:
            return
        known = self._unreadable.pop(path, {})
        known |= {entry.id: entry for entry in before.entries} if before else {}
        now = {entry.id: entry for entry in after.entries} if after else {}
        for entry in now.values():
            if known.get(entry.id) != entry:
                self.done("journal", entry, "hand")
        gone = {entry_id: entry for entry_id, entry in known.items() if entry_id not in now}
        if after is not None and after.problems:
            self._unreadable[path] = gone
            return
        for entry in gone.values():
            self.done("unjournal", entry, "hand")

    def done(self, op: str, entry: JournalEntry, by: str, *, times: int = 1) -> None:
        """Have the event log told of something that was done to an entry."""
        first, size = min(entry.memories, default=0), len(entry.text)
        self._tell(
            MemoryChange(agent=self._agent, op=op, n=first, of=OF, size=size, times=times, by=by)
        )


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


def _too_big(path: Path, size: int) -> NoteRefused | None:
    return too_long(path) if size > 4 * day_file.LONGEST_FILE else None


def _snapshot(version: int, entries: Sequence[JournalEntry]) -> JournalSnapshot:
    by_number: dict[int, JournalEntry] = {}
    for entry in filter(tells, entries):
        for number in entry.memories:
            best = by_number.get(number)
            if best is None or best.importance.score < entry.importance.score:
                by_number[number] = entry
    by_id = {entry.id: entry for entry in entries}
    return JournalSnapshot(version, tuple(entries), by_id, by_number)


def tells(entry: JournalEntry) -> bool:
    """Whether an entry says what its memories say; a thought only points at them."""
    return entry.origin is not EntryOrigin.INFERRED or is_gathered(entry)
