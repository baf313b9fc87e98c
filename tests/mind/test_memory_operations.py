"""Whatever is done to an agent's memory is told to the event log, once, and without words.

The tables below name every public method of the books that an agent's memory is kept in, and every
module that writes files: a new one that nobody has placed here fails.
"""

from __future__ import annotations

import pytest

from keepsake.books.commitments import Commitments
from keepsake.books.commitments_file import Commitment, CommitmentKind
from keepsake.books.journal.book import Journal
from keepsake.books.journal.config import JournalConfig
from keepsake.books.notes import NoteBook
from keepsake.books.people.book import PeopleBook
from keepsake.books.people.config import PeopleConfig
from keepsake.events.types import OPERATIONS
from tests.mind.acquaintances import TOM, eventful
from tests.mind.journals import NOON, write


class Told(list):
    """Takes what is told."""

    def ops(self):
        """What was told since somebody asked: operation, of what, by whom."""
        found = [(each.op, each.of, each.by) for each in self]
        assert {each.op for each in self} <= set(OPERATIONS)
        assert {each.agent for each in self} <= {"Mira"}
        self.clear()
        return found


@pytest.fixture
def log():
    return Told()


# -- notes and pins


@pytest.fixture
def notes(tmp_path, log):
    return NoteBook(tmp_path / "notes", agent="Mira", tell=log.append)


def test_notes_of_the_agent_of_builders_and_by_hand(notes, log):
    notes.write("well", "It is deep.", now=NOON)
    notes.write("well", "And dark.", now=NOON, by="builder")
    assert [(each.title, each.size) for each in log] == [("well", 11), ("well", 9)]
    assert log.ops() == [("note", "", "agent"), ("note", "", "builder")]
    notes.all()
    path = notes.find("well").path
    path.write_text(path.read_text().replace("dark", "cold"))
    (notes.folder / "cup.md").write_text("It is blue.")
    notes.all()
    assert {(each.op, each.title, each.by) for each in log} == {
        ("note", "well", "hand"),
        ("note", "cup", "hand"),
    }
    log.clear()
    notes.all()
    notes.forget("cup")
    path.unlink()
    notes.all()
    assert [(each.op, each.title, each.by) for each in log] == [
        ("unnote", "cup", "agent"),
        ("unnote", "well", "hand"),
    ]


# -- the journal


def journal_in(folder, log, **config):
    return Journal(folder, config=lambda: JournalConfig(**config), agent="Mira", tell=log.append)


def test_what_a_person_does_to_a_journal(tmp_path, log):
    journal = journal_in(tmp_path, log)
    entry = write(journal, "Tom found the blue cup.", memories=(7,))
    gone = write(journal, "Ada sold her boat to Ruan.")
    log.clear()
    (path,) = tmp_path.glob("*.md")
    text = path.read_text().replace("the blue cup", "a cup")
    head, _, rest = text.partition(f"## {gone.id}")
    path.write_text(f"{head}{rest.partition(chr(10) + '## ')[2]}")
    assert [each.id for each in journal.entries()] == [entry.id]
    assert log.ops() == [("journal", "journal", "hand"), ("unjournal", "journal", "hand")]
    path.unlink()
    journal.entries()
    assert log.ops() == [("unjournal", "journal", "hand")]


# -- people


def people_in(folder, log, **config):
    return PeopleBook(folder, lambda: PeopleConfig(**config), agent="Mira", tell=log.append)


def test_corrections_by_hand(tmp_path, log):
    book = people_in(tmp_path, log)
    book.take(eventful().memories)
    log.clear()
    (tom,) = (tmp_path / "people").glob("Thomas-*.md")
    text = tom.read_text()
    tom.write_text(text.replace("I'm a baker now", "I'm a smith now"))
    book.look()
    assert log.ops() == [("edit", "person", "hand")]
    tom.write_text(tom.read_text())
    book.look()
    assert log.ops() == [], "saved without a change"
    tom.unlink()
    (tmp_path / "people" / "nell.md").write_text(
        text.replace(TOM, "nell-1").replace("Thomas", "Nell")
    )
    book.look()
    assert sorted(log.ops()) == [("forgotten", "person", "hand"), ("met", "person", "hand")]


# -- promises and rules


def test_what_is_promised_and_closed(tmp_path, log):
    book = Commitments(tmp_path / "noticed.md", agent="Mira", tell=log.append)
    book.add(Commitment(CommitmentKind.PROMISE, "Tom", "bring the cup", 4))
    assert [each.n for each in log] == [4]
    assert log.ops() == [("noticed", "promise", "agent")]
    book.close(book.items[0])
    assert log.ops() == [("closed", "promise", "agent")]
    book.path.write_text("- rule from Tom: Never sell the mill. (memory 3)\n")
    assert len(book.lines) == 1
    assert log.ops() == [("noticed", "rule", "hand")]
    book.drop(lambda item: item.who == "Tom")
    assert log.ops() == [("closed", "rule", "builder")]
