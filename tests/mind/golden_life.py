"""Writes a small vault, its archive and its event log through the public doors.

What it wrote with the code of November 2026 lies below ``tests/data/golden`` for ever: later
code has to open those files, and to write the same bytes. Run this module with a folder to
write them anew, which is right only for a kind of file that is new.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.commitments import Commitments
from keepsake.books.journal.book import Journal
from keepsake.books.journal.config import JournalConfig
from keepsake.books.journal.entries import EntryOrigin, Importance, Judge
from keepsake.books.notes import NoteBook
from keepsake.books.pins import Pinned
from keepsake.books.profiles.book import PeopleBook
from keepsake.events.log import EventLog
from keepsake.events.types import MemoryChange
from keepsake.memory import CompactReason
from keepsake.sleep.course import ReflectionProgress
from keepsake.sleep.course import save as save_course
from keepsake.sleep.dream import dream
from keepsake.sleep.log import SleepLog
from keepsake.sleep.steps import Step, StepDone
from tests.mind.acquaintances import TOM, eventful, six
from tests.mind.journals import Scripted
from tests.mind.lives import Life, ManualClock, live

GOLDEN = Path(__file__).parents[1] / "data" / "golden"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

type Tell = Callable[[MemoryChange], None]


def write_all(folder: Path) -> None:
    """Write a vault, an archive and an event log below ``folder``; the zone must be UTC."""
    log = EventLog(folder / "events", clock=ManualClock(NOON))
    agent = folder / "vault" / "agents" / "Mira"
    for write in (_pins, _notes, _commitments, _journal, _profiles):
        write(agent, log.emit)
    _sleep(agent)
    _archive(folder)
    log.close()


def by_hand(path: Path, old: str, new: str) -> None:
    """Change a file as a person's editor does."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def _pins(agent: Path, tell: Tell) -> None:
    pinned = Pinned(agent / "pinned.md", "Mira", tell)
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
    pinned.replace(("Ada owes me a map.", "The ford is dry in June."))


def _notes(agent: Path, tell: Tell) -> None:
    book = NoteBook(agent / "notes", agent="Mira", tell=tell)
    book.write("Garden plan", "Beans first.", place="Garden", tags=("plan",), now=NOON)
    book.write("Debts: “Tom”", "Two coins.", reason="He asked", now=NOON, by="builder")
    book.write("Old news", "The mill is shut.", now=NOON)
    book.all()
    by_hand(book.folder / "garden-plan.md", "Beans first.", "Beans first.\n\n## Later\n\nLeeks.")
    later = NOON + timedelta(hours=3)
    book.write("garden plan", "Peas in March.", place="Inn", now=later)
    (book.folder / "plain.md").write_text("Without any front matter.\n", encoding="utf-8")
    (book.folder / "debts-tom.md").unlink()
    assert len(book.all()) == 3
    book.forget("old news")
    (book.folder / "plain.md").unlink()
    book.write("Bees", "Eleven hives.", now=later)


def _commitments(agent: Path, tell: Tell) -> None:
    block = Commitments(agent / "noticed.md", agent="Mira", tell=tell)
    said = (
        ("Tom", 'Tom says to you, "Never tell anybody where the map is hidden."'),
        ("", "say I promise I will bring you the blue cup, Tom."),
        ("Ada", 'Ada says to you, "Where does the miller keep his boat?"'),
        *(("", f"A cart passes, number {number}.") for number in range(4, 13)),
    )
    for number, (who, text) in enumerate(said, start=1):
        kind = MemoryKind.PERCEPTION if who or "cart" in text else MemoryKind.ACT
        at = NOON + timedelta(minutes=number)
        block.follow(Memory(number, at, kind, text, "Inn", who), "Mira")
    block.save()
    path = block.path
    path.write_text(path.read_text("utf-8") + "- rule from Ruan: Mind the step.\n", "utf-8")
    assert any("Mind the step" in item.text for item in block.items)
    by_hand(path, "# What was noticed", "# What Mira noticed")
    block.drop(lambda item: "map is hidden" in item.text)


