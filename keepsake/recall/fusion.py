"""How well candidates answer a question: two scores and a few cheap signals, added up.

Meaning is measured by z-score over the union of the candidates, words by the share of a full
match; ranks alone (reciprocal-rank fusion) throw away by how much one candidate is better
than the next, and how good the best one is.
Everything here is pure: no index, no clock.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from operator import truediv

from keepsake.language.perception import stem
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.query import RecallQuery, stemmed, stems, tells_when

_SAME_SCENE = 3 * 3600.0
_REACH = 3
"""So far away a line of the same talk still tells what a line is about."""
_MAY_TELL = 60
"""So many of the best are looked at for a time; to read 300 for it takes 20 ms."""
_FULL_LINE = 15
"""Words from which on a line is not short; "Thank you!" answers nothing."""
_CALIBRATION = 5
"""How many of the best by words tell what a full match would have."""
_SPEECH = re.compile(r"(?:say|whisper|shout|ask) ")


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign is worth, in standard deviations of the likeness of meaning."""

    # BM25 as a share of what a text with all the question's words would have, so that a question of
    # which one common word was found does not go by that word
    words: float = 5.0
    meaning: float = 1.0  # cosine similarity as a z-score over the candidates
    # what the meaning of each neighbour counts in that of a memory; of one further off less, down
    # to a third of it at :data:`_REACH`
    nearby: float = 0.3
    speaker: float = 2.5  # said or done by somebody whom the question names
    asker: float = 8.0  # said by whoever asks about their own life
    named: float = 0.2  # the text itself holds a name of the question
    place: float = 0.4  # lived at a place that the question names
    time: float = 3.5  # lived at a time that the question names
    when: float = 0.75  # for a text that names a time, when one is asked for
    # taken off from what the agent said itself: it may be a model's nonsense, or say again what
    # somebody else said
    own: float = 1.0
    asking: float = 0.8  # taken off from a line that only asks, when a question is to be answered
    full: float = 2.0  # for a line of :data:`_FULL_LINE` words or more, less for a shorter one
    answer: float = 0.1  # part of the score of a line that asks which the next line gets
    recent: float = 0.05  # what the newest memory gets, halved with every ``half_life``
    recent_scene: float = 0.6  # the same for a scene
    half_life: timedelta = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the indexes found, and each one's scores by key; None if it could not be asked."""

    documents: Mapping[str, Document]
    words: Mapping[str, float] | None
    meaning: Mapping[str, float] | None


def rank(
    question: RecallQuery,
    found: Candidates,
    now: datetime,
    *,
    limit: int,
    kinds: Mapping[DocumentKind, int] | None = None,
    scene: bool = False,
    weights: Weights = Weights(),
    agent: str = "",
) -> list[Hit]:
    """The ``limit`` best candidates, best first, each with the reasons for its place.

    ``kinds`` says how many of each kind, in place of ``limit``. What ``agent`` said itself counts
    for less; without a name nobody is the agent.
    """
    pool = _Pool(question, found)
    scores = _scores(pool, now, scene=scene, weights=weights, agent=agent)
    # What a line that asks gives to the line after it.
    given = {
        place: weights.answer * scores[other]
        for other in pool.asking.intersection(pool.beside)
        for place in pool.beside[other]
        if pool.documents[other].first < pool.documents[place].first and scores[other] > 0.0
    }
    for place, gift in given.items():
        scores[place] += gift
    order = sorted(range(len(scores)), key=lambda n: (-scores[n], pool.documents[n].key))
    hits, left = list[Hit](), Counter(kinds or dict.fromkeys(DocumentKind, limit))
    for place in order:
        document = pool.documents[place]
        if (not kinds and len(hits) == limit) or not left[document.kind]:
            continue
        left[document.kind] -= 1
        reasons = pool.reasons(place)
        # The neighbour that helped: it asked for this, or holds words that this lacks.
        told = pool.told(place)
        for other in pool.beside.get(place, ()):
            if (place in given and other in pool.asking) or set(pool.told(other)).difference(told):
                reasons.append(f"next to memory {pool.documents[other].first}")
                break
        hits.append(Hit(document, scores[place], tuple(reasons)))
    return hits


