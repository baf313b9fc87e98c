"""An agent's journal: a markdown file a day, which people may read and edit.

The files are the truth. What was read of them is kept in RAM until they change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from keepsake.archive.records import BY_RULE, Memory, MemoryKind
from keepsake.books.entries import (
    DayFile,
    EntryOrigin,
    JournalEntry,
    Judge,
    appended,
    normal,
    parse,
    telling_of,
)
from keepsake.books.files import NO_OWNER, Owner, RecordStore, pages
from keepsake.errors import NoteRefused
from keepsake.language.heard import gave_something, given_to_me, heard, meant_for, own_words
from keepsake.prompt.script import about_memory

DAYS = 60
"""The days that are looked at, the newest; older files stay, unread."""
BUDGET = 150
"""Tokens of a small prompt that the journal may fill."""
SHARE = 12
"""The part of a chat model's prompt that the journal may fill, and the people: a twelfth each."""
_ROUTINE, _TALK, _SEEN, _TO_ME, _GIVEN, _GIFT = 1, 2, 3, 4, 6, 7
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LONG = (60, 160)
"""Characters from which on what was said matters one more, and one more again."""


class Journal:
    """The journal of one agent; safe to use from several threads.

    Attributes:
        known: The entries as they were read last.
    """

    def __init__(self, folder: Path, owner: Owner = NO_OWNER) -> None:
        self.folder = folder
        self._store = RecordStore(
            lambda path, source, _: parse(date.fromisoformat(path.stem), source), owner
        )
        self.known: tuple[JournalEntry, ...] = ()
        self._by_number: dict[int, JournalEntry] = {}

    def entries(self) -> tuple[JournalEntry, ...]:
        """Every entry that can be read, oldest first; blocks while files are read."""
        days = (path for path in pages(self.folder) if _DAY.fullmatch(path.stem))
        self._store.look([*days][-DAYS:])
        return self._take_over()

    def resting_on(self, number: int) -> JournalEntry | None:
        """The entry that tells of a memory, of those read last; quick. See :func:`telling_of`."""
        return self._by_number.get(number)

    @property
    def problems(self) -> tuple[str, ...]:
        """What cannot be read of the files, one sentence each; blocks."""
        self.entries()
        found = {
            path: [
                f"{path}, {each}. Mend it; until then it is left alone" for each in file.problems
            ]
            for path, file in self._store.records().items()
        }
        found |= {path: [problem] for path, problem in self._store.problems().items()}
        return tuple(each for path in sorted(found) for each in found[path])

    def _take_over(self) -> tuple[JournalEntry, ...]:
        """Put what was read where the quick ones find it."""
        with self._store.lock:
            days = self._store.records()
            self.known = tuple(entry for path in sorted(days) for entry in days[path].entries)
            self._by_number = telling_of(self.known)
            return self.known

    def write(
        self,
        text: str,
        *,
        importance: int,
        judge: Judge = Judge.RULES,
        origin: EntryOrigin,
        memories: Iterable[int] = (),
        who: Iterable[str] = (),
        now: datetime,
        by: str = "agent",
    ) -> JournalEntry:
        """Write an entry; blocks. The same text about the same people is written once a day.

        Of a text that is too long the beginning is kept.

        Returns:
            The entry that holds it.

        Raises:
            NoteRefused: The text is empty, or the file cannot be read or written.
        """
        time = now.astimezone().replace(microsecond=0)
        numbers, people = tuple(memories), tuple(who)
        new = normal(JournalEntry("", time, text, importance, judge, origin, numbers, people))
        if not any(map(str.isalnum, new.text)):
            raise NoteRefused("The journal entry has no words", "Write: journal <what happened>")
        result, is_new = new, True

        def make(source: str | None, file: DayFile | None) -> str:
            nonlocal result, is_new
            file = file or DayFile()
            same = (each for each in file.entries if (each.text, each.who) == (new.text, new.who))
            there = next(same, None)
            is_new = there is None
            result = there or replace(new, id=f"{time:%Y%m%d}-{file.last + 1}")
            return appended(source, result) if is_new else source or ""

        self._store.change(self.folder / f"{time.date().isoformat()}.md", make)
        self._take_over()
        if is_new:
            first = min(result.memories, default=0)
            self._store.tell("journal", by, n=first, of="journal", size=len(result.text))
        return result


def importance(memory: Memory, own_name: str) -> int:
    """How much one memory matters to the agent of that name without a model, 1 to 10; quick.

    The world's own word counts first (a deed has an importance). Else the form of the memory tells:
    a gift, whether it was said to the agent, and how long it is.
    """
    if about_memory(memory) or memory.event in BY_RULE:
        return _ROUTINE
    if memory.importance:
        return memory.importance
    if memory.kind is MemoryKind.RESULT:
        return _GIVEN if gave_something(memory) else _ROUTINE
    if memory.kind is MemoryKind.ACT:
        own = own_words(memory)
        return _ROUTINE if own is None else _SEEN + _length(own.words)
    if given_to_me(memory):
        return _GIFT
    if (said := heard(memory)) is not None:
        return (_TO_ME if meant_for(said, own_name) else _TALK) + _length(said.words)
    return _SEEN if memory.source and memory.event not in ("traverse", "move") else _ROUTINE


def _length(words: str) -> int:
    return sum(len(words) >= length for length in _LONG)
