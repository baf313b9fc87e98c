"""An agent's journal: a markdown file a day, which people may read and edit.

The files are the truth. What was read of them is kept in RAM until they change; nothing is
ever written over what could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path

from keepsake.books.journal import day_file, fields, merging, wording
from keepsake.books.journal.config import JournalConfig
from keepsake.books.journal.day_file import DayFile, entry_day
from keepsake.books.journal.entries import (
    LEAST,
    MOST,
    EntryOrigin,
    Importance,
    JournalEntry,
    is_gathered,
)
from keepsake.errors import NoteRefused
from keepsake.events.types import MemoryChange
from keepsake.records import files as vault_files
from keepsake.records.store import RecordStore, Report, Tell

OF = "journal"
"""What the event log calls whatever is done to an entry, beside what it is."""
AT_ONCE = 2
"""Files that are read in a thought, which has no time for more: the newest first."""
_NAME = re.compile(r"\d{4}-\d\d-\d\d\.md", re.ASCII)

type Rank = Callable[[Iterable[JournalEntry], date], tuple[JournalEntry, ...]]
"""Chooses and orders entries as they count on a day."""
type Edit = Callable[[DayFile], DayFile]
type _Change = tuple[Sequence[JournalEntry], Sequence[JournalEntry]]
"""What a file held before, and what it holds now."""


@dataclass(frozen=True, slots=True)
class JournalSnapshot:
    """All that was read, at one moment."""

    version: int = 0
    entries: tuple[JournalEntry, ...] = ()
    by_id: Mapping[str, JournalEntry] = field(default_factory=dict)
    # the entry that tells of a memory, by its number: of several the weightiest
    by_number: Mapping[int, JournalEntry] = field(default_factory=dict)


class Journal:
    """The journal of one agent; safe to use from several threads."""

    def __init__(
        self,
        folder: Path,
        report: Report = lambda _: None,
        config: Callable[[], JournalConfig] = JournalConfig,
        agent: str = "",
        tell: Tell = lambda _: None,
    ) -> None:
        self.folder = folder
        self._config, self._report = config, report
        self._agent, self._emit = agent, tell
        self._store = RecordStore(self._parse, self._edited, report)
        self._current = JournalSnapshot()
        self._ranked: tuple[date, Rank, tuple[JournalEntry, ...]] | None = None
        self._oldest = folder
        """The oldest file that was looked at: an older one that comes up was there before."""
        self._unreadable: dict[Path, dict[str, JournalEntry]] = {}
        """Entries that are not known to be gone: a part of their file cannot be read."""
        self._last: dict[date, int] = {}

    # -- reading

    def entries(self, days: int | None = None) -> tuple[JournalEntry, ...]:
        """Every entry that can be read, oldest first; blocks while files are read.

        Args:
            days: Only those of the newest so many days that have a file; None: all that
                are looked at.
        """
        found = self._snapshot().entries
        if days is None:
            return found
        kept = sorted({entry.day for entry in found})[-days:] if days > 0 else []
        return tuple(entry for entry in found if entry.day in kept)

    def entry(self, entry_id: str) -> JournalEntry | None:
        """The entry of that id, of any day; None if there is none, or it cannot be read; blocks."""
        if known := self._snapshot().by_id.get(entry_id):
            return known
        if (day := entry_day(entry_id)) is None:
            return None
        try:  # an older day than those that are looked at
            source = vault_files.read(self._path(day)) or ""
            return day_file.parse(day, source).entry(entry_id)
        except (OSError, UnicodeDecodeError):
            return None  # as it is for the days that are looked at, where it is reported

    def resting_on(self, number: int) -> JournalEntry | None:
        """The entry that tells of a memory, of several the weightiest; quick.

        By what was read last. What the agent only thought about a memory does not tell of it.
        """
        return self._current.by_number.get(number)

    def weight(self, number: int) -> int | None:
        """How much a memory matters by the entry that tells of it; quick, None for none."""
        entry = self.resting_on(number)
        return None if entry is None or is_gathered(entry) else entry.importance.score

    def ranked(self, today: date, rank: Rank) -> tuple[JournalEntry, ...]:
        """The entries by ``rank``, which is asked once a day and once a change; quick.

        Files that changed are read a few at a time: :meth:`entries`, in a worker thread when
        an agent is opened, makes it complete.
        """
        now, known = self._glance(), self._ranked
        if known is None or known[0] != today:
            known = self._ranked = today, rank, rank(now.entries, today)
        return known[2]

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot be read of the files, one sentence each; blocks."""
        self._snapshot()
        found = {path: _problems(path, file) for path, file in self._store.records().items()}
        found |= {path: [problem] for path, problem in self._store.problems().items()}
        return tuple(each for path in sorted(found) for each in found[path])

    # -- writing

    def write(
        self,
        text: str,
        *,
        importance: Importance,
        origin: EntryOrigin,
        memories: Iterable[int] = (),
        tags: Iterable[str] = (),
        who: Iterable[str] = (),
        now: datetime,
        by: str = "agent",
    ) -> JournalEntry:
        """Write an entry; blocks.

        What says the same as an entry of that day makes that one rest on more memories; for
        what a day has no room, see :mod:`keepsake.books.journal.merging`.

        Returns:
            The entry that now holds it.

        Raises:
            NoteRefused: The text is empty or too long, or the file cannot be read or written.
        """
        time = now.astimezone().replace(microsecond=0)
        new = _checked(
            JournalEntry(
                "", time, text, importance, origin, tuple(memories), tuple(tags), tuple(who)
            )
        )
        result = new

        def make(file: DayFile) -> DayFile:
            nonlocal result
            file, result = self._with(file, new)
            return file

        self._told("journal", by, self._change(time.date(), make))
        return result

    def replace(self, entry_id: str, entry: JournalEntry) -> JournalEntry:
        """Put ``entry`` in the place of the one of that id, which it keeps; blocks.

        Raises:
            NoteRefused: There is no such entry, its text is empty or too long, or the file
                cannot be read or written.
        """
        new = _checked(replace(entry, id=entry_id))

        def make(file: DayFile) -> DayFile:
            return _holding(file, entry_id).replaced(new)

        self._told("weighed", "night", self._change(_day_or_refuse(entry_id), make))
        return new

    def merge(self, keep: JournalEntry, gone: Sequence[str]) -> JournalEntry:
        """Make one entry of several; blocks.

        What is kept is written before anything goes: broken off between the two, both stand
        there, and merging them again gives the same.

        Args:
            keep: The entry that stays; it gathers memories, people and tags of the others,
                and matters as much as the weightiest.
            gone: Ids of the others; one that is not there any more is passed over.

        Raises:
            NoteRefused: ``keep`` is not there, or a file cannot be read or written.
        """
        others = [known for each in gone if each != keep.id and (known := self.entry(each))]
        day, result = _day_or_refuse(keep.id), merging.joined(keep, others)

        def make(file: DayFile) -> DayFile:
            return _without(_holding(file, keep.id).replaced(result), others)

        changes = [self._change(day, make)]
        for other in sorted({each.day for each in others} - {day}):
            changes.append(self._change(other, lambda file: _without(file, others)))
        if any(before != after for before, after in changes):
            self._done("merged", result, "night", times=len(others))
        return result

    def fold(self, day: date, now: datetime, most: int | None = None) -> int:
        """Have the least important of a day stand in one line, if it has too many; blocks.

        Returns:
            How many entries went into it.

        Raises:
            NoteRefused: The file cannot be read or written.
        """
        if not self._path(day).exists():
            return 0
        change = self._change(day, lambda file: self._folded(file, now, most))
        self._told("folded", "night", change)
        before, after = (sum(not is_gathered(entry) for entry in each) for each in change)
        return before - after

    # -- what becomes of a file

    def _with(self, file: DayFile, new: JournalEntry) -> tuple[DayFile, JournalEntry]:
        """The file with ``new`` in it, and the entry that holds it then."""
        for known in file.entries:
            if merging.same_that_day(known, new):
                fuller = max(known.text, new.text, key=len)
                result = replace(merging.joined(known, [new]), text=fuller)
                return file.replaced(result), result
        result = replace(new, id=self._new_id(file))
        file = self._folded(file.with_entry(result), new.time)
        if file.entry(result.id) is None:
            result = next(filter(is_gathered, file.entries), result)
        return file, result

    def _folded(self, file: DayFile, now: datetime, most: int | None = None) -> DayFile:
        gone = merging.surplus(file.entries, most or self._config().entries)
        if not gone:
            return file
        line = merging.gathered(file.entries, gone, self._new_id(file), now)
        kept = file.replaced(line) if file.entry(line.id) else file.with_entry(line)
        return _without(kept, gone)

    def _new_id(self, file: DayFile) -> str:
        """An id that was never given: also not to what a person has taken out since."""
        return f"{file.day:%Y%m%d}-{max(file.last, self._last.get(file.day, 0)) + 1}"

    def _change(self, day: date, make: Edit) -> _Change:
        path = self._path(day)

        def text(_: str | None, file: DayFile | None) -> str:
            changed = make(file or day_file.new_day(day))
            if len(changed.text) > day_file.LONGEST_FILE:
                raise NoteRefused(
                    f"{path} is longer than {day_file.LONGEST_FILE:,} characters",
                    "Move a part of it into another file",
                )
            self._last[day] = max(changed.last, self._last.get(day, 0))
            return changed.text

        before, after = self._store.change(path, text)
        self._snapshot()
        return before.entries if before else (), after.entries

    # -- the files, as they are read

    def _path(self, day: date) -> Path:
        return self.folder / f"{day.isoformat()}.md"

    def _paths(self) -> list[Path]:
        """The files of the days that are looked at, the newest first."""
        try:
            found = [path for path in self.folder.iterdir() if _day_of(path)]
        except OSError:
            return []
        return sorted(found, reverse=True)[: self._config().days]

    def _snapshot(self) -> JournalSnapshot:
        """What the files hold now; blocks while those that changed are read."""
        with self._store.lock:
            paths = self._paths()
            self._store.look(paths)
            self._oldest = min(paths, default=self.folder)
            return self._shown()

    def _glance(self) -> JournalSnapshot:
        """What the files hold, for who cannot wait: quick, the oldest news may come later."""
        if not self._store.lock.acquire(blocking=False):
            return self._current
        try:
            paths, left = self._paths(), AT_ONCE
            for path in paths:
                left -= self._store.refresh(path)
                if not left:
                    break
            self._store.keep_only(paths)
            return self._shown()
        finally:
            self._store.lock.release()

    def _shown(self) -> JournalSnapshot:
        """Put what was read where the quick ones find it; the lock is held."""
        if self._current.version != self._store.version:
            days = self._store.records()
            entries = [entry for path in sorted(days) for entry in days[path].entries]
            by_number: dict[int, JournalEntry] = {}
            for entry in entries:
                # A thought only points at its memories, and does not say what they say.
                thought = entry.origin is EntryOrigin.INFERRED and not is_gathered(entry)
                for number in () if thought else entry.memories:
                    best = by_number.setdefault(number, entry)
                    if best.importance.score < entry.importance.score:
                        by_number[number] = entry
            by_id = {entry.id: entry for entry in entries}
            self._current = JournalSnapshot(self._store.version, tuple(entries), by_id, by_number)
            if self._ranked:  # here, so that no thought has to
                today, rank, _ = self._ranked
                self._ranked = today, rank, rank(entries, today)
        return self._current

    def _parse(self, path: Path, source: str, _: datetime) -> DayFile:
        file = day_file.parse(date.fromisoformat(path.stem), source)
        for each in _problems(path, file):
            self._report(each)
        return file

    # -- for the event log

    def _edited(self, path: Path, before: DayFile | None, after: DayFile | None) -> None:
        """Tell of what a person has changed in the file of a day."""
        if before is None and path < self._oldest:
            return
        known = self._unreadable.pop(path, {})
        known |= {entry.id: entry for entry in before.entries} if before else {}
        now = {entry.id: entry for entry in after.entries} if after else {}
        for entry in now.values():
            if known.get(entry.id) != entry:
                self._done("journal", entry, "hand")
        gone = {entry_id: entry for entry_id, entry in known.items() if entry_id not in now}
        if after is not None and after.problems:
            self._unreadable[path] = gone
            return
        for entry in gone.values():
            self._done("unjournal", entry, "hand")

    def _told(self, op: str, by: str, change: _Change) -> None:
        """Have the event log told of what is new in a file, or differs there."""
        before, after = change
        known, kept = {each.id: each for each in before}, {each.id for each in after}
        gone = len(known.keys() - kept)
        for entry in after:
            if known.get(entry.id) == entry:
                continue
            if is_gathered(entry):
                who = "night" if by == "night" else "rules"
                self._done("folded", entry, who, times=max(gone, 1))
            else:
                self._done(op, entry, by)

    def _done(self, op: str, entry: JournalEntry, by: str, *, times: int = 1) -> None:
        first, size = min(entry.memories, default=0), len(entry.text)
        self._emit(
            MemoryChange(agent=self._agent, op=op, n=first, of=OF, size=size, times=times, by=by)
        )


