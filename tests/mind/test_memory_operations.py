"""Whatever is done to an agent's memory is told to the event log, once, and without words.

The table below names every public method of the books that an agent's memory is kept in: a new one
that nobody has placed here fails.
"""

from __future__ import annotations

import inspect
from dataclasses import astuple, replace

import pytest

from keepsake.archive.log import Archive
from keepsake.books.commitments import Commitment, CommitmentKind, Commitments
from keepsake.books.journal import Journal
from keepsake.books.notes import NoteBook
from keepsake.books.people import PeopleBook
from keepsake.books.pins import Pinned
from keepsake.errors import NoteRefused
from keepsake.events.types import OPERATIONS
from keepsake.memory.agent_memory import SlidingMemory
from keepsake.memory.cascade import CascadeMemory
from tests.mind.acquaintances import TOM, Days, eventful
from tests.mind.journals import NOON, write

READ = "only reads"
BELOW = "told by what calls it"

BOOKS = {
    NoteBook: {"write": "note", "forget": "unnote"}
    | dict.fromkeys(["all", "find", "changed_since", "problems", "unknown"], READ),
    Pinned: {"add": "pin", "remove": "unpin"}
    | dict.fromkeys(["lines", "own", "shown", "problems"], READ),
    Journal: {"write": "journal"}
    | dict.fromkeys(["entries", "known", "resting_on", "problems"], READ),
    PeopleBook: {"take": "profile", "conclude": "concluded"}
    | dict.fromkeys(["look", "loaded", "through", "problems"], READ)
    | dict.fromkeys(["page", "find", "all"], READ),
    Commitments: {"add": "noticed", "close": "closed", "drop": "closed"}
    | dict.fromkeys(["items", "lines", "lines_before", "meant", "problems"], READ),
    CascadeMemory: {"clear": "clear", "record_rate": "rate", "adopt_edits": "edit", "check": "edit"}
    | {"append": BELOW, "compact": BELOW, "undo": BELOW}
    | dict.fromkeys(["context", "load", "next_turn", "weigh", "status", "close"], READ)
    | dict.fromkeys(["may_be_due", "before_thought", "log"], READ),
    SlidingMemory: {"clear": "clear", "append": BELOW, "compact": BELOW, "undo": BELOW}
    | dict.fromkeys(["context", "load", "next_turn", "weigh", "status", "close"], READ)
    | dict.fromkeys(["may_be_due", "before_thought", "record_rate", "check", "log"], READ),
    Archive: {"append": BELOW, "append_memory": BELOW}
    | dict.fromkeys(["last_number", "sync", "close", "backwards", "forwards"], READ)
    | dict.fromkeys(["changes", "lines_back", "lines_with", "read", "size"], READ),
}
"""What each public method does, in operations; what writes below others is told by those."""


@pytest.mark.parametrize("book", BOOKS, ids=lambda each: each.__name__)
def test_every_public_method_of_a_book_is_placed(book):
    public = {name for name, _ in inspect.getmembers(book) if not name.startswith("_")}
    assert public == set(BOOKS[book])
    assert set(BOOKS[book].values()) <= {READ, BELOW, *OPERATIONS}


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


def test_pins_of_all_hands(tmp_path, log):
    pinned = Pinned(tmp_path / "pinned.md", agent="Mira", tell=log.append)
    assert pinned.lines == ()
    pinned.path.write_text("- I owe Tom six pence.\n")
    pinned.add("I like rain.", own=True)
    assert pinned.lines == ("I owe Tom six pence.", "I like rain.")
    pinned.add("The mill is ours.")
    assert log.ops() == [("pin", "", "hand"), ("pin", "", "agent"), ("pin", "", "builder")]
    pinned.remove("rain", only_own=True)
    with pytest.raises(NoteRefused):
        pinned.remove("pence", only_own=True)
    pinned.path.write_text(pinned.path.read_text().replace("six pence", "a cup"))
    assert pinned.lines == ("I owe Tom a cup.", "The mill is ours.")
    assert log.ops() == [("unpin", "", "agent"), ("pin", "", "hand"), ("unpin", "", "hand")]


# -- the journal


def journal_in(folder, log):
    return Journal(folder, agent="Mira", tell=log.append)


def test_what_is_written_into_a_journal(tmp_path, log):
    journal = journal_in(tmp_path, log)
    journal.entries()
    first = write(journal, "Tom found the blue cup.", memories=(7, 9), by="agent")
    assert [(each.n, each.size) for each in log] == [(7, len(first.text))]
    write(journal, "Ada sold her boat to Ruan.", by="rules")
    assert log.ops() == [("journal", "journal", "agent"), ("journal", "journal", "rules")]
    write(journal, "Tom found the blue cup.", memories=(11,), by="rules")
    journal.entries()
    assert log.ops() == []


# -- people


def people_in(folder, log):
    return PeopleBook(folder, agent="Mira", tell=log.append)


def test_what_is_learned_of_people(tmp_path, log):
    days = eventful()
    book = people_in(tmp_path, log)
    book.take(days.memories)
    found = {(each.op, each.of, each.about, each.n) for each in log}
    assert ("met", "person", "Tom", 1) not in found, "by their present name"
    assert ("met", "person", "Thomas", 1) in found
    assert {each.by for each in log} == {"rules"}
    assert "miller" not in str([astuple(each) for each in log])
    log.clear()
    book.take(days.memories)
    people_in(tmp_path, log).take(days.memories)
    (tmp_path / "people" / ".worked_in.json").unlink()
    people_in(tmp_path, log).take(days.memories)
    assert log.ops() == [], "nothing is told twice"


def test_what_the_agent_makes_of_somebody_and_a_new_name(tmp_path, log):
    days = Days()
    book = people_in(tmp_path, log)
    book.take([days.says("Tom", TOM, "I'm a miller.")])
    log.clear()
    book.take([days.says("Thomas", TOM, "Here I am.")])
    assert ("renamed", "person", "rules") in log.ops()
    thinks = lambda page: replace(page, portrait="A miller.")  # noqa: E731
    book.conclude(TOM, thinks)
    book.conclude(TOM, thinks)
    assert [each.size for each in log] == [len("A miller.")]
    assert log.ops() == [("concluded", "person", "night")]


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
