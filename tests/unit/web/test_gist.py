"""The part of what somebody said that tells most, short enough for a glance."""

from __future__ import annotations

import pytest

from keepsake.web.people.gist import SHORT, answered, beginning, gist, unmarked
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
    part = gist(said, weights.telling, 100)
    assert part == "… Gerrit hunts for the fork of Dirk. …", "marks say that it is not all"
    assert unmarked(part) in said


@pytest.mark.parametrize("question", ["Where is Dirk's fork?", "フォークはどこ？", "أين الشوكة؟"])
def test_what_only_asks_tells_nothing(question: str, weights: Weights) -> None:
    assert gist(question, weights.telling) == ""
    assert gist(f"{question} It sings.", weights.telling) == "… It sings."


def test_short_words_stay_whole(weights: Weights) -> None:
    assert gist("I took it. Gerrit wants it.", weights.telling) == "I took it. Gerrit wants it."


def test_of_a_sentence_that_is_too_long_some_clauses_stand_with_marks(weights: Weights) -> None:
    long = (
        "Only for you, dear friend, whom I have known for no more than one evening by this stove, "
        "and for nobody else: "
        "I took the fork of Dirk, which Gerrit wants, "
        "and nobody in the wide world will ever find out how I came by such a thing."
    )
    part = gist(long, weights.telling, 100)
    assert part == "… and for nobody else: I took the fork of Dirk, which Gerrit wants, …"
    assert len(part) <= SHORT


def test_a_clause_that_is_too_long_is_cut(weights: Weights) -> None:
    part = gist("fork " * 60, weights.telling)
    assert part.endswith("…")
    assert len(part) <= SHORT


def test_a_text_without_spaces_between_sentences_is_cut_at_their_ends(weights: Weights) -> None:
    said = "猫は屋根の上で寝ています。" * 3 + "鐘は桟橋の下にあります。" * 6
    part = gist(said, weights.telling)
    assert unmarked(part).endswith("。")
    assert len(unmarked(part)) <= SHORT


def test_a_beginning_ends_where_a_clause_does() -> None:
    text = f"Anneke brought back my mother's blue cup; {'she eats here, ' * 12}as long as she stays"
    eats = ", ".join(["she eats here"] * 6)
    assert beginning(text) == f"Anneke brought back my mother's blue cup; {eats}, …"
    assert beginning("A short line.") == "A short line."
    assert len(beginning("word " * 60)) <= SHORT


def test_of_what_is_answered_that_part_stands_which_the_answer_takes_up_else_the_end() -> None:
    said = (
        "She's right, and it's my hour. Bob, I took the fork out of his waistcoat. "
        f"{'It limps a little on every beat. ' * 5}Is Bob planning something?"
    )

    def bears(part: str) -> float:
        return float("fork" in part)

    part = answered(said, bears, 60)
    assert part == "… Bob, I took the fork out of his waistcoat. …"
    assert answered(said, lambda _: 0.0, 60) == (
        "… It limps a little on every beat. Is Bob planning something?"
    )
    assert answered("Well?", bears) == "Well?"
    assert answered("word " * 60, bears).endswith("…")
    assert answered("", bears) == ""
