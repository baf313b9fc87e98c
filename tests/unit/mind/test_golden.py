"""A vault, an archive and an event log of an earlier version open and can be written."""

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from keepsake.books.entries import EntryOrigin, Rater
from keepsake.books.journal import Journal
from keepsake.books.kept_lines import Commitments, Pinned
from keepsake.books.notes import NoteBook
from keepsake.books.people import PeopleBook
from keepsake.events.files import events
from tests.unit.mind.fake_agent import FakeAgent, covered
from tests.unit.mind.memory_log import ADA, TOM, file_contents

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
"""Files that the code of November 2026 wrote. All later versions must open them."""


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Set the local time zone, in which the journal shows times."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def agent(tmp_path):
    """A copy of the agent's folder as an earlier version left it."""
    shutil.copytree(GOLDEN, tmp_path / "golden")
    return tmp_path / "golden" / "vault" / "agents" / "Mira"


def test_the_notes_of_an_earlier_version_open(agent):
    notes = NoteBook(agent / "notes")
    assert [note.title for note in notes.all()] == ["Bees", "Garden plan"]
    assert notes.problems == []


def test_the_kept_lines_of_an_earlier_version_open(agent):
    pinned = Pinned(agent / "pinned.md")
    commitments = Commitments(agent / "noticed.md")
    assert [pin.text for pin in pinned.items if pin.own] == ["The ford is dry in June."]
    assert [item.kind.value for item in commitments.items] == ["promise", "rule"]


def test_the_journal_of_an_earlier_version_opens(agent):
    journal = Journal(agent / "journal")
    tom, ada, hand, gathered, *later = journal.entries()
    assert (tom.memories, tom.who) == ((120, 121, 122, 130), (TOM,))
    assert (ada.importance, ada.rated_by) == (9, Rater.MODEL)
    assert hand.text == "Written by hand. No entry, a remark:"
    assert (gathered.origin, gathered.importance) == (EntryOrigin.INFERRED, 1)
    assert [entry.id for entry in later] == ["20261123-1", "20261123-2"]
    assert journal.problems == (), "a code block contains no entry"


def test_the_pages_of_people_of_an_earlier_version_open(agent):
    book = PeopleBook(agent)
    assert book.through == 12
    assert book.problems == []
    tom = book.page(TOM)
    assert tom is not None
    assert "work: baker" in [line.text for line in tom.lines]
    assert "Do not trust him." in "\n".join(tom.by_hand)


def test_a_change_and_its_undoing_leave_an_earlier_vault_as_it_was(agent):
    before = file_contents(agent)
    pinned = Pinned(agent / "pinned.md")
    pinned.add("New.")
    pinned.remove("New.")
    assert file_contents(agent) == before


@pytest.fixture
def nell(agent):
    """A copy of the folder of an agent as the last version left it."""
    return agent.parent / "Nell"


def test_the_promises_of_the_last_version_open(nell):
    assert [item.line for item in Commitments(nell / "noticed.md").items] == [
        "You promised Jonas: a bowl of soup (memory 241)",
        "Ada told you: never open the cellar door (memory 17)",
    ]


def test_the_journal_of_the_last_version_opens(nell):
    journal = Journal(nell / "journal")
    cup, insight, rain = journal.entries()
    assert (cup.memories, cup.who, cup.origin) == ((3, 4, 5), (TOM,), EntryOrigin.TOLD)
    assert (cup.importance, cup.rated_by) == (6, Rater.RULES)
    assert insight.is_insight
    assert (rain.importance, rain.rated_by) == (4, Rater.AGENT)
    assert journal.problems == ()


def test_the_pages_of_people_of_the_last_version_open(nell):
    book = PeopleBook(nell)
    known = {page.name: page for page in book.all()}
    tom, ada, eve = (known[name] for name in ("Thomas", "Ada", "Eve"))
    assert tom.portrait == "A miller who became a baker."
    assert tom.lines[-1].text == "The keeper of the old lighthouse has left me a map."
    assert "She cannot stand aniseed." in "\n".join(ada.by_hand)
    assert [line.said for line in eve.lines] == [True, True]
    assert (book.through, book.problems) == (10, [])


def test_changes_to_the_books_of_the_last_version_keep_their_other_lines(nell):
    before = file_contents(nell)
    journal = Journal(nell / "journal")
    Commitments(nell / "noticed.md").close(lambda each: each.number == 241)
    now = journal.entries()[1].time
    given = {"importance": 5, "origin": EntryOrigin.SEEN, "now": now}
    assert journal.write("Tom brought the blue cup.", **given).id == "20261126-4"
    PeopleBook(nell).conclude(ADA, lambda page: replace(page, portrait="She mends nets."))
    for name, old in before.items():
        kept = file_contents(nell)[name].decode().splitlines()
        lost = [line for line in old.decode().splitlines() if line not in kept]
        assert len(lost) <= 2, (name, lost)


def test_an_earlier_archive_and_an_earlier_event_log_open(agent):
    memory = FakeAgent(agent.parents[2] / "life").open()
    try:
        context = memory.context()
        assert context.recent is not None
        assert covered(context) == list(range(context.recent.first, memory.tiers.last_number + 1))
        assert memory.archive.read(13, 13)[0].repeats == 2
    finally:
        memory.close()
    found = list(events(agent.parents[2] / "events"))
    assert [each["seq"] for each in found] == list(range(1, len(found) + 1))
    assert {each["by"] for each in found} == {"agent", "builder", "hand", "night", "rules"}
