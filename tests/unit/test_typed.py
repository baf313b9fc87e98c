"""Typed words mean things: who speaks owns *my watch*, and one sentence has all words."""

from __future__ import annotations

import pytest

from keepsake.happening import Manner
from keepsake.tracing.typed import strands
from keepsake.tracing.typed.choice import LineChoice
from tests.unit.made_archives import Village

SOCK = "My watch is in my left sock."


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, "Mira", "Oswin", "Bram", "Nell")


def leads(fact):
    """Return what the strands say, each with whether it is likely meant."""
    return {each.lead[1].words: each.likely for each in fact.strands}


def knowers(fact):
    return sorted(each.agent for each in fact.knowers)


def test_who_speaks_of_a_thing_of_their_own_need_not_name_themselves(village):
    village.said("Bob", SOCK, to=["Oswin"], manner=Manner.WHISPER)
    village.said("Anneke", "My watch is made of gold.", to=["Nell"])
    fact = village.follow("Bob's watch")
    assert [each.text for each in fact.tellings] == [SOCK]
    assert knowers(fact) == ["Oswin"]


def test_what_is_said_to_who_is_named_is_not_about_them(village):
    village.said("Bob", SOCK, to=["Oswin"])
    village.said("Nell", "Captain, are you on watch?", to=["Bob"])
    fact = village.follow("Bob's watch")
    assert leads(fact) == {SOCK: True}
    assert knowers(fact) == ["Oswin"]


def test_words_in_several_sentences_are_about_several_things(village):
    village.said("Nell", "Nell took my cup. The sky is blue.", to=["Mira"])
    village.said("Bob", "It took two years. I was blue, and had a cup.", to=["Oswin"])
    assert not village.follow("took the blue cup").knowers
    village.said("Anneke", "The blue cup: Nell took it!", to=["Bram"])
    assert knowers(village.follow("took the blue cup")) == ["Bram"]


def test_what_is_chosen_counts_in_whatever_words_with_all_who_heard_it(village):
    told = village.said("Anneke", "I hear nothing on the left.", "Nell", to=["Mira"])
    village.said("Anneke", "I can hear the sea.", to=["Bram"])
    assert not village.follow("deaf in the left ear").knowers
    chosen = LineChoice(meant=[("Mira", told["Mira"])])
    fact = village.follow("deaf in the left ear", choice=chosen)
    assert knowers(fact) == ["Mira", "Nell"]
    assert [each.text for each in fact.tellings] == ["I hear nothing on the left."]
    unknown = LineChoice(meant=[("Mira", 999), ("nobody", 1)])
    assert not village.follow("deaf in the left ear", choice=unknown).knowers


def test_lines_of_which_one_rests_on_another_belong_together_and_others_do_not(village):
    told = village.said("Bob", "My watch needs a spring.", to=["Mira"])
    village.said("Mira", "A watch: who mends it?", to=["Oswin"], rests_on=(told["Mira"],))
    village.said("Bob", "Will Nell keep watch at night?", to=["Bram"])
    fact = village.follow("watch")
    assert [sorted(each.memories) for each in fact.strands] == [["Mira", "Oswin"], ["Bram"]]
    assert [each.size for each in fact.strands] == [2, 1]


def test_lines_that_say_the_same_belong_together(village):
    village.said("Bob", "The bell of the chapel lies in the sea.", to=["Mira"])
    village.said("Anneke", "In the sea lies the old chapel's bell.", to=["Nell"])
    village.said("Bob", "Ring the bell for supper.", to=["Nell"])
    assert [each.size for each in village.follow("bell").strands] == [2, 1]


def test_what_tells_something_comes_before_what_only_asks(village):
    village.said("Anneke", "Has Bob got a watch?", to=["Nell"])
    village.said("Bob", SOCK, to=["Oswin"])
    assert [*leads(village.follow("Bob's watch"))] == [SOCK, "Has Bob got a watch?"]


def test_a_name_alone_is_a_word_as_any_other(village):
    village.said("Bob", "Good evening.", to=["Mira"])
    village.said("Anneke", "Bob was here.", to=["Mira"])
    assert [each.text for each in village.follow("Bob").tellings] == ["Bob was here."]


def test_a_sentence_of_a_summary_that_tells_its_memories_has_it_without_the_words(village):
    village.said("Bob", SOCK, to=["Oswin"])
    village.compact("Oswin", "His sock hides it.", sources=((1,),))
    (oswin,) = village.follow("Bob's watch").knowers
    assert oswin.spells[-1].has == "His sock hides it."


def test_words_that_say_nothing_need_not_be_there(village):
    village.said("Bob", "A bell rang.", to=["Mira"])
    assert knowers(village.follow("the bell")) == ["Mira"]


def test_of_everyday_words_nothing_is_compared(village, monkeypatch):
    monkeypatch.setattr(strands, "MOST_COMPARED", 2)
    for words in ("My watch is old.", "My watch is wet.", "My watch is blue."):
        village.said("Bob", words, to=["Oswin"])
    fact = village.follow("Bob's watch")
    assert [each.size for each in fact.strands] == [3]
    assert knowers(fact) == ["Oswin"]


def test_what_rests_on_a_chosen_line_and_tells_it_on_counts_and_an_answer_does_not(village):
    bell = "The bell of the drowned chapel lies under the salt pier."
    told = village.said("Bob", bell, to=["Mira"])
    rests = (told["Mira"],)
    village.said("Mira", "How sad, a pier, Bob!", to=["Bob"], rests_on=rests)
    own = "Under the salt pier there is a chapel's bell, says he."
    village.said("Mira", own, to=["Oswin"], rests_on=rests)
    village.said("Nell", "Supper is under the lid, on the pier.", to=["Bram"])
    assert not village.follow("sunken treasure").knowers
    fact = village.follow("sunken treasure", choice=LineChoice(meant=[("Mira", told["Mira"])]))
    assert [each.text for each in fact.tellings] == [bell, own]
    assert knowers(fact) == ["Mira", "Oswin"]
    assert fact.tellings[1].came_from == fact.tellings[0].happening


def test_a_capital_that_was_typed_counts_where_somebody_said_it_so(village):
    ship = "When the Patience sails, I go."
    village.said("Bob", ship, to=["Oswin"])
    village.said("Bob", "Patience is a fine ship!", to=["Mira"])
    village.said("Anneke", "You try my patience.", to=["Bram"])
    village.compact("Nell", "Nell has no patience today.")
    fact = village.follow("the Patience")
    assert knowers(fact) == ["Mira", "Oswin"]
    assert not fact.echoes
    small = village.follow("the patience")
    assert knowers(small) == ["Bram", "Mira", "Oswin"]
    assert [each.agent for each in small.echoes] == ["Nell"]
    assert knowers(village.follow("Patience")) == ["Bram", "Mira", "Oswin"]


def test_a_capital_that_nobody_said_within_a_sentence_does_not_count(village):
    village.said("Bob", "Patience is a virtue.", to=["Oswin"])
    village.said("Anneke", "You try my patience.", to=["Bram"])
    assert knowers(village.follow("the Patience")) == ["Bram", "Oswin"]
