"""What an agent says where nothing was asked, without a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.mind.prompt.reply import courtesies
from game.mind.prompt.reply.context import ReplyContext
from game.mind.prompt.reply.courtesies import courtesy, in_turn
from game.mind.prompt.reply.material import Sentence, SentenceOrigin
from game.mind.prompt.reply.worth import Scored


def scene(*said, name="Mira", partner="Tom", told=(), **more):
    ranked = tuple(
        Scored(Sentence(f'{partner} told me, "{each}"', each, SentenceOrigin.PARTNER, partner), 0.1)
        for each in told
    )
    return ReplyContext(name, "You are Mira.", "The Inn", partner, said, ranked=ranked, **more)


def says(*said, lately=(), **more):
    return courtesy(scene(*said, **more), lately)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("I'm Tom. I mend nets.", "You mend nets. I'll remember that."),
        ("Hello Mira, I'm Tom and I mend nets", "You mend nets. I'll remember that."),
        ("We lost our boat.", "You lost your boat. I'll remember that."),
        ("And I cannot eat eggs.", "You cannot eat eggs. I'll remember that."),
        ("Your soup kept me warm.", "I'll remember that."),
        ("They bring me out in a rash.", "They bring you out in a rash. I'll remember that."),
        ("Give me some soup, please.", "I have none to give you."),
        ("Forget what I said.", "I'll remember that."),
        ("I leave at nine, so wake me at eight.", "I'll remember that."),
        ("Never let anybody into the cellar.", "I'll remember that."),
        ("I'll bring you ten candles.", "You'll bring me ten candles. I'll hold you to that."),
        ("I hid the key, but keep it to yourself.", "I'll keep it to myself."),
        ("It's only my knee, mother.", "It's only your knee. I'll remember that."),
        ("I cannot eat eggs, tell the kitchen.", "You cannot eat eggs. I'll remember that."),
        (
            "When it is done, I'll send you one.",
            "When it is done, you'll send me one. I'll hold you to that.",
        ),
        ("The lamps buzz.", "I see."),
        ("Yes.", "I see."),
        ("My name is Tom.", "Good day to you, Tom."),
        ("Good evening, Mira!", "Good day to you, Tom."),
        ("Thanks!", "You're welcome, Tom."),
        ("Goodbye, Mira.", "Goodbye, Tom."),
        ("How are you?", "Well enough, thank you, Tom."),
    ],
)
def test_words_are_answered_by_what_they_are(said, answer):
    assert says(said) == answer


def test_of_a_long_tale_the_beginning_is_said_back():
    tale = "I used to have a boat, the Kittiwake. " + "She burnt down to the waterline. " * 5
    assert says(tale).startswith("You used to have a boat, the Kittiwake. She burnt")
    assert len(says(tale)) < len(tale)


def test_each_form_in_its_turn():
    own = []
    for _ in range(2 * len(courtesies.ECHOES)):
        own.append(says("I mend nets.", lately=own))
    assert len(set(own[: len(courtesies.ECHOES)])) == len(courtesies.ECHOES)
    assert own[: len(courtesies.ECHOES)] == own[len(courtesies.ECHOES) :]


def test_who_comes_in_is_greeted_by_what_they_told_last_and_each_time_by_something_else():
    told = ("I mend nets in Merrow.", "My boat is called Heron.")
    first = says(told=told, event="Tom comes in.")
    assert first == "Good to see you again, Tom. You told me: you mend nets in Merrow."
    assert "Heron" in says(told=told, event="Tom comes in.", lately=[first])


def test_a_stranger_is_greeted_in_the_agents_own_way_unless_that_is_for_somebody_else():
    own = ("Piet has entered the game.", "~Mira> say Come in, soup is on. | a new face")
    assert says(event="Tom comes in.", examples=own) == "Come in, soup is on."
    sir = ("Piet has entered the game.", "~Mira> say Good evening, sir. | a new face")
    assert says(event="Tom comes in.", examples=sir) == "Good day to you, Tom."
    said = ["Come in, soup is on."]
    assert says(event="Tom comes in.", examples=own, lately=said) == "Good day to you, Tom."


def test_a_gift_is_thanked_for():
    assert courtesy(scene(event="Tom gives me a lamp."), (), given=True) == "Thank you, Tom."


@given(st.lists(st.text(max_size=200), min_size=1, max_size=3), st.text(min_size=1, max_size=20))
def test_whatever_is_said_has_an_answer(said, partner):
    assert courtesy(scene(*said, partner=partner), ()).strip()


def test_the_form_that_was_used_longest_ago():
    forms = ("{who}, sit down.", "Good day, {who}.")
    assert in_turn(forms, [], "Tom") == "Tom, sit down."
    assert in_turn(forms, ["Ann, sit down."], "Tom") == "Good day, Tom."
    assert in_turn(forms, ["Ann, sit down.", "Good day, Ann."], "Tom") == "Tom, sit down."
