"""One ranking of what several searches found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keepsake.agent.memory.search_results import one_result
from keepsake.recall.finding import SearchResult
from keepsake.recall.ranking.merging import fused, picked_first
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


@given(
    st.lists(st.integers(0, 30), unique=True, max_size=20), rankings, st.integers(0, 20), st.data()
)
def test_what_was_picked_comes_first_and_nothing_that_was_found_is_lost(
    found, further, shown, data
):
    places = data.draw(st.lists(st.sampled_from(found), unique=True)) if found else []
    ranking = picked_first(places, found, shown, further)
    assert ranking[: len(places)] == places
    assert len(ranking) == len({*ranking})
    assert {*found} <= {*ranking} <= {*found}.union(*further)
    rest = [each for each in ranking if each in found and each not in places]
    unread = {*found[shown:]}
    assert [n for n in rest if n not in unread] == [
        n for n in found if n not in places and n not in unread
    ]


def test_without_a_choice_the_ranking_stays():
    assert picked_first([], ["a", "b", "c"], 3, []) == ["a", "b", "c"]


def test_a_further_search_brings_what_was_not_read():
    ranking = picked_first(["c"], ["a", "b", "c"], 3, [["b", "x"], ["a", "y", "x"]])
    assert ranking == ["c", "x", "a", "y", "b"]


def test_results_of_several_searches_are_one_and_a_failed_search_leaves_the_others():
    first = SearchResult((memory_hit(1, "Eels."), memory_hit(2, "Nets.")))
    second = SearchResult((note_hit("Debts", "Six pence."), memory_hit(2, "Nets.")))
    both = one_result([first, None, second])
    keys = [hit.document.key for hit in both.hits]
    assert keys == ["memory:2", "memory:1", "note:Debts"]
    assert one_result([None, None]) is None
    assert one_result([first]) is first
