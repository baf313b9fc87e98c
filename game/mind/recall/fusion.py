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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import repeat
from operator import contains

from game.mind.books.noticing import promises
from game.mind.language.times import tells_when
from game.mind.recall.documents import Document, DocumentKind, Hit
from game.mind.recall.query import RecallQuery, family, stems

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
    # taken off from what the agent said itself, unless it promised something: it may be a model's
    # nonsense, or say again what somebody else said
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
    for key in judge.telling_when(scores):
        scores[key] += weights.when
    for key in _said_by(agent, found.documents) if agent else ():
        scores[key] -= weights.own
    given = judge.gifts(scores)
    for key, gift in given.items():
        scores[key] += gift
    best = heapq.nsmallest(limit, scores, key=lambda key: (-scores[key], key))
    return [
        Hit(found.documents[key], scores[key], judge.reasons(key, given.get(key, 0.0)))
        for key in best
    ]


def standard(scores: Mapping[str, float], keys: Iterable[str]) -> dict[str, float]:
    """Z-scores over ``keys``; one without a score counts as the lowest found."""
    lowest = min(scores.values(), default=0.0)
    values = {key: scores.get(key, lowest) for key in keys}
    middle = math.fsum(values.values()) / max(len(values), 1)
    spread = math.dist([*values.values()], [middle] * len(values)) / math.sqrt(max(len(values), 1))
    if spread == 0.0:
        return dict.fromkeys(values, 0.0)
    return {key: (value - middle) / spread for key, value in values.items()}


def stemmed(document: Document) -> str:
    """The stems of a document's words, each between blanks.

    As an index keeps them; else the last few thousand are remembered.
    """
    return document.stemmed or _stemmed(document.text, document.title)


@lru_cache(maxsize=4096)
def _stemmed(text: str, title: str) -> str:
    return between_blanks(stems(f"{text} {title}"))


def between_blanks(found: Iterable[str]) -> str:
    """Stems as :attr:`Document.stemmed` holds them: one is looked for with its blanks."""
    return f" {' '.join(sorted(found))} "


def _said_by(agent: str, documents: Mapping[str, Document]) -> frozenset[str]:
    """Keys of what the agent said itself and promised nothing with."""
    return frozenset(
        key
        for key, document in documents.items()
        if document.kind is DocumentKind.MEMORY
        and document.speaker == agent
        and _SPEECH.match(document.text)
        and not promises(document.text)
    )


