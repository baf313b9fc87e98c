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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from game.mind.books.noticing import promises
from game.mind.language.times import tells_when
from game.mind.recall.documents import Document, DocumentKind, Hit
from game.mind.recall.query import RecallQuery, family, stems

_SAME_SCENE = timedelta(hours=3)
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
    own = _said_by(agent, found.documents) if agent else frozenset()
    scores = {key: judge.score(key) for key in found.documents}
    for key in judge.telling_when(scores):
        scores[key] += weights.when
    for key in own:
        scores[key] -= weights.own
    given = judge.gifts(scores)
    total = {key: score + given.get(key, 0.0) for key, score in scores.items()}
    return [
        Hit(found.documents[key], total[key], judge.reasons(key, given.get(key, 0.0)))
        for key in sorted(total, key=lambda key: (-total[key], key))[:limit]
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


def stems_of(document: Document) -> frozenset[str]:
    """The stems of a document's words: as an index keeps them, else remembered for a while."""
    if document.stemmed:
        return frozenset(document.stemmed.split(" "))
    return _stems_of(document.text, document.title)


@lru_cache(maxsize=4096)
def _stems_of(text: str, title: str) -> frozenset[str]:
    return stems(f"{text} {title}")


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
        self._near_by = _near_by(documents)
        self._beside = {k: [o for o, d in near if d == 1] for k, near in self._near_by.items()}
        self._stems = {key: stems_of(document) for key, document in documents.items()}
        self._asking = {key for key, document in documents.items() if _asks(document)}
        self._wanted = [family(term) for term in question.terms]
        self._names = [(name, stems(name)) for name in question.names]
        self._parts = [weights.nearby * (1.0 - (n - 1) / _REACH) for n in range(_REACH + 1)]
        self._words = self._shares(found.words or {})
        self._meaning = standard(self._in_context(found.meaning or {}), documents)

    def score(self, key: str) -> float:
        """What speaks for one candidate by itself."""
        document, weights = self._found.documents[key], self._weights
        question, held = self._question, self._stems[key]
        total = weights.words * self._words.get(key, 0.0) + weights.meaning * self._meaning[key]
        if question.asker and document.speaker.casefold() == question.asker:
            total += weights.asker
        if question.names:
            total += self._person(document, held)
            if document.place and document.place.casefold() in question.names:
                total += weights.place
        if question.times:
            total += weights.time * bool(self._time(document))
        total += weights.full * min(1.0, (document.text.count(" ") + 1) / _FULL_LINE)
        if not self._scene and key in self._asking:
            total -= weights.asking
        return total + self._recency(document)

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
        held = self._stems[key]
        pairs = zip(self._question.terms, self._wanted, strict=True)
        return [term for term, wanted in pairs if wanted & held]

    def _shares(self, found: Mapping[str, float]) -> dict[str, float]:
        """BM25 as a share of a full match: the best ones tell what their part of it is worth."""
        best = [key for key in found if key in self._found.documents][:_CALIBRATION]
        whole = sum(found[key] for key in best)
        held, worths = 0.0, list(zip(self._worths(), self._wanted, strict=True))
        for key in best:
            said = self._stems[key].union(*(self._stems[o] for o in self._beside.get(key, ())))
            held += sum(worth for worth, wanted in worths if wanted & said)
        if whole <= 0.0 or held <= 0.0:
            return {}
        return {key: score * held / whole for key, score in found.items()}

    def _worths(self) -> list[float]:
        """What each term is worth: one rarer among the candidates more; 1 in all."""
        holding = [sum(1 for s in self._stems.values() if each & s) for each in self._wanted]
        worths = [math.log((len(self._stems) + 1.0) / (count + 0.5)) for count in holding]
        whole = sum(worths) or 1.0
        return [worth / whole for worth in worths]

    def _in_context(self, meaning: Mapping[str, float]) -> dict[str, float]:
        """The likeness of each candidate, averaged with that of its neighbours."""
        lowest = min(meaning.values(), default=0.0)
        found = {key: meaning.get(key, lowest) for key in self._found.documents}
        return {key: self._averaged(key, found) for key in found}

    def _averaged(self, key: str, meaning: Mapping[str, float]) -> float:
        near = [(self._parts[d], meaning[other]) for other, d in self._near_by.get(key, ())]
        total = sum((part * likeness for part, likeness in near), meaning[key])
        return total / sum((part for part, _ in near), 1.0)

    def _person(self, document: Document, held: frozenset[str]) -> float:
        speaker, weights = document.speaker.casefold(), self._weights
        return sum(
            weights.speaker if speaker == name else weights.named if parts <= held else 0.0
            for name, parts in self._names
        )

    def _time(self, document: Document) -> str:
        """The day of a document if it lies in a time that the question names."""
        day = document.time
        held = any(span.holds(day) for span in self._question.times)
        return f"{day.day} {day:%B %Y}" if held else ""

    def _recency(self, document: Document) -> float:
        weight = self._weights.recent_scene if self._scene else self._weights.recent
        halvings = (self._now - document.time) / self._weights.half_life
        return weight * math.exp2(-halvings) if halvings > 0.0 else weight


def _near_by(documents: Mapping[str, Document]) -> dict[str, list[tuple[str, int]]]:
    """The raw memories near each one in the same scene, by key, each with its distance."""
    ordered = sorted(
        (d for d in documents.values() if d.kind is DocumentKind.MEMORY), key=lambda d: d.first
    )
    found: dict[str, list[tuple[str, int]]] = {document.key: [] for document in ordered}
    for place, document in enumerate(ordered):
        for other in ordered[place + 1 : place + 1 + _REACH]:
            distance = other.first - document.first
            if distance > _REACH or abs(other.time - document.time) > _SAME_SCENE:
                break
            found[document.key].append((other.key, distance))
            found[other.key].append((document.key, distance))
    return found


def _asks(document: Document) -> bool:
    """Whether a raw memory ends on a question."""
    return document.kind is DocumentKind.MEMORY and document.text.rstrip(' "”’)').endswith("?")
