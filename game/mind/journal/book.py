"""An agent's journal: a markdown file a day, which people may read and edit.

The files are the truth. What was read of them is kept in RAM until they change; nothing is
ever written over what could not be read.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import chain
from pathlib import Path

from game.mind import vault_files
from game.mind.errors import NoteRefused
from game.mind.journal import day_file, fields, folding, wording
from game.mind.journal.config import JournalConfig
from game.mind.journal.day_file import DayFile
from game.mind.journal.entries import LEAST, MOST, Entry, Importance, Judge, Origin
from game.mind.vault_files import Stamp

_NAME = re.compile(r"(\d{4}-\d\d-\d\d)\.md")
_AT_ONCE = 2
"""Files that are read in a thought, which has no time for more: the newest first."""

type Rank = Callable[[Iterable[Entry], date], tuple[Entry, ...]]
"""Chooses and orders entries as they count on a day."""


@dataclass(frozen=True, slots=True)
class _Day:
    """A file as it was read."""

    stamp: Stamp
    entries: tuple[Entry, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that was read, at one moment.

    Attributes:
        version: Rises with each change.
        entries: Oldest first.
        by_id: The same by their ids.
        by_number: The weightiest entry that rests on a memory, by its number.
    """

    version: int = 0
    entries: tuple[Entry, ...] = ()
    by_id: Mapping[str, Entry] = field(default_factory=dict)
    by_number: Mapping[int, Entry] = field(default_factory=dict)


