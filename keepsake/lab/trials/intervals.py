"""How sure a mean is, and a difference: bootstrap over questions, with a fixed seed.

Percentile bootstrap (Efron 1979); the difference of two is paired by question, and a family of them
is corrected by Holm (1979). Questions that depend on each other, such as one that is asked again
later, are drawn together, as a group.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROUNDS = 2000
LEVEL = 0.95
_A_PAIR = 100
"""Rounds for each of a family: its smallest p value, corrected, is then at most 0.01."""
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


def estimate(values: Sequence[float], groups: Sequence[Hashable] = ()) -> Estimate:
    """The mean of some values with its interval; the same values give the same one.

    ``groups``: Which of them belong together, a name for each; none where all stand alone.
    """
    data = _Grouped.of(values, groups)
    low, high = _between(data.means(ROUNDS))
    return Estimate(data.mean, low, high, len(values))


def difference(
    first: Sequence[float],
    second: Sequence[float],
    groups: Sequence[Hashable] = (),
    *,
    family: int = 1,
) -> Difference:
    """``first`` less ``second``, which are of the same questions in the same order.

    ``family``: With how many others it is to be corrected: the more, the more samples are drawn,
    as no p value is below one of them.
    """
    data = _Grouped.of([one - other for one, other in zip(first, second, strict=True)], groups)
    means = data.means(max(ROUNDS, _A_PAIR * family))
    low, high = _between(means)
    # Of means drawn around the difference, those on the far side of none; see Efron & Tibshirani.
    side = min(float((means <= 0).mean()), float((means >= 0).mean()))
    # Few questions that differ are not told from chance, however they are drawn: all signs of so
    # many are equal as often as this, if neither is better.
    least = 2.0 ** (1 - int(np.count_nonzero(data.sums)))
    p = min(1.0, max(2 * side, 1 / len(means), least))
    return Difference(data.mean, low, high, p, len(first))


def holm(found: Sequence[float]) -> list[float]:
    """The p values, corrected for their number (Holm 1979), in their order."""
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


@dataclass(frozen=True, slots=True)
class _Grouped:
    """Values by group: their sums, and how many they are."""

    sums: NDArray[np.float64]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, values: Sequence[float], groups: Sequence[Hashable]) -> _Grouped:
        found: dict[Hashable, list[float]] = {}
        for group, value in zip(groups or range(len(values)), values, strict=True):
            found.setdefault(group, []).append(value)
        sums = np.asarray([sum(each) for each in found.values()], dtype=np.float64)
        return cls(sums, np.asarray([len(each) for each in found.values()], dtype=np.float64))

    @property
    def mean(self) -> float:
        return float(self.sums.sum() / self.counts.sum())

    def means(self, rounds: int) -> NDArray[np.float64]:
        """The means of ``rounds`` samples of groups, with replacement."""
        size = len(self.sums)
        # By the data's size alone: two memories on the same questions are sampled alike.
        chance = np.random.default_rng(zlib.crc32(str(size).encode()))
        portion = max(1, _PORTION // size)
        found = []
        for start in range(0, rounds, portion):
            drawn = chance.integers(0, size, (min(portion, rounds - start), size))
            found.append(self.sums[drawn].sum(axis=1) / self.counts[drawn].sum(axis=1))
        return np.concatenate(found)