def local_day(moment: datetime) -> date:
    """The day of a moment by the machine's own clock."""
    return moment.astimezone().date()


def _checked(entry: JournalEntry) -> JournalEntry:
    """An entry as a file can hold it.

    Raises:
        NoteRefused: Its text is empty or too long.
    """
    given = entry.importance
    score = min(max(given.score, LEAST), MOST)
    return replace(
        entry,
        text=wording.checked(entry.text),
        importance=Importance(score, given.judge, fields.reasons(given.reasons)),
        memories=wording.numbers(entry.memories),
        tags=wording.tags(entry.tags),
        who=wording.people(entry.who),
    )


def _day_or_refuse(entry_id: str) -> date:
    day = entry_day(entry_id)
    if day is None:
        raise _unknown(entry_id)
    return day


def _holding(file: DayFile, entry_id: str) -> DayFile:
    if file.entry(entry_id) is None:
        raise _unknown(entry_id)
    return file


def _unknown(entry_id: str) -> NoteRefused:
    return NoteRefused(
        f"There is no journal entry {entry_id[:40]!r}", "Its id stands in its heading"
    )


def _without(file: DayFile, gone: Sequence[JournalEntry]) -> DayFile:
    """The file without ``gone``; what a person has changed meanwhile stays."""
    return file.without({each.id for each in gone if file.entry(each.id) == each})


def _day_of(path: Path) -> date | None:
    try:
        return date.fromisoformat(path.stem) if _NAME.fullmatch(path.name) else None
    except ValueError:
        return None


def _problems(path: Path, file: DayFile) -> list[str]:
    return [f"{path}, {each}. Mend it; until then it is left alone" for each in file.problems]
