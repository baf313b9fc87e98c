"""How sure a mean is, and a difference: bootstrap over questions, with a fixed seed.

Percentile bootstrap (Efron 1979); the difference of two is paired by question, and a family of them
is corrected by Holm (1979).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROUNDS = 2000
LEVEL = 0.95
_PORTION = 1_000_000
"""Numbers that are drawn at once."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval."""

    mean: float
    low: float
    high: float
    n: int  # questions


@dataclass(frozen=True, slots=True)
class Difference:
    """How much higher the mean of one is than that of another, over the same questions."""

    mean: float
    low: float
    high: float
    p: float  # two-sided
    n: int


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of some values with its interval; the same values give the same one."""
    data = np.asarray(values, dtype=np.float64)
    low, high = _between(_means(data))
    return Estimate(float(data.mean()), low, high, len(data))


def difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """``first`` less ``second``, which are of the same questions in the same order."""
    data = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    means = _means(data)
    low, high = _between(means)
    # Of means drawn around the difference, those on the far side of none; see Efron & Tibshirani.
    side = min(float((means <= 0).mean()), float((means >= 0).mean()))
    # Few questions that differ are not told from chance, however they are drawn: all signs of so
    # many are equal as often as this, if neither is better.
    least = 2.0 ** (1 - np.count_nonzero(data))
    p = min(1.0, max(2 * side, 1 / len(means), least))
    return Difference(float(data.mean()), low, high, p, len(data))


def holm(found: Sequence[float]) -> list[float]:
    """P values corrected for being so many, in their order."""
    order = sorted(range(len(found)), key=lambda place: found[place])
    corrected, least = [1.0] * len(found), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(found) - rank) * found[place]))
        corrected[place] = least
    return corrected


def _between(means: NDArray[np.float64]) -> tuple[float, float]:
    rest = (1 - LEVEL) / 2
    low, high = np.quantile(means, (rest, 1 - rest))
    return float(low), float(high)


def _means(data: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of so many samples with replacement."""
    # By the data's size alone: two memories on the same questions are sampled alike.
    chance = np.random.default_rng(zlib.crc32(str(len(data)).encode()))
    portion = max(1, _PORTION // len(data))
    found = []
    for start in range(0, ROUNDS, portion):
        rounds = min(portion, ROUNDS - start)
        found.append(data[chance.integers(0, len(data), (rounds, len(data)))].mean(axis=1))
    return np.concatenate(found)
