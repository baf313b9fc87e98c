"""Figures of graded answers."""

import pytest

from game.lab.talk.grading import AnswerVerdict, Grade
from game.lab.talk.scores import Answer, percentile, scores, wilson
from game.lab.talk.talk_set import GradedQuestion


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


def test_nothing_asked_nothing_known():
    assert wilson(0, 0) == (0.0, 1.0)
    assert percentile([], 0.5) == 0.0


def test_percentiles_are_values_that_occur():
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
