"""Late interaction: compares the words of a question with those of a memory, each in its context.

An embedder makes one vector for each part of a word, and their mean for the text. The mean of a
line of several clauses is like no question; its words still are. A word of a question is worth its
rarity, and is as like a memory as the most similar word there (MaxSim; ColBERT, Khattab and
Zaharia, 2020).

An index keeps the signs of the numbers of each vector: 48 bytes a part, and no worse in ranking.
Only memories of one passage have them, since a long one has a similar word by chance.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from keepsake.language.perception import WORD, stem
from keepsake.ports import WordVector
from keepsake.recall.ranking.needs import UNKNOWN

type Likeness = Mapping[int, float]
"""How like a question memories are, by row number: the weighted mean of the cosines of words."""

_COMMON = math.log(3.0)
"""The weight of a word that is not weighed by its rarity, as :class:`WordIndex` weighs a term that
every memory has."""
_RARE = math.log(500.0 / 1.5)
"""The weight of a term whose rarity is not known, as of one that one memory has."""


# -- what each part of a score changes by, once the likeness of words is known
# Learned from 741 questions: a softmax over the candidates of each (Hythe, the friends, the ten
# talks, LoCoMo's talks 26, 30 and 41; each piece of evidence against all that is none). A further
# weight for lines of a person whom the question names (0.57) is left out: of LoCoMo's talks 26, 30
# and 41 it finds no more evidence, and loses that of questions which name the wrong person.

_WORDS = -3.1
"""For a full match by words: the likeness counts them, too, and the same word in another sense
less."""
_MEANING = -0.53
_LENGTH = 1.13
_ALIKE = 0.49
"""For a standard deviation of the likeness."""
_HEAD = 15
"""How many lines the corrections put first. They were learned from what ranks first; further down
they find less. Of the 741 questions' evidence 1,000 tokens of ranked lines have 90.1 % by the
corrections alone and 91.6 in this way, each group of talks left out; with 10 it is the same."""
_ALIKE_ALONE = 0.36
"""For a standard deviation of the likeness, without corrections: for all lines after these. Learned
in the same way."""


class ScoreParts(NamedTuple):
    """What the score of a document was made of, and the likeness of its words."""

    words: float  # the share of a full match
    meaning: float  # in standard deviations
    length: float  # what its length adds to the score
    alike: float  # the likeness of its words, in standard deviations; 0.0 if it is unknown


def corrected(scores: Sequence[float], parts: Sequence[ScoreParts]) -> list[float]:
    """Return the scores of documents, as the likeness of their words is known.

    What the corrections put first has its corrected score. All others rank by the score as it was
    and by likeness: each has, of the other corrected scores, the one of its rank.
    """
    best = [
        score
        + _WORDS * each.words
        + _MEANING * each.meaning
        + _LENGTH * each.length
        + _ALIKE * each.alike
        for score, each in zip(scores, parts, strict=True)
    ]
    alone = [score + _ALIKE_ALONE * each.alike for score, each in zip(scores, parts, strict=True)]
    rest = sorted(range(len(best)), key=lambda place: -best[place])[_HEAD:]
    found = [*best]
    for place, of_rank in zip(sorted(rest, key=lambda place: -alone[place]), rest, strict=True):
        found[place] = best[of_rank]
    return found


def signs(found: Sequence[WordVector]) -> bytes:
    """Return the signs of the vectors of a text's words, packed."""
    import numpy as np  # noqa: PLC0415 - slow to import

    vectors = [vector for _, vector in found]
    return np.packbits(np.array(vectors) > 0, axis=1).tobytes() if vectors else b""


class Compared:
    """The words of a question beside those of memories.

    Args:
        weights: What each word of the question weighs.
        best: How like it each word is to the most similar one of a memory, by row number.
        window: The same for all lines that the prompt shows, together; None if that is unknown.

    Attributes:
        need: How probable it is that the question asks for something told before, as a logit.
    """

    need = UNKNOWN

    def __init__(self, weights: Any, best: Mapping[int, Any], window: Any = None) -> None:
        self._weights = weights
        self._best = best
        self._window = window

    def likeness(self) -> Likeness:
        """Return how like the question memories are."""
        return {row: self._mean(each) for row, each in self._best.items()}

    def gain(self, rows: Iterable[int]) -> float | None:
        """Return how much more like the question some memories are, together, than the window.

        It is negative if the window says more of what the question is about, and None if that is
        unknown.
        """
        import numpy as np  # noqa: PLC0415 - slow to import

        found = [self._best[row] for row in rows if row in self._best]
        if not found or self._window is None:
            return None
        return self._mean(np.maximum.reduce(found)) - self._mean(self._window)

    def _mean(self, likenesses: Any) -> float:
        return float(self._weights @ likenesses / self._weights.sum())


def compared(
    asked: Sequence[WordVector],
    terms: Collection[str],
    worth: Mapping[str, float],
    known: Mapping[int, bytes],
    window: Collection[bytes] = (),
) -> Compared | None:
    """Compare a question's words with those of memories; None if it has no word, or there are none.

    Args:
        asked: The question's words.
        terms: Its words that are weighed by their rarity; all others count as common.
        worth: The weight of each, if it is known.
        known: The packed signs of the words of each memory, by row number.
        window: Those of the lines that the prompt shows.
    """
    import numpy as np  # noqa: PLC0415 - slow to import

    roots = {stem(term): worth.get(term, _RARE) for term in terms}
    asked = [(word, vector) for word, vector in asked if WORD.match(word)]
    if not (asked and known):
        return None
    weights = np.array([roots.get(stem(word), _COMMON) for word, _ in asked], np.float32)
    best = _most_similar([vector for _, vector in asked], [*known.values(), *window])
    shown = best[:, len(known) :].max(axis=1) if window else None
    return Compared(weights, dict(zip(known, best.T, strict=False)), shown)


def _most_similar(asked: Sequence[Sequence[float]], texts: Sequence[bytes]) -> Any:
    """Return the cosine of each vector to the most similar word of each text: a row for each."""
    import numpy as np  # noqa: PLC0415 - slow to import

    vectors = np.array(asked, np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    size = vectors.shape[1]
    packed = np.frombuffer(b"".join(texts), np.uint8).reshape(-1, size // 8)
    # The cosine to a vector of ones and minus ones, from the product with one of ones and zeros.
    ones: Any = np.unpackbits(packed, axis=1).astype(np.float32)
    near = (2.0 * (vectors @ ones.T) - vectors.sum(axis=1, keepdims=True)) / size**0.5
    starts = np.cumsum([0, *(len(each) // (size // 8) for each in texts)][:-1])
    return np.maximum.reduceat(near, starts, axis=1)
