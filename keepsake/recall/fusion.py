"""Ranks candidates for a question: two scores and a few cheap signals, added up.

The score of meaning is a z-score over all candidates, the score of words a share of a full match.
Ranks alone (reciprocal-rank fusion) would lose how much better one candidate is than the next, and
how good the best one is.
Everything here is pure: no index, no clock.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import islice, pairwise
from operator import truediv
from statistics import median

from keepsake.happening import Person
from keepsake.language.languages import (
    language_of,
    length_in_words,
    number_of_words,
    telling_terms,
)
from keepsake.language.perception import is_question, stem
from keepsake.recall.documents import SAME_SCENE, Document, DocumentKind, Hit
from keepsake.recall.floor import bearing, noise, split
from keepsake.recall.long_texts import (
    best_passage,
    by_passages,
    less_chance,
    need,
    one_passage,
    passages_to_rank,
)
from keepsake.recall.query import RecallQuery, mentions_time, saying, terms_in
from keepsake.recall.usefulness import (
    ENOUGH,
    JUDGED,
    SEVERAL,
    USEFUL,
    Signals,
    concerns_agent,
    new_words,
    other_talks,
)

BY_WORDS = "words: "
"""The prefix of a reason that lists the question's words in a document."""
_REACH = 3
"""The distance, in memories, up to which lines of one talk tell what a line is about."""
_MAY_TELL = 60
"""The number of best candidates that are searched for a time; to search 300 takes 20 ms."""
_FULL_LINE = 15
"""The fewest words of a line that is not short; "Thank you!" answers nothing."""
_CALIBRATION = 5
"""The number of best candidates by words from which the score of a full match is estimated."""


# -- the weight of each signal, in standard deviations of the similarity of meaning

