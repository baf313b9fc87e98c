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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise
from operator import truediv

from keepsake.language.words import stem
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.query import RecallQuery, stemmed, stems
from keepsake.recall.times import tells_when

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
    scene: bool = False,
    weights: Weights = Weights(),
    agent: str = "",
) -> list[Hit]:
    """The ``limit`` best candidates, best first, each with the reasons for its place.

    What ``agent`` said itself counts for less; without a name nobody is the agent.
    """
    judge = _Judge(question, found, now, scene, weights)
    scores = judge.scores()
    for place in judge.telling_when(scores):
        scores[place] += weights.when
    for place in _said_by(agent, found.documents.values()) if agent else ():
        scores[place] -= weights.own
    given = judge.gifts(scores)
    for place, gift in given.items():
        scores[place] += gift
    return [
        Hit(document, scores[place], judge.reasons(place, given.get(place, 0.0)))
        for place, document in judge.best(scores, limit)
    ]


def _said_by(agent: str, documents: Iterable[Document]) -> list[int]:
    """Places of what the agent said itself."""
    return [
        place
        for place, document in enumerate(documents)
        if document.speaker == agent
        and document.kind is DocumentKind.MEMORY
        and _SPEECH.match(document.text)
    ]


class _Judge:
    """Scores the candidates of one search, which it knows by their places."""

    def __init__(
        self, question: RecallQuery, found: Candidates, now: datetime, scene: bool, weights: Weights
    ) -> None:
        self._question, self._found, self._now = question, found, now
        self._scene, self._weights = scene, weights
        self._keys, self._documents = list(found.documents), list(found.documents.values())
        self._times = [document.time.timestamp() for document in self._documents]
        self._said = [each.stemmed or stemmed(each.text, each.title) for each in self._documents]
        self._asking = {
            place for place, each in enumerate(self._documents) if "?" in each.text and _asks(each)
        }
        self._wanted, self._names = _wanted(question.terms), _parts(question.names)
        self._beside: dict[int, list[int]] = {}
        # Meaning first: it finds who stands beside whom, by which the words are shared out.
        self._meaning = standard(self._in_context(found.meaning or {}))
        self._words = self._shares(found.words or {})

    def scores(self) -> list[float]:
        """What speaks for each candidate by itself."""
        question, weights, words = self._question, self._weights, self._words
        by_words, by_meaning, full = weights.words, weights.meaning, weights.full
        signals = self._signals if question.asker or question.names or question.times else None
        asking = frozenset() if self._scene else self._asking
        recent = weights.recent_scene if self._scene else weights.recent
        now, life = self._now.timestamp(), weights.half_life.total_seconds()
        found: list[float] = []
        rows = zip(self._keys, self._documents, self._meaning, self._times, strict=True)
        for place, (key, document, meaning, time) in enumerate(rows):
            total = by_words * words.get(key, 0.0) + by_meaning * meaning
            if signals:
                total += signals(document, self._said[place])
            length = document.text.count(" ") + 1
            total += full * (length / _FULL_LINE if length < _FULL_LINE else 1.0)
            if place in asking:
                total -= weights.asking
            halvings = (now - time) / life
            total += recent * 2.0**-halvings if halvings > 0.0 else recent
            found.append(total)
        return found

    def _signals(self, document: Document, said: str) -> float:
        """What people, places and times that the question names speak for it."""
        question, weights = self._question, self._weights
        speaker, person = document.speaker.casefold(), 0.0
        for name, parts in self._names:
            if speaker == name:
                person += weights.speaker
            elif all(map(said.__contains__, parts)):
                person += weights.named
        total = weights.asker + person if question.asker and speaker == question.asker else person
        if question.names and document.place and document.place.casefold() in question.names:
            total += weights.place
        if question.times and self._is_of_then(document):
            total += weights.time
        return total

    def telling_when(self, scores: Sequence[float]) -> list[int]:
        """Which of the best name a time, if one is asked for; the others stay where they are."""
        if not self._question.when or self._scene:
            return []
        best = heapq.nlargest(_MAY_TELL, range(len(scores)), key=scores.__getitem__)
        return [place for place in best if tells_when(self._documents[place].text)]

    def gifts(self, scores: Sequence[float]) -> dict[int, float]:
        """What each raw memory gets from a line before it that asks."""
        documents = self._documents
        return {
            place: self._weights.answer * scores[other]
            for other in self._asking.intersection(self._beside)
            for place in self._beside[other]
            if documents[other].first < documents[place].first and scores[other] > 0.0
        }

    def best(self, scores: Sequence[float], limit: int) -> list[tuple[int, Document]]:
        """The ``limit`` best with their places, best first; of equal ones by their keys."""
        least = min(heapq.nlargest(limit, scores), default=0.0)
        found = [
            (-score, self._keys[place], place)
            for place, score in enumerate(scores)
            if score >= least
        ]
        return [(place, self._documents[place]) for _, _, place in sorted(found)[:limit]]

    def reasons(self, place: int, given: float) -> tuple[str, ...]:
        """Why a candidate was found, for people."""
        document, question = self._documents[place], self._question
        matched = self._matched(place)
        found = [f"words: {', '.join(matched)}"] if matched else []
        near = (self._found.meaning or {}).get(self._keys[place])
        if near is not None:
            found.append(f"meaning {near:.2f}")
        speaker = document.speaker.casefold()
        if speaker and (speaker in question.names or speaker == question.asker):
            found.append(f"said by {document.speaker}")
        if document.place and document.place.casefold() in question.names:
            found.append(f"at {document.place}")
        if self._is_of_then(document):
            found.append(f"{document.time.day} {document.time:%B %Y}")
        for other in self._beside.get(place, ()):
            # The neighbour that helped: it asked for this, or holds words that this lacks.
            if (given and other in self._asking) or not set(matched).issuperset(
                self._matched(other)
            ):
                found.append(f"next to memory {self._documents[other].first}")
                break
        return tuple(found)

    def _matched(self, place: int) -> list[str]:
        """The question's words that stand in the text itself."""
        said = self._said[place]
        pairs = zip(self._question.terms, self._wanted, strict=True)
        return [term for term, wanted in pairs if _holds(said, wanted)]

    def _shares(self, found: Mapping[str, float]) -> dict[str, float]:
        """BM25 as a share of a full match: the best ones tell what their part of it is worth."""
        places = {key: place for place, key in enumerate(self._keys)}
        best = [*islice((key for key in found if key in places), _CALIBRATION)]
        whole = sum(found[key] for key in best)
        held, worths = 0.0, list(zip(self._worths(), self._wanted, strict=True)) if best else []
        for place in map(places.__getitem__, best):
            said = "".join(self._said[each] for each in (place, *self._beside.get(place, ())))
            held += sum(worth for worth, wanted in worths if _holds(said, wanted))
        if whole <= 0.0 or held <= 0.0:
            return {}
        return {key: score * held / whole for key, score in found.items()}

    def _worths(self) -> list[float]:
        """What each term is worth: one rarer among the candidates more; 1 in all."""
        held = len(self._said)
        worths = [math.log((held + 1.0) / (_count(w, self._said) + 0.5)) for w in self._wanted]
        whole = sum(worths) or 1.0
        return [worth / whole for worth in worths]

    def _in_context(self, meaning: Mapping[str, float]) -> list[float]:
        """The likeness of each candidate, averaged with that of its neighbours in the scene."""
        lowest = min(meaning.values(), default=0.0)
        parts = [self._weights.nearby * (1.0 - (n - 1) / _REACH) for n in range(_REACH + 1)]
        found = [meaning.get(key, lowest) for key in self._keys]
        totals, whole = found.copy(), [1.0] * len(found)
        for one, other, distance in _near(self._documents, self._times):
            part = parts[distance]
            totals[one] += part * found[other]
            totals[other] += part * found[one]
            whole[one] += part
            whole[other] += part
            if distance == 1:
                self._beside.setdefault(one, []).append(other)
                self._beside.setdefault(other, []).append(one)
        return list(map(truediv, totals, whole))

    def _is_of_then(self, document: Document) -> bool:
        """Whether it was lived at a time that the question names."""
        return any(span.holds(document.time) for span in self._question.times)


