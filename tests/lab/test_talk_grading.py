"""The grader: each verdict with sentences that models really said, and such that people say."""

import pytest

from game.lab.talk.grading import AnswerVerdict, Grade, grade, markup_in, normalised
from game.lab.talk.patterns import compiled
from game.lab.talk.scores import Answer, percentile, scores, wilson
from game.lab.talk.talk_set import GradedQuestion


def asked(words="What do I do for a living?", kind="just_told", **patterns):
    asks = {"speaker": "Sam", "words": words, "kind": kind}
    return GradedQuestion(**asks, **{"right": ["pipe"], **patterns})


ANSWERS = {
    "right": [
        "You play the pipes.",
        "You’re a PIPER, Sam.",
        "I think you are a piper, aren't you?",
        "A piper. I remember that you told me.",
    ],
    # Nothing of it is found, or it is told as the agent's own life.
    "wrong": ["You bake bread.", "Yes.", "I don't know.", "Fine weather.", "I am a piper."],
    "silent": [None, "", "...", "…", " - "],
    "markup": [
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
}


@pytest.mark.parametrize(
    ("verdict", "answer"), [(verdict, each) for verdict in ANSWERS for each in ANSWERS[verdict]]
)
def test_an_answer_is(verdict, answer):
    found = grade(asked(not_own=["~pipe"]), answer, names=["Jory", "Sam"])
    assert found.verdict == verdict


def test_what_was_changed_away_is_wrong_even_beside_what_is_right():
    question = asked(right=["<8>"], wrong=["^(?!.*<8>).*<5>"])
    assert grade(question, "In corridor 8, not in 5.").verdict == "right"
    assert grade(question, "Not five any more: eight.").verdict == "right"
    assert grade(question, "Corridor five.").verdict == "wrong"
    question = asked(right=["<8>"], wrong=["<5>"])
    assert grade(question, "In corridor 8 or 5.").verdict == "wrong"


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


def test_an_answer_to_somebody_elses_question_is_not_to_ones_own_words():
    question = asked(right=["piper"]).model_copy(update={"beside": ("fiddle",)})
    found = [grade(question, each).own_words for each in ("A fiddle.", "A piper.", "No idea.")]
    assert found == [False, True, True]
    assert grade(question, "Of the fiddle and the piper.").own_words
    assert not grade(question, None).own_words


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
        ("Sam told me, 'I'm Sam. I play the pipes.' That is all.", False),
        ("Sam told me, 'I'm Sam.' I play the pipes.", True),
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


# -- figures of graded answers


def answer(kind, verdict, *, seconds=1.0, whose=False):
    question = GradedQuestion(speaker="Sam", words="?", kind=kind, right=["x"], not_own=["~piper"])
    return Answer(
        question, "tuning", "Jory", "…", Grade(AnswerVerdict(verdict), whose), seconds, thoughts=1
    )


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    # Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 29 of 29.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (29, 29, 0.8830, 1)],
)
def test_wilsons_interval(right, n, low, high):
    assert wilson(right, n) == pytest.approx((low, high), abs=5e-5)


def test_percentiles_are_values_that_occur():
    assert wilson(0, 0) == (0.0, 1.0)
    assert percentile([], 0.5) == 0.0
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile(range(1, 101), 0.95) == 95
    assert percentile([4], 0.95) == 4


def test_kinds_apart_and_small_talk_in_no_total_but_the_last():
    found = {
        score.kind: score
        for score in scores(
            [
                answer("self", "right", seconds=2),
                answer("self", "wrong", whose=True),
                answer("promise", "markup"),
                answer("small_talk", "right"),
            ]
        )
    }
    assert list(found) == ["self", "promise", "small_talk", "checkable", "all"]
    assert (found["self"].n, found["self"].right, found["self"].whose_life) == (2, 0.5, 1)
    assert (found["checkable"].n, found["all"].n) == (3, 4)
    assert found["checkable"].counts["markup"] == 1
    assert found["self"].p95_seconds == 2