def _journal(agent: Path, tell: Tell) -> None:
    limits = JournalConfig(entries=4)
    journal = Journal(agent / "journal", config=lambda: limits, agent="Mira", tell=tell)
    texts = (
        ("Tom told me he will bring the blue cup back.", 8, (120, 121, 122, 130), ("promise",)),
        ("Ada gave me a map of the old lighthouse.", 7, (131,), ("gift",)),
        ("The ford was dry.", 3, (), ()),
    )
    for minutes, (text, score, memories, tags) in enumerate(texts):
        journal.write(
            text,
            importance=Importance(score, reasons=("a promise",) if tags else ()),
            origin=EntryOrigin.TOLD if tags else EntryOrigin.SEEN,
            memories=memories,
            tags=tags,
            who=(TOM,) if tags else (),
            now=NOON + timedelta(minutes=minutes),
        )
    journal.entries()
    today = journal.folder / "2026-11-21.md"
    by_hand(today, "The ford was dry.", "The ford was quite dry.")
    today.write_text(
        today.read_text("utf-8") + "\n## 20261121-900\n\nWritten by hand.\n\nNo entry, a remark:\n"
        "```\n## 20261121-1 in a fence\n```\n",
        "utf-8",
    )
    journal.entries()
    entry = journal.entry("20261121-2")
    assert entry is not None
    weight = Importance(9, Judge.MODEL, entry.importance.reasons)
    journal.replace(entry.id, replace(entry, importance=weight))
    for number, load in enumerate(("a went by slowly with hay", "b with oats", "c with beets")):
        journal.write(
            f"Cart number {load}.",
            importance=Importance(2),
            origin=EntryOrigin.SEEN,
            memories=(140 + number,),
            now=NOON + timedelta(hours=1 + number),
        )
    tomorrow = NOON + timedelta(days=1)
    other = journal.write(
        "Ada gave me the map of the old lighthouse.",
        importance=Importance(6),
        origin=EntryOrigin.TOLD,
        memories=(150,),
        now=tomorrow,
    )
    again = journal.entry("20261121-2")
    assert again is not None
    journal.merge(again, [other.id])
    (journal.folder / "2026-11-23.md").write_bytes(
        b"# Mine\r\n\r\n## 20261123-1, 9:05\r\n\r\nBy hand, with other line ends.\r\n"
    )
    journal.entries()
    journal.write(
        "Ruan left the inn.",
        importance=Importance(4),
        origin=EntryOrigin.SEEN,
        now=NOON + timedelta(days=2),
    )


def _profiles(agent: Path, tell: Tell) -> None:
    book = PeopleBook(agent, agent="Mira", tell=tell)
    days = eventful()
    book.take(days.memories[:5], "Mira", six)
    tom = next((agent / "people").glob("Tom-*.md"))
    by_hand(tom, "work: miller", "work: ferryman")
    by_hand(tom, "## Facts", "Do not trust him.\n\n## My own\n\nA remark.\n\n## Facts")
    book.look()
    book.take(days.memories[5:], "Mira", six)
    ada = next((agent / "people").glob("Ada-*.md"))
    by_hand(ada, "## Observations", "## What I think\n\n- She is kind.\n\n## Observations")
    assert book.find("Ada")[0].conclusions
    (agent / "things" / "lamp.md").write_text("No front matter.\n", encoding="utf-8")
    book.look()
    (agent / "things" / "lamp.md").unlink()
    book.look()


def _sleep(agent: Path) -> None:
    log = SleepLog(agent)
    log.begin("16 hours awake", NOON)
    log.done(StepDone(Step.CONSOLIDATE, NOON + timedelta(minutes=1), 2, {"merged": 1}))
    log.done(StepDone(Step.PROFILES, NOON + timedelta(minutes=2), problem="no answer"))
    log.woke("Tom", NOON + timedelta(hours=1))
    log.begin("a builder said so", NOON + timedelta(hours=2))
    save_course(
        agent / "journal" / "reflection.json",
        ReflectionProgress("20261121-2", 61, ("What do I know of Tom?",), 0),
    )
    memories = eventful().memories
    dream(memories, "Mira", Scripted(), random.Random(3), agent, NOON)


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
