"""Pins and promises: lists in files that the game and people both write."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.books.kept_lines import (
    MOST_LIST_BYTES,
    OWN,
    Commitment,
    CommitmentKind,
    Commitments,
    Pinned,
)
from keepsake.errors import NoteRefused
from tests.sentences import table


def own(pinned):
    return tuple(pin.text for pin in pinned.items if pin.own)


@pytest.fixture
def pinned(tmp_path):
    return Pinned(tmp_path / "pinned.md")


def test_the_agents_own_pins_are_marked_only_in_the_file(pinned):
    pinned.path.write_text("# What Mira never forgets\n\nBy Ann.\n\n-   from before \n* no\n")
    pinned.add("I like rain.", own=True)
    pinned.add(f"Never {OWN} sell the mill.")
    assert pinned.shown == ("from before", "I like rain.", "Never sell the mill.")
    assert own(pinned) == own(Pinned(pinned.path)) == ("I like rain.",)
    assert f"- I like rain. {OWN}\n" in pinned.path.read_text()
    for which in ("1", "from before"):
        with pytest.raises(NoteRefused, match="not pinned by you"):
            pinned.remove(which, only_own=True)
    assert pinned.remove("2", only_own=True) == "I like rain."
    pinned.add("I like fog.", own=True)
    pinned.path.write_text(pinned.path.read_text().replace(OWN, ""))
    assert own(pinned) == (), "without the mark it is a builder's pin"
    assert pinned.remove("I like fog.") == "I like fog."
    assert pinned.path.read_text().startswith("# What Mira never forgets\n\nBy Ann.\n")


def test_builders_pins_are_shown_even_if_the_agent_pinned_too_much(pinned):
    many = [f"{n} {'x' * 298}" for n in range(4)]
    pinned.path.write_text(
        "".join(f"- {each} {OWN}\n" for each in many) + f"- {'x' * 1300}\n- Never sell the mill.\n"
    )
    assert pinned.shown == (*many[:3], "Never sell the mill.")


@pytest.fixture
def book(tmp_path: Path) -> Commitments:
    return Commitments(tmp_path / "noticed.md")


def promise(text: str, number: int = 241, who: str = "Jonas") -> Commitment:
    return Commitment(CommitmentKind.PROMISE, who, text, number, "12-20260101")


def test_a_list_that_would_hold_up_the_game_is_reported_and_not_read(pinned):
    pinned.add("The mill is Tom's.")
    pinned.path.write_text("- The mill is mine.\n" * (MOST_LIST_BYTES // 20 + 1))
    assert pinned.shown == ("The mill is Tom's.",)
    (problem,) = pinned.problems
    assert "too long" in problem
    pinned.path.write_text("- The mill is Nell's.\n")
    assert pinned.shown == ("The mill is Nell's.",)
    assert pinned.problems == []


def test_a_promise_is_open_until_it_is_kept(book):
    book.add(promise("a bowl of soup on the twelfth"))
    assert book.lines() == ("You promised Jonas: a bowl of soup on the twelfth (memory 241)",)
    assert Commitments(book.path).items == book.items
    kept = book.find("241")
    assert book.close(lambda each: each == kept) == 1
    assert book.lines() == ()
    with book.path.open("a") as file:  # as earlier versions marked kept promises
        file.write("- promise to Jonas: a loaf (memory 240) [done]\n")
    assert book.lines() == ()
    book.add(promise("a bowl of soup on the twelfth"))
    assert len(book.items) == 1, "promised again, it is open again"
    book.add(promise("a loaf", 5))
    assert len(book.lines(241)) == 1, "only the one that is no longer in the window"
    assert book.lines(None, lambda number: number != 5) == book.lines()[:1]


def test_a_file_of_an_earlier_version_opens_and_peoples_text_stays(book):
    earlier = table("commitments of an earlier version")
    book.path.write_text("\n".join(earlier) + "\n")
    assert [item.kind.value for item in book.items] == ["rule", "promise"]
    book.add(promise("mend the lamp"))
    soup = book.find("soup")
    book.close(lambda each: each == soup)
    text = book.path.read_text()
    for line in earlier:
        assert line in text or line.startswith("- promise to Ada")
    assert book.lines()[0] == "Tom told you: Never open the eel trap. (memory 17)"
    book.path.write_text(text + "- rule from Ruan: Mind the step.\n")
    assert book.lines()[1] == "Ruan told you: Mind the step."


_TEXT = st.text(max_size=60)


@given(st.lists(st.tuples(_TEXT, _TEXT), max_size=6))
def test_no_promise_forges_a_line(tmp_path_factory, found):
    book = Commitments(tmp_path_factory.mktemp("book") / "noticed.md")
    kept = 0
    for number, (who, text) in enumerate(found, start=1):
        try:
            book.add(promise(text, number, who))
        except NoteRefused:
            continue
        kept += 1
    assert len(Commitments(book.path).items) == kept
    assert [item.number for item in book.items] == sorted({item.number for item in book.items})
