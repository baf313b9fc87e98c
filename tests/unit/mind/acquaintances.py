"""What the tests of profiles are built from: a few days among people, line by line."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.people import PeopleBook
from keepsake.books.person_page import PersonPage

START = datetime(2026, 11, 1, 10, 0, tzinfo=UTC)
TOM, ADA, RUAN = "12-20261101090000", "13-20261101090100", "14-20261101090200"


@dataclass
class Days:
    """Memories of an agent called Mira, one minute apart."""

    memories: list[Memory] = field(default_factory=list)
    now: datetime = START

    def later(self, **span: float) -> Days:
        self.now += timedelta(**span)
        return self

    def add(self, text: str, kind: MemoryKind, who: str = "", key: str = "") -> Memory:
        self.now += timedelta(minutes=1)
        number = len(self.memories) + 1
        memory = Memory(number, self.now, kind, text, "The Kettle", who, source_id=key)
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


def eventful() -> Days:
    """Tom changes his work and his name, a cup goes round, somebody whispers."""
    days = Days()
    days.says("Tom", TOM, "Good evening, Mira.")
    days.says("Tom", TOM, "I'm a miller. My brother Ostrey keeps bees.")
    days.acts("say Nice to meet you, Tom.")
    days.says("Ada", ADA, "Tom is a thief, I hear.", " to Ruan")
    days.later(days=3)
    days.says("Tom", TOM, "I've left the mill. I'm a baker now.")
    days.does("Ada", ADA, "gives you a blue cup.")
    days.later(hours=5)
    days.says("Thomas", TOM, "The keeper of the old lighthouse has left me a map.")
    days.says("Ada", ADA, "Nobody may know where it is.")
    return days


def taken(folder: Path, days: Days) -> PeopleBook:
    book = PeopleBook(folder)
    book.take(days.memories)
    return book


def there(book: PeopleBook, key: str) -> PersonPage:
    page = book.page(key)
    assert page is not None, key
    return page


def contents(folder: Path) -> dict[str, bytes]:
    """Every file, but locks and what a killed writer leaves behind."""
    left = (".lock", ".in-use")
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in left)
    return {str(p.relative_to(folder)): p.read_bytes() for p in files if p.suffix != ".tmp"}
