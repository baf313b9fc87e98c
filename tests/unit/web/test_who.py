"""What an agent has of a fact now, in one state and in words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keepsake.books.editing import EditableBook
from keepsake.tracing.kept import Kept
from keepsake.tracing.standing import Hold, Standing
from keepsake.web.fact_shapes import KnowerView, SpellView
from keepsake.web.pasts.who import held
from keepsake.web.people.noted import NotedView

THEN = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
PAGE = NotedView(
    id=1,
    agent="Mira",
    book=EditableBook.PEOPLE,
    title="Tom",
    text="The bell is under the jetty.",
    numbers=(4,),
    time=THEN,
    private=True,
)


def mira(standing, kept):
    spell = SpellView(time=THEN, standing=standing, kept=kept, has="", compaction=0, n=0)
    return KnowerView(
        id=1, agent="Mira", source="", heard="", path=(), memories=(), spells=(spell,), acts=()
    )


@pytest.mark.parametrize(
    ("standing", "kept", "hold", "now"),
    [
        (Standing.WINDOW, Kept.VERBATIM, Hold.WINDOW, "has it word for word in its prompts"),
        (Standing.RECENT, Kept.SHORTER, Hold.SUMMARY, "has it in its short-term summary"),
        (
            Standing.LONGTERM,
            Kept.LIKELY,
            Hold.SUMMARY,
            "probably has it in its long-term summary",
        ),
        (Standing.LOST, Kept.GONE, Hold.RECALL, "has it only by recall"),
        (
            Standing.LOST,
            Kept.WHISPERED,
            Hold.RECALL,
            "keeps it private, so no summary has it: only recall finds it",
        ),
    ],
)
def test_where_an_agent_has_a_fact_is_one_state(standing, kept, hold, now):
    assert held(mira(standing, kept), ()) == (hold, now)


def test_a_book_counts_before_recall_and_after_a_summary():
    in_book = "has it in its page of Tom, in the prompts while Tom is there"
    assert held(mira(Standing.LOST, Kept.WHISPERED), [PAGE]) == (Hold.BOOK, in_book)
    assert held(mira(Standing.RECENT, Kept.UNSURE), [PAGE]) == (Hold.BOOK, in_book)
    assert held(mira(Standing.RECENT, Kept.SHORTER), [PAGE])[0] is Hold.SUMMARY
