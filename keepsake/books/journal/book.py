"""An agent's journal: a markdown file a day, which people may read and edit.

The files are the truth. What was read of them is kept in RAM until they change; nothing is
ever written over what could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path

from keepsake.books.journal import day_file
from keepsake.books.journal.config import JournalConfig
from keepsake.books.journal.day_file import DayFile, entry_day, entry_number
from keepsake.books.journal.entries import (
    EntryOrigin,
    Importance,
    JournalEntry,
    Judge,
    checked,
    normal,
)
from keepsake.books.journal.standing import ranked
from keepsake.errors import NoteRefused
from keepsake.events.types import MemoryChange
from keepsake.records.store import RecordStore, Report, Tell

_NAME = re.compile(r"\d{4}-\d\d-\d\d\.md", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """All that was read, at one moment."""

    version: int = 0
    entries: tuple[JournalEntry, ...] = ()
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
        self._current = _Snapshot()
        self._ranked: tuple[date, _Snapshot, tuple[JournalEntry, ...]] | None = None

    # -- reading

    def entries(self) -> tuple[JournalEntry, ...]:
        """Every entry that can be read, oldest first; blocks while files are read."""
        self._store.look(self._paths())
        return self._snapshot().entries

    def resting_on(self, number: int) -> JournalEntry | None:
        """The entry that tells of a memory, of several the weightiest; quick.

        By what was read last. What the agent only thought about a memory does not tell of it.
        """
        return self._current.by_number.get(number)

    def ranked(self, today: date) -> tuple[JournalEntry, ...]:
        """What may stand in a prompt, the entries that count most first; quick.

        The files of today and yesterday are looked at; changes by hand to older ones are seen
        at the next call of :meth:`entries`.
        """
        if self._store.lock.acquire(blocking=False):  # nobody reads files just now
            try:
                for day in (today - timedelta(days=1), today):
                    self._store.refresh(self._path(day))
                self._snapshot()
            finally:
                self._store.lock.release()
        current, known = self._current, self._ranked
        if known is None or known[:2] != (today, current):
            known = self._ranked = today, current, ranked(current.entries, today)
        return known[2]

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot be read of the files, one sentence each; blocks."""
        self.entries()
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
    ) -> JournalEntry | None:
        """Write an entry; blocks.

        The same text about the same people is written once a day, and rests on more memories. In
        a full day a weightier entry takes the place of the least that the agent did not weigh
        itself.

        Returns:
            The entry that now holds it; None if the day is full of what matters more.

        Raises:
            NoteRefused: The text is empty or too long, or the file cannot be read or written.
        """
        time = now.astimezone().replace(microsecond=0)
        known_of = tuple(memories), tuple(tags), tuple(who)
        new = checked(JournalEntry("", time, text, importance, origin, *known_of))
        result: JournalEntry | None = None

        def edit(file: DayFile) -> DayFile:
            nonlocal result
            for known in file.entries:
                if (known.text, known.who) == (new.text, new.who):
                    result = _joined(known, new)
                    return file.replaced(result)
            result = replace(new, id=f"{file.day:%Y%m%d}-{file.last + 1}")
            if len(file.entries) >= self._config().entries:
                least = _least(file.entries, new)
                result, file = (result, file.without({least.id})) if least else (None, file)
            return file.with_entry(result) if result else file

        self._change(time.date(), edit, "journal", by)
        return result

    def replace(self, entry_id: str, entry: JournalEntry) -> JournalEntry:
        """Put ``entry`` in the place of the one of that id, which it keeps; blocks.

        Raises:
            NoteRefused: There is no such entry, its text is empty or too long, or the file
                cannot be read or written.
        """
        new, day = checked(replace(entry, id=entry_id)), entry_day(entry_id)

        def edit(file: DayFile) -> DayFile:
            if file.entry(entry_id) is None:
                raise _unknown(entry_id)
            return file.replaced(new)

        if day is None:
            raise _unknown(entry_id)
        self._change(day, edit, "weighed", "night")
        return new

    def _change(self, day: date, edit: Callable[[DayFile], DayFile], op: str, by: str) -> None:
        path = self._path(day)

        def text(_: str | None, file: DayFile | None) -> str:
            changed = edit(file or day_file.new_day(day)).text
            if len(changed) > day_file.LONGEST_FILE:
                raise NoteRefused(
                    f"{path} is longer than {day_file.LONGEST_FILE:,} characters",
                    "Move a part of it into another file",
                )
            return changed

        before, after = self._store.change(path, text)
        self._snapshot()
        self._tell(before.entries if before else (), after.entries, op, by)

    # -- the files, as they are read

    def _path(self, day: date) -> Path:
        return self.folder / f"{day.isoformat()}.md"

    def _paths(self) -> list[Path]:
        """The files of the days that are looked at, the newest first."""
        try:
            found = [path for path in self.folder.iterdir() if _is_day(path)]
        except OSError:
            return []
        return sorted(found, reverse=True)[: self._config().days]

    def _snapshot(self) -> _Snapshot:
        """Put what was read where the quick ones find it."""
        with self._store.lock:
            if self._current.version != self._store.version:
                days = self._store.records()
                entries = tuple(entry for path in sorted(days) for entry in days[path].entries)
                by_number: dict[int, JournalEntry] = {}
                for entry in entries:
                    # A thought only points at its memories, and does not say what they say.
                    thought = entry.origin is EntryOrigin.INFERRED
                    for number in () if thought else entry.memories:
                        best = by_number.setdefault(number, entry)
                        if best.importance.score < entry.importance.score:
                            by_number[number] = entry
                self._current = _Snapshot(self._store.version, entries, by_number)
            return self._current

    def _parse(self, path: Path, source: str, _: datetime) -> DayFile:
        file = day_file.parse(date.fromisoformat(path.stem), source)
        for each in _problems(path, file):
            self._report(each)
        return file

    # -- for the event log

    def _edited(self, _: Path, before: DayFile | None, after: DayFile | None) -> None:
        """Tell of what a person has changed; an entry that cannot be read any more is not gone."""
        known = before.entries if before else ()
        broken = {part.number for part in after.parts if part.problem} if after else set[int]()
        gone = [each for each in known if entry_number(each.id) not in broken]
        self._tell(gone, after.entries if after else (), "journal", "hand")

    def _tell(
        self, before: Collection[JournalEntry], after: Collection[JournalEntry], op: str, by: str
    ) -> None:
        known, kept = {each.id: each for each in before}, {each.id for each in after}
        for entry in after:
            if known.get(entry.id) != entry:
                self._done(op, entry, by)
        for entry in before:
            if entry.id not in kept:
                self._done("unjournal", entry, by)

    def _done(self, op: str, entry: JournalEntry, by: str) -> None:
        first, size = min(entry.memories, default=0), len(entry.text)
        self._emit(MemoryChange(agent=self._agent, op=op, n=first, of="journal", size=size, by=by))