class Journal:
    """The journal of one agent; safe to use from several threads.

    Args:
        folder: ``vault/agents/<name>/journal``; made when the first entry is written.
        report: Told once about each state of a file in which something cannot be read.
        config: How much a day holds, and how many days are looked at.
    """

    def __init__(
        self,
        folder: Path,
        report: Callable[[str], None] = lambda _: None,
        config: Callable[[], JournalConfig] = JournalConfig,
    ) -> None:
        self.folder = folder
        self._report = report
        self._config = config
        self._lock = threading.Lock()
        self._days: dict[Path, _Day] = {}
        self._listed: tuple[int, list[Path]] | None = None
        self._last: dict[date, int] = {}
        self._snapshot = Snapshot()
        self._ranked: tuple[int, date, tuple[Entry, ...]] | None = None

    # -- reading

    def entries(self, days: int | None = None) -> tuple[Entry, ...]:
        """Every entry that can be read, oldest first; blocks while files are read.

        Args:
            days: Only those of the newest so many days that have a file; None: all that
                are looked at.
        """
        found = self.snapshot().entries
        if days is None:
            return found
        kept = sorted({entry.id[:8] for entry in found})[-days:] if days > 0 else []
        return tuple(entry for entry in found if entry.id[:8] in kept)

    def entry(self, entry_id: str) -> Entry | None:
        """The entry of that id, of any day; blocks."""
        if known := self.snapshot().by_id.get(entry_id):
            return known
        day = day_file.entry_day(entry_id)
        path = self._path(day) if day else None
        if day is None or path is None or path in self._days:
            return None
        return self._read(day, path)[0].entry(entry_id) if path.exists() else None

    def resting_on(self, number: int) -> Entry | None:
        """The weightiest entry that rests on a memory; quick, by what was read last."""
        return self._snapshot.by_number.get(number)

    def weight(self, number: int) -> int | None:
        """How much a memory matters by the entry that rests on it; quick, None for none."""
        entry = self._snapshot.by_number.get(number)
        return None if entry is None or folding.is_gathered(entry) else entry.importance.score

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot be read of the files, one sentence each; blocks."""
        self.snapshot()
        with self._lock:
            return tuple(chain.from_iterable(day.problems for day in self._days.values()))

    @property
    def version(self) -> int:
        """Rises whenever something else was read than before; quick."""
        return self._snapshot.version

    def snapshot(self) -> Snapshot:
        """What the files hold now; blocks while those that changed are read."""
        with self._lock:
            return self._look(most=None)

    def glance(self) -> Snapshot:
        """What the files hold, for who cannot wait: quick, the oldest news may come later.

        After opening, :meth:`entries` in a worker thread makes it complete.
        """
        if not self._lock.acquire(blocking=False):
            return self._snapshot
        try:
            return self._look(_AT_ONCE)
        finally:
            self._lock.release()

    def ranked(self, today: date, rank: Rank) -> tuple[Entry, ...]:
        """The entries by ``rank``, which is asked once a day and once a change; quick."""
        now = self.glance()
        known = self._ranked
        if known is None or known[:2] != (now.version, today):
            known = self._ranked = now.version, today, rank(now.entries, today)
        return known[2]

    def _look(self, most: int | None) -> Snapshot:
        """Read what has changed, at most so many files, the newest first; the lock is held."""
        paths = self._paths()
        stamps = {path: vault_files.stamp(path) for path in paths}
        gone = [path for path in self._days if stamps.get(path) is None]
        stale = [
            (path, stamp)
            for path, stamp in stamps.items()
            if stamp is not None and (path not in self._days or self._days[path].stamp != stamp)
        ][:most]
        for path in gone:
            del self._days[path]
        for path, stamp in stale:
            self._days[path] = self._read_day(path, stamp)
        if gone or stale:
            self._snapshot = _snapshot(self._snapshot.version + 1, self._days)
        return self._snapshot

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
        return self._listed[1][: self._config().days]

    def _read_day(self, path: Path, stamp: Stamp) -> _Day:
        day = _day_of(path.name)
        try:
            if day is None or stamp[1] > 4 * day_file.LONGEST_FILE:  # bytes; before it is read
                raise _too_long(path)
            read, problems = self._read(day, path)
        except NoteRefused as problem:
            self._report(str(problem))
            return _Day(stamp, problems=(str(problem),))
        for each in problems:
            self._report(each)
        return _Day(stamp, read.entries, problems)

    def _read(self, day: date, path: Path) -> tuple[DayFile, tuple[str, ...]]:
        try:
            source = vault_files.read(path) or ""
        except (OSError, UnicodeDecodeError) as error:
            raise vault_files.unusable(path, error) from error
        read = _parsed(day, path, source)
        cure = "Mend it; until then it is left alone"
        return read, tuple(f"{path}, {problem}. {cure}" for problem in read.problems)

    # -- writing

    def write(
        self,
        text: str,
        *,
        importance: Importance,
        origin: Origin,
        memories: Iterable[int] = (),
        tags: Iterable[str] = (),
        who: Iterable[str] = (),
        now: datetime,
    ) -> Entry:
        """Write an entry; blocks.

        What says the same as an entry of that day makes that one rest on more memories; for
        what a day has no room, see :mod:`game.mind.journal.folding`.

        Args:
            text: What it is, one line; what others said names who said it.
            importance: How much it matters, and who says so.
            origin: Where it comes from.
            memories: Numbers of the memories that it rests on.
            tags: Words to sort by.
            who: Keys of the people it is about.
            now: The present time, with time zone.

        Returns:
            The entry that now holds it.

        Raises:
            NoteRefused: The text is empty or too long, or the file cannot be read or written.
        """
        new = Entry(
            id="",
            time=now.astimezone().replace(microsecond=0),
            text=wording.checked(text),
            importance=_within(importance),
            origin=origin,
            memories=wording.numbers(memories),
            tags=wording.tags(tags),
            who=wording.people(who),
        )
        result = new

        def make(file: DayFile) -> DayFile:
            nonlocal result
            file, result = self._with(file, new)
            return file

        self._change(new.time.date(), make)
        return result

    def replace(self, entry_id: str, entry: Entry) -> Entry:
        """Put ``entry`` in the place of the one of that id, which it keeps; blocks.

        Raises:
            NoteRefused: There is no such entry, its text is empty or too long, or the file
                cannot be read or written.
        """
        new = replace(
            entry,
            id=entry_id,
            text=wording.checked(entry.text),
            importance=_within(entry.importance),
            memories=wording.numbers(entry.memories),
            tags=wording.tags(entry.tags),
            who=wording.people(entry.who),
        )

        def make(file: DayFile) -> DayFile:
            if file.entry(entry_id) is None:
                raise unknown(entry_id)
            return file.replaced(new)

        self._change(_day_or_refuse(entry_id), make)
        return new

    def merge(self, keep: Entry, gone: Sequence[str]) -> Entry:
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
        day, result = _day_or_refuse(keep.id), keep

        def make(file: DayFile) -> DayFile:
            nonlocal result
            if file.entry(keep.id) is None:
                raise unknown(keep.id)
            result = joined(keep, others)
            return _without(file.replaced(result), others)

        self._change(day, make)
        for other in {_day_or_refuse(each.id) for each in others} - {day}:
            self._change(other, lambda file: _without(file, others))
        return result

    def fold(self, day: date, now: datetime) -> int:
        """Have the least important of a day stand in one line, if it has too many; blocks.

        Returns:
            How many entries went into it.

        Raises:
            NoteRefused: The file cannot be read or written.
        """
        before = after = 0

        def make(file: DayFile) -> DayFile:
            nonlocal before, after
            before = sum(not folding.is_gathered(entry) for entry in file.entries)
            file = self._folded(file, now)
            after = sum(not folding.is_gathered(entry) for entry in file.entries)
            return file

        if self._path(day).exists():
            self._change(day, make)
        return before - after

    def _with(self, file: DayFile, new: Entry) -> tuple[DayFile, Entry]:
        """The file with ``new`` in it, and the entry that holds it then."""
        if same := next((each for each in file.entries if _same(each, new)), None):
            result = joined(same, [new])
            return file.replaced(result), result
        result = replace(new, id=self._new_id(file))
        file = self._folded(file.with_entry(result), new.time)
        if file.entry(result.id) is None:
            result = next(filter(folding.is_gathered, file.entries), result)
        return file, result

    def _folded(self, file: DayFile, now: datetime) -> DayFile:
        gone = folding.surplus(file.entries, self._config().entries)
        if not gone:
            return file
        line = folding.gathered(file.entries, gone, self._new_id(file), now)
        kept = file.replaced(line) if file.entry(line.id) else file.with_entry(line)
        return _without(kept, gone)

    def _new_id(self, file: DayFile) -> str:
        """An id that was never given: also not to what a person has taken out since."""
        return f"{file.day:%Y%m%d}-{max(file.last, self._last.get(file.day, 0)) + 1}"

    def _change(self, day: date, make: Callable[[DayFile], DayFile]) -> None:
        path = self._path(day)

        def text(before: str | None) -> str:
            file = day_file.new_day(day) if before is None else _parsed(day, path, before)
            changed = make(file).text
            if len(changed) > day_file.LONGEST_FILE:
                raise _too_long(path)
            return changed

        written = vault_files.change(path, text)
        with self._lock:
            last = _parsed(day, path, written).last
            self._last[day] = max(last, self._last.get(day, 0))
            # Two writes within one tick of the clock may leave the same stamp.
            self._days.pop(path, None)
            self._listed = None
            self._look(most=None)

    def _path(self, day: date) -> Path:
        return self.folder / f"{day.isoformat()}.md"


def joined(keep: Entry, others: Iterable[Entry]) -> Entry:
    """``keep`` with the memories, people, tags and weight of others that say the same."""
    together = (keep, *others)
    weight = max((each.importance for each in together), key=_authority)
    return replace(
        keep,
        importance=weight,
        memories=wording.numbers(number for each in together for number in each.memories),
        tags=wording.tags(tag for each in together for tag in each.tags),
        who=wording.people(key for each in together for key in each.who),
    )


def unknown(entry_id: str) -> NoteRefused:
    """The error that there is no such entry."""
    return NoteRefused(
        f"There is no journal entry {entry_id[:40]!r}", "Its id stands in its heading"
    )


def local_day(moment: datetime) -> date:
    """The day of a moment by the machine's own clock."""
    return moment.astimezone().date()


