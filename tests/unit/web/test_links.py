"""Links to memories in the texts of the dashboard: the server makes them, not the page."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.web.links import state_with_links, with_links


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("- promise to Ann: eels (memory 1)", "- promise to Ann: eels (memory [1](#memory/1))"),
        ("memories 3-7, 9", "memories [3-7](#memory/3-7), [9](#memory/9)"),
        ("- **memories**: 120, 121", "- **memories**: [120](#memory/120), [121](#memory/121)"),
        ("She owes 17 crowns.", "She owes 17 crowns."),
        ("His memory is 40 years old", "His memory is 40 years old"),
        ("a\n\nmemory 2\n", "a\n\nmemory [2](#memory/2)\n"),
        ("", ""),
    ],
)
def test_numbers_of_memories_are_links_and_no_other_numbers(text: str, linked: str):
    assert with_links(text) == linked


def test_both_summaries_of_a_state_have_links():
    now = datetime(2026, 11, 20, tzinfo=UTC)
    recent = Summary(Tier.RECENT, 1, 9, "Ann paid (memory 4).", "model", now)
    state = state_with_links(SummaryState(None, recent, 9, 1, now))
    assert state.recent is not None
    assert state.recent.text == "Ann paid (memory [4](#memory/4))."
    assert state.longterm is None
