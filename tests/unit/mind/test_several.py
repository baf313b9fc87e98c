"""One ranking of what several searches found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keepsake.agent.memory.search_results import one_result
from keepsake.recall.finding import SearchResult
from keepsake.recall.several import fused
from tests.unit.mind.test_search_results import memory_hit, note_hit

rankings = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=20), max_size=4)


def test_what_two_searches_find_comes_before_what_one_finds_at_the_same_ranks():
    assert fused([["a", "b", "c"], ["d", "b", "e"]])[0] == "b"


def test_the_first_of_each_search_comes_before_the_last_of_any():
    found = fused([["a", *range(20)], ["b", *range(20, 40)]])
    assert found[:2] == ["a", "b"]


@given(rankings)
def test_every_item_is_listed_once_and_one_ranking_keeps_its_order(given_rankings):
    found = fused(given_rankings)
    assert sorted(found) == sorted({item for ranking in given_rankings for item in ranking})
    for ranking in given_rankings:
        assert fused([ranking]) == ranking
        assert fused([ranking, ranking]) == ranking


def test_results_of_several_searches_are_one_and_a_failed_search_leaves_the_others():
    first = SearchResult((memory_hit(1, "Eels."), memory_hit(2, "Nets.")))
    second = SearchResult((note_hit("Debts", "Six pence."), memory_hit(2, "Nets.")))
    both = one_result([first, None, second])
    keys = [hit.document.key for hit in both.hits]
    assert keys == ["memory:2", "memory:1", "note:Debts"]
    assert one_result([None, None]) is None
    assert one_result([first]) is first