def _authority(importance: Importance) -> tuple[bool, int]:
    return importance.judge is Judge.AGENT, importance.score


def _same(one: Entry, two: Entry) -> bool:
    """Whether two entries of a day say the same of the same people."""
    if folding.is_gathered(one) or folding.is_gathered(two):
        return False
    return (not one.who or not two.who or set(one.who) == set(two.who)) and wording.alike(
        one.text, two.text
    )


def _without(file: DayFile, gone: Sequence[Entry]) -> DayFile:
    """The file without ``gone``; what a person has changed meanwhile stays."""
    return file.without({each.id for each in gone if file.entry(each.id) == each})


def _within(importance: Importance) -> Importance:
    score = min(max(importance.score, LEAST), MOST)
    return Importance(score, importance.judge, fields.reasons(importance.reasons))


def _parsed(day: date, path: Path, source: str) -> DayFile:
    if len(source) > day_file.LONGEST_FILE:
        raise _too_long(path)
    return day_file.parse(day, source)


def _too_long(path: Path) -> NoteRefused:
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


def _day_or_refuse(entry_id: str) -> date:
    day = day_file.entry_day(entry_id)
    if day is None:
        raise unknown(entry_id)
    return day


def _snapshot(version: int, days: Mapping[Path, _Day]) -> Snapshot:
    entries = [entry for path in sorted(days) for entry in days[path].entries]
    by_number: dict[int, Entry] = {}
    for entry in entries:
        for number in entry.memories:
            best = by_number.get(number)
            if best is None or best.importance.score < entry.importance.score:
                by_number[number] = entry
    return Snapshot(version, tuple(entries), {entry.id: entry for entry in entries}, by_number)
