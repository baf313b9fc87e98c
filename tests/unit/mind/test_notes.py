"""Notes are files that the game and people both write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepsake.books.notes import NoteBook, after_words, check_title
from keepsake.errors import NoteRefused
from tests.sentences import table

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def book(tmp_path):
    return NoteBook(tmp_path / "notes")


def test_a_note_can_be_read_back_and_a_second_text_gets_a_date(book):
    written = book.write("Garden", "I planted peas.", place="The Mill", reason="to eat", now=NOON)
    read = NoteBook(book.folder).find("garden")
    assert read == written
    assert (read.title, read.text, read.place) == ("Garden", "I planted peas.", "The Mill")
    assert (read.reason, read.path) == ("to eat", book.folder / "garden.md")
    later = NOON + timedelta(days=3)
    note = book.write("  garden. ", "They are up.", place="The Inn", now=later)
    assert note.text == "I planted peas.\n\n[2026-05-04 12:00, The Inn] They are up."
    assert (note.created, note.updated) == (NOON, later)
    assert book.all() == [note]


DEBT = after_words("Tom owes me six pence.", ["Tom"], [2])
LATER = NOON + timedelta(hours=3)


@pytest.mark.parametrize(
    ("again", "when", "entries"),
    [
        (DEBT, LATER, 1),
        ("tom owes me six pence", LATER, 1),
        (after_words("Tom owes me six pence.", ["Tom", "Ann"], [9, 12]), LATER, 1),
        ("Tom owes me six pence more.", LATER, 2),
        (DEBT, NOON + timedelta(days=1), 2),  # what happens each day has each day's date
    ],
)
def test_the_same_words_of_one_day_stand_in_a_note_once(book, again, when, entries):
    book.write("Tom", DEBT, place="The Inn", now=NOON)
    book.write("Tom", again, place="The Mill", now=when)
    assert len(book.find("Tom").text.split("\n\n")) == entries


def test_a_later_entry_is_not_written_again_either(book):
    for words in ("First.", "Second.", "Second.", "🐟", "🐌", "🐟"):
        note = book.write("Tom", words, now=NOON)
    assert [each.split("] ")[-1] for each in note.text.split("\n\n")] == [
        "First.",
        "Second.",
        "🐟",
        "🐌",
    ]


@pytest.mark.parametrize(("source", "title", "text"), table("notes written by hand"))
def test_files_that_people_wrote_are_notes(book, source, title, text):
    book.folder.mkdir()
    (book.folder / "by-hand.md").write_text(source, encoding="utf-8")
    note = book.all()[0]
    assert (note.title, note.text) == (title, text)
    assert book.write(note.title, "More.", now=NOON).text.endswith("] More.")


def test_a_forgotten_note_is_moved_and_not_deleted(book):
    for text in ("first", "second"):
        book.write("garden", text, now=NOON)
        aside = book.forget("GARDEN")
        assert text in aside.read_text()
        assert book.all() == []
    assert len(list((book.folder / "forgotten").iterdir())) == 2
    book.write("mill", "x", now=NOON)
    with pytest.raises(NoteRefused, match="There are: mill"):
        book.forget("garden")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=80))
def test_any_title_and_text_can_be_read_back(tmp_path, title, text):
    book = NoteBook(tmp_path / "notes")
    try:
        note = book.write(title, text, now=NOON)
    except NoteRefused:
        return
    assert note.path.parent == book.folder
    found = book.find(check_title(title))
    assert found == note
    assert book.forget(title).parent == book.folder / "forgotten"
