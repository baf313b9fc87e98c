"""How probable it is that an answer in a talk can use an exchange that was found.

An exchange is a line with what was answered to it: a prompt shows them together. A question repeats
the words of a later one, its answer has what is asked for, and each is found by other signals. So a
memory counts as what is best in its exchange: as probable by itself (:class:`Signals`), as like the
query's words, each in its context, and in rank. Two more signals tell when nothing is right. Words
that the prompt's window has as well, or better, ask for what stands there. And most lines ask for
nothing that was told before.

The weights were learned from three evenings of a village and 80 lines about them, whose recalled
memories were read and labelled: ``python -m tests.bench exchanges`` learns them again, and predicts
each evening without it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from keepsake.recall.ranking.usefulness import logistic

LIKELY = 0.49
"""The least probability of a memory that is shown: the limit of the best F0.5, each evening
predicted by the others. Useful exchanges count twice as much as lines that are shown one, since a
prompt's summaries tell most of what a line is not shown."""
LIKELY_PRIVATE = 0.4
"""The same for an exchange with a whisper, which no summary tells: the limit of the best F1."""

CONSTANT = -4.49
WEIGHTS: Mapping[str, float] = {
    "alone": 0.63,
    "words": 1.24,
    "likeness": 5.79,
    "rank": -0.58,
    "gain": 3.23,
    "need": 0.42,
}
"""The weight of each value of :meth:`ExchangeSignals.values`; :data:`CONSTANT` is added."""


class AnsweredLine(NamedTuple):
    """What a search knows of what is said.

    Attributes:
        words: How many words it has.
        need: How probable it is that it asks for something told before, as a logit; see
            :mod:`keepsake.recall.ranking.needs`.
    """

    words: int
    need: float


class ExchangeSignals(NamedTuple):
    """What a search knows of a memory and of the exchange to which it belongs.

    Attributes:
        alone: The best logit of a memory's probability by itself.
        line: What is said.
        likeness: The best likeness of words.
        rank: The best rank of a memory, from 0.
        gain: How much more like the query's words those of the whole exchange are than those of
            the prompt's window; see :meth:`Compared.gain`.
        private: Whether the exchange has a whisper.
    """

    alone: float
    line: AnsweredLine
    likeness: float
    rank: int
    gain: float
    private: bool = False

    def values(self) -> tuple[float, ...]:
        """Return the values that :data:`WEIGHTS` weigh, in its order."""
        words = math.log1p(self.line.words)
        rank = math.log1p(self.rank)
        return (self.alone, words, self.likeness, rank, self.gain, self.line.need)

    def probability(self) -> float:
        """Return the probability that an answer can use the memory, 0 to 1."""
        return logistic(CONSTANT + math.sumprod(WEIGHTS.values(), self.values()))

    @property
    def bears(self) -> bool:
        """Whether a prompt shows the memory."""
        return self.probability() >= (LIKELY_PRIVATE if self.private else LIKELY)


def exchange_signals(
    alone: Mapping[int, float],
    likeness: Mapping[int, float],
    gain: Mapping[int, float | None],
    together: Mapping[int, Sequence[int]],
    line: AnsweredLine,
    *,
    whispered: Collection[int] = (),
) -> Mapping[int, ExchangeSignals]:
    """Return what is known of each memory with its exchange, by place.

    Args:
        alone: The logit of each memory by itself, by place, in the order of their rank.
        likeness: The likeness of words, by place.
        gain: What each one's exchange has more of the query's words than the window, by place; None
            if that is unknown.
        together: The places of the same exchange, each one's own included.
        line: What is said.
        whispered: The places of whispers.
    """
    ranks = {place: rank for rank, place in enumerate(alone)}
    known = [each for each in gain.values() if each is not None]
    middle = math.fsum(known) / len(known) if known else 0.0
    return {
        place: ExchangeSignals(
            alone=max(alone[each] for each in together[place]),
            line=line,
            likeness=max(likeness[each] for each in together[place]),
            rank=min(ranks[each] for each in together[place]),
            gain=middle if (found := gain[place]) is None else found,
            private=not {*whispered}.isdisjoint(together[place]),
        )
        for place in alone
    }