class _Judge:
    """Scores the candidates of one search."""

    def __init__(
        self, question: RecallQuery, found: Candidates, now: datetime, scene: bool, weights: Weights
    ) -> None:
        self._question, self._found, self._now = question, found, now
        self._scene, self._weights = scene, weights
        documents = found.documents
        self._times = {key: document.time.timestamp() for key, document in documents.items()}
        self._said = {key: stemmed(document) for key, document in documents.items()}
        self._asking = {key for key, document in documents.items() if _asks(document)}
        self._wanted = [[f" {each} " for each in family(term)] for term in question.terms]
        self._names = [(name, [f" {n} " for n in stems(name)]) for name in question.names]
        self._beside: dict[str, list[str]] = {}
        # Meaning first: it finds who stands beside whom, by which the words are shared out.
        self._meaning = standard(self._in_context(found.meaning or {}), documents)
        self._words = self._shares(found.words or {})

    def scores(self) -> dict[str, float]:
        """What speaks for each candidate by itself."""
        question, weights, words = self._question, self._weights, self._words
        aside = bool(question.asker or question.names or question.times)
        asking = frozenset() if self._scene else self._asking
        recent = weights.recent_scene if self._scene else weights.recent
        now, life = self._now.timestamp(), weights.half_life.total_seconds()
        found: dict[str, float] = {}
        for key, document in self._found.documents.items():
            total = weights.words * words.get(key, 0.0) + weights.meaning * self._meaning[key]
            if aside:
                total += self._signals(key, document)
            length = document.text.count(" ") + 1
            total += weights.full * (length / _FULL_LINE if length < _FULL_LINE else 1.0)
            if key in asking:
                total -= weights.asking
            halvings = (now - self._times[key]) / life
            total += recent * 2.0**-halvings if halvings > 0.0 else recent
            found[key] = total
        return found

    def _signals(self, key: str, document: Document) -> float:
        """What people, places and times that the question names speak for it."""
        question, weights, total = self._question, self._weights, 0.0
        if question.asker and document.speaker.casefold() == question.asker:
            total += weights.asker
        if question.names:
            total += self._person(document, self._said[key])
            if document.place and document.place.casefold() in question.names:
                total += weights.place
        if question.times:
            total += weights.time * bool(self._time(document))
        return total

    def telling_when(self, scores: Mapping[str, float]) -> list[str]:
        """Which of the best name a time, if one is asked for; the others stay where they are."""
        if not self._question.when or self._scene:
            return []
        best = heapq.nlargest(_MAY_TELL, scores, key=scores.__getitem__)
        return [key for key in best if tells_when(self._found.documents[key].text)]

    def gifts(self, scores: Mapping[str, float]) -> dict[str, float]:
        """What each raw memory gets from a line before it that asks."""
        documents = self._found.documents
        return {
            key: self._weights.answer * scores[other]
            for key, beside in self._beside.items()
            for other in self._asking.intersection(beside)
            if documents[other].first < documents[key].first and scores[other] > 0.0
        }

    def reasons(self, key: str, given: float) -> tuple[str, ...]:
        """Why a candidate was found, for people."""
        document, question = self._found.documents[key], self._question
        found = []
        if matched := self._matched(key):
            found.append(f"words: {', '.join(matched)}")
        if self._found.meaning and key in self._found.meaning:
            found.append(f"meaning {self._found.meaning[key]:.2f}")
        if document.speaker.casefold() in {*question.names, question.asker} - {""}:
            found.append(f"said by {document.speaker}")
        if document.place and document.place.casefold() in question.names:
            found.append(f"at {document.place}")
        found += [self._time(document), self._near(key, given)]
        return tuple(filter(None, found))

    def _near(self, key: str, given: float) -> str:
        """The neighbour that helped, if one did: it answers, or holds words that this lacks."""
        own = set(self._matched(key))
        for other in self._beside.get(key, ()):
            number = self._found.documents[other].first
            if set(self._matched(other)) - own or (given and other in self._asking):
                return f"next to memory {number}"
        return ""

    def _matched(self, key: str) -> list[str]:
        """The question's words that stand in the text itself."""
        said = self._said[key]
        pairs = zip(self._question.terms, self._wanted, strict=True)
        return [term for term, wanted in pairs if _holds(said, wanted)]

    def _shares(self, found: Mapping[str, float]) -> dict[str, float]:
        """BM25 as a share of a full match: the best ones tell what their part of it is worth."""
        best = [key for key in found if key in self._found.documents][:_CALIBRATION]
        whole = sum(found[key] for key in best)
        held, worths = 0.0, list(zip(self._worths(), self._wanted, strict=True))
        for key in best:
            said = "".join(self._said[each] for each in (key, *self._beside.get(key, ())))
            held += sum(worth for worth, wanted in worths if _holds(said, wanted))
        if whole <= 0.0 or held <= 0.0:
            return {}
        return {key: score * held / whole for key, score in found.items()}

    def _worths(self) -> list[float]:
        """What each term is worth: one rarer among the candidates more; 1 in all."""
        texts = self._said.values()
        holding = [_count(each, texts) for each in self._wanted]
        worths = [math.log((len(texts) + 1.0) / (count + 0.5)) for count in holding]
        whole = sum(worths) or 1.0
        return [worth / whole for worth in worths]

    def _in_context(self, meaning: Mapping[str, float]) -> dict[str, float]:
        """The likeness of each candidate, averaged with that of its neighbours in the scene."""
        lowest = min(meaning.values(), default=0.0)
        parts = [self._weights.nearby * (1.0 - (n - 1) / _REACH) for n in range(_REACH + 1)]
        found = {key: meaning.get(key, lowest) for key in self._found.documents}
        totals, whole = found.copy(), dict.fromkeys(found, 1.0)
        for one, other, distance in _near(self._found.documents, self._times):
            part = parts[distance]
            totals[one] += part * found[other]
            totals[other] += part * found[one]
            whole[one] += part
            whole[other] += part
            if distance == 1:
                self._beside.setdefault(one, []).append(other)
                self._beside.setdefault(other, []).append(one)
        return {key: total / whole[key] for key, total in totals.items()}

    def _person(self, document: Document, said: str) -> float:
        speaker, weights = document.speaker.casefold(), self._weights
        return sum(
            weights.speaker
            if speaker == name
            else weights.named * all(part in said for part in parts)
            for name, parts in self._names
        )

    def _time(self, document: Document) -> str:
        """The day of a document if it lies in a time that the question names."""
        day = document.time
        held = any(span.holds(day) for span in self._question.times)
        return f"{day.day} {day:%B %Y}" if held else ""


def _near(
    documents: Mapping[str, Document], times: Mapping[str, float]
) -> Iterator[tuple[str, str, int]]:
    """Pairs of raw memories near each other in one scene, by key, with their distance."""
    ordered = sorted(
        (document.first, times[key], key)
        for key, document in documents.items()
        if document.kind is DocumentKind.MEMORY
    )
    for place, (number, time, key) in enumerate(ordered):
        for other, then, neighbour in ordered[place + 1 : place + 1 + _REACH]:
            if other - number > _REACH or abs(then - time) > _SAME_SCENE:
                break
            yield key, neighbour, other - number


def _count(wanted: Sequence[str], texts: Collection[str]) -> int:
    """How many texts hold one of the stems."""
    if len(wanted) == 1:
        return sum(map(contains, texts, repeat(wanted[0])))
    return sum(_holds(said, wanted) for said in texts)


def _holds(said: str, wanted: Iterable[str]) -> bool:
    return any(each in said for each in wanted)


def _asks(document: Document) -> bool:
    """Whether a raw memory ends on a question."""
    return document.kind is DocumentKind.MEMORY and document.text.rstrip(' "”’)').endswith("?")
