"""The grader: each verdict with sentences that models really said, and such that people say."""

import pytest

from game.lab.talk.grading import grade, markup_in, normalised
from game.lab.talk.patterns import compiled
from game.lab.talk.talk_set import GradedQuestion


def asked(words="What do I do for a living?", kind="just_told", **patterns):
    asks = {"speaker": "Sam", "words": words, "kind": kind}
    return GradedQuestion(**asks, **{"right": ["pipe"], **patterns})


@pytest.mark.parametrize(
    "answer",
    [
        "You play the pipes.",
        "You’re a PIPER, Sam.",
        "I think you are a piper, aren't you?",
        "A piper. I remember that you told me.",
    ],
)
def test_right(answer):
    assert grade(asked(not_own=["~pipe"]), answer).verdict == "right"


@pytest.mark.parametrize("answer", ["You bake bread.", "Yes.", "I don't know.", "Fine weather."])
def test_wrong_is_what_no_pattern_finds(answer):
    assert grade(asked(), answer).verdict == "wrong"


def test_what_was_changed_away_is_wrong_even_beside_what_is_right():
    question = asked(right=["<8>"], wrong=["^(?!.*<8>).*<5>"])
    assert grade(question, "In corridor 8, not in 5.").verdict == "right"
    assert grade(question, "Not five any more: eight.").verdict == "right"
    assert grade(question, "Corridor five.").verdict == "wrong"
    question = asked(right=["<8>"], wrong=["<5>"])
    assert grade(question, "In corridor 8 or 5.").verdict == "wrong"


@pytest.mark.parametrize("answer", [None, "", "...", "…", " - "])
def test_silent(answer):
    assert grade(asked(), answer).verdict == "silent"


@pytest.mark.parametrize(
    "answer",
    [
        "(words): speak so that everybody else can hear me",
        "[2026-08-27 11:18]",
        "note words: the pipes",
        "~Jory> say You are a piper.",
        "say You are a piper.",
        'You are a piper. Sam says to you, "Evening."',
        "You are a piper (memory 3).",
        "You are a piper.<end_of_turn>",
        "<|im_end|>",
        "## What I know",
        "**You** are a piper.",
        "Jory: You are a piper.",
        "You are a piper. Sam: And who are you?",
        "Assistant: You are a piper.",
        'me": I am leaving for a bit.',
        "1. You are a piper.",
        "emote plays the pipes",
        "(laughs) You are a piper.",
    ],
)
def test_markup(answer):
    assert grade(asked(), answer, names=["Jory", "Sam"]).verdict == "markup"


@pytest.mark.parametrize(
    "answer",
    [
        "Say, weren't you the piper?",
        "I tell you: never.",
        "A piper - or so you said — from Veldt…",
        'She calls it "the pipe", doesn\'t she?',
        "Wait a moment. It was 1926, or 1927.",
        "Look here: you play.",
        "I'll whisper it to you, then.",
    ],
)
def test_plain_speech_is_no_markup(answer):
    assert not markup_in(answer, ["Jory", "Sam"])


def test_a_repeat_is_its_own_earlier_line_word_for_word():
    earlier = ["The soup is hot tonight, sit down.", "Aye, Sam."]
    assert (
        grade(asked(), "the soup is hot tonight — sit down!", earlier=earlier).verdict == "repeat"
    )
    assert grade(asked(), "The soup is cold tonight, sit down.", earlier=earlier).verdict == "wrong"
    assert grade(asked(), "Aye, Sam.", earlier=earlier).verdict == "wrong"


def test_a_parrot_says_the_question():
    for answer in ("What do I do for a living?", "what do you do for a living"):
        assert grade(asked(right=["living"]), answer).verdict == "parrot"
    assert grade(asked(), "For a living you pipe.").verdict == "right"


@pytest.mark.parametrize(
    ("answer", "whose"),
    [
        ("I am a piper.", True),
        ("I'm a wedding piper from Harl.", True),
        ("My brother is a piper.", True),
        ("I play the pipes at weddings", True),
        ("You are a piper.", False),
        ("I remember, you are a piper.", False),
        ("I know that you're a piper.", False),
        ("I heard your pipes.", False),
    ],
)
def test_the_speakers_life_as_its_own_is_wrong_and_flagged(answer, whose):
    found = grade(asked(not_own=["~pipe"]), answer)
    assert found.whose_life is whose
    assert found.verdict == ("wrong" if whose else "right")


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("I don't know.", "right"),
        ("You never told me that, Sam.", "right"),
        ("No idea, sorry.", "right"),
        ("I couldn't say.", "right"),
        ("I do not remember.", "right"),
        ("I’m not sure I was ever told.", "right"),
        ("You'd have to tell me.", "right"),
        ("Nobody told me.", "right"),
        ("Her name is Greta.", "wrong"),
        ("I don't know, but her name is Greta.", "wrong"),
        ("Greta.", "wrong"),
    ],
)
def test_what_nobody_told_is_answered_by_admitting_it(answer, verdict):
    question = asked("What is my aunt called?", "unknown", right=[], wrong=["her name is"])
    assert grade(question, answer).verdict == verdict


def test_small_talk_is_right_in_any_plausible_form():
    question = asked("Fine day!", "small_talk", right=[])
    assert grade(question, "It is, at that. Sit down.").verdict == "right"
    assert grade(question, "word " * 80).verdict == "wrong"
    assert grade(question, "Fine day!").verdict != "markup"
    assert grade(question, None).verdict == "silent"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (7, "seven"),
        (7, "7"),
        (12, "Twelve nights"),
        (42, "forty-two"),
        (42, "forty two"),
        (51, "51 years"),
        (317, "three hundred and seventeen"),
        (100, "a hundred"),
    ],
)
def test_numbers_are_found_as_words_and_digits(number, said):
    assert compiled(f"<{number}>").search(normalised(said))


def test_a_number_is_not_found_within_another():
    assert not compiled("<7>").search("17")
    assert not compiled("<4>").search("fourteen")
