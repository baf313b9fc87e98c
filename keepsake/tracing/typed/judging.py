"""How probable it is that a line tells what somebody typed.

A line may have the typed words and mean something else, and may tell it in none of them. What a
line has of it is known from several sides (:class:`LineSignals`): by words, rare ones more, and by
meaning, by the line alone and by the talk before it. A logistic regression weighs these. A second
one adds what only all lines together tell: how far a line is behind the best one, and how near it
is to what that says, as what was told on is.

The weights were learned from 253 wordings of facts and rare names of two played evenings, whose
lines were labelled by hand: ``python -m tests.bench typed`` learns them again, and predicts each
fact by the others, and each evening by the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

LIKELY = 0.5
"""The least probability of a line that counts as telling what was typed: more likely than not."""
PERHAPS = 0.3
"""The least probability of a line that perhaps tells it. With this limit those who know a fact are
found, each evening predicted by the other, with precision 0.86 and recall 0.90; by :data:`LIKELY`
it is 0.89 and 0.82."""

_CONSTANT = -8.32
ALONE: Mapping[str, float] = {
    "words": -1.03,
    "of_talk": 4.1,
    "people": 2.0,
    "meaning": 0.38,
    "likeness": 5.3,
    "names": 1.79,
}
"""The weight of each signal of a line by itself. What has the words has their likeness, too, and
in another sense less of it: so the words alone speak against it."""
_TOGETHER_CONSTANT = -1.2
TOGETHER: Mapping[str, float] = {"alone": 0.62, "behind": 0.37, "like_best": 3.34}
"""The weight of each signal of a line among the others."""


_ITSELF = 0.7
"""How near the best line counts as to itself: a fact that was told once is like no other line."""


class LineSignals(NamedTuple):
    """What a line has of something typed.

    Attributes:
        words: The share of the telling words that it has, each weighed by its rarity.
        of_talk: The same for the line with what was said right before it in its talk.
        people: The share of the people whom the words name who speak, are addressed or are named.
        meaning: How near it is as a whole, a cosine.
        likeness: How like the telling words its words are, each in its context.
        names: 1 if names or numbers were typed, and it has them all; else 0.
    """

    words: float
    of_talk: float
    people: float
    meaning: float
    likeness: float
    names: float = 0.0

    def logit(self) -> float:
        """Return the logit of the probability that it tells what was typed, by itself."""
        return _CONSTANT + math.sumprod(ALONE.values(), map(float, self))


def probabilities(
    signals: Sequence[LineSignals], like: Callable[[int], Sequence[float]]
) -> list[float]:
    """Return the probability of each line that it tells what was typed.

    Args:
        signals: Those of each line; at least one.
        like: Returns how near what each line says is to what one of them says.
    """
    return [_logistic(_together(each)) for each in among_others(signals, like)]


def among_others(
    signals: Sequence[LineSignals], like: Callable[[int], Sequence[float]]
) -> list[tuple[float, float, float]]:
    """Return of each line its logit alone, how far it is behind the best, how near to that."""
    alone = [each.logit() for each in signals]
    best = max(range(len(alone)), key=alone.__getitem__)
    near = [*like(best)]
    near[best] = _ITSELF
    return [(each, each - alone[best], like) for each, like in zip(alone, near, strict=True)]


def _together(values: tuple[float, float, float]) -> float:
    return _TOGETHER_CONSTANT + math.sumprod(TOGETHER.values(), values)


def _logistic(value: float) -> float:
    """Return the logistic function of a value, in a form that cannot overflow."""
    return (1.0 + math.tanh(value / 2.0)) / 2.0
