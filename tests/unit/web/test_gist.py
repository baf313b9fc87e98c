"""The part of what somebody said that tells most, short enough for a glance."""

from __future__ import annotations

import pytest

from keepsake.web.people.gist import SHORT, beginning, ending, gist
from keepsake.web.people.telling import Weights

TALK = [
    "The fork is Dirk's, and Gerrit wants the fork.",
    "Where is the fork of Dirk?",
    "Gerrit came for the fork.",
]


@pytest.fixture
def weights() -> Weights:
    return Weights(["good evening", *TALK, "Thank you kindly, you are a marvellous treasure."])


def test_of_several_sentences_that_one_stands_which_the_talk_comes_back_to(
    weights: Weights,
) -> None:
    said = (
        "Thank you kindly, you are a marvellous treasure, and what a glorious stove you have here. "
        "Gerrit hunts for the fork of Dirk. "
        "Isn't it warm, by the way, and didn't the whole harbour smell of tar and wet rope today?"
    )
    assert gist(said, weights.telling) == "Gerrit hunts for the fork of Dirk."


@pytest.mark.parametrize("question", ["Where is Dirk's fork?", "フォークはどこ？", "أين الشوكة؟"])
def test_what_only_asks_tells_nothing(question: str, weights: Weights) -> None:
    assert gist(question, weights.telling) == ""
    assert gist(f"{question} It sings.", weights.telling) == "It sings."


def test_short_words_stay_whole(weights: Weights) -> None:
    assert gist("I took it. Gerrit wants it.", weights.telling) == "I took it. Gerrit wants it."


def test_of_a_sentence_that_is_too_long_some_clauses_stand_with_marks(weights: Weights) -> None:
    long = (
        "Only for you, dear friend, whom I have known for no more than one evening by this stove, "
        "and for nobody else: "
        "I took the fork of Dirk, which Gerrit wants, "
        "and nobody in the wide world will ever find out how I came by such a thing."
    )
    part = gist(long, weights.telling)
    assert part == "… and for nobody else: I took the fork of Dirk, which Gerrit wants, …"
    assert len(part) <= SHORT


def test_a_clause_that_is_too_long_is_cut(weights: Weights) -> None:
    part = gist("fork " * 60, weights.telling)
    assert part.endswith("…")
    assert len(part) <= SHORT


def test_a_text_without_spaces_between_sentences_is_cut_at_their_ends(weights: Weights) -> None:
    said = "猫は屋根の上で寝ています。" * 3 + "鐘は桟橋の下にあります。" * 6
    part = gist(said, weights.telling)
    assert part
    assert len(part) <= SHORT
    assert part.endswith("。")


def test_a_beginning_ends_where_a_clause_does() -> None:
    text = f"Anneke brought back my mother's blue cup; {'she eats here, ' * 8}as long as she stays"
    eats = ", ".join(["she eats here"] * 4)
    assert beginning(text) == f"Anneke brought back my mother's blue cup; {eats}, …"
    assert beginning("A short line.") == "A short line."
    assert len(beginning("word " * 60)) <= SHORT


def test_the_end_of_what_was_said_is_what_is_answered() -> None:
    said = (
        f"{'It limps a little on every beat. ' * 5}Is Bob planning something? You had tea with him."
    )
    assert ending(said, 60) == "… Is Bob planning something? You had tea with him."
    assert ending("Well?", 60) == "Well?"
    assert ending("word " * 60, 60).endswith("…")
    assert ending("", 60) == ""
