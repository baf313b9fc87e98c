"""A person's page as a file: what is written is read, and pages of before still open."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.books.person_page import PageLine, PersonPage, parse_page, worked_in, written
from keepsake.errors import NoteRefused
from tests.unit.mind.acquaintances import START, TOM, Days
from tests.unit.mind.test_golden import GOLDEN

PATH = Path("Tom.md")


def parsed(text: str) -> PersonPage:
    return parse_page(PATH, text, START)


@pytest.mark.parametrize("path", sorted((GOLDEN / "vault/agents/Mira/people").glob("*.md")))
def test_a_page_that_november_wrote_opens(path):
    page = parse_page(path, path.read_text("utf-8"), START)
    assert page.lines
    assert parse_page(path, written(page), START) == page


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "front matter"),
        ("# Tom\n", "front matter"),
        ("---\nkey: [\n---\n", "cannot be read"),
        ("---\nnames: Tom\n---\n", "key and names"),
        ("---\nkey: a\nnames: Tom\nmeetings: often\n---\n", "cannot be read"),
    ],
)
def test_a_page_that_cannot_be_read_says_why_and_how_to_mend_it(text, why):
    with pytest.raises(NoteRefused, match=why) as refused:
        parsed(text)
    assert "Mend" in refused.value.cure
    page = parsed("---\nkey: tom-1\nnames: Tom\n---\n\nA smith.\n")
    assert (page.name, page.remarks, page.lines) == ("Tom", ("A smith.",), ())


_WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=80)


@given(st.lists(_WORDS, max_size=5), _WORDS)
def test_nothing_that_is_said_forges_a_line_or_a_heading(words, name):
    days = Days()
    for each in words:
        days.says("Tom", TOM, each)
    page = worked_in(None, TOM, [*days.memories, days.does("Tom", TOM, "waves.")])
    again = parsed(written(page))
    assert [each.numbers for each in again.lines] == [each.numbers for each in page.lines]
    assert again.by_hand == ()
    when = datetime(2026, 1, 1, tzinfo=UTC)
    portrait = PersonPage("k", ("Tom",), when, when)
    line = PageLine("x", (1,), when)
    assert portrait.with_lines([line, line]).lines == (line,)
