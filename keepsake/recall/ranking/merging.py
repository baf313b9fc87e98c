"""Makes one ranking of several searches."""

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


def picked_first[K: Hashable](
    picked: Sequence[K], found: Sequence[K], shown: int, further: Sequence[Sequence[K]]
) -> list[K]:
    """Return one ranking: what somebody picked among what was found, then all else.

    Further searches bring only what was not shown: of the rest, the reader has thought less. What
    was found keeps its order beside them, so that a reader who picks little loses little.

    Args:
        picked: What was picked, the most important first.
        found: The ranking that was read, best first.
        shown: How many of it were read.
        further: The rankings of the further searches.
    """
    first = dict.fromkeys(picked)
    read = {*first, *found[:shown]}
    new = [[each for each in ranking if each not in read] for ranking in further]
    rest = [each for each in found if each not in first]
    return [*first, *fused([rest, *new])]
