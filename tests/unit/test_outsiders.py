"""Who knows a fact and has no archive: players who said it, were told it, or stood by."""

from __future__ import annotations

import pytest

from keepsake.happening import ME, Deed, Manner, Person, Result, Sight
from keepsake.tracing.facts import Way
from keepsake.tracing.outsiders import outsiders
from keepsake.tracing.texts import SegmentTexts
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


def test_who_was_seen_only_before_an_agent_was_elsewhere_does_not_stand_by(village):
    village.said("Bob", "Good evening.", to=["Mira"])
    at_the_quay = Sight(source=Person("Anneke", "anneke"), shown="The tide turns.")
    village.remember("Mira", at_the_quay, place="The Quay")
    village.said("Nell", "Good evening.", to=["Mira"])
    village.said("Anneke", "The bell is under the pier.", to=["Mira"])
    assert known(village, "bell") == {
        "Anneke": (Way.SAID, ""),
        "Nell": (Way.OVERHEARD, "Anneke"),
    }


def test_of_whom_it_is_known_that_they_know_it_nothing_more_is_read(village, monkeypatch):
    read = []
    of_places = SegmentTexts.read

    def counting(segment, places):
        for at, memory in of_places(segment, places):
            read.append(at)
            yield at, memory

    monkeypatch.setattr(SegmentTexts, "read", counting)
    village.said("Bob", "Good evening.", to=["Mira"])
    for n in range(8):
        for small in range(4):
            village.said("Nell", f"It is late, {n} {small}.", to=["Mira"])
        village.said("Anneke", f"The bell is under the pier, {n}.", to=["Mira"])
    names = {each.lower(): (each,) for each in PEOPLE}
    people = People(names, {each: each.lower() for each in village.archives})
    archives = village.read()
    tellings = village.follow("bell").tellings

    def costs(tellings):
        read.clear()
        assert {each.name for each in outsiders(archives, tellings, people)} >= {"Bob", "Nell"}
        return len(read)

    # Of each later telling only the memory of it is read, and who else may stand by.
    assert costs(tellings) - costs(tellings[:1]) == len(tellings) - 1
