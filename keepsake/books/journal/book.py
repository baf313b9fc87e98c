"""An agent's journal: a markdown file a day, which people may read and edit.

The files are the truth. What was read of them is kept in RAM until they change; nothing is
ever written over what could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path

from keepsake.books.journal.day_file import DayFile, appended, parse
from keepsake.books.journal.entries import (
    LEAST_SHOWN,
    EntryOrigin,
    Importance,
    JournalEntry,
    Judge,
    checked,
)
from keepsake.books.store import RecordStore, Report, Tell
from keepsake.events.types import MemoryChange

DAYS = 60
"""The days that are looked at, the newest; older files stay, unread."""
_NAME = re.compile(r"\d{4}-\d\d-\d\d\.md", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """All that was read, at one moment."""

    version: int = 0
    entries: tuple[JournalEntry, ...] = ()
    # the entry that tells of a memory, by its number
    by_number: Mapping[int, JournalEntry] = field(default_factory=dict)
    ranked: tuple[JournalEntry, ...] = ()


class Journal:
    """The journal of one agent; safe to use from several threads."""

    def __init__(
        self,
        folder: Path,
        report: Report = lambda _: None,
        agent: str = "",
        tell: Tell = lambda _: None,
    ) -> None:
        self.folder = folder
        self._report = report
        self._agent, self._emit = agent, tell
        self._store = RecordStore(self._parse, self._edited, report)
        self._current = _Snapshot()

    # -- reading

    def entries(self) -> tuple[JournalEntry, ...]:
        """Every entry that can be read, oldest first; blocks while files are read."""
        self._store.look(self._paths())
        return self._snapshot().entries

    def resting_on(self, number: int) -> JournalEntry | None:
        """The entry that tells of a memory; quick, by what was read last.

        Of several the one that a model or the agent has weighed, and then the weightiest. What
        the agent only concluded from a memory does not tell of it.
        """
        return self._current.by_number.get(number)

    @property
    def ranked(self) -> tuple[JournalEntry, ...]:
        """What may stand in a prompt, by importance and then the newest first; quick.

        An entry gives way to another that tells of all its memories, see :meth:`resting_on`.
        Changes by hand are seen at the next call of :meth:`entries`.
        """
        return self._current.ranked

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
        who: Iterable[str] = (),
        now: datetime,
        by: str = "agent",
    ) -> JournalEntry:
        """Write an entry; blocks. The same text about the same people is written once a day.

        Returns:
            The entry that holds it.

        Raises:
            NoteRefused: The text is empty or too long, or the file cannot be read or written.
        """
        time = now.astimezone().replace(microsecond=0)
        numbers, people = tuple(memories), tuple(who)
        new = checked(JournalEntry("", time, text, importance, origin, numbers, people))
        result = new

        def make(source: str | None, file: DayFile | None) -> str:
            nonlocal result
            file = file or DayFile()
            same = (each for each in file.entries if (each.text, each.who) == (new.text, new.who))
            if (there := next(same, None)) is not None:
                result = there
                return source or ""
            result = replace(new, id=f"{time:%Y%m%d}-{file.last + 1}")
            return appended(source, result)

        before, after = self._store.change(self._path(time.date()), make)
        self._snapshot()
        self._tell(before.entries if before else (), after.entries, by)
        return result

    # -- the files, as they are read

    def _path(self, day: date) -> Path:
        return self.folder / f"{day.isoformat()}.md"

    def _paths(self) -> list[Path]:
        """The files of the days that are looked at, the newest first."""
        try:
            found = [path for path in self.folder.iterdir() if _is_day(path)]
        except OSError:
            return []
        return sorted(found, reverse=True)[:DAYS]

    def _snapshot(self) -> _Snapshot:
        """Put what was read where the quick ones find it."""
        with self._store.lock:
            if self._current.version != self._store.version:
                days = self._store.records()
                entries = tuple(entry for path in sorted(days) for entry in days[path].entries)
                self._current = _snapshot(self._store.version, entries)
            return self._current

    def _parse(self, path: Path, source: str, _: datetime) -> DayFile:
        file = parse(date.fromisoformat(path.stem), source)
        for each in _problems(path, file):
            self._report(each)
        return file

    # -- for the event log

    def _edited(self, _: Path, before: DayFile | None, after: DayFile | None) -> None:
        """Tell of what a person has changed; an entry that cannot be read any more is not gone."""
        known, now = (before or DayFile()), (after or DayFile())
        self._tell(known.entries, now.entries, "hand")
        for entry in known.entries:
            if entry.id not in now.ids:
                self._done("unjournal", entry, "hand")

    def _tell(
        self, before: Collection[JournalEntry], after: Collection[JournalEntry], by: str
    ) -> None:
        for entry in after:
            if entry not in before:
                self._done("journal", entry, by)

    def _done(self, op: str, entry: JournalEntry, by: str) -> None:
        first, size = min(entry.memories, default=0), len(entry.text)
        self._emit(MemoryChange(agent=self._agent, op=op, n=first, of="journal", size=size, by=by))


def _snapshot(version: int, entries: tuple[JournalEntry, ...]) -> _Snapshot:
    told = [each for each in entries if each.origin is not EntryOrigin.INFERRED]
    by_number: dict[int, JournalEntry] = {}
    for entry in sorted(told, key=_precedence):
        by_number |= dict.fromkeys(entry.memories, entry)
    outdone = {each for each in told if each.memories} - set(by_number.values())
    found = [e for e in entries if e.importance.score >= LEAST_SHOWN and e not in outdone]
    # Sorting is stable: of the same importance the newest goes first.
    ranked = sorted(reversed(found), key=lambda each: each.importance.score, reverse=True)
    return _Snapshot(version, entries, by_number, tuple(ranked))


def _precedence(entry: JournalEntry) -> tuple[bool, int]:
    return entry.importance.judge is not Judge.RULES, entry.importance.score


def _is_day(path: Path) -> bool:
    try:
        return bool(_NAME.fullmatch(path.name) and date.fromisoformat(path.stem))
    except ValueError:
        return False


def _problems(path: Path, file: DayFile) -> list[str]:
    return [f"{path}, {each}. Mend it; until then it is left alone" for each in file.problems]
