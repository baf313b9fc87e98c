"""Ranks candidates for a question: two scores and a few cheap signals, added up.

The score of meaning is a z-score over all candidates, the score of words a share of a full match.
Ranks alone (reciprocal-rank fusion) would lose how much better one candidate is than the next, and
how good the best one is.
Everything here is pure: no index, no clock.
"""

from __future__ import annotations

import heapq
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from operator import add, neg, truediv
from statistics import median
from typing import overload

from keepsake.happening import Person
from keepsake.language.languages import number_of_words, telling_terms
from keepsake.recall.candidates import REACH, CandidateList
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.floor import bearing, noise, split
from keepsake.recall.long_texts import best_passage, by_passages
from keepsake.recall.query import RecallQuery, mentions_time
from keepsake.recall.usefulness import (
    ENOUGH,
    JUDGED,
    SEVERAL,
    USEFUL,
    Signals,
    new_words,
    other_talks,
)
from keepsake.recall.word_vectors import Likeness, ScoreParts, corrections

BY_WORDS = "words: "
"""The prefix of a reason that lists the question's words in a document."""
_MAY_TELL = 60
"""The number of best candidates that are searched for a time; to search 300 takes 20 ms."""
_CALIBRATION = 5
"""The number of best candidates by words from which the score of a full match is estimated."""


# -- the weight of each signal, in standard deviations of the similarity of meaning

