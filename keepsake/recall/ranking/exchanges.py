"""How probable it is that an answer in a talk can use an exchange that was found.

An exchange is a line with what was answered to it: a prompt shows them together. A question repeats
the words of a later one, its answer has what is asked for, and each is found by other signals. So a
memory counts as what is best in its exchange: as probable by itself (:class:`Signals`), as like the
query's words, each in its context, and in rank.

The weights were learned from two evenings of a village and 80 lines about them, whose recalled
memories were read and labelled, and from questions and lines of three sets of talks:
``python -m tests.bench exchanges`` learns them again, and predicts each evening without it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from keepsake.recall.ranking.usefulness import logistic

LIKELY = 0.41
"""The least probability of a memory that is shown: the limit of the best F1, which is 0.32 by one
evening, 0.45 by both, and 0.41 by the other."""

CONSTANT = -4.95
WEIGHTS: Mapping[str, float] = {
    "alone": 0.52,
    "words": 1.01,
    "likeness": 7.04,
    "rank": -0.63,
}
"""The weight of each value of :meth:`ExchangeSignals.values`; :data:`CONSTANT` is added."""


class ExchangeSignals(NamedTuple):
    """What a search knows of a memory and of the exchange to which it belongs.

    Attributes:
        alone: The best logit of a memory's probability by itself.
        words: How many words the query has.
        likeness: The best likeness of words.
        rank: The best rank of a memory, from 0.
    """

    alone: float
    words: int
    likeness: float
    rank: int

    def values(self) -> tuple[float, ...]:
        """Return the values that :data:`WEIGHTS` weigh, in its order."""
        return (self.alone, math.log1p(self.words), self.likeness, math.log1p(self.rank))

    def probability(self) -> float:
        """Return the probability that an answer can use the memory, 0 to 1."""
        return logistic(CONSTANT + math.sumprod(WEIGHTS.values(), self.values()))


def exchange_signals(
    alone: Mapping[int, float],
    likeness: Mapping[int, float],
    together: Mapping[int, Sequence[int]],
    words: int,
) -> Mapping[int, ExchangeSignals]:
    """Return what is known of each memory with its exchange, by place.

    Args:
        alone: The logit of each memory by itself, by place, in the order of their rank.
        likeness: The likeness of words, by place.
        together: The places of the same exchange, each one's own included.
        words: How many words the query has.
    """
    ranks = {place: rank for rank, place in enumerate(alone)}
    return {
        place: ExchangeSignals(
            alone=max(alone[each] for each in together[place]),
            words=words,
            likeness=max(likeness[each] for each in together[place]),
            rank=min(ranks[each] for each in together[place]),
        )
        for place in alone
    }
