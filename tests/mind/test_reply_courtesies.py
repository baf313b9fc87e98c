"""What an agent says where nothing was asked, without a model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.prompt.reply import courtesies
from keepsake.prompt.reply.context import ReplyContext
from keepsake.prompt.reply.courtesies import asks_besides, courtesy, in_turn
from keepsake.prompt.reply.material import Sentence, SentenceOrigin
from keepsake.prompt.reply.worth import Scored


def scene(*said, name="Mira", partner="Tom", told=(), **more):
    to_her = said_of(partner, *told)
    more.setdefault("ranked", tuple(Scored(each, 0.1) for each in to_her))
    return ReplyContext(name, "You are Mira.", "The Inn", partner, said, **more)


def said_of(partner, *told, **more):
    return [
        Sentence(f'{partner} told me, "{e}"', e, SentenceOrigin.PARTNER, partner, number=i, **more)
        for i, e in enumerate(told, start=1)
    ]


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
        ("I'll tell you everything.", "You'll tell me everything. I'll hold you to that."),
        ("My cousin lives in the US.", "Your cousin lives in the US. I'll remember that."),
        ("I work in the mine.", "You work in the mine. I'll remember that."),
        ("I am a spy, but hush.", "I'll keep it to myself."),
        ("I am a spy. Don't let anybody know.", "I'll keep it to myself."),
        (
            "It's no secret that I love cheese.",
            "It's no secret that you love cheese. I'll remember that.",
        ),
        ("I'd like a word with you.", "You'd like a word with me. I'll remember that."),
        ("I want to die.", "I see."),
        ("I will burn down your inn.", "I see."),
        ("I'll take the room, thank you.", "You'll take the room. I'll remember that."),
        ("The lamps buzz.", "I see."),
        ("Yes.", "I see."),
        ("My name is not Tom.", "Your name is not Tom. I'll remember that."),
        ("I don't know.", "I see."),
        ("My name is Tom.", "Good day to you, Tom."),
        ("Good evening, Mira!", "Good day to you, Tom."),
        ("Thanks!", "You're welcome, Tom."),
        ("Thanks for the soup!", "You're welcome, Tom."),
        ("Well, thank you. Have a good day!", "You're welcome, Tom."),
        ("Have a good day then, Mira.", "Goodbye, Tom."),
        ("You have a nice inn.", "I see."),
        ("It was a good night for the fishermen.", "I see."),
        ("The priest thanked Ann.", "I see."),
        ("Never bolt the door before the farewell bell has rung.", "I'll remember that."),
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


@pytest.mark.parametrize(
    "told",
    [
        "I broke the lamp, but keep that to yourself.",
        "Wake me at eight tomorrow.",
        "You are a stupid cow.",
        "I want to kill myself tonight.",
    ],
)
def test_what_is_not_for_others_greets_nobody(told):
    assert says(told=(told,), event="Tom comes in.") == "Good day to you, Tom."


def test_nor_what_they_told_somebody_else_nor_what_others_tell_of_them():
    (overheard,) = said_of("Tom", "I stole the silver cup.", overheard=True)
    ann = Sentence('Ann told me, "I love Tom."', "I love Tom.", SentenceOrigin.OTHER, "Ann")
    summarised = replace(said_of("Tom", "I hid the key.")[0], number=0)
    ranked = (Scored(ann, 1.0), Scored(overheard, 0.9), Scored(summarised, 0.9))
    assert says(event="Tom comes in.", ranked=ranked) == "Good day to you, Tom."
    assert "I love Tom" in says(event="Tom comes in.", news=ann), "where it is news of a deed"


def test_what_somebody_told_greets_them_while_nobody_else_is_there():
    told = ("I mend nets.",)
    assert "mend nets" in says(told=told, event="Tom comes in.")
    made = scene(told=told, event="Tom comes in.")
    assert courtesy(made, (), private=False) == "Good day to you, Tom."


def test_an_agent_is_said_nothing_back():
    made = scene("I mend nets.", partner="Joss")
    assert courtesy(made, (), to_player=False) == "I see."
    came = scene(event="Joss comes in.", partner="Joss", told=("I mend nets.",))
    assert courtesy(came, (), to_player=False) == "Good day to you, Joss."


@pytest.mark.parametrize(
    ("said", "besides"),
    [
        ("Give me the cup. What is your name?", True),
        ("Come on, what is your name?", True),
        ("Can you give me the cup?", False),
        ("Give me the cup, please.", False),
    ],
)
def test_a_question_beside_a_wish(said, besides):
    assert asks_besides(said, "Mira") is besides


def test_a_name_that_looks_like_a_gap_is_a_name():
    assert says("Hello!", partner="{told}") == "Good day to you, {told}."


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
