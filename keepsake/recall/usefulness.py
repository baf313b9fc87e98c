"""How probable it is that an answer in a talk can use a memory that was found.

Most lines of a talk need no answer from a memory: a request, a toast, a goodbye. The best that a
search finds for them is an old line of the same kind: for an errand, another errand. The
probability comes from a logistic regression on what the search knows of query and memory.

It was learned from 225 lines of five plays of the village and 30 lines to an innkeeper (small talk,
banter, stories), whose recalled memories were read and labelled as useful for the answer or not,
from 39 questions about what guests had told, and from questions with known evidence and lines of
talk of four sets of talks (Withy Hythe, two friends, ten talks, LoCoMo's three development talks).
Each of these was left out once, and predicted by the others: of the four plays with players, 32
memories instead of 334 were shown, 66 % of them useful instead of 16 %. Of 20 facts that guests
asked for, recall alone found 17 instead of 18. A search for each sentence of a line finds more, of
which three of four are useless.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from keepsake.happening import ME, Speech
from keepsake.language.perception import telling
from keepsake.recall.documents import Document

USEFUL = 0.2
"""The least probability of a memory that is shown. Above it, two of three were useful in talks that
the weights were not learned from; above 0.25, three of four, but a whispered fact was lost that
its guest asked for."""
ENOUGH = 20
"""The fewest candidates whose median tells what unrelated lines have. The weights were learned from
searches with 60 or more."""

_MOST_ABOVE = 5.0
"""A memory that stands out further is not more often useful: an old line of the same kind as the
query stands out furthest."""

_BASE = -7.13
_ABOVE = 0.57
_SHARE = 0.70
_HEARD = 1.02
_BY_ASKER = 0.42
_NEW_WORDS = 0.65
_TERMS = -0.82
_UPPER = 1.92


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
        terms: How many terms the query has.
        upper: Whether its score is in the upper one of two groups.
    """

    above: float
    share: float
    heard: bool
    by_asker: bool
    new_words: int
    terms: int
    upper: bool

    def probability(self) -> float:
        """Return the probability that an answer can use the memory, 0 to 1."""
        total = (
            _BASE
            + _ABOVE * min(self.above, _MOST_ABOVE)
            + _SHARE * self.share
            + _HEARD * self.heard
            + _BY_ASKER * self.by_asker
            + _NEW_WORDS * math.log1p(self.new_words)
            + _TERMS * math.log1p(self.terms)
            + _UPPER * self.upper
        )
        return (1.0 + math.tanh(total / 2.0)) / 2.0  # the logistic function, which cannot overflow


def concerns_agent(document: Document) -> bool:
    """Whether a memory is speech of the agent, to the agent, or to everybody."""
    what = document.memory().what
    return isinstance(what, Speech) and (ME in {what.speaker, *what.to} or not what.to)


def new_words(document: Document, known: Collection[str]) -> int:
    """Return how many telling words a memory has beside the ``known`` ones."""
    return len(telling(document.said or document.text).difference(known))