@lru_cache(maxsize=256)  # several searches for one question
def _wanted(terms: tuple[str, ...]) -> list[list[str]]:
    """The stem of each term, between blanks as texts hold it."""
    return [[f" {stem(term)} "] for term in terms]


@lru_cache(maxsize=256)
def _parts(names: tuple[str, ...]) -> list[tuple[str, list[str]]]:
    """Each name with the stems that a text which holds it has."""
    return [(name, [f" {each} " for each in stems(name)]) for name in names]


def standard(values: Sequence[float]) -> list[float]:
    """Their z-scores."""
    count = max(len(values), 1)
    middle = math.fsum(values) / count
    spread = math.dist(values, [middle] * len(values)) / math.sqrt(count)
    return [(value - middle) / spread if spread else 0.0 for value in values]


def _near(documents: Sequence[Document], times: Sequence[float]) -> Iterator[tuple[int, int, int]]:
    """Places of raw memories near each other in one scene, with their distance."""
    memory = DocumentKind.MEMORY
    places = {each.first: place for place, each in enumerate(documents) if each.kind is memory}
    numbers = sorted(places)
    for after, (number, following) in enumerate(pairwise(numbers), 1):
        if following - number > _REACH:  # as most are, among many memories
            continue
        one = places[number]
        for then in numbers[after : after + _REACH]:
            other = places[then]
            if then - number > _REACH or abs(times[other] - times[one]) > _SAME_SCENE:
                break
            yield one, other, then - number


def _count(wanted: Sequence[str], texts: Sequence[str]) -> int:
    """How many texts hold one of the stems."""
    without = texts
    for each in wanted:
        without = [said for said in without if each not in said]
    return len(texts) - len(without)


def _holds(said: str, wanted: Iterable[str]) -> bool:
    return any(each in said for each in wanted)


def _asks(document: Document) -> bool:
    """Whether a raw memory ends on a question."""
    return document.kind is DocumentKind.MEMORY and document.text.rstrip(' "”’)').endswith("?")
