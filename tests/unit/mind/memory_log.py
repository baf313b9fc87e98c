"""Helpers for tests of people's pages: memories of a few days among people."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.people import PeopleBook
from keepsake.books.person_page import PersonPage
from tests.memories import old_memory

START = datetime(2026, 11, 1, 10, 0, tzinfo=UTC)
TOM = "12-20261101090000"
ADA = "13-20261101090100"
RUAN = "14-20261101090200"


@dataclass
class MemoryLog:
    """Memories of an agent called Mira. Each is one minute after the one before."""

    memories: list[Memory] = field(default_factory=list)
    now: datetime = START

    def later(self, **span: float) -> MemoryLog:
        self.now += timedelta(**span)
        return self

    def add(self, text: str, kind: MemoryKind, who: str = "", key: str = "") -> Memory:
        self.now += timedelta(minutes=1)
        number = len(self.memories) + 1
        memory = old_memory(number, self.now, kind, text, "The Kettle", who, source_id=key)
        self.memories.append(memory)
        return memory

    def read(self, first: int, last: int) -> list[Memory]:
        return self.memories[max(first - 1, 0) : last]

    def says(self, who: str, key: str, words: str, to: str = " to you") -> Memory:
        return self.add(f'{who} says{to}, "{words}"', MemoryKind.PERCEPTION, who, key)

    def does(self, who: str, key: str, what: str) -> Memory:
        return self.add(f"{who} {what}", MemoryKind.PERCEPTION, who, key)

    def acts(self, line: str) -> Memory:
        return self.add(line, MemoryKind.ACT)


def sample_log() -> MemoryLog:
    """Tom changes his trade and his name, Ada gives a cup, and somebody tells a secret."""
    log = MemoryLog()
    log.says("Tom", TOM, "Good evening, Mira.")
    log.says("Tom", TOM, "I'm a miller. My brother Ostrey keeps bees.")
    log.acts("say Nice to meet you, Tom.")
    log.says("Ada", ADA, "Tom is a thief, I hear.", " to Ruan")
    log.later(days=3)
    log.says("Tom", TOM, "I've left the mill. I'm a baker now.")
    log.does("Ada", ADA, "gives you a blue cup.")
    log.later(hours=5)
    log.says("Thomas", TOM, "The keeper of the old lighthouse has left me a map.")
    log.says("Ada", ADA, "Nobody may know where it is.")
    return log


def book_of(folder: Path, log: MemoryLog) -> PeopleBook:
    book = PeopleBook(folder)
    book.take(log.memories)
    return book


def page_of(book: PeopleBook, key: str) -> PersonPage:
    page = book.page(key)
    assert page is not None, key
    return page


def file_contents(folder: Path) -> dict[str, bytes]:
    """Return every file's bytes, except locks and temporary files of a killed writer."""
    left = (".lock", ".in-use")
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in left)
    return {str(p.relative_to(folder)): p.read_bytes() for p in files if p.suffix != ".tmp"}
