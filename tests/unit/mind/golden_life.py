"""Writes a small vault and its archive through the public doors.

What the code of November 2026 wrote lies below ``tests/data/golden`` for ever: later code has to
open those files, and to write the same bytes where this module still writes them: the journal is
opened and written on, no longer written to the letter. Run it with a folder to write them anew,
which is right only for a kind of file that is new.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake.archive.records import MemoryKind
from keepsake.books.notes import NoteBook
from keepsake.books.pins import Pinned
from keepsake.memory.types import CompactReason
from tests.unit.mind.acquaintances import TOM
from tests.unit.mind.lives import Life, live

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def write_all(folder: Path) -> None:
    """Write a vault and an archive below ``folder``; the zone must be UTC."""
    agent = folder / "vault" / "agents" / "Mira"
    _pins(agent)
    _notes(agent)
    _archive(folder)


def by_hand(path: Path, old: str, new: str) -> None:
    """Change a file as a person's editor does."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def _pins(agent: Path) -> None:
    pinned = Pinned(agent / "pinned.md")
    assert pinned.lines == ()
    pinned.add("Tom's brother keeps bees.")
    pinned.add("My cup is the blue one.", own=True)
    pinned.add("The ford floods in May.", own=True)
    pinned.remove("2", only_own=True)
    by_hand(pinned.path, "- Tom's", "# Things\n\nFor whoever reads.\n\n- Tom's")
    by_hand(pinned.path, "floods in May", "is dry in June")
    assert pinned.lines[1] == "The ford is dry in June."
    by_hand(pinned.path, "keeps bees", "keeps geese")
    pinned.add("Ada owes me a map.")
    pinned.remove("1")
    own, new = pinned.path.read_text("utf-8").splitlines(keepends=True)[-2:]
    by_hand(pinned.path, own + new, new + own)


def _notes(agent: Path) -> None:
    book = NoteBook(agent / "notes")
    book.write("Garden plan", "Beans first.", place="Garden", now=NOON)
    book.write("Debts: “Tom”", "Two coins.", reason="He asked", now=NOON, by="builder")
    book.write("Old news", "The mill is shut.", now=NOON)
    book.all()
    by_hand(book.folder / "garden-plan.md", "tags: []", "tags:\n- plan")
    by_hand(book.folder / "garden-plan.md", "Beans first.", "Beans first.\n\n## Later\n\nLeeks.")
    later = NOON + timedelta(hours=3)
    book.write("garden plan", "Peas in March.", place="Inn", now=later)
    (book.folder / "plain.md").write_text("Without any front matter.\n", encoding="utf-8")
    (book.folder / "debts-tom.md").unlink()
    assert len(book.all()) == 3
    book.forget("old news")
    (book.folder / "plain.md").unlink()
    book.write("Bees", "Eleven hives.", now=later)


def _archive(folder: Path) -> None:
    life = Life(folder / "life")
    memory = life.open()
    live(memory, 12)
    memory.append("The bell rings.", place="Inn", source="Tom", source_id=TOM, event="pose")
    memory.append("The bell rings.", place="Inn", source="Tom", source_id=TOM, event="pose")
    memory.append("say Hello.", MemoryKind.ACT, reason="Manners", to="Tom")
    memory.compact(CompactReason.COUNT)
    live(memory, 9)
    memory.compact(CompactReason.COUNT)
    memory.undo()
    live(memory, 3)
    memory.close()
    by_hand(folder / "life" / "summaries" / "recent.md", "Thing 1 ", "The thing 1 ")
    life.open().close()
    again = life.open()
    live(again, 8)
    again.compact(CompactReason.COUNT)
    again.clear()
    live(again, 12)
    again.compact(CompactReason.COUNT)
    again.close()


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    write_all(Path(sys.argv[1]))
