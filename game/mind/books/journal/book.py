"""An agent's journal: a markdown file a day, which people may read and edit.

The files are the truth. What was read of them is kept in RAM until they change; nothing is
ever written over what could not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from game.mind.books.journal import day_file, fields, folding, wording
from game.mind.books.journal.blocks import entry_day
from game.mind.books.journal.config import JournalConfig
from game.mind.books.journal.day_file import DayFile
from game.mind.books.journal.doubles import gone_on, joined, same_that_day
from game.mind.books.journal.entries import LEAST, MOST, EntryOrigin, Importance, JournalEntry
from game.mind.books.journal.files import JournalFiles, Rank, parsed, read_day, too_long
from game.mind.errors import NoteRefused
from game.mind.records.store import Report, Tell


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
        self._config = config
        self._files = JournalFiles(folder, report, lambda: config().days, agent, tell)
        self._last: dict[date, int] = {}

    # -- reading

    def entries(self, days: int | None = None) -> tuple[JournalEntry, ...]:
        """Every entry that can be read, oldest first; blocks while files are read.

        Args:
            days: Only those of the newest so many days that have a file; None: all that
                are looked at.
        """
        found = self._files.snapshot().entries
        if days is None:
            return found
        kept = sorted({entry.id[:8] for entry in found})[-days:] if days > 0 else []
        return tuple(entry for entry in found if entry.id[:8] in kept)

    def entry(self, entry_id: str) -> JournalEntry | None:
        """The entry of that id, of any day; None if there is none, or it cannot be read; blocks."""
        if known := self._files.snapshot().by_id.get(entry_id):
            return known
        day = entry_day(entry_id)
        try:  # an older day than those that are looked at
            return read_day(day, self._files.path(day)).entry(entry_id) if day else None
        except NoteRefused:
            return None  # as it is for the days that are looked at, where it is reported

    def resting_on(self, number: int) -> JournalEntry | None:
        """The entry that tells of a memory, of several the weightiest; quick.

        By what was read last. What the agent only thought about a memory does not tell of it.
        """
        return self._files.current.by_number.get(number)

    def weight(self, number: int) -> int | None:
        """How much a memory matters by the entry that tells of it; quick, None for none."""
        entry = self._files.current.by_number.get(number)
        return None if entry is None or folding.is_gathered(entry) else entry.importance.score

    def ranked(self, today: date, rank: Rank) -> tuple[JournalEntry, ...]:
        """The entries by ``rank``, which is asked once a day and once a change; quick.

        Files that changed are read a few at a time: :meth:`entries`, in a worker thread when
        an agent is opened, makes it complete.
        """
        return self._files.ranked(today, rank)

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot be read of the files, one sentence each; blocks."""
        return self._files.problems

    @property
    def version(self) -> int:
        """Rises whenever something else was read than before; quick."""
        return self._files.current.version

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
        what a day has no room, see :mod:`game.mind.books.journal.folding`.

        Returns:
            The entry that now holds it.

        Raises:
            NoteRefused: The text is empty or too long, or the file cannot be read or written.
        """
        new = JournalEntry(
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

        self._tell("journal", by, *self._change(new.time.date(), make))
        return result

    def replace(self, entry_id: str, entry: JournalEntry) -> JournalEntry:
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

        self._tell("weighed", "night", *self._change(_day_or_refuse(entry_id), make))
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
        day, result = _day_or_refuse(keep.id), keep

        def make(file: DayFile) -> DayFile:
            nonlocal result
            if file.entry(keep.id) is None:
                raise unknown(keep.id)
            result = joined(keep, others)
            return _without(file.replaced(result), others)

        changes = [self._change(day, make)]
        for other in sorted({_day_or_refuse(each.id) for each in others} - {day}):
            changes.append(self._change(other, lambda file: _without(file, others)))
        if any(before != after for before, after in changes):
            self._files.done("merged", result, "night", times=len(others))
        return result

    def fold(self, day: date, now: datetime, most: int | None = None) -> int:
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
            file = self._folded(file, now, most)
            after = sum(not folding.is_gathered(entry) for entry in file.entries)
            return file

        if self._files.path(day).exists():
            self._tell("folded", "night", *self._change(day, make))
        return before - after

    def _with(self, file: DayFile, new: JournalEntry) -> tuple[DayFile, JournalEntry]:
        """The file with ``new`` in it, and the entry that holds it then."""
        if same := next((each for each in file.entries if same_that_day(each, new)), None):
            result = gone_on(same, new)
            return file.replaced(result), result
        result = replace(new, id=self._new_id(file))
        file = self._folded(file.with_entry(result), new.time)
        if file.entry(result.id) is None:
            result = next(filter(folding.is_gathered, file.entries), result)
        return file, result

    def _folded(self, file: DayFile, now: datetime, most: int | None = None) -> DayFile:
        gone = folding.surplus(file.entries, most or self._config().entries)
        if not gone:
            return file
        line = folding.gathered(file.entries, gone, self._new_id(file), now)
        kept = file.replaced(line) if file.entry(line.id) else file.with_entry(line)
        return _without(kept, gone)

    def _new_id(self, file: DayFile) -> str:
        """An id that was never given: also not to what a person has taken out since."""
        return f"{file.day:%Y%m%d}-{max(file.last, self._last.get(file.day, 0)) + 1}"

    def _change(
        self, day: date, make: Callable[[DayFile], DayFile]
    ) -> tuple[tuple[JournalEntry, ...], tuple[JournalEntry, ...]]:
        """Write the file of a day; what it held before, and what it holds now."""
        path = self._files.path(day)

        def text(source: str | None) -> str:
            file = day_file.new_day(day) if source is None else parsed(day, path, source)
            changed = make(file)
            if len(changed.text) > day_file.LONGEST_FILE:
                raise too_long(path)
            self._last[day] = max(changed.last, self._last.get(day, 0))
            return changed.text

        return self._files.change(day, text)

    def _tell(
        self, op: str, by: str, before: Sequence[JournalEntry], after: Sequence[JournalEntry]
    ) -> None:
        """Have the event log told of what is new in a file, or differs there."""
        known, kept = {each.id: each for each in before}, {each.id for each in after}
        gone = sum(each not in kept for each in known)
        for entry in after:
            if known.get(entry.id) == entry:
                continue
            if folding.is_gathered(entry):
                who = "night" if by == "night" else "rules"
                self._files.done("folded", entry, who, times=max(gone, 1))
            else:
                self._files.done(op, entry, by)


def unknown(entry_id: str) -> NoteRefused:
    """The error that there is no such entry."""
    return NoteRefused(
        f"There is no journal entry {entry_id[:40]!r}", "Its id stands in its heading"
    )


def local_day(moment: datetime) -> date:
    """The day of a moment by the machine's own clock."""
    return moment.astimezone().date()


def _without(file: DayFile, gone: Sequence[JournalEntry]) -> DayFile:
    """The file without ``gone``; what a person has changed meanwhile stays."""
    return file.without({each.id for each in gone if file.entry(each.id) == each})


def _within(importance: Importance) -> Importance:
    score = min(max(importance.score, LEAST), MOST)
    return Importance(score, importance.judge, fields.reasons(importance.reasons))


def _day_or_refuse(entry_id: str) -> date:
    day = entry_day(entry_id)
    if day is None:
        raise unknown(entry_id)
    return day
