"""Intervals cover the truth, tests raise no false alarms, and what cannot be shown is said."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from keepsake.lab.estimates import figure
from keepsake.lab.intervals import (
    difference,
    estimate,
    least_p,
    mean_of,
    most_tests,
    sign_flip,
    smallest_shown,
)

RUNS = 300
"""Simulated evaluations of each kind: a coverage of 95 % is then known to ± 0.8 points (one
standard error, over all kinds)."""
SHARES = ((0.82, 0.05), (0.4, 0.1), (0.6, 0.15))
"""Mean and standard deviation of the share that talks of a published set have."""


def clusters(chance, number, mean, spread):
    """Yield the values of talks of unequal length, each with a share of its own."""
    pair = mean * (1 - mean) / spread**2 - 1
    for each in chance.beta(mean * pair, (1 - mean) * pair, number):
        size = max(1, round(60 * math.exp(0.3 * chance.standard_normal())))
        yield (chance.random(size) < each).astype(float)


@pytest.mark.parametrize("number", [6, 10, 20])
def test_intervals_of_shares_cover_in_95_percent_of_evaluations(number):
    chance = np.random.default_rng(number)
    held = list[bool]()
    for (mean, spread), _ in product(SHARES, range(RUNS)):
        talks = list(clusters(chance, number, mean, spread))
        groups = np.repeat(range(number), list(map(len, talks)))
        found = estimate(np.concatenate(talks), groups.tolist())
        held.append(found.low <= mean <= found.high)
    assert 0.935 <= np.mean(held) <= 0.97


@pytest.mark.parametrize("number", [6, 7, 12])
def test_equal_memories_differ_in_at_most_5_percent_of_evaluations(number):
    """Each question has its own difference, and each talk a bias that both memories share not."""
    chance = np.random.default_rng(number)
    alarms = list[bool]()
    covered = list[bool]()
    for _ in range(RUNS):
        sizes = np.maximum(1, np.exp(0.3 * chance.standard_normal(number)) * 40).astype(int)
        groups = np.repeat(range(number), sizes)
        bias = chance.normal(0, 0.1, number)[groups]
        apart = chance.choice((-1.0, 0.0, 0.0, 1.0), len(groups)) + bias
        found, p = difference(apart, np.zeros(len(apart)), groups.tolist())
        alarms.append(p < 0.05)
        covered.append(found.low <= 0 <= found.high)
    assert np.mean(alarms) <= 0.07  # 5 %, and what chance adds in so many runs
    assert 0.92 <= np.mean(covered) <= 0.98


def test_a_sign_flip_test_counts_all_patterns():
    apart = [0.4, -0.1, 0.3, 0.0, 0.2, 0.6]
    every = [
        abs(sum(map(math.prod, zip(apart, s, strict=True)))) for s in product((1, -1), repeat=6)
    ]
    assert sign_flip(apart) == pytest.approx(np.mean([each >= 1.4 - 1e-9 for each in every]))
    assert sign_flip([0.1] * 7) == least_p(7) == 2 / 2**7
    assert sign_flip([0.0] * 7) == 1


def test_many_clusters_are_sampled_with_a_fixed_seed():
    apart = np.random.default_rng(3).normal(0.3, 1, 40)
    assert sign_flip(apart) == sign_flip(apart)
    exact = [sign_flip(apart[:n]) for n in (19, 20)]
    sampled = sign_flip([*apart[:20], 1e-6])
    assert abs(sampled - exact[1]) < 0.01


def test_what_cannot_be_shown_is_known_before_the_test():
    """Seven talks and eight comparisons: not even the clearest difference is below 0.05."""
    assert most_tests(7) == 3
    found = mean_of([0.1, 0.2, 0.15, 0.3, 0.25, 0.05, 0.12])
    assert smallest_shown(found, 8) == math.inf
    alone, three = (smallest_shown(found, tests) for tests in (1, 3))
    assert 3 * found.error < alone < three < math.inf


def test_a_difference_that_can_be_shown_is_found_four_times_in_five():
    chance = np.random.default_rng(9)
    spread = 0.1
    error = spread / math.sqrt(10)
    planned = smallest_shown(mean_of([0.0] * 9 + [spread]), 1)
    assert planned > 0
    true = planned / mean_of([0.0] * 9 + [spread]).error * error
    found = [sign_flip(chance.normal(true, spread, 10)) < 0.05 for _ in range(RUNS)]
    assert 0.72 <= np.mean(found) <= 0.88


def test_clusters_are_kept_whole_and_one_alone_has_no_interval():
    values = [1.0] * 30 + [0.0] * 30
    alone = estimate(values)
    clustered = estimate(values, ["a"] * 30 + ["b"] * 30)
    assert (round(clustered.low, 3), round(clustered.high, 3), clustered.clusters) == (0, 1, 2)
    assert alone.high - alone.low < 0.3
    assert figure(estimate(values, ["a"] * 60), "right") == "50.0 (1)"


def test_equal_clusters_have_an_exact_interval_and_few_have_none():
    every, none = (estimate([share] * 20, [*"abcdefghij"] * 2) for share in (1.0, 0.0))
    assert (round(every.low, 3), every.high) == (0.692, 1)
    assert (none.low, round(none.high, 3)) == (0, 0.308)
    assert figure(every, "right") == "100.0 (69–100; 10)"
    assert figure(estimate([1.0] * 10, [*"abcde"] * 2), "right") == "100.0 (5)"


def test_a_share_beyond_its_bounds_is_refused():
    with pytest.raises(ValueError, match="from 0 to 1"):
        estimate([0.5, -0.5])
