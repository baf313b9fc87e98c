"""An agent's journal: one markdown file a day, which people may read and edit.

The files are the truth. Parsed entries are cached in RAM until the files change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from keepsake.archive.message_types import BY_RULE, MOVES
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.transcript import about_memory
from keepsake.books.entries import (
    DayFile,
    EntryOrigin,
    JournalEntry,
    Rater,
    appended,
    entry_by_memory,
    normal,
    parse,
)
from keepsake.books.files import NO_OWNER, Owner, RecordStore, pages
from keepsake.errors import NoteRefused
from keepsake.events.values import Author, MemoryOp
from keepsake.language.addressing import meant_for

DAYS = 60  # number of newest days that are read; older files are kept but not read
BUDGET = 150  # most tokens of the journal in a small prompt
SHARE = 12
"""The journal may fill one twelfth of a chat model's prompt, and the people another."""
_ROUTINE = 1
"""The importance of what happens every day. Rules rate what no model has rated, 1 to 10."""
_TALK = 2
"""The importance of talk among others."""
_SEEN = 3
"""The importance of what somebody does, and of the agent's own words."""
_TO_ME = 4
"""The importance of words to the agent."""
_GIVEN = 6
"""The importance of a gift that the agent made."""
_GIFT = 7
"""The importance of a gift to the agent."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LONG = (60, 160)
"""Lengths in characters from which a spoken line gains one point of importance, and another."""


class Journal:
    """The journal of one agent; safe to use from several threads.

    Attributes:
        known: The entries as last read.
        store: The files as last read.
    """

    def __init__(self, folder: Path, owner: Owner = NO_OWNER) -> None:
        self.folder = folder
        self.store = RecordStore(
            lambda path, source, _: parse(date.fromisoformat(path.stem), source), owner
        )
        self.known: tuple[JournalEntry, ...] = ()
        self._by_number: dict[int, JournalEntry] = {}

    def entries(self) -> tuple[JournalEntry, ...]:
        """Return every readable entry, oldest first; blocks while files are read."""
        days = (path for path in pages(self.folder) if _DAY.fullmatch(path.stem))
        self.store.refresh([*days][-DAYS:])
        return self._update_cache()

    def entry_about(self, number: int) -> JournalEntry | None:
        """Return the entry that describes a memory, as last read; see :func:`entry_by_memory`."""
        return self._by_number.get(number)

    @property
    def problems(self) -> tuple[str, ...]:
        """The unreadable parts of the files, one sentence each; blocks."""
        self.entries()
        found = {
            path: [
                f"{path}, {each}. Fix it; the game ignores it until then" for each in file.problems
            ]
            for path, file in self.store.records().items()
        }
        found |= {path: [problem] for path, problem in self.store.problems().items()}
        return tuple(each for path in sorted(found) for each in found[path])

    def _update_cache(self) -> tuple[JournalEntry, ...]:
        """Update the cache for the methods that read no files."""
        with self.store.lock:
            days = self.store.records()
            self.known = tuple(entry for path in sorted(days) for entry in days[path].entries)
            self._by_number = entry_by_memory(self.known)
            return self.known

    def write(
        self,
        text: str,
        *,
        importance: int,
        rated_by: Rater = Rater.RULES,
        origin: EntryOrigin,
        memories: Iterable[int] = (),
        who: Iterable[str] = (),
        now: datetime,
        by: Author = Author.AGENT,
    ) -> JournalEntry:
        """Write an entry; blocks. The same text about the same people is written once a day.

        Args:
            text: What happened; it is cut at its end if it is too long.
            importance: 1 to 10.
            memories: The numbers of the memories that it rests on.
            who: The identities of the people whom it is about.
            now: When it is written; the day of its file.
            by: Who writes it, for the event log.

        Returns:
            The entry that contains the text.

        Raises:
            NoteRefused: The text is empty, or the file cannot be read or written.
        """
        time = now.astimezone().replace(microsecond=0)
        numbers = tuple(memories)
        people = tuple(who)
        new = normal(JournalEntry("", time, text, importance, rated_by, origin, numbers, people))
        if not any(map(str.isalnum, new.text)):
            raise NoteRefused("The journal entry has no words", "Write: journal <what happened>")
        result = new
        is_new = True

        def make(source: str | None, file: DayFile | None) -> str:
            nonlocal result, is_new
            file = file or DayFile()
            same = (each for each in file.entries if (each.text, each.who) == (new.text, new.who))
            there = next(same, None)
            is_new = there is None
            result = there or replace(new, id=f"{time:%Y%m%d}-{file.last + 1}")
            return appended(source, result) if is_new else source or ""

        self.store.change(self.folder / f"{time.date().isoformat()}.md", make)
        self._update_cache()
        if is_new:
            first = min(result.memories, default=0)
            self.store.emit(MemoryOp.JOURNAL, by, n=first, of="journal", size=len(result.text))
        return result


def importance(memory: Memory, own_name: str) -> int:
    """Rate the importance of one memory for that agent without a model, 1 to 10; fast.

    A rating by the world itself comes first (a deed has one). Otherwise the form of the memory
    decides: a gift, whether it was said to the agent, and its length.
    """
    if about_memory(memory) or memory.event in BY_RULE:
        return _ROUTINE
    if memory.importance:
        return memory.importance
    if memory.kind is MemoryKind.RESULT:
        return _GIVEN if memory.gave_something else _ROUTINE
    if memory.kind is MemoryKind.ACT:
        own = memory.own_words
        return _ROUTINE if own is None else _SEEN + _length(own.words)
    if memory.gift_to_me:
        return _GIFT
    if (said := memory.heard) is not None:
        return (_TO_ME if meant_for(said, own_name) else _TALK) + _length(said.words)
    return _SEEN if memory.source and memory.event not in MOVES else _ROUTINE


def _length(words: str) -> int:
    return sum(len(words) >= length for length in _LONG)
