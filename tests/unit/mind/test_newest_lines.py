"""The newest lines of an archive that may have some words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake import json_lines
from keepsake.archive import log
from keepsake.archive.log import Archive
from keepsake.archive.newest_lines import LinesWithNeedles, needle_of
from tests.unit.made_archives import Village

ALL = 1_000_000


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An archive of several segments, read in small blocks."""
    monkeypatch.setattr(log, "SEGMENT_LINES", 7)
    monkeypatch.setattr(json_lines, "_BLOCK", 900)
    monkeypatch.setattr(json_lines, "_LAST_BLOCK", 300)
    village = Village(tmp_path, "Mira")
    for n in range(40):
        village.said(("Anneke", "Bob", "Zoë")[n % 3], f"Wave {n}, {'and on ' * (n % 5)}.", "Mira")
    return tmp_path / "Mira"


@pytest.mark.parametrize("needles", [[b"anneke"], [b"wave 1", b"bob"], [b""], [b"nobody"]])
def test_they_are_the_lines_with_any_of_the_needles(folder, needles):
    lines = LinesWithNeedles(folder, needles, ALL)
    every = Archive(folder, read_only=True).lines_back()
    assert [*lines] == [each for each in every if any(n in each.lower() for n in needles)]
    assert lines.complete


@pytest.mark.parametrize("most", [0, 1, 150, 1000, 5000])
def test_no_more_bytes_are_read_than_wanted(folder, most):
    lines = LinesWithNeedles(folder, [b""], most)
    read = [*lines]
    assert read == [*Archive(folder, read_only=True).lines_back()][: len(read)]
    assert most - 400 < sum(len(each) + 1 for each in read) <= most  # no line is longer
    assert not lines.complete


def test_they_are_read_only_as_far_as_needed(folder):
    for old in sorted(folder.glob("*.jsonl"))[:-2]:
        old.write_bytes(b"\0" * ALL)
    lines = LinesWithNeedles(folder, [b"wave 39"], 2000)
    assert b"Wave 39" in next(iter(lines))
    assert lines.complete


@given(st.text(min_size=1, max_size=12), st.text(max_size=20), st.booleans())
def test_a_line_with_a_text_has_its_needle(text, around, escaped):
    record = {"text": f"{around}{text}{around}".swapcase()}
    line = json_lines.line_of(record)
    if escaped:  # as early archives were written
        line = json_lines.json.dumps(record).encode()
    same = text.swapcase().swapcase() == text and text.isascii()
    assert not same or needle_of(text) in line.lower()


def test_the_apostrophe_and_letters_of_other_alphabets_are_no_part_of_a_needle():
    assert needle_of("O'Brien") == needle_of("O’Brien") == b"brien"
    assert needle_of("Zoë") == b"zo"
    assert needle_of("Ольга") == b""
