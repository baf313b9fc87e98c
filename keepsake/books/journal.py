"""An agent's journal: a markdown file a day, which people may read and edit.

The files are the truth. What was read of them is kept in RAM until they change; nothing is
ever written over what could not be read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from keepsake.books.day_file import DayFile, appended, parse
from keepsake.books.entries import EntryOrigin, Importance, JournalEntry, checked, telling_of
from keepsake.books.store import RecordStore, Report, Tell
from keepsake.events.types import MemoryChange

DAYS = 60
"""The days that are looked at, the newest; older files stay, unread."""


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
        self._report, self._agent, self._emit = report, agent, tell
        self._store = RecordStore(self._parse, self._edited, report)
        self._version = 0
        self._known: tuple[JournalEntry, ...] = ()
        self._by_number: dict[int, JournalEntry] = {}

    # -- reading

    def entries(self) -> tuple[JournalEntry, ...]:
        """Every entry that can be read, oldest first; blocks while files are read."""
        self._store.look(self._paths())
        return self._take_over()

    @property
    def known(self) -> tuple[JournalEntry, ...]:
        """The entries as they were read last; quick."""
        return self._known

    def resting_on(self, number: int) -> JournalEntry | None:
        """The entry that tells of a memory, of those read last; quick. See :func:`telling_of`."""
        return self._by_number.get(number)

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot be read of the files, one sentence each; blocks."""
        self.entries()
        found = {path: _problems(path, file) for path, file in self._store.records().items()}
        found |= {path: [problem] for path, problem in self._store.problems().items()}
        return tuple(each for path in sorted(found) for each in found[path])

    def _take_over(self) -> tuple[JournalEntry, ...]:
        """Put what was read where the quick ones find it."""
        with self._store.lock:
            if self._version != self._store.version:
                days = self._store.records()
                self._known = tuple(entry for path in sorted(days) for entry in days[path].entries)
                self._by_number = telling_of(self._known)
                self._version = self._store.version
            return self._known

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

        path = self.folder / f"{time.date().isoformat()}.md"
        before, after = self._store.change(path, make)
        self._take_over()
        self._tell(before.entries if before else (), after.entries, by)
        return result

    # -- the files, as they are read

    def _paths(self) -> list[Path]:
        """The files of the days that are looked at, the newest first."""
        try:
            found = [path for path in self.folder.iterdir() if _is_day(path)]
        except OSError:
            return []
        return sorted(found, reverse=True)[:DAYS]

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
        gone = [entry for entry in known.entries if entry.id not in now.ids]
        self._tell((), gone, "hand", "unjournal")

    def _tell(
        self,
        before: Collection[JournalEntry],
        after: Collection[JournalEntry],
        by: str,
        op: str = "journal",
    ) -> None:
        for entry in after:
            if entry not in before:
                n, of, size = min(entry.memories, default=0), "journal", len(entry.text)
                self._emit(MemoryChange(agent=self._agent, op=op, n=n, of=of, size=size, by=by))


def _is_day(path: Path) -> bool:
    try:
        return path.suffix == ".md" and date.fromisoformat(path.stem).isoformat() == path.stem
    except ValueError:
        return False


def _problems(path: Path, file: DayFile) -> list[str]:
    return [f"{path}, {each}. Mend it; until then it is left alone" for each in file.problems]
