"""Words for what the library calls by a short name."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from keepsake.events.values import Author


def call(page: Page, module: str, function: str, given: Any) -> Any:
    """Return what a function of a module returns."""
    script = "([module, name, given]) => import(`/${module}.js`).then((all) => all[name](given))"
    return page.evaluate(script, [module, function, given])


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"memories": 300, "next_due": 1234}, " next compaction at 1,234"),
        ({"memories": 300, "next_due": 297}, " compaction due"),
        ({"memories": 300, "next_due": 297, "due": "count"}, ""),
        ({"memories": 300, "next_due": 297, "compacting": True}, ""),
        ({"memories": 300, "next_due": None}, ""),
    ],
)
def test_the_next_compaction_is_named(page: Page, state: dict[str, Any], words: str) -> None:
    assert call(page, "agent_state", "nextCompaction", state) == words


def test_a_summary_is_by_a_model_whatever_its_profile_is_called(page: Page) -> None:
    assert call(page, "plain_words", "author", "by-hand-instruct") == (
        "by the model by-hand-instruct"
    )


@pytest.mark.parametrize("author", Author)
def test_who_changed_a_memory_is_told_in_words(page: Page, author: Author) -> None:
    assert call(page, "plain_words", "changedBy", author.value) != f"by {author.value}"


def test_what_was_typed_for_a_day_is_its_moment_by_the_clock_of_the_world(page: Page) -> None:
    script = """([day, hour]) => import("/clock.js").then(({ fromDay }) =>
        fromDay(day, hour).toISOString())"""
    assert page.evaluate(script, ["2026-05-01", "6:30"]) == "2026-05-01T04:30:00.000Z"
    assert page.evaluate(script, ["2026-05-01", "23:59:59"]) == "2026-05-01T21:59:59.000Z"


def test_who_told_it_on_in_other_words_still_has_it(page: Page) -> None:
    script = """(kept) => import("/standings.js").then(({ stands }) =>
        stands({ standing: "window", kept }, true))"""
    assert page.evaluate(script, "verbatim") == "still has these words, word for word"
    assert page.evaluate(script, "shorter") == (
        "told it on in words of its own, among the newest memories"
    )


def test_of_several_facts_another_line_may_have_the_words_than_what_was_whispered(
    page: Page,
) -> None:
    script = """(kept) => import("/standings.js").then(({ stands }) =>
        stands({ standing: kept === "verbatim" ? "window" : "lost", kept }, true, true))"""
    assert page.evaluate(script, "verbatim") == "still has a line with these words, word for word"
    assert page.evaluate(script, "whispered") == (
        "keeps it private: word for word in the archive, never summarised"
    )


def test_an_answer_that_takes_too_long_is_not_called_a_reload(page: Page) -> None:
    page.route("**/agents/api/slow", lambda route: None)
    page.route("**/agents/api/away", lambda route: route.abort())
    script = """([path, limit]) => import("/api.js").then(({ post }) =>
        post(path, null, limit).catch((problem) => problem.message))"""
    assert page.evaluate(script, ["slow", 1200]) == (
        "No answer came within 1.2 s. The machine may be busy, or the model slow."
    )
    assert "It may be reloading" in page.evaluate(script, ["away", 60000])
    page.unroute_all(behavior="ignoreErrors")
