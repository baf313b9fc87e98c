"""Means with intervals, and tests of differences between paired values.

Both use a percentile bootstrap over clusters (Efron 1979) with a fixed seed. Values of one cluster
depend on each other, so they are drawn together. p values of one table are corrected together
(Holm 1979).
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

LEVEL = 0.95
ROUNDS = 2000
PAIR_ROUNDS = 10_000
"""Bootstrap rounds of a mean, and of a difference. No p value is below 1 / ``PAIR_ROUNDS``."""
MIN_CLUSTERS = 6
"""The fewest clusters that are compared. With five, all five differences have the same sign by
chance in 2 ** -4 of cases, which is above 0.05."""

type _Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval."""

    mean: float
    low: float
    high: float
    n: int  # values, such as questions
    clusters: (
        int  # such as conversations, templates, agents; with few of them an interval is unreliable
    )


def estimate(values: Sequence[float] | _Array, groups: Sequence[Hashable] = ()) -> Estimate:
    """Return the mean of some shares with its interval. The same values give the same interval.

    If a share is 0 or 1 in all clusters, a bootstrap interval has no width. Then the interval is
    that of Clopper and Pearson (1934) for this number of clusters.

    ``groups``: The name of each value's cluster; empty if every value is its own cluster.
    """
    found = _bootstrap(values, groups, ROUNDS)[0]
    if found.low == found.high and found.mean in (0, 1):
        edge = ((1 - LEVEL) / 2) ** (1 / found.clusters)
        return replace(found, low=edge) if found.mean else replace(found, high=1 - edge)
    return found


def mean_of(values: Sequence[float] | _Array, groups: Sequence[Hashable] = ()) -> Estimate:
    """Return the mean of some numbers with its interval, which has no width if all are equal.

    ``groups``: The name of each value's cluster; empty if every value is its own cluster.
    """
    return _bootstrap(values, groups, ROUNDS)[0]


def difference(
    first: Sequence[float], second: Sequence[float], groups: Sequence[Hashable]
) -> tuple[Estimate, float]:
    """Return ``first`` minus ``second`` (same questions, same order), and a two-sided p value."""
    found, means, differing = _bootstrap(np.subtract(first, second), groups, PAIR_ROUNDS)
    # The share of bootstrap means on the far side of zero; see Efron & Tibshirani.
    side = min(float((means <= 0).mean()), float((means >= 0).mean()))
    # A lower bound of p: if neither is better, all differing clusters have the same sign with this
    # probability. A bootstrap of few clusters does not show that.
    return found, min(1.0, max(2 * side, 1 / PAIR_ROUNDS, 2.0 ** (1 - differing)))


def holm(found: Sequence[float]) -> list[float]:
    """Return the p values, corrected for their number (Holm 1979), in the given order."""
    p = np.asarray(found, dtype=np.float64)
    order = np.argsort(found, kind="stable")
    p[order] = np.maximum.accumulate(np.minimum(1, p[order] * np.arange(len(p), 0, -1)))
    return [float(each) for each in p]


def _bootstrap(
    values: Sequence[float] | _Array, groups: Sequence[Hashable], rounds: int
) -> tuple[Estimate, _Array, int]:
    """Return the mean with its interval, the bootstrap means, and the count of nonzero clusters."""
    numbers: dict[Hashable, int] = {}
    places = [numbers.setdefault(each, len(numbers)) for each in groups or range(len(values))]
    sums = np.bincount(places, weights=values)
    counts = np.bincount(places).astype(np.float64)
    mean = float(sums.sum() / counts.sum())
    n = int(counts.sum())
    if len(sums) == 1:
        return Estimate(mean, mean, mean, n, 1), np.array([mean]), int(np.count_nonzero(sums))
    found = bootstrap(
        (sums, counts),
        lambda some, many, axis: some.sum(axis) / many.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=rounds,
        batch=1000,
        confidence_level=LEVEL,
        method="percentile",
        # Seeded by the number of clusters alone, so that two memories get the same samples.
        rng=np.random.default_rng(zlib.crc32(str(len(sums)).encode())),
    )
    low, high = map(float, found.confidence_interval)
    each = Estimate(mean, low, high, n, len(sums))
    return each, found.bootstrap_distribution, int(np.count_nonzero(sums))
