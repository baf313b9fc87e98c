"""Which memories of an agent are no news to another one, whose window has lost them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from keepsake.agent.memory.known_news import KnownNews, concerns, origins_of, tells_something
from keepsake.archive.records import Memory
from keepsake.happening import Person, Speech

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
TOM, MIRA, BRAM = (
    Person(name, f"{n}-20261101090000") for n, name in enumerate(("Tom", "Mira", "Bram"))
)


def said(
    words: str,
    to: Person | None = None,
    *,
    chain: str = "",
    happening: str = "a1",
    origins: tuple[str, ...] = (),
) -> Memory:
    """Return what Tom said, as Bram remembers it."""
    speech = Speech(speaker=TOM, words=words, to=(to,) if to else ())
    return Memory(7, NOON, speech, chain=chain, happening=happening, origins=origins)


@pytest.mark.parametrize(
    ("chain", "known"),
    [
        ("", False),
        ("Mira 212", True),
        ("Nell 5; Mira 212", True),
        ("Wren 9; Nell 5", True),
        ("Nell 5; Wren 9", False),
        ("Old Mira 3", False),
    ],
)
def test_who_has_passed_something_on_or_been_told_it_knows_it(chain, known):
    mira = KnownNews("Mira", frozenset({"b2"}), frozenset({"Wren 9"}), NOON)
    assert mira.has(said("The ferry sank.", chain=chain)) is known
    assert mira.has(said("The ferry sank.", chain=chain, happening="b2"))


def test_who_perceived_all_that_hearsay_began_with_knows_it():
    mira = KnownNews("Mira", frozenset({"b2", "c3"}))
    assert mira.has(said("Nell got wax.", origins=("b2",)))
    assert mira.has(said("Nell got wax.", origins=("b2", "c3")))
    assert not mira.has(said("Nell got wax.", origins=("b2", "d4")))


def test_what_is_told_on_begins_with_what_happened():
    assert origins_of(said("Nell got wax.", happening="b2")) == ("b2",)
    assert origins_of(said("Nell got wax.", happening="b2", origins=("a1",))) == ("a1",)
    assert origins_of(said("Nell got wax.", happening="")) == ()


def test_what_is_older_than_a_window_may_have_left_it():
    later = KnownNews("Mira", since=NOON + timedelta(minutes=1))
    assert later.has_lost(said("The ferry sank."))
    assert not KnownNews("Mira", since=NOON).has_lost(said("The ferry sank."))
    assert KnownNews().has_lost(said("The ferry sank.")), "nothing is known of a player"


def test_what_was_said_to_somebody_or_by_them_concerns_them():
    thanks = said("That was a kind deed with the ferry.", MIRA)
    assert concerns(thanks, MIRA.id)
    assert concerns(thanks, TOM.id)
    assert not concerns(thanks, BRAM.id)


@pytest.mark.parametrize("words", ["Thank you, Mira.", "Good evening!", "Where is she?", "Danke!"])
def test_courtesies_and_questions_tell_nothing(words):
    heard = said(words, MIRA).heard
    assert heard is not None
    assert not tells_something(heard)
