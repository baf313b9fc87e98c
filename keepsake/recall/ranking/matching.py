"""What words and meaning give each candidate: shares of a full match, and z-scores.

The score of meaning is a z-score over all candidates, the score of words a share of a full match.
Ranks alone (reciprocal-rank fusion) would lose how much better one candidate is than the next, and
how good the best one is.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import truediv

from keepsake.recall.ranking.candidates import REACH, CandidateList
from keepsake.recall.ranking.long_texts import by_passages

_CALIBRATION = 5
"""The number of best candidates by words from which the score of a full match is estimated."""
_NEARBY = 0.3
"""The weight of a direct neighbour's meaning in that of a memory. It falls with the distance, to a
third at :data:`REACH`."""
_PARTS = [0.0, *(_NEARBY * (1.0 - (distance - 1) / REACH) for distance in range(1, REACH + 1))]
"""The weight of another passage's meaning by its distance."""


def match_by_words(
    among: CandidateList,
    found: Mapping[int, float],
    worth: Mapping[str, float],
    *,
    has_meaning: bool,
) -> list[float]:
    """Return BM25 scores as shares of a full match, which is estimated from the best ones.

    Args:
        found: The BM25 scores by row number, best first.
        worth: The weight of each term of the question.
        has_meaning: Whether vectors were searched.
    """
    whole = 0.0
    held = 0.0
    places = {row: place for place, row in enumerate(among.rows)}
    for row in islice((row for row in found if row in places), _CALIBRATION):
        whole += found[row]
        here = (places[row], *among.beside.get(places[row], ()))
        terms = {term for place in here for term in among.matched(place)}
        held += sum(worth[term] for term in terms)
    share = held / sum(worth.values()) / whole if whole > 0.0 and held > 0.0 else 0.0
    scores = [found.get(row, 0.0) * share for row in among.rows]
    texts = [each.texts for each in among.traits]
    return by_passages(scores, texts, among.matched, worth, among.roots, has_meaning=has_meaning)


def match_by_meaning(among: CandidateList) -> list[float]:
    """Return z-scores of the similarities, each averaged with those of what is near.

    A talk is a sequence of passages: a short line is one, a long one several. What is near a
    passage are the passages before and after it, of its own text or of the next lines. So a long
    text does not win by one passage of many that is like the question by chance. A memory has the
    value of its best passage, less what the best of so many has by chance.
    """
    known = among.likes
    if not any(known):  # searched by words alone
        return [0.0] * len(known)
    lowest = min(min(each.values()) for each in known if each)
    values = [max(each.values()) if each else lowest for each in known]
    _, by_chance = spread_of(values)
    places = list[int]()
    steps = list[int]()  # where each passage is in its talk; other talks are far away
    likes = list[float]()
    step = 0
    for run in among.runs:
        step += REACH + 1
        before = among.documents[run[0]].first
        for place in run:
            number = among.documents[place].first
            step += number - before
            before = number
            found = known[place]
            places.append(place)
            steps.append(step)
            likes.append(found.get(0, lowest))
            for passage in range(1, len(among.traits[place].texts)):
                step += 1
                places.append(place)
                steps.append(step)
                likes.append(found.get(passage, lowest))
            values[place] = -math.inf
    for place, value in zip(places, _averaged(likes, steps), strict=True):
        values[place] = max(values[place], value)
    values = [
        value - by_chance * each.chance for value, each in zip(values, among.traits, strict=True)
    ]
    middle, spread = spread_of(values)
    return [(value - middle) / spread for value in values] if spread else [0.0] * len(values)


def spread_of(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation."""
    number = max(len(values), 1)
    middle = math.fsum(values) / number
    return middle, math.dist(values, [middle] * len(values)) / math.sqrt(number)


def _averaged(likes: Sequence[float], steps: Sequence[int]) -> list[float]:
    """Return values averaged with those near them; ``steps`` are their places in a talk."""
    totals = [*likes]
    whole = [1.0] * len(likes)
    steps = [*steps, sys.maxsize]
    for one, like in enumerate(likes):
        step = steps[one]
        other = one + 1
        while (distance := steps[other] - step) <= REACH:
            part = _PARTS[distance]
            totals[one] += part * likes[other]
            totals[other] += part * like
            whole[one] += part
            whole[other] += part
            other += 1
    return list(map(truediv, totals, whole))
