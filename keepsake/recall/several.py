"""Searches for what needs several memories: a search for each part, and one ranking of them all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

MOST_PARTS = 4
"""The most parts of a question. Each is a search of some hundredths of a second."""
_EVEN = 10
"""How slowly a result's weight falls with its rank: the tenth weighs half of the first. With 60, as
is usual for lists of thousands, the first would weigh hardly more than the tenth."""


def fused[K: Hashable](rankings: Sequence[Sequence[K]]) -> list[K]:
    """Return the items of several rankings in one, best first; of equals the one found first.

    An item has the sum of what its ranks are worth (reciprocal-rank fusion), because scores of
    different questions cannot be compared.
    """
    worth = defaultdict[K, float](float)
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking)):
            worth[item] += 1.0 / (_EVEN + rank)
    return sorted(worth, key=lambda item: -worth[item])
