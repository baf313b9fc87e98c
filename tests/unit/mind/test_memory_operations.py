"""Whatever is done to an agent's memory is told to the event log, once, and without words.

The table below names every public method of the books that an agent's memory is kept in: a new one
that nobody has placed here fails.
"""

from __future__ import annotations

import inspect

import pytest

from keepsake.archive.log import Archive
from keepsake.books.commitments import Commitment, CommitmentKind, Commitments
from keepsake.books.journal import Journal
from keepsake.books.notes import NoteBook
from keepsake.books.people import PeopleBook
from keepsake.books.pins import Pinned
from keepsake.events.types import OPERATIONS
from keepsake.memory.agent_memory import SlidingMemory
from keepsake.memory.cascade import CascadeMemory

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


def test_what_is_promised_and_closed(tmp_path):
    told = []
    book = Commitments(tmp_path / "noticed.md", agent="Mira", tell=told.append)
    book.add(Commitment(CommitmentKind.PROMISE, "Tom", "bring the cup", 4))
    book.close(book.items[0])
    book.path.write_text("- rule from Tom: Never sell the mill. (memory 3)\n")
    assert len(book.lines) == 1
    book.drop(lambda item: item.who == "Tom")
    assert [(each.op, each.of, each.by, each.n) for each in told] == [
        ("noticed", "promise", "agent", 4),
        ("closed", "promise", "agent", 4),
        ("noticed", "rule", "hand", 3),
        ("closed", "rule", "builder", 3),
    ]
