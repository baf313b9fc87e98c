"""How each came to know a fact: told, overheard, saw it, did it, got it; and who only asked."""

from __future__ import annotations

import pytest

from keepsake.happening import ME, Deed, Manner, Person, Result, Sight
from keepsake.tracing.facts import Way
from tests.unit.made_archives import Village


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, "Mira", "Oswin", "Bram", "Joss")


def test_who_is_called_by_name_was_told_and_did_not_overhear_it(village):
    words = "Mira, hold the ladle. Oswin, I go to the surgeon."
    village.said("Bob", words, "Oswin", "Bram", to=["Mira"])
    (told,) = village.follow("surgeon").tellings
    assert {each.agent: each.way for each in told.hearings} == {
        "Mira": Way.TOLD,
        "Oswin": Way.TOLD,
        "Bram": Way.OVERHEARD,
    }


def test_who_only_asks_about_it_tells_nobody(village):
    village.said("Ida", "Is Bob going to the surgeon?", "Oswin", to=["Mira"])
    village.said("Bob", "I go to the surgeon.", to=["Mira"])
    village.said("Joss", "Good evening. Has Bob seen a surgeon? He looks grey.", to=["Bram"])
    fact = village.follow("Bob surgeon")
    assert [each.text for each in fact.tellings] == ["I go to the surgeon."]
    assert [each.agent for each in fact.knowers] == ["Mira"]
    asked = [memory.words for ((_, memory), *_) in fact.asked]
    assert [each.split(" ")[0] for each in asked] == ["Is", "Good"]


def test_what_was_only_asked_is_followed_as_what_it_is(village):
    village.said("Ida", "What sleeps in the tuba?", "Oswin", to=["Mira"])
    fact = village.follow("tuba")
    assert [each.asks for each in fact.tellings] == [True]
    assert fact.asked == ()


def give(village, giver, thing, receiver, *seen_by):
    """Let somebody give a thing, as the game shows it to each."""
    whom = Person(receiver, receiver.lower())
    facts = {"happening": f"gift {thing} {giver}"}
    if giver in village.archives:
        act = Deed(actor=ME, verb="give", objects=(thing,), to=(whom,), shown=f"give {thing}")
        number = village.remember(giver, act, **facts)
        shown = f"You give {thing} to {receiver}."
        village.remember(giver, Result(verb="give", act=number, shown=shown), **facts)
    for name in seen_by:
        to = ME if name == receiver else whom
        village.remember(
            name,
            Deed(
                actor=Person(giver, giver.lower()),
                verb="give",
                objects=(thing,),
                to=(to,),
                shown=f"{giver} gives {'you ' if to is ME else ''}{thing}.",
            ),
            **facts,
        )


def test_who_gave_a_thing_who_got_it_and_who_saw_it_differ(village):
    give(village, "Anneke", "a blue cup", "Mira", "Mira", "Oswin")
    village.remember("Mira", Sight(shown="You no longer carry a blue cup."))
    (gift,) = village.follow("blue cup").tellings
    assert (gift.is_gift, gift.speaker, gift.to) == (True, "Anneke", ("Mira",))
    assert gift.text == "Anneke gives a blue cup."
    ways = {each.agent: each.way for each in gift.hearings}
    assert ways == {"Mira": Way.GOT, "Oswin": Way.SAW}


def test_an_agent_that_gives_a_thing_is_who_did_it(village):
    give(village, "Mira", "a blue cup", "Oswin", "Oswin", "Bram")
    (gift,) = village.follow("blue cup").tellings
    assert (gift.agent, gift.speaker, gift.to) == ("Mira", "", ("Oswin",))
    ways = {each.agent: each.way for each in gift.hearings}
    assert ways == {"Mira": Way.DID, "Oswin": Way.GOT, "Bram": Way.SAW}


def test_what_could_not_be_done_shows_nothing(village):
    refused = "You can only get a blue cup here."
    village.remember("Bram", Result(verb="get", done=False, shown=refused))
    assert village.follow("blue cup").knowers == ()


def test_what_a_player_said_of_it_before_is_an_earlier_telling(village):
    fork = "I took Dirk's tuning fork out of his waistcoat."
    village.said("Anneke", f"Only for you: {fork}", to=["Mira"], manner=Manner.WHISPER)
    village.said("Anneke", f"It is my hour, Bob. {fork}", "Oswin", to=["Mira"])
    for name, number in (("Mira", 2), ("Oswin", 1)):
        fact = village.follow_memory(name, number)
        assert [each.private for each in fact.tellings] == [True, False]
        first = {each.agent: each.path[-1].memory for each in fact.knowers}
        assert first == {"Mira": 1, "Oswin": 1}


def test_another_story_of_a_player_with_some_of_the_words_is_no_earlier_telling(village):
    story = "My grandmother wrote in green ink that the bees left on 4 June."
    village.said("Tom", story, "Oswin", to=["Mira"])
    secret = "I opened the hive, I was nine: I let my grandmother's bees go on 4 June."
    told = village.said("Tom", secret, to=["Bram"], manner=Manner.WHISPER)
    fact = village.follow_memory("Bram", told["Bram"])
    assert [each.text for each in fact.tellings] == [secret]


def test_what_another_said_before_is_no_telling_of_a_sentence(village):
    village.said("Bob", "My sister Liesbet drowned three winters ago.", to=["Bram"])
    told = village.said("Anneke", "My sister Liesbet drowned three winters ago.", to=["Mira"])
    fact = village.follow_memory("Mira", told["Mira"])
    assert [each.agent for each in fact.knowers] == ["Mira"]


def test_to_whom_an_agent_gave_a_thing_is_known_though_nobody_else_saw_it(village):
    give(village, "Mira", "a blue cup", "Anneke")
    (gift,) = village.follow("blue cup").tellings
    assert (gift.is_gift, gift.agent, gift.to) == (True, "Mira", ("Anneke",))
