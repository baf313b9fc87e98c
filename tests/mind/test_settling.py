"""What closes a rule, a promise or a question, and what only comes near it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.noticing import NoticedKind, notice
from keepsake.books.resolution import settled
from keepsake.language.rule_words import forbids

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def told(number: int, words: str, who: str = "Ada") -> Memory:
    text = f'{who} says to you, "{words}"'
    return Memory(number, NOON, MemoryKind.PERCEPTION, text, source=who)


def act(number: int, line: str) -> Memory:
    return Memory(number, NOON, MemoryKind.ACT, line)


def closes(first: Memory, then: Memory) -> bool:
    (item,) = notice(first, "Mira")
    return settled([item], then, "Mira") == (item,)


DOOR = "Never open the cellar door."


@pytest.mark.parametrize(
    "words",
    [
        *("You may not open the cellar door again.", "You can never open the cellar door now."),
        *("You don't have to open the cellar door for me.", "Never mind the cellar, it is locked."),
        *("There is no need to open the cellar door.", "You can't open the cellar door again."),
        *("You need not open the cellar door.", "You may not, ever again, open the cellar door."),
        # About something else, for a day, on a condition, in doubt.
        *("You may open the window again.", "You may open the front door again."),
        *("You can see the cellar door now.", "Forget the cellar, come and sit down."),
        "You may open the cellar door again when the flood is over.",
        "You may open the cellar door again, but only for me.",
        "You may open the cellar door now and then.",
        "You may open the cellar door again today.",
        "If I ask, you may open the cellar door again.",
        "May you open the cellar door again? You may open the cellar door again?",
        "I never said that you may open the cellar door again.",
        "Tom says you may open the cellar door again.",
        "Never mind what I said about the attic.",
        "Never mind what Tom said about the cellar door.",
        "Never mind what I said about the cellar door: it must stay shut.",
        "You no longer have to open the cellar door.",
        "It is fine now, the cellar door is locked.",
    ],
)
def test_what_confirms_a_ban_does_not_end_it(words):
    assert not closes(told(1, DOOR), told(9, words))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (DOOR, "You may open the cellar door again."),
        (DOOR, "Mira, you can open the cellar door now, the flood is over."),
        (DOOR, "Well, you may now open the cellar door."),
        (DOOR, "You are allowed to open the cellar door from now on."),
        (DOOR, "It is safe to open the cellar door again."),
        (DOOR, "You may open the door again."),
        (DOOR, "Never mind what I said about the cellar door."),
        (DOOR, "I take back what I told you about the cellar."),
        (DOOR, "You can forget my rule about the cellar door."),
        ("Never sleep.", "You may sleep again."),
        ("The cellar door must stay shut.", "You may open the cellar door again."),
        ("Keep out of the cellar.", "You may go into the cellar again."),
        ("You must be back by dusk.", "You need not be back by dusk."),
        ("Do not go into the cellar.", "You may enter the cellar again."),
        ("Do not tell Bram about the letter.", "You may tell Bram about the letter now."),
        ("Always feed the cat.", "You need not feed the cat any more."),
        ("Always feed the cat.", "You no longer have to feed the cat."),
        ("Always feed the cat.", "You can stop feeding the cat."),
        ("Never forget to feed the cat.", "There is no longer any need to feed the cat."),
        ("Do you have a cup?", "Never mind the cup."),
    ],
)
def test_what_is_taken_back_is_over(rule, words):
    assert closes(told(1, rule), told(9, words))
    assert not closes(told(1, rule), told(9, words, "Tom"))


@pytest.mark.parametrize(
    "words",
    [
        *("You may feed the cat again.", "You need not feed the dog any more."),
        *("You need not feed the cat today.", "Never mind the cat, it is shy."),
        "You don't have to feed the cat if I do.",
    ],
)
def test_what_is_to_be_done_is_still_to_be_done(words):
    assert not closes(told(1, "Always feed the cat."), told(9, words))


def test_bans_and_duties():
    for rule in (DOOR, "Tell nobody.", "You mustn't go.", "Stay away from the quarry."):
        assert forbids(rule)
    for rule in ("Always feed the cat.", "Never forget to feed the cat.", "You must be back."):
        assert not forbids(rule)


BOAT = "say I will mend the boat for you, Tom."


@pytest.mark.parametrize(
    "line",
    [
        *("say I have mended the boat, Tom.", "say Tom, I mended it.", "give the boat to Tom"),
        *(
            "say Your boat is mended, Tom.",
            "say The boat is done, Tom.",
            "say Here is your boat, Tom.",
        ),
        *(
            "say As promised, Tom, the boat.",
            "whisper Tom = I've mended the boat, but not the oar.",
        ),
    ],
)
def test_a_deed_keeps_a_promise(line):
    assert closes(act(1, BOAT), act(9, line))


@pytest.mark.parametrize(
    "line",
    [
        *("say I have made no progress with the boat, Tom.", "say I mend boats, Tom."),
        *("say I have found a nail for the boat, Tom.", "say I have not mended the boat yet, Tom."),
        *("say I have almost mended the boat, Tom.", "say Here is a nail for your boat, Tom."),
        *("say I will have mended the boat by noon, Tom.", "say The boat is green, Tom."),
        *("say I have mended the net, Tom.", "say As promised, I will mend the boat, Tom."),
        *("say If I had mended the boat, Tom!", "say I have mended the boat, Ada."),
        "say Here is what the boat needs, Tom.",
    ],
)
def test_what_is_not_done_is_still_promised(line):
    assert not closes(act(1, BOAT), act(9, line))


@pytest.mark.parametrize(
    ("words", "over"),
    [
        ("Thank you for the boat!", True),
        ("Thank you for mending the boat.", True),
        ("Thank you for mending it.", True),
        ("The boat floats again, thank you!", True),
        ("You need not mend the boat any more.", True),
        ("Never mind the boat, I sold it.", True),
        ("Thank you for telling me about the boat race.", False),
        ("Thank you for offering to mend the boat.", False),
        ("Thank you for the boat race.", False),
        ("Thank you for your help with the boat.", False),
        ("Thank you, I will need the boat.", False),
        ("Thank you! When will the boat be done?", False),
        ("Never mind the noise of the boat.", False),
        ("You need not mend the net any more.", False),
    ],
)
def test_thanks_are_for_what_was_promised(words, over):
    assert closes(act(1, BOAT), told(9, words, "Tom")) is over


def test_a_promise_to_nobody_known_ends_with_thanks_for_it():
    assert closes(act(1, "say I will mend the boat."), told(9, "Thank you for the boat!", "Tom"))


_SAID = st.sampled_from(
    [
        *("you may ", "never ", "not ", "open ", "the cellar door ", "again", ". ", "thank you "),
        *("for ", "I have ", "it is done ", "need not ", "stop ", "here is ", "?", "Mira, "),
    ]
)


@given(st.lists(_SAID | st.text(max_size=8), max_size=40).map("".join), st.booleans())
def test_nothing_said_by_others_closes_a_rule(words, own):
    (rule,) = notice(told(1, DOOR), "Mira")
    assert rule.kind is NoticedKind.RULE
    then = act(9, f"say {words}") if own else told(9, words, "Tom")
    assert settled([rule], then, "Mira", "Ada") == ()
