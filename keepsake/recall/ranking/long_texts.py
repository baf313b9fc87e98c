"""What recall makes of long texts, of several passages, beside lines of talk.

A line of talk needs the lines beside it to be understood, and mostly says one thing. A long text
tells its own context, and says many things: it has a word, a date or a passage that is like a
question by chance. All here follows from the lengths of texts, not from where they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from keepsake.language.tokens import pieces
from keepsake.recall.documents import Document, passages_in
from keepsake.recall.passages import PASSAGE
from keepsake.recall.query import terms_in

_TOGETHER = 0.5
"""The part of a long text's score by words that counts only as far as one passage has its words."""
_STEEP = 4
"""How steeply a line's need for its neighbours falls with its length: a line of 32 tokens, as most
in talk are, needs them fully, one of 108 half, one of a passage not at all."""


def passages_to_rank(document: Document, agent: str) -> tuple[str, ...]:
    """Return the passages of a document, as they were embedded."""
    if len(document.text) + len(document.title) < PASSAGE:  # mostly; no token is shorter
        return (document.text,)
    return passages_in(document, agent)


def need(document: Document) -> float:
    """Return how much a line needs its neighbours to be understood, from 0 to 1.

    "Where were you?" says nothing without the next line. Of sixty words that end with a question,
    most are no question.
    """
    text = document.said or document.text
    if len(text) < PASSAGE // 2:  # mostly; no token is shorter
        return 1.0
    return max(0.0, 1.0 - (pieces(text) / PASSAGE) ** _STEEP)


def by_passages(
    by_words: Sequence[float],
    texts: Sequence[Sequence[str]],
    matched: Callable[[int], Sequence[str]],
    worth: Mapping[str, float],
    roots: Mapping[str, str],
    *,
    has_meaning: bool,
) -> list[float]:
    """Return the scores by words, of a long text by the words that its best passage has.

    A long text has the words of a question in different places by chance: it keeps all of its score
    only if one passage has them together. A search without vectors, which find passages by meaning,
    needs the opposite: BM25 counts a long text as a whole, and ranks it low. There it has at least
    its best passage's share of a full match.

    Args:
        by_words: The score of each document.
        texts: The passages of each.
        matched: Returns the terms in a document.
        worth: The weight of each term.
        roots: The stem of each term.
        has_meaning: Whether vectors were searched.
    """
    whole = sum(worth.values())
    found = [*by_words]
    for place, own in enumerate(texts):
        counts = len(own) > 1 and (found[place] or not has_meaning)
        terms = matched(place) if counts else ()
        if not terms:
            continue
        best = max(_weight(text, terms, worth, roots) for text in own)
        if has_meaning:
            share = best / sum(worth[term] for term in terms)
            found[place] *= 1.0 - _TOGETHER + _TOGETHER * share
        else:
            found[place] = max(found[place], best / whole)
    return found


def best_passage(
    texts: Sequence[str],
    found: Mapping[int, float],
    worth: Mapping[str, float],
    roots: Mapping[str, str],
) -> str:
    """Return the passage that answers best by meaning and words; empty if there is only one.

    Args:
        texts: The passages.
        found: The similarities of some of them by their number.
        worth: The weight of each term of the question.
        roots: The stem of each term.
    """
    if len(texts) == 1:
        return ""
    lowest = min(found.values(), default=0.0)
    whole = sum(worth.values()) or 1.0

    def score(number: int) -> float:
        """Return the sum of two numbers from 0 to 1."""
        matched = _weight(texts[number], [*roots], worth, roots)
        return found.get(number, lowest) + matched / whole

    return texts[max(range(len(texts)), key=score)]


def _weight(
    text: str, terms: Sequence[str], worth: Mapping[str, float], roots: Mapping[str, str]
) -> float:
    """Return the weight of those of the terms that a text has."""
    return sum(worth[term] for term in terms_in(text, {term: roots[term] for term in terms}))