def _joined(known: JournalEntry, new: JournalEntry) -> JournalEntry:
    """``known`` with the memories, tags and weight of one that says the same."""
    weights = known.importance, new.importance
    return normal(
        replace(
            known,
            importance=max(weights, key=lambda each: (each.judge is Judge.AGENT, each.score)),
            memories=known.memories + new.memories,
            tags=known.tags + new.tags,
        )
    )


def _least(entries: Sequence[JournalEntry], new: JournalEntry) -> JournalEntry | None:
    """The entry that gives way to a new one, of equals the newest; None if all matter more."""
    judged = [each for each in entries if each.importance.judge is not Judge.AGENT]
    least = min(judged, key=lambda e: (e.importance.score, -entry_number(e.id)), default=None)
    by_agent = new.importance.judge is Judge.AGENT
    weightier = least is not None and new.importance.score > least.importance.score
    return least if by_agent or weightier else None


def _unknown(entry_id: str) -> NoteRefused:
    return NoteRefused(
        f"There is no journal entry {entry_id[:40]!r}", "Its id stands in its heading"
    )


def _is_day(path: Path) -> bool:
    try:
        return bool(_NAME.fullmatch(path.name) and date.fromisoformat(path.stem))
    except ValueError:
        return False


def _problems(path: Path, file: DayFile) -> list[str]:
    return [f"{path}, {each}. Mend it; until then it is left alone" for each in file.problems]
