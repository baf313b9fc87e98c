"""The pinned block: short, in a file that people may edit."""

from __future__ import annotations

import pytest

from keepsake.books.pins import LIMIT, LONGEST_LINE, OWN, Pinned
from keepsake.errors import NoteRefused


@pytest.fixture
def pinned(tmp_path):
    return Pinned(tmp_path / "pinned.md")


@pytest.mark.parametrize("which", ["2", "#2", "number 2", "cup", "CUP."])
def test_unpin_by_number_or_words(pinned, which):
    for line in ("Tom owes me six pence.", "The cup is in the well.", "Bram is kind."):
        pinned.add(line)
    assert pinned.remove(which) == "The cup is in the well."


def test_the_limits_are_told(pinned):
    with pytest.raises(NoteRefused, match=str(LONGEST_LINE)):
        pinned.add("x" * (LONGEST_LINE + 1))
    with pytest.raises(NoteRefused, match="nothing to pin"):
        pinned.add(" - ")
    for number in range(LIMIT // LONGEST_LINE):
        pinned.add(f"{number}".ljust(LONGEST_LINE, "x"), own=True)
    with pytest.raises(NoteRefused, match=r"full \(1,200 of 1,200"):
        pinned.add("more")
    with pytest.raises(NoteRefused, match="already"):
        pinned.add(pinned.lines[0])
    with pinned.path.open("a") as file:
        file.write("- Never sell the mill.\n")
    assert pinned.shown[-1] == "Never sell the mill.", "its own do not crowd out a builder's"
    assert len(pinned.shown) == LIMIT // LONGEST_LINE


def test_what_the_agent_pinned_is_marked_in_the_file_and_nowhere_else(pinned):
    pinned.path.write_text("# What Mira never forgets\n\nBy Ann.\n\n-   from before \n* no\n")
    pinned.add("I like rain.", own=True)
    pinned.add(f"Never {OWN} sell the mill.")
    assert pinned.lines == ("from before", "I like rain.", "Never sell the mill.")
    assert pinned.own == Pinned(pinned.path).own == ("I like rain.",)
    assert pinned.shown == pinned.lines
    assert f"- I like rain. {OWN}\n" in pinned.path.read_text()
    for which in ("1", "from before"):
        with pytest.raises(NoteRefused, match="not pinned by you"):
            pinned.remove(which, only_own=True)
    assert pinned.remove("2", only_own=True) == "I like rain."
    pinned.add("I like fog.", own=True)
    pinned.path.write_text(pinned.path.read_text().replace(OWN, ""))
    assert pinned.own == (), "whoever takes the mark away makes it a builder's"
    assert pinned.remove("I like fog.") == "I like fog."
    assert pinned.path.read_text().startswith("# What Mira never forgets\n\nBy Ann.\n")
