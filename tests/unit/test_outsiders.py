"""Who knows a fact and has no archive: players who said it, were told it, or stood by."""

from __future__ import annotations

import pytest

from keepsake.happening import ME, Deed, Manner, Person, Result, Sight
from keepsake.tracing.facts import Way
from keepsake.tracing.outsiders import outsiders
from keepsake.tracing.typed.meant import People
from tests.unit.made_archives import PEOPLE, Village


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, "Mira", "Oswin")


def known(village, words):
    names = {each.lower(): (each,) for each in PEOPLE}
    people = People(names, {each: each.lower() for each in village.archives})
    tellings = village.follow(words).tellings
    found = outsiders(village.read(), tellings, people)
    return {each.name: (each.way, each.source) for each in found}


def goes(village, name, seen_by):
    village.remember(seen_by, Sight(source=Person(name, name.lower()), shown=f"{name} moves."))


def test_players_who_say_it_and_are_told_it_know_it(village):
    village.said("Anneke", "The bell is under the pier.", to=["Mira"])
    village.said("Mira", "The bell is under the pier.", to=["Bob"], manner=Manner.WHISPER)
    assert known(village, "bell") == {
        "Anneke": (Way.SAID, ""),
        "Bob": (Way.WHISPERED, "Mira"),
    }


def test_who_stands_by_overhears_what_is_said_aloud_and_no_whisper(village):
    village.said("Bob", "Good evening.", to=["Mira"])
    village.said("Anneke", "A secret: the ring is lost.", to=["Mira"], manner=Manner.WHISPER)
    village.said("Anneke", "The bell is under the pier.", to=["Mira"])
    assert known(village, "ring") == {"Anneke": (Way.SAID, "")}
    assert known(village, "bell")["Bob"] == (Way.OVERHEARD, "Anneke")


def test_who_has_gone_hears_nothing_and_who_came_does(village):
    village.said("Bob", "Good evening.", to=["Mira"])
    goes(village, "Bob", "Mira")
    village.said("Anneke", "The bell is under the pier.", to=["Mira"])
    assert "Bob" not in known(village, "bell")
    goes(village, "Bob", "Mira")
    village.said("Anneke", "The ring is lost.", to=["Mira"])
    village.said("Bob", "Who lost what?", to=["Mira"])
    assert known(village, "ring")["Bob"] == (Way.OVERHEARD, "Anneke")


def test_whoever_came_and_went_unseen_hears_nothing(village):
    village.said("Bob", "Good evening.", to=["Mira"])
    goes(village, "Bob", "Mira")
    goes(village, "Bob", "Mira")  # Mira was out when he came: she sees him go
    village.said("Anneke", "The bell is under the pier.", to=["Mira"])
    assert "Bob" not in known(village, "bell")


def test_who_is_called_by_name_was_told(village):
    village.said("Bob", "Good evening.", to=["Mira"])
    village.said("Anneke", "Hold this, Mira. Bob, the bell is under the pier.", to=["Mira"])
    assert known(village, "bell")["Bob"] == (Way.TOLD, "Anneke")


def test_who_gave_a_thing_did_it_and_who_was_given_it_got_it(village):
    anneke = Person("Anneke", "anneke")
    bob = Person("Bob", "bob")
    shown = "Anneke gives a blue cup to Bob."
    gift = Deed(actor=anneke, verb="give", objects=("a blue cup",), to=(bob,), shown=shown)
    village.remember("Mira", gift, happening="gift")
    assert known(village, "blue cup") == {
        "Anneke": (Way.DID, ""),
        "Bob": (Way.GOT, "Anneke"),
    }


def test_to_whom_an_agent_alone_gave_a_thing_is_known_from_its_act(village):
    bob = Person("Bob", "bob")
    act = Deed(actor=ME, verb="give", objects=("cup",), to=(bob,), shown="give cup to Bob")
    number = village.remember("Mira", act, happening="gift")
    result = Result(verb="give", act=number, shown="You give a blue cup to Bob.")
    village.remember("Mira", result, happening="gift")
    assert known(village, "blue cup") == {"Bob": (Way.GOT, "Mira")}


def test_what_somebody_looks_at_nobody_else_sees(village):
    village.said("Bob", "Good evening.", to=["Mira"])
    act = Deed(actor=ME, verb="look", objects=("Maud",), shown="look Maud")
    number = village.remember("Mira", act, happening="look")
    result = Result(verb="look", act=number, shown="Maud carries a blue cup.")
    village.remember("Mira", result, happening="look")
    assert known(village, "blue cup") == {}
