"""What answers are worth, and how sure a mean is."""

from datetime import UTC, datetime

import numpy as np
import pytest

from keepsake.lab.measures import difference, estimate, holm
from keepsake.lab.trial import (
    NOT_KNOWN,
    TrialQuestion,
    exact_match,
    rouge_l,
    scores,
    token_f1,
)


def asked(**fields):
    return TrialQuestion("1", "What?", datetime(2026, 5, 4, tzinfo=UTC), **fields)


@pytest.mark.parametrize(
    ("answer", "right", "f1", "exact", "rouge"),
    [
        ("The electric kiln.", "an electric kiln", 1, 1, 1),
        ("kiln, electric", "electric kiln", 1, 1, 0.5),
        ("a blue electric kiln", "electric kiln", 0.8, 0, 0.8),
        ("7 May 2023", "May 7, 2023", 1, 1, 2 / 3),
        ("salt and pepper", "pepper", 2 / 3, 0, 2 / 3),
        ("", "kiln", 0, 0, 0),
        ("kiln", "boat", 0, 0, 0),
    ],
)
def test_words_are_compared_as_the_benchmarks_do(answer, right, f1, exact, rouge):
    assert token_f1(answer, right) == pytest.approx(f1)
    assert exact_match(answer, right) == exact
    assert rouge_l(answer, right) == pytest.approx(rouge)


def test_where_nothing_can_be_known_saying_so_is_right():
    trick = asked(answerable=False)
    assert scores(trick, NOT_KNOWN) == {"f1": 1, "exact": 1, "rouge_l": 1}
    assert scores(trick, "It is not mentioned: I don’t know.")["f1"] == 1
    assert scores(trick, "six bowls") == {"f1": 0, "exact": 0, "rouge_l": 0}
    secret = asked(answerable=False, right=(".",), wrong=(r"\bWinnow\b",))
    assert scores(secret, "Ask her yourself.") == {"right": 1}
    assert scores(secret, "Her boat is the winnow.") == {"right": 0}


def test_patterns_decide_where_there_are_some_and_the_best_of_several_answers_counts():
    changed = asked(answers=("Tuesday",), right=(r"\btuesday\b",), wrong=(r"\bmonday\b",))
    assert scores(changed, "On Tuesday")["right"] == 1
    assert scores(changed, "On Monday, no, Tuesday")["right"] == 0
    best = scores(asked(answers=("a dog", "Biscuit")), "Biscuit")
    assert best == {"f1": 1, "exact": 1, "rouge_l": 1}


# -- intervals


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    chance = np.random.default_rng(1)
    held = sum(
        each.low <= 0.4 <= each.high
        for each in (estimate((chance.random(60) < 0.4).astype(float)) for _ in range(300))
    )
    assert 0.90 <= held / 300 <= 0.99


def test_a_pair_is_told_apart_where_unpaired_means_could_not_be():
    chance = np.random.default_rng(2)
    hard = chance.random(80)
    better = hard + 0.05 + 0.01 * chance.standard_normal(80)
    found, p = difference(better, hard)
    assert found.low > 0
    assert p < 0.01
    assert found.mean == pytest.approx(0.05, abs=0.01)
    assert estimate(better).low < estimate(hard).high
    back, p_of_back = difference(hard, better)
    assert (back.mean, p_of_back) == (pytest.approx(-found.mean), p)
    assert difference(hard, hard)[1] == 1
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