_WORDS = 5.0
"""For a full match by words. Others get their BM25 as a share of that of a full match, so a single
common word counts for little."""
_NEARBY = 0.3
"""The weight of a direct neighbour's meaning in that of a memory. It falls with the distance, to a
third at :data:`REACH`."""
_PARTS = [0.0, *(_NEARBY * (1.0 - (distance - 1) / REACH) for distance in range(1, REACH + 1))]
"""The weight of another passage's meaning by its distance."""
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
"""For a line that is not short; less for a shorter one."""
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
    alike: Likeness | None = None,
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
        alike: How like the question's words those of memories are; None if that is unknown.
        kinds: The most hits of each kind, in place of ``limit``.
        unprompted: Whether the query is a scene, as nobody asked: recent memories score higher.
        agent: The agent, whose own words score lower; empty for none.
        asker: Who said the text; None if nobody did.
        sparing: Whether only memories bear that an answer in a talk can use.
        fills: Whether all memories bear on a question whose answer stands in several talks.
    """
    among = CandidateList(question, candidates, meaning, agent)
    worth = {t: worths.get(t, 1.0) for t in question.terms}
    by_words = _by_words(among, words, worth, has_meaning=bool(meaning))
    by_meaning = _by_meaning(among)
    content = _content(among, by_words, by_meaning)
    scores = _by_signals(among, now, unprompted=unprompted)
    for place, row in enumerate(among.rows):
        scores[place] += _WORDS * by_words[place] + by_meaning[place]
        if row in linked:
            scores[place] += _LINKED * among.traits[place].share
    _take_off(among, scores, agent, unprompted=unprompted)
    if question.when and not unprompted:
        _give_for_times(among, scores)
    given = _given_to_answers(among, scores)
    for place, gift in given.items():
        scores[place] += gift
    scores = _corrected(among, scores, by_words, by_meaning, alike or {})
    chosen = _chosen(scores, among.documents, limit, kinds)
    lines = [place for place in chosen if among.documents[place].kind is DocumentKind.MEMORY]
    filling = set[int]()
    if sparing and meaning and len(scores) >= ENOUGH:
        shares = {place: _weight(among.matched(place), worth) for place in lines[:JUDGED]}
        probable = _probable(among, shares, scores, content, asker=asker)
        bears = _used(chosen, lines, probable, content)
        filling.update(_filling(among, probable, lines, bears) if fills else ())
    else:
        bears = {*bearing(chosen, lines, scores, content, asks=question.asks)}
    return [
        Hit(
            among.documents[place],
            scores[place],
            Reasons(among, place, given),
            place in bears or place in filling,
            best_passage(among.traits[place].texts, among.likes[place], worth, among.roots),
            place in filling,
        )
        for place in chosen
    ]


class Reasons(Sequence[str]):
    """The reasons why a candidate was found, for people to read; found when they are read.

    Args:
        among: The candidates.
        place: Which of them it is.
        given: The places of those that got something for a question before them.
    """

    def __init__(self, among: CandidateList, place: int, given: Collection[int]) -> None:
        self._among = among
        self._place = place
        self._given = given

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return repr(self._all)

    @cached_property
    def _all(self) -> tuple[str, ...]:
        among = self._among
        question = among.question
        document = among.documents[self._place]
        matched = among.matched(self._place)
        found = [f"{BY_WORDS}{', '.join(matched)}"] if matched else []
        asker = question.asker
        is_named = among.traits[self._place].speaker in question.names
        if is_named or (asker is not None and document.is_by(asker)):
            found.append(f"said by {document.speaker}")
        if any(start <= document.time < end for start, end in question.times):
            found.append(f"{document.time.astimezone():%-d %B %Y}")
        if likes := among.likes[self._place]:
            found.append(f"meaning {max(likes.values()):.2f}")
        helped = (other for other in among.beside.get(self._place, ()) if self._is_helped_by(other))
        if (first := next(helped, None)) is not None:
            found.append(f"next to memory {among.documents[first].first}")
        return tuple(found)

    def _is_helped_by(self, other: int) -> bool:
        """Whether a neighbour raised the score: a question before it, or other words asked for."""
        if self._place in self._given and self._among.traits[other].asks:
            return True
        own = self._among.matched(self._place)
        return any(term not in own for term in self._among.matched(other))


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
    middle, spread = _spread(known)
    parts = [
        ScoreParts(
            words=words,
            meaning=meaning,
            length=_FULL * own.length,
            alike=0.0 if like is None else (like - middle) / (spread or 1.0),
        )
        for own, words, meaning, like in zip(
            among.traits, by_words, by_meaning, likenesses, strict=True
        )
    ]
    return [*map(add, scores, corrections(parts))]


def _probable(
    among: CandidateList,
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
    known = telling_terms(among.question.text)
    terms = number_of_words(among.question.terms)
    probable = dict[int, float]()
    for place, share in shares.items():
        document = among.documents[place]
        signals = Signals(
            above=content[place] - middle,
            share=share,
            heard=among.traits[place].heard,
            by_asker=asker is not None and document.is_by(asker),
            new_words=new_words(document, known),
            terms=terms,
            upper=scores[place] >= upper,
        )
        probable[place] = signals.probability()
    return probable


def _used(
    chosen: Sequence[int],
    lines: Sequence[int],
    probable: Mapping[int, float],
    content: Sequence[float],
) -> set[int]:
    """Return which of the chosen places an answer in a talk can probably use.

    Args:
        lines: Those of them that are memories.
        probable: How probable it is that an answer can use each memory, by place.
        content: What words, meaning and time give each candidate.
    """
    least = noise(content)
    bears = {place for place in {*chosen}.difference(lines) if content[place] >= least}
    bears.update(place for place, each in probable.items() if each >= USEFUL)
    return bears


def _filling(
    among: CandidateList,
    probable: Mapping[int, float],
    lines: Sequence[int],
    bears: Collection[int],
) -> set[int]:
    """Return the memories that bear, too, if useful ones are to be expected in several talks.

    Args:
        probable: How probable it is that an answer can use each, by place.
        lines: The places of all memories.
        bears: The places of what bears by itself.
    """
    found = [(among.documents[place].time, each) for place, each in probable.items()]
    several = among.question.asks and other_talks(found) >= SEVERAL
    return {*lines}.difference(bears) if several else set()


def _weight(terms: Sequence[str], worth: Mapping[str, float]) -> float:
    """Return the share of some of a query's terms in all of them, each weighed by its worth."""
    return sum(worth[term] for term in terms) / (sum(worth.values()) or 1.0)


