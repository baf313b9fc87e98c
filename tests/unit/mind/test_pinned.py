"""The pinned block: short, in a file that people may edit."""

from __future__ import annotations

import pytest

from keepsake.books.pins import OWN, Pinned
from keepsake.errors import NoteRefused


@pytest.fixture
def pinned(tmp_path):
    return Pinned(tmp_path / "pinned.md")


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