_WORDS = 5.0
"""For a full match by words. Others get their BM25 as a share of that of a full match, so a single
common word counts for little."""
_NEARBY = 0.3
"""The weight of a direct neighbour's meaning in that of a memory. It falls with the distance, to a
third at :data:`_REACH`."""
_SPEAKER = 2.5
"""For a line said, or an act done, by a person whom the question names."""
_ASKER = 8.0
"""For a line said by the person who asks about their own life."""
_LINKED = 1.0
"""For a line with a rare word of the best candidate by words or by meaning."""
_TIME = 3.5
"""For a memory from a time that the question names."""
_WHEN = 0.75
"""For a text that names a time, if the question asks for one."""
_OWN = 1.0
"""Subtracted from the agent's own speech: it may be a model's nonsense, or repeat what somebody
else said."""
_ASKING = 0.8
"""Subtracted from a line that only asks, unless the query is a scene."""
_FULL = 2.0
"""For a line of :data:`_FULL_LINE` words or more; less for a shorter one."""
_LENGTH = [_FULL * min((blanks + 1) / _FULL_LINE, 1.0) for blanks in range(_FULL_LINE + 1)]
_ANSWER = 0.1
"""The part of the score of a line that asks which the next line gets in addition."""
_RECENT = 0.6
_HALF_LIFE = timedelta(days=3).total_seconds()
"""For the newest memory, if the query is a scene; and the seconds in which that falls by half."""


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
    kinds: Mapping[DocumentKind, int] | None = None,
    unprompted: bool = False,
    agent: str = "",
    asker: Person | None = None,
    sparing: bool = False,
    fills: bool = False,
) -> list[Hit]:
    """Return the ``limit`` best candidates, best first, each with the reasons for its rank.

    Args:
        candidates: The candidates by row number.
        words: The BM25 scores by row number, best first.
        meaning: The cosine similarities of passages by their number, by row number.
        worths: The weight of each term of the question; the default is 1.
        linked: Rows that have a rare word of the best candidates.
        kinds: The most hits of each kind, in place of ``limit``.
        unprompted: Whether the query is a scene, as nobody asked: recent memories score higher.
        agent: The agent, whose own words score lower; empty for none.
        asker: Who said the text; None if nobody did.
        sparing: Whether only memories bear that an answer in a talk can use.
        fills: Whether all memories bear on a question whose answer stands in several talks.
    """
    # From here on a candidate is its index ("place") in these lists.
    rows = [*candidates]
    documents = [*candidates.values()]
    matched = _matched(question, documents)
    worth = {t: worths.get(t, 1.0) for t in question.terms}
    roots = {term: stem(term) for term in question.terms}
    texts = [passages_to_rank(document, agent) for document in documents]
    shares = [one_passage(each) for each in texts]
    beside = _beside(documents)
    asking = _asking(documents)
    scores = _by_signals(question, documents, now, unprompted=unprompted)
    by_words = _by_words(worth, words, rows, matched, beside)
    by_words = by_passages(by_words, texts, matched, worth, roots, has_meaning=bool(meaning))
    by_meaning = _by_meaning([meaning.get(row, {}) for row in rows], documents, texts)
    content = _content(question, documents, by_words, by_meaning)
    for place, document in enumerate(documents):
        scores[place] += _WORDS * by_words[place] + by_meaning[place]
        scores[place] += _LINKED * (rows[place] in linked) * shares[place]
        if place in asking and not unprompted:
            scores[place] -= _ASKING * need(document)
        if document.speaker == agent and agent and document.said:
            scores[place] -= _OWN
    if question.when and not unprompted:
        for place in heapq.nlargest(_MAY_TELL, range(len(scores)), key=scores.__getitem__):
            if mentions_time(documents[place].text):
                scores[place] += _WHEN * shares[place]
    given = _given_to_answers(scores, documents, asking, beside, shares)
    for place, gift in given.items():
        scores[place] += gift
    hits = list[Hit]()
    chosen = list(_chosen(scores, documents, limit, kinds))
    lines = [place for place in chosen if documents[place].kind is DocumentKind.MEMORY]
    filling = set[int]()
    if sparing and meaning and len(documents) >= ENOUGH:
        found_in = {place: _weight(matched(place), worth) for place in lines[:JUDGED]}
        probable = _probable(question, documents, found_in, scores, content, asker=asker)
        least = noise(content)
        bears = {place for place in {*chosen}.difference(lines) if content[place] >= least}
        bears.update(place for place, each in probable.items() if each >= USEFUL)
        filling.update(_filling(question, probable, documents, lines, bears) if fills else ())
    else:
        bears = {*bearing(chosen, lines, scores, content, asks=question.asks)}
    for place in chosen:
        # Neighbours that raised the score: a question before it, or lines with other query words.
        helped = [
            documents[other].first
            for other in beside.get(place, ())
            if (place in given and other in asking) or {*matched(other)}.difference(matched(place))
        ]
        document = documents[place]
        found = meaning.get(rows[place], {})
        likeness = max(found.values(), default=None)
        reasons = _reasons(question, document, matched(place), likeness, helped)
        passage = best_passage(texts[place], found, worth, roots)
        fits = place in bears or place in filling
        hits.append(Hit(document, scores[place], reasons, fits, passage, place in filling))
    return hits


def _probable(
    question: RecallQuery,
    documents: Sequence[Document],
    shares: Mapping[int, float],
    scores: Sequence[float],
    content: Sequence[float],
    *,
    asker: Person | None,
) -> Mapping[int, float]:
    """Return how probable it is that an answer in a talk can use each memory, by place.

    Args:
        shares: The share of the query's terms in each memory that is judged, by place.
    """
    middle = median(content)
    upper = split([scores[place] for place in shares])
    known = telling_terms(question.text)
    terms = number_of_words(question.terms)
    probable = dict[int, float]()
    for place, share in shares.items():
        document = documents[place]
        signals = Signals(
            above=content[place] - middle,
            share=share,
            heard=concerns_agent(document),
            by_asker=asker is not None and document.is_by(asker),
            new_words=new_words(document, known),
            terms=terms,
            upper=scores[place] >= upper,
        )
        probable[place] = signals.probability()
    return probable


def _filling(
    question: RecallQuery,
    probable: Mapping[int, float],
    documents: Sequence[Document],
    lines: Sequence[int],
    bears: Collection[int],
) -> set[int]:
    """Return the memories that bear, too, if useful ones are to be expected in several talks.

    Args:
        probable: How probable it is that an answer can use each, by place.
        lines: The places of all memories.
        bears: The places of what bears by itself.
    """
    found = [(documents[place].time, each) for place, each in probable.items()]
    several = question.asks and other_talks(found) >= SEVERAL
    return {*lines}.difference(bears) if several else set()


