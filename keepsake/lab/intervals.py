"""Shares with their confidence intervals, and percentiles."""

from __future__ import annotations

import math
from collections.abc import Iterable

_Z = 1.959964
"""Standard deviations on either side of which 95 % lie."""


def wilson(right: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; 0 to 1 where nothing was asked.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference
    (1927).
    """
    if not n:
        return 0.0, 1.0
    share, z2 = right / n, _Z * _Z
    middle = share + z2 / (2 * n)
    half = _Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low, high = (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
    return max(low, 0.0), min(high, 1.0)


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that so large a share of them does not exceed; 0 of none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]