class _Pool:
    """The candidates of one search, known by their places.

    Attributes:
        said: The stems of each.
        near: Raw memories near each other in one scene, with their distance.
        beside: Those next to each.
        asking: Raw memories that end on a question.
        then: Those of a time that the question names.
        wanted: The stems of the question's terms, between blanks.
    """

    def __init__(self, question: RecallQuery, found: Candidates) -> None:
        self.question, self.found, memory = question, found, DocumentKind.MEMORY
        self.documents = list(found.documents.values())
        self.times = [each.time.timestamp() for each in self.documents]
        self.said = [each.stemmed or stemmed(each.text, each.title) for each in self.documents]
        self.wanted = [f" {stem(term)} " for term in question.terms]
        self.near = list[tuple[int, int, int]]()
        self.beside: defaultdict[int, list[int]] = defaultdict(list)
        places = {d.first: n for n, d in enumerate(self.documents) if d.kind is memory}
        for number in sorted(places):
            for step in range(1, _REACH + 1):
                one, other = places[number], places.get(number + step)
                if other is None:
                    continue
                if abs(self.times[other] - self.times[one]) > _SAME_SCENE:
                    break
                self.near.append((one, other, step))
                if step == 1:
                    self.beside[one].append(other)
                    self.beside[other].append(one)
        self.asking = {
            place
            for place in places.values()
            if "?" in (text := self.documents[place].text) and text.rstrip(' "”’)').endswith("?")
        }
        self.then = {
            place
            for span in question.times
            for place, each in enumerate(self.documents)
            if span.start <= each.time < span.end
        }

    def told(self, place: int) -> list[str]:
        """The terms of the question that a candidate holds."""
        pairs = zip(self.question.terms, self.wanted, strict=True)
        return [term for term, stemmed_term in pairs if stemmed_term in self.said[place]]

    def reasons(self, place: int) -> list[str]:
        """Why a candidate was found, for people."""
        document, question = self.documents[place], self.question
        told, speaker = self.told(place), document.speaker.casefold()
        found = [f"words: {', '.join(told)}"] if told else []
        if speaker and (speaker in question.names or speaker == question.asker):
            found.append(f"said by {document.speaker}")
        if document.place and document.place.casefold() in question.names:
            found.append(f"at {document.place}")
        if place in self.then:
            found.append(f"{document.time.day} {document.time:%B %Y}")
        if (likeness := (self.found.meaning or {}).get(document.key)) is not None:
            found.append(f"meaning {likeness:.2f}")
        return found


def _scores(
    pool: _Pool, now: datetime, *, scene: bool, weights: Weights, agent: str
) -> list[float]:
    """The score of each candidate by itself."""
    life, moment = weights.half_life.total_seconds(), now.timestamp()
    recent = weights.recent_scene if scene else weights.recent
    meaning, scores = _by_meaning(pool, weights.nearby), list[float]()
    rows = zip(pool.documents, _by_words(pool), meaning, _by_signs(pool, weights), strict=True)
    for place, (document, words, like, signs) in enumerate(rows):
        score = weights.words * words + weights.meaning * like + signs
        if place in pool.asking and not scene:
            score -= weights.asking
        if agent and document.speaker == agent and _SPEECH.match(document.text):
            score -= weights.own
        score += weights.full * min((document.text.count(" ") + 1) / _FULL_LINE, 1.0)
        score += recent * 2.0 ** -max((moment - pool.times[place]) / life, 0.0)
        scores.append(score)
    if pool.question.when and not scene:
        for place in heapq.nlargest(_MAY_TELL, range(len(scores)), key=scores.__getitem__):
            if tells_when(pool.documents[place].text):
                scores[place] += weights.when
    return scores


def _by_signs(pool: _Pool, weights: Weights) -> Iterator[float]:
    """What people, places and times that the question names speak for each."""
    question = pool.question
    names = [(name, [f" {each} " for each in stems(name)]) for name in question.names]
    for place, document in enumerate(pool.documents):
        speaker, total = document.speaker.casefold(), 0.0
        for name, parts in names:
            if speaker == name:
                total += weights.speaker
            elif all(map(pool.said[place].__contains__, parts)):
                total += weights.named
        if question.asker and speaker == question.asker:
            total += weights.asker
        if document.place and document.place.casefold() in question.names:
            total += weights.place
        yield total + (weights.time if place in pool.then else 0.0)


def _by_words(pool: _Pool) -> list[float]:
    """BM25 as a share of a full match: the best ones tell what their part of it is worth."""
    found, wanted = pool.found.words or {}, pool.wanted
    places = {document.key: place for place, document in enumerate(pool.documents)}
    best = [*islice((key for key in found if key in places), _CALIBRATION)]
    # What each term is worth: one rarer among the candidates more; 1 in all.
    counts = [sum(term in each for each in pool.said) for term in wanted]
    worths = [math.log((len(pool.said) + 1.0) / (count + 0.5)) for count in counts]
    all_worth, whole, held = sum(worths) or 1.0, sum(found[key] for key in best), 0.0
    for place in map(places.__getitem__, best):
        told = "".join(pool.said[each] for each in (place, *pool.beside.get(place, ())))
        held += sum(w / all_worth for w, term in zip(worths, wanted, strict=True) if term in told)
    share = held / whole if whole > 0.0 and held > 0.0 else 0.0
    return [found.get(key, 0.0) * share for key in places]


def _by_meaning(pool: _Pool, nearby: float) -> list[float]:
    """Z-scores of the likeness of each candidate, averaged with its neighbours in the scene."""
    likeness = pool.found.meaning or {}
    lowest = min((likeness[d.key] for d in pool.documents if d.key in likeness), default=0.0)
    found = [likeness.get(document.key, lowest) for document in pool.documents]
    totals, whole = found.copy(), [1.0] * len(found)
    for one, other, distance in pool.near:
        part = nearby * (1.0 - (distance - 1) / _REACH)
        totals[one] += part * found[other]
        totals[other] += part * found[one]
        whole[one] += part
        whole[other] += part
    values = list(map(truediv, totals, whole))
    middle = math.fsum(values) / max(len(values), 1)
    spread = math.dist(values, [middle] * len(values)) / math.sqrt(max(len(values), 1))
    return [(value - middle) / spread if spread else 0.0 for value in values]