def _weight(terms: Sequence[str], worth: Mapping[str, float]) -> float:
    """Return the share of some of a query's terms in all of them, each weighed by its worth."""
    return sum(worth[term] for term in terms) / (sum(worth.values()) or 1.0)


def _asking(documents: Sequence[Document]) -> set[int]:
    """Return the places of the memories that end with a question."""
    return {
        place
        for place, each in enumerate(documents)
        if each.kind is DocumentKind.MEMORY and is_question(each.text)
    }


def _given_to_answers(
    scores: Sequence[float],
    documents: Sequence[Document],
    asking: set[int],
    beside: Mapping[int, Sequence[int]],
    shares: Sequence[float],
) -> dict[int, float]:
    """Return what lines get in addition, because a good question stands before them."""
    return {
        place: _ANSWER * scores[other] * need(documents[other]) * shares[place]
        for other in asking.intersection(beside)
        for place in beside[other]
        if documents[other].first < documents[place].first and scores[other] > 0.0
    }


def _chosen(
    scores: Sequence[float],
    documents: Sequence[Document],
    limit: int,
    kinds: Mapping[DocumentKind, int] | None,
) -> Iterator[int]:
    """Yield the places of the best candidates, best first, as many of each kind as are wanted."""
    left = Counter(kinds or dict.fromkeys(DocumentKind, limit))
    number = 0
    # Among equal scores the later memory comes first, by its number and not by the clock.
    ranks = [(-scores[n], -each.last, each.key, n) for n, each in enumerate(documents)]
    for *_, place in sorted(ranks):
        kind = documents[place].kind
        if (not kinds and number == limit) or not left[kind]:
            continue
        left[kind] -= 1
        number += 1
        yield place


def _matched(question: RecallQuery, documents: Sequence[Document]) -> Callable[[int], list[str]]:
    """Return a cached function from a place to the question's terms in its document."""
    roots = {term: stem(term) for term in question.terms}

    def matched(place: int) -> list[str]:
        """Return the terms in a document, without stop words of its own language."""
        document = documents[place]
        language = language_of(document.said or document.text)
        found = terms_in(f"{document.text} {document.title}", roots, language)
        return saying(found, document.said or document.text)

    return cache(matched)


def _beside(documents: Sequence[Document]) -> Mapping[int, list[int]]:
    """Return the direct neighbours of each memory, by place."""
    beside = defaultdict[int, list[int]](list)
    for run in _runs(documents):
        for one, other in pairwise(run):
            if documents[other].first - documents[one].first == 1:
                beside[one].append(other)
                beside[other].append(one)
    return beside


def _by_signals(
    question: RecallQuery, documents: Sequence[Document], now: datetime, *, unprompted: bool
) -> list[float]:
    """Return the score of each document for people and times of the question, length and age."""
    people = dict.fromkeys(question.names, _SPEAKER)
    times = question.times
    asker = question.asker
    scores = [
        people.get(document.speaker.casefold(), 0.0)
        + (_ASKER if asker is not None and document.is_by(asker) else 0.0)
        + (_TIME if times and any(a <= document.time < b for a, b in times) else 0.0)
        + _LENGTH[min(int(length_in_words(document.text)), _FULL_LINE)]
        for document in documents
    ]
    if unprompted:
        moment = now.timestamp()
        latest = moment
        for place in sorted(range(len(documents)), key=lambda n: -documents[n].last):
            # A clock may be set back: no memory counts as newer than a later one.
            document = documents[place]
            latest = min(latest if document.last else moment, document.time.timestamp())
            scores[place] += _RECENT * 2.0 ** -max((moment - latest) / _HALF_LIFE, 0.0)
    return scores


def _content(
    question: RecallQuery,
    documents: Sequence[Document],
    by_words: Sequence[float],
    by_meaning: Sequence[float],
) -> list[float]:
    """Return what words, meaning and a named time give each document, whoever spoke."""
    times = question.times
    return [
        _WORDS * worded
        + meant
        + (_TIME if times and any(a <= document.time < b for a, b in times) else 0.0)
        for document, worded, meant in zip(documents, by_words, by_meaning, strict=True)
    ]


