"""Means with intervals, tests of differences between paired values, and what such a test can show.

Values of one cluster depend on each other, so a cluster counts as one observation. An interval is
Student's t with the jackknife that leaves out one cluster at a time; for shares it is computed on
the logit scale, so that it stays between 0 and 1. Its degrees of freedom come from the effective
number of clusters (Kish 1965), because a few large clusters among small ones say less than equal
ones. In a simulation with 6 to 20 clusters these intervals cover in 95 to 96 % of cases; percentile
and BCa bootstraps cover in 83 to 93 %, studentised ones in 92 to 95 % and are wider
(``tests/unit/lab/test_intervals.py``).

A p value is that of a sign-flip test over clusters (Fisher 1935), which is exact. p values of one
table are corrected together (Holm 1979).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

LEVEL = 0.95
"""The probability with which an interval holds the true value; a test errs with the rest."""
POWER = 0.8
"""The probability with which a difference is to be found that a test "can show"."""
EXACT_CLUSTERS = 20
"""The most clusters of which all sign flips are enumerated: a million sums, 8 MB."""
FLIPS = 100_000
"""Sampled sign flips of more clusters, with a fixed seed."""
MIN_CLUSTERS = 6
"""The fewest clusters that are compared. With five, all five differences have the same sign by
chance in 2 ** -4 of cases, which is above 0.05."""
_EQUAL = 1e-9
"""Sums of shares that differ by less are equal, apart from rounding."""

type _Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval."""

    mean: float
    low: float
    high: float
    n: int  # values, such as questions
    clusters: int  # such as conversations, templates, agents
    error: float = 0.0  # the standard error of the mean; 0 for a single cluster


def estimate(values: Sequence[float] | _Array, groups: Sequence[Hashable] = ()) -> Estimate:
    """Return the mean of some shares, each from 0 to 1, with its interval.

    If a share is 0 or 1 in all clusters, no variance can be estimated. Then the interval is that of
    Clopper and Pearson (1934) for this number of clusters.

    ``groups``: The name of each value's cluster; empty if every value is its own cluster.

    Raises:
        ValueError: A value is no share; :func:`mean_of` takes any numbers.
    """
    found = mean_of(values, groups)
    if min(values) < 0 or max(values) > 1:
        raise ValueError("a share is from 0 to 1")
    if found.clusters == 1:
        return found
    if found.mean in (0, 1):
        edge = ((1 - LEVEL) / 2) ** (1 / found.clusters)
        return replace(found, low=edge) if found.mean else replace(found, high=1 - edge)
    middle = math.log(found.mean / (1 - found.mean))
    # The derivative of the logit turns the interval on the linear scale into one on the logit's.
    half = (found.high - found.mean) / (found.mean * (1 - found.mean))
    return replace(found, low=_logistic(middle - half), high=_logistic(middle + half))


def mean_of(values: Sequence[float] | _Array, groups: Sequence[Hashable] = ()) -> Estimate:
    """Return the mean of some numbers with its interval, which has no width if all are equal.

    ``groups``: The name of each value's cluster; empty if every value is its own cluster.
    """
    sums, counts = _clustered(values, groups)
    mean = float(sums.sum() / counts.sum())
    n = int(counts.sum())
    clusters = len(sums)
    if clusters == 1:
        return Estimate(mean, mean, mean, n, 1)
    without = (sums.sum() - sums) / (counts.sum() - counts)
    error = math.sqrt((clusters - 1) / clusters * ((without - without.mean()) ** 2).sum())
    half = error * float(student.ppf((1 + LEVEL) / 2, _freedom(counts)))
    return Estimate(mean, mean - half, mean + half, n, clusters, error)


def difference(
    first: Sequence[float], second: Sequence[float], groups: Sequence[Hashable]
) -> tuple[Estimate, float]:
    """Return ``first`` minus ``second`` (same questions, same order), and a two-sided p value."""
    apart = np.subtract(first, second)
    sums, _ = _clustered(apart, groups)
    return mean_of(apart, groups), sign_flip(sums)


def sign_flip(sums: Sequence[float] | _Array) -> float:
    """Return the two-sided p value of the sum of these differences, one a cluster.

    It is the share of all sign patterns whose sum is at least as far from 0. Without an effect each
    pattern is equally likely, whatever the distribution of the differences, if it is symmetric.
    More than :data:`EXACT_CLUSTERS` differences get :data:`FLIPS` random patterns and their own.
    """
    apart = np.asarray(sums, dtype=np.float64)
    apart = apart[apart != 0]  # flipping a zero changes nothing
    least = abs(apart.sum()) - _EQUAL
    if len(apart) > EXACT_CLUSTERS:
        draws = np.random.default_rng(len(apart)).choice((-1.0, 1.0), (FLIPS, len(apart)))
        return float((1 + (np.abs(draws @ apart) >= least).sum()) / (1 + FLIPS))
    flipped = np.zeros(1)
    for each in apart:
        flipped = np.concatenate([flipped + each, flipped - each])
    return float((np.abs(flipped) >= least).mean())


def least_p(clusters: int) -> float:
    """Return the least p value that :func:`sign_flip` can give for this number of clusters."""
    return 2.0 ** (1 - clusters) if clusters <= EXACT_CLUSTERS else 1 / (1 + FLIPS)


def most_tests(clusters: int) -> int:
    """Return how many comparisons can be corrected together so that one may still be shown."""
    return int((1 - LEVEL) / least_p(clusters))


def smallest_shown(found: Estimate, tests: int) -> float:
    """Return the smallest true difference that a test finds with a probability of :data:`POWER`.

    It follows from the spread between the clusters, and not from the difference that was found.

    Args:
        found: The difference, for its standard error and number of clusters.
        tests: The number of comparisons that are corrected together.

    Returns:
        A difference of means; infinite if no difference can be shown.
    """
    if found.clusters < 2 or tests > most_tests(found.clusters):
        return math.inf
    freedom = found.clusters - 1
    level = student.ppf(1 - (1 - LEVEL) / 2 / tests, freedom)
    return float(found.error * (level + student.ppf(POWER, freedom)))


def holm(found: Sequence[float]) -> list[float]:
    """Return the p values, corrected for their number (Holm 1979), in the given order."""
    p = np.asarray(found, dtype=np.float64)
    order = np.argsort(found, kind="stable")
    p[order] = np.maximum.accumulate(np.minimum(1, p[order] * np.arange(len(p), 0, -1)))
    return [float(each) for each in p]


def _clustered(
    values: Sequence[float] | _Array, groups: Sequence[Hashable]
) -> tuple[_Array, _Array]:
    """Return the sum of the values of each cluster, and their number."""
    numbers: dict[Hashable, int] = {}
    places = [numbers.setdefault(each, len(numbers)) for each in groups or range(len(values))]
    return np.bincount(places, weights=values), np.bincount(places).astype(np.float64)


def _freedom(counts: _Array) -> float:
    """Return the degrees of freedom of clusters of these sizes; at least 1."""
    effective = counts.sum() ** 2 / (counts**2).sum()
    return max(float(effective) - 1, 1.0)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > 0 else math.exp(value) / (1 + math.exp(value))