def _take_off(among: CandidateList, scores: list[float], agent: str, *, unprompted: bool) -> None:
    """Lower the scores of lines that only ask, and of the agent's own speech."""
    for place, (document, own) in enumerate(zip(among.documents, among.traits, strict=True)):
        if own.asks and not unprompted:
            scores[place] -= _ASKING * own.need
        if document.speaker == agent and agent and document.said:
            scores[place] -= _OWN


def _give_for_times(among: CandidateList, scores: list[float]) -> None:
    """Raise the scores of the best candidates that name a time."""
    for place in heapq.nlargest(_MAY_TELL, range(len(scores)), key=scores.__getitem__):
        if mentions_time(among.documents[place].text):
            scores[place] += _WHEN * among.traits[place].share


def _given_to_answers(among: CandidateList, scores: Sequence[float]) -> dict[int, float]:
    """Return what lines get in addition, because a good question stands before them."""
    documents = among.documents
    traits = among.traits
    return {
        place: _ANSWER * scores[other] * traits[other].need * traits[place].share
        for other, near in among.beside.items()
        if traits[other].asks and scores[other] > 0.0
        for place in near
        if documents[other].first < documents[place].first
    }


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


def _by_signals(among: CandidateList, now: datetime, *, unprompted: bool) -> list[float]:
    """Return the score of each document for people and times of the question, length and age."""
    question = among.question
    documents = among.documents
    people = dict.fromkeys(question.names, _SPEAKER)
    times = question.times
    asker = question.asker
    scores = [
        people.get(own.speaker, 0.0)
        + (_ASKER if asker is not None and document.is_by(asker) else 0.0)
        + (_TIME if times and any(a <= document.time < b for a, b in times) else 0.0)
        + _FULL * own.length
        for document, own in zip(documents, among.traits, strict=True)
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
    among: CandidateList, by_words: Sequence[float], by_meaning: Sequence[float]
) -> list[float]:
    """Return what words, meaning and a named time give each document, whoever spoke."""
    times = among.question.times
    content = [_WORDS * worded + meant for worded, meant in zip(by_words, by_meaning, strict=True)]
    for place, document in enumerate(among.documents if times else ()):
        if any(a <= document.time < b for a, b in times):
            content[place] += _TIME
    return content


def _by_words(
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


def _by_meaning(among: CandidateList) -> list[float]:
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
    _, by_chance = _spread(values)
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
    middle, spread = _spread(values)
    return [(value - middle) / spread for value in values] if spread else [0.0] * len(values)


def _spread(values: Sequence[float]) -> tuple[float, float]:
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


# -- one ranking of several searches

MOST_PARTS = 4
"""The most parts of a question. Each is a search of some hundredths of a second."""
_EVEN = 10
"""How slowly a result's weight falls with its rank: the tenth weighs half of the first. With 60, as
is usual for lists of thousands, the first would weigh hardly more than the tenth."""


def fused[K: Hashable](rankings: Sequence[Sequence[K]]) -> list[K]:
    """Return the items of several rankings in one, best first; of equals the one found first.

    An item has the sum of what its ranks are worth (reciprocal-rank fusion), because scores of
    different questions cannot be compared.
    """
    worth = defaultdict[K, float](float)
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking)):
            worth[item] += 1.0 / (_EVEN + rank)
    return sorted(worth, key=lambda item: -worth[item])


def picked_first[K: Hashable](
    picked: Sequence[K], found: Sequence[K], shown: int, further: Sequence[Sequence[K]]
) -> list[K]:
    """Return one ranking: what somebody picked among what was found, then all else.

    Further searches bring only what was not shown: of the rest, the reader has thought less. What
    was found keeps its order beside them, so that a reader who picks little loses little.

    Args:
        picked: What was picked, the most important first.
        found: The ranking that was read, best first.
        shown: How many of it were read.
        further: The rankings of the further searches.
    """
    first = dict.fromkeys(picked)
    read = {*first, *found[:shown]}
    new = [[each for each in ranking if each not in read] for ranking in further]
    rest = [each for each in found if each not in first]
    return [*first, *fused([rest, *new])]