def _by_words(
    worth: Mapping[str, float],
    found: Mapping[int, float],
    rows: Sequence[int],
    matched: Callable[[int], Sequence[str]],
    beside: Mapping[int, Sequence[int]],
) -> list[float]:
    """Return BM25 scores as shares of a full match, which is estimated from the best ones."""
    whole = 0.0
    held = 0.0
    places = {row: place for place, row in enumerate(rows)}
    for row in islice((row for row in found if row in places), _CALIBRATION):
        whole += found[row]
        here = (places[row], *beside.get(places[row], ()))
        held += sum(worth[term] for term in {term for place in here for term in matched(place)})
    share = held / sum(worth.values()) / whole if whole > 0.0 and held > 0.0 else 0.0
    return [found.get(row, 0.0) * share for row in rows]


def _by_meaning(
    known: Sequence[Mapping[int, float]],
    documents: Sequence[Document],
    texts: Sequence[Sequence[str]],
) -> list[float]:
    """Return z-scores of the similarities, each averaged with those of what is near.

    A talk is a sequence of passages: a short line is one, a long one several. What is near a
    passage are the passages before and after it, of its own text or of the next lines. So a long
    text does not win by one passage of many that is like the question by chance. A memory has the
    value of its best passage, less what the best of so many has by chance.

    Args:
        known: The similarities of passages by their number, by place.
        texts: The passages of each document, by place.
    """
    if not any(known):  # searched by words alone
        return [0.0] * len(documents)
    lowest = min(like for each in known for like in each.values())
    values = [max(each.values(), default=lowest) for each in known]
    _, by_chance = _spread(values)
    for run in _runs(documents):
        places = list[int]()
        steps = list[int]()  # where each passage is in the talk
        likes = list[float]()
        before = run[0]
        for place in run:
            away = documents[place].first - documents[before].first
            start = steps[-1] + away if steps else 0
            before = place
            for number in range(len(texts[place])):
                places.append(place)
                steps.append(start + number)
                likes.append(known[place].get(number, lowest))
        averaged = _averaged(likes, steps)
        for place in run:
            values[place] = -math.inf
        for place, value in zip(places, averaged, strict=True):
            values[place] = max(values[place], value)
    values = less_chance(values, texts, by_chance)
    middle, spread = _spread(values)
    return [(value - middle) / spread if spread else 0.0 for value in values]


def _spread(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation."""
    number = max(len(values), 1)
    middle = math.fsum(values) / number
    return middle, math.dist(values, [middle] * len(values)) / math.sqrt(number)


def _averaged(likes: Sequence[float], steps: Sequence[int]) -> list[float]:
    """Return values averaged with those near them; ``steps`` are their places in a talk."""
    totals = [*likes]
    whole = [1.0] * len(likes)
    for one, step in enumerate(steps):
        for other in range(one + 1, min(one + 1 + _REACH, len(steps))):
            distance = steps[other] - step
            if distance > _REACH:
                break
            part = _NEARBY * (1.0 - (distance - 1) / _REACH)
            totals[one] += part * likes[other]
            totals[other] += part * likes[one]
            whole[one] += part
            whole[other] += part
    return list(map(truediv, totals, whole))


def _runs(documents: Sequence[Document]) -> Iterator[list[int]]:
    """Yield the places of memories of one scene that are near each other, in order."""
    memories = [(d.first, n) for n, d in enumerate(documents) if d.kind is DocumentKind.MEMORY]
    run = list[int]()
    for number, place in sorted(memories):
        document = documents[place]
        if run:
            last = documents[run[-1]]
            if number - last.first > _REACH or abs(document.time - last.time) > SAME_SCENE:
                yield run
                run = []
        run.append(place)
    if run:
        yield run


def _reasons(
    question: RecallQuery,
    document: Document,
    matched: Sequence[str],
    likeness: float | None,
    helped: Sequence[int],
) -> tuple[str, ...]:
    """Return the reasons why a candidate was found, for people to read."""
    speaker = document.speaker.casefold()
    found = [f"{BY_WORDS}{', '.join(matched)}"] if matched else []
    asker = question.asker
    if speaker in question.names or (asker is not None and document.is_by(asker)):
        found.append(f"said by {document.speaker}")
    if any(start <= document.time < end for start, end in question.times):
        found.append(f"{document.time.astimezone():%-d %B %Y}")
    if likeness is not None:
        found.append(f"meaning {likeness:.2f}")
    found += [f"next to memory {number}" for number in helped[:1]]
    return tuple(found)
