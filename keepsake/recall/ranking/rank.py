"""Ranks candidates for a question: two scores and a few cheap signals, added up.

Everything here is pure: no index, no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from operator import neg

from keepsake.happening import Person
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.query import RecallQuery
from keepsake.recall.ranking.candidates import CandidateList
from keepsake.recall.ranking.floor import bearing, noise
from keepsake.recall.ranking.judging import filling, judge_alone, usable
from keepsake.recall.ranking.long_texts import best_passage
from keepsake.recall.ranking.matching import match_by_meaning, match_by_words, spread_of
from keepsake.recall.ranking.reasons import Reasons
from keepsake.recall.ranking.signals import (
    by_signals,
    given_for_length,
    given_for_times,
    given_to_answers,
    raise_for_times,
    take_off,
)
from keepsake.recall.ranking.usefulness import ENOUGH, JUDGED
from keepsake.recall.ranking.word_vectors import Compared, Likeness, ScoreParts, corrected

_WORDS = 5.0
"""For a full match by words. Others get their BM25 as a share of that of a full match, so a single
common word counts for little."""
_LINKED = 1.0
"""For a line with a rare word of the best candidate by words or by meaning."""


def rank(
    question: RecallQuery,
    candidates: Mapping[int, Document],
    words: Mapping[int, float],
    meaning: Mapping[int, Mapping[int, float]],
    now: datetime,
    *,
    limit: int,
    worths: Mapping[str, float] = {},
    linked: Collection[int] = (),
    alike: Compared | None = None,
    kinds: Mapping[DocumentKind, int] | None = None,
    unprompted: bool = False,
    agent: str = "",
    asker: Person | None = None,
    only_usable: bool = False,
    several_talks: bool = False,
) -> list[Hit]:
    """Return the ``limit`` best candidates, best first, each with the reasons for its rank.

    Args:
        candidates: The candidates by row number.
        words: The BM25 scores by row number, best first.
        meaning: The cosine similarities of passages by their number, by row number.
        worths: The weight of each term of the question; the default is 1.
        linked: Rows that have a rare word of the best candidates.
        alike: The question's words beside those of memories; None if they are unknown.
        kinds: The most hits of each kind, in place of ``limit``.
        unprompted: Whether the query is a scene, as nobody asked: recent memories score higher.
        agent: The agent, whose own words score lower; empty for none.
        asker: Who said the text; None if nobody did.
        only_usable: Whether of the memories only those bear that an answer in a talk can use.
        several_talks: Whether all that is found bears if the answer stands in several talks.
    """
    among = CandidateList(question, candidates, meaning, agent)
    worth = {t: worths.get(t, 1.0) for t in question.terms}
    by_words = match_by_words(among, words, worth, has_meaning=bool(meaning))
    by_meaning = match_by_meaning(among)
    content = _content(among, by_words, by_meaning)
    scores = by_signals(among, now, unprompted=unprompted)
    for place, row in enumerate(among.rows):
        scores[place] += _WORDS * by_words[place] + by_meaning[place]
        if row in linked:
            scores[place] += _LINKED * among.traits[place].share
    take_off(among, scores, agent, unprompted=unprompted)
    if question.when and not unprompted:
        raise_for_times(among, scores)
    given = given_to_answers(among, scores)
    for place, gift in given.items():
        scores[place] += gift
    likeness = alike.likeness() if alike is not None else {}
    if question.asks:
        scores = _corrected(among, scores, by_words, by_meaning, likeness)
    chosen = _chosen(scores, among.documents, limit, kinds)
    lines = [place for place in chosen if among.documents[place].kind is DocumentKind.MEMORY]
    filled = set[int]()
    if only_usable and meaning and len(scores) >= ENOUGH:
        shares = {place: _weight(among.matched(place), worth) for place in lines[:JUDGED]}
        alone = judge_alone(among, shares, scores, content, asker=asker)
        by_chance = noise(content)
        bears = {place for place in {*chosen}.difference(lines) if content[place] >= by_chance}
        bears |= usable(among, alone, alike if asker is not None else None, now)
        filled.update(filling(among, alone, lines, bears) if several_talks else ())
    else:
        bears = {*bearing(chosen, lines, scores, content, asks=question.asks)}
    return [
        Hit(
            among.documents[place],
            scores[place],
            Reasons(among, place, given),
            place in bears or place in filled,
            best_passage(among.traits[place].texts, among.likes[place], worth, among.roots),
            place in filled,
        )
        for place in chosen
    ]


def _corrected(
    among: CandidateList,
    scores: Sequence[float],
    by_words: Sequence[float],
    by_meaning: Sequence[float],
    alike: Likeness,
) -> list[float]:
    """Return the scores, corrected by how like the question's words those of documents are.

    ``alike``: By row; if it is empty, nothing is corrected.
    """
    likenesses = [alike.get(row) for row in among.rows]
    known = [each for each in likenesses if each is not None]
    if not known:
        return [*scores]
    middle, spread = spread_of(known)
    parts = [
        ScoreParts(
            words=words,
            meaning=meaning,
            length=given_for_length(own),
            alike=0.0 if like is None else (like - middle) / (spread or 1.0),
        )
        for own, words, meaning, like in zip(
            among.traits, by_words, by_meaning, likenesses, strict=True
        )
    ]
    return corrected(scores, parts)


def _weight(terms: Sequence[str], worth: Mapping[str, float]) -> float:
    """Return the share of some of a query's terms in all of them, each weighed by its worth."""
    return sum(worth[term] for term in terms) / (sum(worth.values()) or 1.0)


def _chosen(
    scores: Sequence[float],
    documents: Sequence[Document],
    limit: int,
    kinds: Mapping[DocumentKind, int] | None,
) -> list[int]:
    """Return the places of the best candidates, best first, as many of each kind as are wanted."""
    # Among equal scores the later memory comes first, by its number and not by the clock.
    last = [-each.last for each in documents]
    keys = [each.key for each in documents]
    ranked = sorted(zip(map(neg, scores), last, keys, range(len(scores)), strict=True))
    places = [place for *_, place in ranked]
    if not kinds:
        return places[:limit]
    left = Counter(kinds)
    chosen = list[int]()
    for place in places:
        kind = documents[place].kind
        if left[kind]:
            left[kind] -= 1
            chosen.append(place)
    return chosen


def _content(
    among: CandidateList, by_words: Sequence[float], by_meaning: Sequence[float]
) -> list[float]:
    """Return what words, meaning and a named time give each document, whoever spoke."""
    in_time = given_for_times(among)
    return [
        _WORDS * worded + meant + timed
        for worded, meant, timed in zip(by_words, by_meaning, in_time, strict=True)
    ]
