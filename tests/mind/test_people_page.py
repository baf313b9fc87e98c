"""A profile as a page: what is written is read back, whatever words stand in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsake.books.journal.entries import EntryOrigin
from keepsake.books.profiles.changes import by_time
from keepsake.books.profiles.page import Page, parse_page, rewritten, written
from keepsake.books.profiles.profile import (
    Conclusion,
    Fact,
    Name,
    Observation,
    Profile,
    ProfileKind,
)
from keepsake.errors import NoteRefused
from keepsake.language.fit import line
from keepsake.language.fit import name as fit_name

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
PATH = Path("Tom.md")
BARE = Profile("12-1", ProfileKind.PERSON, (Name("Tom", NOON),), NOON, NOON)

hostile = st.text(
    st.sampled_from("ab c#-*>:;()[]{}'\"`|&!%@,.\n\r\t\u2028\x85\x1b\u202e~<>0123456789é"),
    max_size=60,
)
words = st.one_of(hostile, st.text(max_size=40)).map(lambda text: line(f"a{text}z", 180))
plain = st.from_regex(r"[a-z]{2,8}( [a-z]{2,8}){0,2}", fullmatch=True)
names = st.one_of(hostile, plain).map(fit_name)
times = st.integers(0, 10_000).map(lambda minutes: NOON + timedelta(minutes=minutes))
numbers = st.lists(st.integers(1, 9999), max_size=4, unique=True).map(lambda n: tuple(sorted(n)))
facts = st.builds(
    lambda attribute, value, since, long, over, cited, by, origin: Fact(
        attribute, value, since, since + timedelta(hours=long) if over else None, cited, by, origin
    ),
    plain,
    plain,
    times,
    st.integers(0, 99),
    st.booleans(),
    numbers,
    names,
    st.sampled_from(list(EntryOrigin)),
)
seen = st.builds(Observation, st.integers(1, 9999), times, words, st.integers(1, 10))
thoughts = st.builds(Conclusion, words, numbers.filter(bool), times)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    observed = draw(st.lists(seen, max_size=5, unique_by=lambda each: each.number))
    return replace(
        BARE,
        key=draw(st.one_of(plain, names.map(lambda name: f"name:{name}".strip()))),
        kind=draw(st.sampled_from(list(ProfileKind))),
        names=tuple(Name(name, draw(times)) for name in draw(st.lists(names, min_size=1))),
        last_met=draw(times),
        before=draw(st.none() | times),
        meetings=draw(st.integers(1, 99)),
        warmth=draw(st.integers(-100, 100)) / 100,
        facts=by_time(draw(st.lists(facts, max_size=5))),
        observations=tuple(sorted(observed, key=lambda each: each.number)),
        conclusions=tuple(draw(st.lists(thoughts, max_size=3))),
        shared=draw(st.none() | seen),
        through=draw(st.integers(0, 9999)),
    )


@settings(max_examples=25)
@given(profiles())
def test_what_is_written_is_read_back(profile):
    text = written(Page(profile))
    read = parse_page(PATH, text, NOON)
    assert read.profile == profile
    assert written(read) == text


@given(st.one_of(hostile, st.text(max_size=60)))
def test_what_is_made_fit_stays_as_it_is(text):
    for fit in (line, fit_name):
        once = fit(text)
        assert fit(once) == once
        assert len(once.splitlines()) <= 1
        assert not once.startswith(("#", "-", "~", "*", " "))


def test_windows_line_ends_are_read():
    text = written(Page(replace(BARE, facts=(Fact("work", "baker", NOON, None, (3,)),))))
    assert parse_page(PATH, text.replace("\n", "\r\n"), NOON).profile.facts[0].value == "baker"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not begin with front matter"),
        ("# Tom\n", "does not begin with front matter"),
        ("---\nkey: 1\nnames: [Tom]\n", "does not begin with front matter"),
        ("---\n[]\n---\n", "does not begin with front matter"),
        ("---\nkey: [\n---\n", "cannot be read"),
        ("---\nnames: [Tom]\n---\n", "needs a key and names"),
        ("---\nkey: 1\n---\n", "needs a key and names"),
        ("---\nkey: 1\nnames: [Tom]\nkind: dragon\n---\n", "cannot be read"),
        ("---\nkey: 1\nnames: [Tom]\nlast_met: soon\n---\n", "cannot be read"),
        ("---\nkey: 1\nnames: [Tom]\nwarmth: !!python/object:os.system x\n---\n", "cannot be read"),
        (f"---\nkey: 1\nnames: {'[' * 3000}\n---\n", "cannot be read"),
    ],
)
def test_a_page_that_cannot_be_read_says_why_and_how_to_mend_it(text, why):
    with pytest.raises(NoteRefused, match=why) as refused:
        parse_page(PATH, text, NOON)
    assert "Mend the lines" in str(refused.value)
    assert "Tom.md" in str(refused.value)


def test_a_page_by_hand_needs_little():
    text = "---\nkey: 12-1\nnames: Tom\n---\n\n## Facts\n\n- Work: baker\n- not a fact\n"
    page = parse_page(PATH, text, NOON)
    assert page.profile.names == (Name("Tom", NOON),)
    assert page.profile.facts == (Fact("work", "baker", NOON, None, (), "", EntryOrigin.SEEN),)
    assert page.by_hand == {"Facts": ("- not a fact",)}
    assert "- not a fact\n- work: baker" in written(page)


def test_a_fact_that_a_person_moves_to_before_is_over():
    text = "---\nkey: 12-1\nnames: Tom\n---\n\n## Before\n\n- work: baker\n"
    (fact,) = parse_page(PATH, text, NOON).profile.facts
    assert fact.until == NOON
    (again,) = parse_page(PATH, text.replace("Before", "Facts"), NOON).profile.facts
    assert again.until is None


remarks = st.lists(st.one_of(hostile, st.just("")), max_size=3).map(
    lambda lines: "\n".join(lines).splitlines()
)


@settings(max_examples=50)
@given(profiles(), profiles(), remarks, remarks)
def test_what_is_rewritten_is_known_as_it_would_be_read(before, profile, above, below):
    by_hand = "\n".join(["", "# Tom", *above, "", "## My own", *below, ""])
    page = parse_page(PATH, written(Page(before)).split("\n# ")[0] + by_hand, NOON)
    both = sorted({*before.observations, *profile.observations}, key=lambda each: each.number)
    profile = replace(profile, observations=tuple(both))
    text, known = rewritten(Page(profile, page.by_hand), before, NOON)
    assert text == written(Page(profile, page.by_hand))
    assert known == parse_page(PATH, text, NOON)
