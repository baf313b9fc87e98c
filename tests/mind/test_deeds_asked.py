"""What words ask for, which deeds are possible, and how a model's choice is read."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.prompt.options import Options
from keepsake.prompt.parsing import Command
from keepsake.prompt.reply import deeds
from keepsake.prompt.reply.deeds import NOTHING, Wish, asked, declines, possible

THERE = Options(
    exits=("north", "the mill"),
    people=("Tom", "Wren"),
    things=("hearth", "spoon"),
    lying=("spoon",),
    carried=("honey jar", "blue cup"),
)


def lines(said, options=THERE, *, following=False):
    there = possible(asked(said, "Mira"), said, "Tom", options, following=following)
    return [each.command.line for each in there]


@pytest.mark.parametrize(
    ("said", "wishes"),
    [
        ("Give me the cup.", {Wish.GIVE}),
        ("Mira, could you please hand me the jar?", {Wish.GIVE}),
        ("May I have the rope?", {Wish.GIVE}),
        ("I'd like the blue cup, please.", {Wish.GIVE}),
        ("Pick up the lamp and give it to me", {Wish.GIVE, Wish.TAKE}),
        ("Take this lamp.", {Wish.TAKE}),
        ("Come with me!", {Wish.FOLLOW}),
        ("Will you follow me to the quay?", {Wish.FOLLOW}),
        ("I want you to come along", {Wish.FOLLOW}),
        ("Let's go north.", {Wish.GO}),
        ("Show me the way to the ferry", {Wish.GO}),
        ("Take me to the mill", {Wish.GO}),
        ("Please stop following me.", {Wish.STOP}),
        ("Please wait here.", {Wish.STOP}),
        ("What do you give to guests?", set()),
        ("I will give you a coin.", set()),
        ("Do you take sugar?", set()),
        ("You gave me a cup.", set()),
        ("Where do you go in winter?", set()),
        ("Don't give it away", set()),
        ("Show me your hands", set()),
        ("It is cold, is it not?", set()),
    ],
)
def test_only_a_request_asks_for_a_deed(said, wishes):
    assert asked(said, "Mira") == wishes


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Give me the blue cup.", ["give blue cup to Tom"]),
        ("Give me something.", ["give honey jar to Tom", "give blue cup to Tom"]),
        ("Take the spoon.", ["get spoon"]),
        ("Take the hearth.", ["get spoon"]),
        ("Go to the mill.", ["go the mill"]),
        ("Lead on!", ["go north", "go the mill"]),
        ("Follow me.", ["follow Tom"]),
        ("Stay here.", []),
        ("Good evening.", []),
    ],
)
def test_only_what_is_there_can_be_done(said, found):
    assert lines(said) == found


def test_who_has_guests_leaves_for_nobody():
    host = replace(THERE, stays=True)
    assert lines("Follow me.", host) == lines("Let's go north.", host) == []
    assert lines("Give me the blue cup.", host) == ["give blue cup to Tom"]


def test_who_follows_can_be_told_to_stay():
    assert lines("Wait here, please.", following=True) == ["unfollow Tom"]
    assert lines("Follow me.", following=True) == []


def test_nothing_is_given_to_who_is_gone():
    assert lines("Give me the cup.", replace(THERE, people=("Wren",))) == []


@pytest.mark.parametrize(
    "answer", ["No.", "I can't, Tom.", "I won’t part with it.", "Another day, perhaps."]
)
def test_who_has_declined_does_nothing(answer):
    assert declines(answer)
    assert not declines("Here you are, and nothing to thank me for.")


CHOICE = (*possible(asked("Give me something."), "", "Tom", THERE, following=False), NOTHING)


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (" gives blue cup to Tom.)", "give blue cup to Tom"),
        ("Gives Blue Cup to Tom", "give blue cup to Tom"),
        ("2", "give blue cup to Tom"),
        ("Number 1.", "give honey jar to Tom"),
        ("3", "wait"),
        (" refuses, and does nothing.)", "wait"),
        ("7", "wait"),
        ("gives the moon to Tom", "wait"),
        ("", "wait"),
    ],
)
def test_a_choice_is_read_kindly_and_else_is_none(answer, line):
    assert deeds.read(answer, CHOICE).command.line == line


@given(st.text(max_size=80))
def test_whatever_is_answered_only_a_deed_that_was_offered_comes_of_it(answer):
    assert deeds.read(answer, CHOICE) in CHOICE


def test_both_forms_offer_every_deed():
    assert deeds.dialogue("Mira", "Tom", "Give!", "Here.").endswith(
        "Tom: Give!\nMira: Here.\n(Now Mira"
    )
    for each in CHOICE:
        assert f'"{each.told}"'.replace(",", "\\U0000002C") in deeds.grammar(CHOICE)
    asking = deeds.chat("Mira", "Tom", "Give!", "Here.", CHOICE)[-1].text
    assert "2. Mira gives blue cup to Tom." in asking
    assert '"1" | "2" | "3"' in deeds.number_grammar(CHOICE)
    assert NOTHING.command == Command("wait")
