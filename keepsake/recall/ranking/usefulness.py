"""How probable it is that an answer in a talk can use a memory that was found.

Most lines of a talk need no answer from a memory: a request, a toast, a goodbye. The best that a
search finds for them is an old line of the same kind: for an errand, another errand. The
probability comes from a logistic regression on what the search knows of query and memory.

It was learned from lines of seven plays of the village, of two simulated days and of guests of an
innkeeper, whose recalled memories were read and labelled as useful for the answer or not, and from
questions with known evidence and lines of talk of four sets of talks. ``python -m tests.bench
usefulness`` learns the weights again, and predicts each group of talks by the others. A search for
each sentence of a line finds more, of which three of four are useless. Whether a line needs a
memory at all, as a reader sees it, adds nothing to these weights (``docs/benchmarks.md``).

A question about the past is another kind of line. Its answer may stand in several talks, each with
one useful memory far down in the ranking. What tells it is in how many talks a useful memory is to
be expected (:func:`other_talks`). For such a question the prompt shows what ranks next, too.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from keepsake.happening import ME, Speech
from keepsake.language.languages import number_of_words, telling_terms
from keepsake.recall.documents import SAME_SCENE, Document

USEFUL = 0.1
"""The least probability of a memory that is shown. In seven plays that the weights were not learned
from, it shows half of the useful memories, and something of what 33 of 51 lines needed; 0.06 shows
it to 40, for 80 % more memories. A useless line costs some 40 tokens; a missing one costs another
call for ``> recall``, or a player's trust."""
SEVERAL = 0.25
"""The least number of talks beside the best one in which a question expects a useful memory, from
which the prompt shows what ranks next, too. 95 % of the questions that need several lines of
LoCoMo's talks 26, 30 and 41 expect as many, by weights learned without these talks; no line of
seven plays does. A life of weeks has more such questions than an evening, also those that need one
memory only."""
JUDGED = 23
"""How many memories that rank best have a probability. The weights were learned from as many; the
groups of :attr:`Signals.upper` depend on it."""
ENOUGH = 20
"""The fewest candidates whose median tells what unrelated lines have. The weights were learned from
searches with 60 or more."""

_MOST_ABOVE = 5.0
"""A memory that stands out further is not more often useful: an old line of the same kind as the
query stands out furthest."""

CONSTANT = -7.04
WEIGHTS: Mapping[str, float] = {
    "above": 0.47,
    "share": 0.67,
    "heard": 0.95,
    "by_asker": -0.21,
    "new_words": 0.6,
    "terms": -0.27,
    "upper": 1.97,
}
"""The weight of each value of :meth:`Signals.values`, to which :data:`CONSTANT` is added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What a search knows of a memory that it found.

    Attributes:
        above: How far its content is above the median of all candidates, in standard deviations of
            the similarity of meaning.
        share: The share of the query's terms that it has, each weighed by its rarity, 0 to 1.
        heard: Whether it is speech of the agent, or to the agent or everybody.
        by_asker: Whether the person who is answered said or did it.
        new_words: How many telling words it has that the query does not have.
        terms: How many significant words the query has.
        upper: Whether its score is in the upper one of two groups.
    """

    above: float
    share: float
    heard: bool
    by_asker: bool
    new_words: float
    terms: float
    upper: bool

    def values(self) -> tuple[float, ...]:
        """Return the values that :data:`WEIGHTS` weigh, in its order."""
        return (
            min(self.above, _MOST_ABOVE),
            self.share,
            float(self.heard),
            float(self.by_asker),
            math.log1p(self.new_words),
            math.log1p(self.terms),
            float(self.upper),
        )

    def logit(self) -> float:
        """Return the logit of :meth:`probability`."""
        return CONSTANT + math.sumprod(WEIGHTS.values(), self.values())

    def probability(self) -> float:
        """Return the probability that an answer can use the memory, 0 to 1."""
        return logistic(self.logit())


def logistic(value: float) -> float:
    """Return the logistic function of a value, in a form that cannot overflow."""
    return (1.0 + math.tanh(value / 2.0)) / 2.0


def other_talks(found: Iterable[tuple[datetime, float]]) -> float:
    """Return in how many talks beside the best one a useful memory is to be expected.

    Each talk counts with its most probable memory: what stands in one talk is shown together. The
    best talk does not count, because a single memory that answers everything needs no others.

    Args:
        found: The time and the probability of each memory.
    """
    talks = list[float]()
    before: datetime | None = None
    for time, probability in sorted(found):
        if before is None or time - before > SAME_SCENE:
            talks.append(0.0)
        talks[-1] = max(talks[-1], probability)
        before = time
    return sum(sorted(talks)[:-1])


def concerns_agent(document: Document) -> bool:
    """Whether a memory is speech of the agent, to the agent, or to everybody."""
    what = document.memory().what
    return isinstance(what, Speech) and (ME in {what.speaker, *what.to} or not what.to)


def new_words(document: Document, known: Collection[str]) -> float:
    """Return how many telling words a memory has beside the ``known`` ones."""
    return number_of_words(telling_terms(document.said or document.text).difference(known))
