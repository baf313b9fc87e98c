"""What a new fact does to those that are known: nothing is ever lost, one at a time holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.books.profiles.changes import SINGLE, meant, same, with_fact
from keepsake.books.profiles.profile import Fact, Name, Profile, ProfileKind

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
NOBODY = Profile("1", ProfileKind.PERSON, (Name("Tom", NOON),), NOON, NOON)


def fact(attribute: str, value: str, day: int, *, over: bool = False) -> Fact:
    time = NOON + timedelta(days=day)
    return Fact(attribute, value, time, time if over else None, (day + 1,), "Tom")


def told(*facts: Fact) -> Profile:
    profile = NOBODY
    for each in facts:
        profile = with_fact(profile, each)
    return profile


def shown(profile: Profile) -> list[tuple[str, bool]]:
    return [(each.value, each.holds) for each in profile.facts]


def test_a_new_value_ends_the_old_one_and_both_stay():
    profile = told(fact("work", "miller", 0), fact("work", "baker", 3))
    assert shown(profile) == [("miller", False), ("baker", True)]
    assert profile.facts[0].until == profile.facts[1].since


def test_who_goes_back_has_three_times():
    profile = told(*(fact("work", job, day) for day, job in enumerate(("a1", "b2", "a1"))))
    assert shown(profile) == [("a1", False), ("b2", False), ("a1", True)]


def test_others_gather():
    profile = told(fact("likes", "pears", 0), fact("likes", "plums", 1), fact("likes", "pears", 2))
    assert shown(profile) == [("pears", True), ("plums", True)]
    assert profile.facts[0].numbers == (1, 3)


def test_what_is_over_ends_and_stays():
    profile = told(fact("work", "at the mill", 0), fact("work", "mill", 4, over=True))
    assert shown(profile) == [("at the mill", False)]
    assert profile.facts[0].until == NOON + timedelta(days=4)


def test_what_is_over_ends_whatever_it_was():
    profile = told(fact("spouse", "Lena", 0), fact("spouse", "", 4, over=True))
    assert shown(profile) == [("Lena", False)]


def test_the_end_of_something_else_changes_nothing_that_holds():
    profile = told(fact("work", "baker", 0), fact("work", "docks", 4, over=True))
    assert ("baker", True) in shown(profile)
    assert ("docks", False) in shown(profile)


def test_an_older_fact_that_comes_late_is_a_past_one():
    profile = told(fact("work", "baker", 5), fact("work", "miller", 1))
    assert shown(profile) == [("miller", False), ("baker", True)]
    assert profile.facts[0].until == NOON + timedelta(days=5)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [("the mill", "Mill", True), ("mill", "mills", True), ("mill", "well", False), ("", "", True)],
)
def test_the_same_in_other_words(one, other, alike):
    assert same(one, other) is alike


@pytest.mark.parametrize(
    ("known", "ended", "it"),
    [
        ("miller", "the mill", True),
        ("miller at the weir", "the mill", True),
        ("baker", "the bakery", True),
        ("clerk", "the mill", False),
    ],
)
def test_who_leaves_a_place_is_what_they_were_there_no_more(known, ended, it):
    assert meant(known, ended) is it


some = st.builds(
    fact,
    st.sampled_from(["work", "home", "likes", "dislikes", "age"]),
    st.sampled_from(["mill", "docks", "tower", "pears"]),
    st.integers(0, 20),
    over=st.booleans(),
)


@given(st.lists(some, max_size=12))
def test_whatever_is_told_one_holds_and_nothing_is_lost(facts):
    profile = told(*facts)
    holding = [f.attribute for f in profile.facts if f.holds and f.attribute in SINGLE]
    assert len(holding) == len(set(holding))
    assert {(f.attribute, f.value) for f in profile.facts} == {
        (f.attribute, f.value) for f in facts
    }
    assert all(f.until is None or f.since <= f.until for f in profile.facts)
    assert profile.facts == tuple(sorted(profile.facts, key=lambda f: f.since))


@given(st.lists(some, min_size=1, max_size=8))
def test_the_same_fact_twice_is_once(facts):
    once = told(*facts)
    assert with_fact(once, facts[-1]) == replace(once)
