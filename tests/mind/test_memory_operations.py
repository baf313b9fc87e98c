"""Whatever is done to an agent's memory is told to the event log, once, and without words.

The tables below name every public method of the books that an agent's memory is kept in, and every
module that writes files: a new one that nobody has placed here fails.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from keepsake.archive.log import Archive
from keepsake.books.commitments import Commitments
from keepsake.books.journal.book import Journal
from keepsake.books.journal.config import JournalConfig
from keepsake.books.journal.entries import EntryOrigin, Importance, Judge
from keepsake.books.notes import NoteBook
from keepsake.books.pins import Pinned
from keepsake.books.profiles.book import PeopleBook
from keepsake.books.profiles.config import PeopleConfig
from keepsake.books.profiles.profile import Conclusion, ProfileKind
from keepsake.compaction.cascade import CascadeMemory
from keepsake.compaction.sliding import SlidingMemory
from keepsake.errors import NoteRefused
from keepsake.events.types import OPERATIONS
from keepsake.paths import REPOSITORY
from tests.mind.acquaintances import START, TOM, Days, eventful, six
from tests.mind.journals import NOON, did, told, write

READ = "only reads"
BELOW = "told by what calls it"

BOOKS = {
    NoteBook: {"write": "note", "forget": "unnote"}
    | dict.fromkeys(["all", "find", "changed_since", "problems", "unknown"], READ),
    Pinned: {"add": "pin", "remove": "unpin", "replace": "pin"}
    | dict.fromkeys(["lines", "own", "shown"], READ),
    Journal: {"write": "journal", "replace": "weighed", "merge": "merged", "fold": "folded"}
    | dict.fromkeys(["entries", "entry", "resting_on", "weight", "ranked", "problems"], READ),
    PeopleBook: {"take": "profile", "change": "concluded", "open": READ, "look": READ}
    | dict.fromkeys(["loaded", "known", "names_of", "through", "problems"], READ)
    | dict.fromkeys(["profile", "find", "all"], READ),
    Commitments: {"follow": "noticed", "catch_up": "noticed", "add": "noticed"}
    | {"drop": "closed", "save": BELOW}
    | dict.fromkeys(["items", "lines", "lines_before", "refused", "missed"], READ),
    CascadeMemory: {"clear": "clear", "record_rate": "rate", "adopt_edits": "edit", "check": "edit"}
    | {"append": BELOW, "compact": BELOW, "undo": BELOW}
    | dict.fromkeys(["context", "load", "next_turn", "weigh", "status", "close"], READ)
    | dict.fromkeys(["is_empty", "may_be_due", "before_thought"], READ),
    SlidingMemory: {"clear": "clear", "append": BELOW, "compact": BELOW, "undo": BELOW}
    | dict.fromkeys(["context", "load", "next_turn", "weigh", "status", "close"], READ)
    | dict.fromkeys(["is_empty", "may_be_due", "before_thought", "record_rate"], READ),
    Archive: {"append": BELOW, "append_memory": BELOW}
    | dict.fromkeys(["last_number", "sync", "close", "backwards", "forwards"], READ)
    | dict.fromkeys(["changes", "lines_back", "lines_with", "read", "size"], READ),
}
"""What each public method does, in operations; what writes below others is told by those."""

WRITERS = {
    "archive/log.py": "lines of the archive; those who append them tell",
    "json_lines.py": "for archive, event log and nights",
    "archive/forgetting.py": "what somebody wants gone; the log of it would name them",
    "archive/spill.py": "what no archive takes: told of when it is there",
    "summaries/files.py": "copies of what the archive has; an edit is told by summaries/copies.py",
    "records/files.py": "for the others",
    "records/store.py": "for the books",
    "books/notes.py": "NoteBook",
    "books/pins.py": "Pinned",
    "books/commitments.py": "Commitments",
    "books/journal/book.py": "Journal",
    "books/profiles/files.py": "PeopleBook, and what a person does",
    "books/profiles/book.py": "how far the profiles have come: no memory",
    "sleep/course.py": "how far a reflection has come: no memory",
    "sleep/dream.py": "a dream is no memory; the night's step tells of it",
    "sleep/log.py": "the nights: events of their own",
    "sleep/tidy.py": "what a crash left: the night's step tells of it",
    "events/files.py": "the event log itself",
    "events/writer.py": "the event log itself",
}
_WRITES = {"write_text", "write_bytes", "unlink", "rename", "move_aside", "rmdir", "mkdir"}


@pytest.mark.parametrize("book", BOOKS, ids=lambda each: each.__name__)
def test_every_public_method_of_a_book_is_placed(book):
    public = {name for name, _ in inspect.getmembers(book) if not name.startswith("_")}
    assert public == set(BOOKS[book])
    assert set(BOOKS[book].values()) <= {READ, BELOW, *OPERATIONS}


def test_no_other_module_of_a_mind_writes_files():
    mind = REPOSITORY / "game" / "mind"
    found = {
        path.relative_to(mind).as_posix() for path in sorted(mind.rglob("*.py")) if _writes(path)
    }
    assert found == set(WRITERS)


def _writes(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of = node.func.value
            module = of.id if isinstance(of, ast.Name) else getattr(of, "attr", "")
            if node.func.attr in _WRITES or (module, node.func.attr) in {
                ("vault_files", "change"),
                ("_store", "change"),
                ("summary_files", "replace_file"),
                ("os", "write"),
                ("os", "link"),
            }:
                return True
    return False


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


def test_a_note_that_a_person_changed_a_moment_before_or_broke_for_a_while(notes, log):
    path = notes.write("well", "It is deep.", now=NOON).path
    notes.all()
    log.clear()
    whole = path.read_text()
    path.write_text("---\ntitle: [\n---\n")
    notes.all()
    path.write_text(whole)
    notes.all()
    assert log.ops() == [], "neither gone nor new"
    path.write_text(whole + "It is cold.\n")
    notes.write("well", "And dark.", now=NOON)
    notes.all()
    assert log.ops() == [("note", "", "hand"), ("note", "", "agent")]


def test_pins_of_all_hands(tmp_path, log):
    pinned = Pinned(tmp_path / "pinned.md", "Mira", log.append)
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
    pinned.replace(("The mill is ours.", "New."))
    pinned.replace(("New.",))
    assert [op for op, _, by in log.ops() if by == "builder"] == ["pin", "unpin", "unpin"]


# -- the journal


def journal_in(folder, log, **config):
    return Journal(folder, config=lambda: JournalConfig(**config), agent="Mira", tell=log.append)


def test_a_journal_by_day_and_night(tmp_path, log):
    journal = journal_in(tmp_path, log, entries=4)
    journal.entries()
    first = write(journal, "Tom found the blue cup.", memories=(7, 9), by="agent")
    assert [(each.n, each.size) for each in log] == [(7, len(first.text))]
    double = write(journal, "Ada sold her boat to Ruan.", by="rules")
    assert log.ops() == [("journal", "journal", "agent"), ("journal", "journal", "rules")]
    write(journal, "Tom found the blue cup.", memories=(11,), by="rules")
    assert log.ops() == [("journal", "journal", "rules")], "gone on with"
    journal.replace(double.id, replace(double, importance=Importance(9, Judge.MODEL)))
    journal.merge(journal.entry(first.id), [double.id])
    assert log.ops() == [("weighed", "journal", "night"), ("merged", "journal", "night")]
    for n in range(5):
        write(journal, f"Number {n} went by the {'abcde'[n]}-bridge alone.", 2 + n, by="rules")
    assert ("folded", "journal", "rules") in log.ops()
    journal.fold(NOON.date(), NOON, 2)
    assert log.ops() == [("folded", "journal", "night")]
    journal.entries()
    assert log.ops() == []


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


def test_what_was_there_when_it_was_opened_is_told_of_by_nobody(tmp_path, log):
    journal = journal_in(tmp_path, log)
    write(journal, "Tom found the blue cup.")
    log.clear()
    again = journal_in(tmp_path, log)
    assert len(again.entries()) == 1
    write(again, "Ada sold her boat to Ruan.")
    assert log.ops() == [("journal", "journal", "agent")]


# -- profiles


def people_in(folder, log, **config):
    return PeopleBook(folder, lambda: PeopleConfig(**config), agent="Mira", tell=log.append)


def test_what_is_learned_of_people_places_and_things(tmp_path, log):
    days = eventful()
    book = people_in(tmp_path, log)
    book.take(days.memories, "Mira", six)
    found = {(each.op, each.of, each.about, each.n) for each in log}
    number = {each.text: each.number for each in days.memories}
    said = next(n for text, n in number.items() if "I'm a miller" in text)
    left = next(n for text, n in number.items() if "I've left the mill" in text)
    renamed = next(m.number for m in days.memories if m.source == "Thomas")
    assert ("met", "person", "Tom", 1) in found
    assert ("met", "place", "The Kettle", 1) in found
    assert {("learned", "work", "Tom", said), ("learned", "home", "Tom", said)} <= found
    assert {("superseded", "work", "Tom", left), ("learned", "work", "Tom", left)} <= found
    assert ("renamed", "person", "Thomas", renamed) in found
    assert any(op == "met" and of == "thing" for op, of, _, _ in found)
    assert {each.by for each in log} == {"rules"}
    assert "miller" not in str([astuple(each) for each in log])
    profiles = [each for each in log if each.op == "profile"]
    assert len({each.about for each in profiles}) == len(profiles), "one for each that changed"
    log.clear()
    book.take(days.memories, "Mira", six)
    people_in(tmp_path, log).take(days.memories, "Mira", six)
    (tmp_path / "people" / ".worked_in.json").unlink()
    people_in(tmp_path, log).take(days.memories, "Mira", six)
    assert log.ops() == [], "nothing is told twice"


def test_the_log_is_the_same_in_one_go_and_after_a_restart_in_the_middle(tmp_path, log):
    days, other = eventful().memories, Told()
    people_in(tmp_path / "one", log).take(days, "Mira", six)
    for some in (days[:7], days[7:]):
        people_in(tmp_path / "other", other).take(some, "Mira", six)
    learned = [each for each in log if each.op != "profile"]
    again = [each for each in other if each.op != "profile"]
    assert sorted(map(str, learned)) == sorted(map(str, again))


def test_who_was_known_by_name_is_somebody(tmp_path, log):
    days = Days()
    book = people_in(tmp_path, log)
    book.take([days.says("Tom", "", "I'm a miller.")], "Mira", six)
    log.clear()
    book.take([days.says("Tom", TOM, "Here I am.")], "Mira", six)
    merged = [(each.op, each.of, each.about, each.by) for each in log if each.op == "merged"]
    assert merged == [("merged", "person", "Tom", "rules")]


def test_what_finds_no_room_is_forgotten(tmp_path, log):
    book = people_in(tmp_path, log, facts=1, things=0)
    book.take(eventful().memories, "Mira", six)
    assert ("forgotten", "thing", "rules") in {(e.op, e.of, e.by) for e in log}
    assert any(each.op == "forgotten" and each.about == "Thomas" for each in log)


def test_what_is_concluded_in_sleep_and_gives_way(tmp_path, log):
    book = people_in(tmp_path, log)
    book.take(eventful().memories, "Mira", six)
    log.clear()

    def concluding(text):
        return lambda old: replace(old, conclusions=(Conclusion(text, (4, 9), START),))

    assert book.change(TOM, concluding("Tom is restless."))
    assert book.change(TOM, concluding("Tom is calm."))
    assert not book.change(TOM, concluding("Tom is calm."))
    assert [(each.n, each.size) for each in log] == [(4, 16), (4, 12), (4, 16)]
    assert log.ops() == [
        ("concluded", "conclusion", "night"),
        ("concluded", "conclusion", "night"),
        ("superseded", "conclusion", "night"),
    ]


def test_corrections_by_hand(tmp_path, log):
    book = people_in(tmp_path, log)
    book.take(eventful().memories, "Mira", six)
    log.clear()
    (tom,) = (tmp_path / "people").glob("Thomas-*.md")
    place = next((tmp_path / "places").glob("*Kettle*.md"))
    text = tom.read_text()
    tom.write_text(text.replace("- work: baker (", "- work: smith (", 1))
    book.look()
    told = [(each.op, each.of, each.about, each.by) for each in log]
    assert told == [
        ("learned", "work", "Thomas", "hand"),
        ("forgotten", "work", "Thomas", "hand"),
    ]
    log.clear()
    tom.write_text(tom.read_text())
    book.look()
    assert log.ops() == [], "saved without a change"
    tom.write_text(tom.read_text().replace("warmth: ", "warmth: 0.5 #"))
    book.profile(TOM)
    place.unlink()
    (tmp_path / "people" / "nell.md").write_text(
        text.replace(TOM, "nell-1").replace("Thomas", "Nell")
    )
    book.look()
    assert log.ops() == [
        ("edit", "person", "hand"),
        ("met", "person", "hand"),
        ("forgotten", "place", "hand"),
    ]


def test_a_correction_a_moment_before_the_game_writes(tmp_path, log):
    days = Days()
    book = people_in(tmp_path, log)
    book.take([days.says("Tom", TOM, "I'm a miller.")], "Mira", six)
    log.clear()
    (tom,) = (tmp_path / "people").glob("Tom-*.md")
    tom.write_text(tom.read_text().replace("- work: miller (", "- work: smith ("))
    book.take([days.says("Tom", TOM, "I live in the tower.")], "Mira", six)
    assert [(each.op, each.of, each.by) for each in log if each.of in ("work", "home")] == [
        ("learned", "work", "hand"),
        ("forgotten", "work", "hand"),
        ("learned", "home", "rules"),
    ]


# -- what is noticed


def block_in(folder, log):
    return Commitments(folder / "noticed.md", agent="Mira", tell=log.append)


RULE = "Never sell the mill to anybody."


def test_what_is_noticed_and_closed(tmp_path, log):
    block = block_in(tmp_path, log)
    block.follow(told(3, RULE), "Mira")
    block.save()
    block.follow(did(4, "say I promise to bring you the cup tomorrow, Tom."), "Mira")
    block.save()
    assert [each.n for each in log] == [3, 4]
    assert log.ops() == [("noticed", "rule", "rules"), ("noticed", "promise", "rules")]
    block.drop(lambda item: "mill" in item.text)
    block.add([replace(block.items[0], text="mend the roof", number=9)])
    assert log.ops() == [("closed", "rule", "builder"), ("noticed", "promise", "night")]
    again = block_in(tmp_path, log)
    again.catch_up([told(3, RULE), did(4, "say I promise to bring you the cup tomorrow.")], "Mira")
    assert log.ops() == [], "all of it was told already"
    block_in(tmp_path / "b", log).follow(told(3, RULE), "Mira")  # and killed before it was written
    again = block_in(tmp_path / "b", log)
    again.catch_up([told(3, RULE)], "Mira")
    again.save()
    assert log.ops() == [("noticed", "rule", "rules")], "what a crash kept from the file, once"


def test_what_a_person_writes_into_the_block(tmp_path, log):
    block = block_in(tmp_path, log)
    assert block.items == ()
    block.path.write_text(f"- rule from Tom: {RULE} (memory 3)\n")
    assert len(block.lines) == 1
    block.path.write_text("")
    block.follow(told(8, "Always bar the door at night."), "Mira")
    block.save()
    assert block.items[0].number == 8
    assert log.ops() == [
        ("noticed", "rule", "hand"),
        ("closed", "rule", "hand"),
        ("noticed", "rule", "rules"),
    ]


def test_the_kinds_of_profiles_are_those_that_are_told():
    assert [kind.value for kind in ProfileKind] == ["person", "place", "thing"]
    assert EntryOrigin.TOLD in EntryOrigin
