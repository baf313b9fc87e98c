"""How well candidates answer a question: two scores and a few cheap signals, added up.

Words and meaning are made comparable by z-score over the union of the candidates; ranks
alone (reciprocal-rank fusion) throw away by how much one candidate is better than the next.
Everything here is pure: no index, no clock.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from game.mind.recall.documents import Document, DocumentKind, Hit
from game.mind.recall.query import Question, family, stems

_SAME_SCENE = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign is worth, in standard deviations of a score.

    Attributes:
        words: BM25, a memory with its neighbours.
        meaning: Cosine similarity of the bare texts.
        speaker: Said or done by somebody whom the question names.
        named: The text itself holds a name of the question.
        place: Lived at a place that the question names.
        time: Lived at a time that the question names.
        told_later: Lived in the fortnight after that time; people tell what was.
        own_words: Share of the question's words that stand in the text itself.
        exact: A number or unknown name of the question stands in the text.
        asking: Taken off from a line that only asks, when a question is to be answered.
        share: Part of a neighbour's score that a memory gets.
        answer: The same after a line that asks.
        recent: What the newest memory gets, halved with every ``half_life``.
        recent_scene: The same for a scene.
    """

    words: float = 1.0
    meaning: float = 1.0
    speaker: float = 0.8
    named: float = 0.3
    place: float = 0.4
    time: float = 1.5
    told_later: float = 0.5
    own_words: float = 1.0
    exact: float = 0.5
    asking: float = 0.5
    share: float = 0.1
    answer: float = 0.3
    recent: float = 0.05
    recent_scene: float = 0.6
    half_life: timedelta = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the indexes found.

    Attributes:
        documents: By key.
        words: BM25 of those found by words; None if the words could not be asked.
        meaning: Cosine similarity of those found by meaning; None if nobody could be asked.
    """

    documents: Mapping[str, Document]
    words: Mapping[str, float] | None
    meaning: Mapping[str, float] | None


def rank(
    question: Question,
    found: Candidates,
    now: datetime,
    *,
    scene: bool = False,
    weights: Weights = Weights(),
) -> list[Hit]:
    """All candidates, best first, each with the reasons for its place."""
    judge = _Judge(question, found, now, scene, weights)
    scores = {key: judge.score(key) for key in found.documents}
    shared = judge.share(scores)
    order = sorted(scores, key=lambda key: (-(scores[key] + shared.get(key, (0.0, ""))[0]), key))
    hits = []
    for key in order:
        extra, why = shared.get(key, (0.0, ""))
        reasons = (*judge.reasons(key), *([why] if why else []))
        hits.append(Hit(found.documents[key], scores[key] + extra, reasons))
    return hits


def reciprocal(lists: Sequence[Sequence[str]], constant: int = 60) -> list[str]:
    """Keys by reciprocal-rank fusion of ranked lists, best first; for comparison."""
    scores: dict[str, float] = {}
    for ranked in lists:
        for place, key in enumerate(ranked):
            scores[key] = scores.get(key, 0.0) + 1.0 / (constant + place + 1)
    return sorted(scores, key=lambda key: (-scores[key], key))


def standard(scores: Mapping[str, float], keys: Iterable[str]) -> dict[str, float]:
    """Z-scores over ``keys``; one without a score counts as the lowest found."""
    lowest = min(scores.values(), default=0.0)
    values = {key: scores.get(key, lowest) for key in keys}
    spread = statistics.pstdev(values.values()) if values else 0.0
    if spread == 0.0:
        return dict.fromkeys(values, 0.0)
    middle = statistics.fmean(values.values())
    return {key: (value - middle) / spread for key, value in values.items()}


class _Judge:
    """Scores the candidates of one search."""

    def __init__(
        self,
        question: Question,
        found: Candidates,
        now: datetime,
        scene: bool,
        weights: Weights,
    ) -> None:
        self._question, self._found, self._now = question, found, now
        self._scene, self._weights = scene, weights
        keys = found.documents.keys()
        self._words = standard(found.words or {}, keys)
        self._meaning = standard(found.meaning or {}, keys)
        self._stems = {key: stems(d.text + " " + d.title) for key, d in found.documents.items()}
        self._worth = self._worths()

    def score(self, key: str) -> float:
        """What speaks for one candidate by itself."""
        document, weights = self._found.documents[key], self._weights
        total = weights.words * self._words[key] + weights.meaning * self._meaning[key]
        total += weights.own_words * self._own_words(key)
        total += weights.exact * len(self._question.exact & self._stems[key])
        total += self._person(document, self._stems[key]) + self._time(document)[0]
        if document.place and document.place.casefold() in self._question.names:
            total += weights.place
        if not self._scene and _asks(document):
            total -= weights.asking
        return total + self._recency(document)

    def share(self, scores: Mapping[str, float]) -> dict[str, tuple[float, str]]:
        """What each raw memory gets from the better one of its neighbours, and why."""
        at = {
            document.first: key
            for key, document in self._found.documents.items()
            if document.kind is DocumentKind.MEMORY
        }
        shared = {}
        for number, key in at.items():
            gifts = [
                self._gift(key, at.get(n), n < number, scores) for n in (number - 1, number + 1)
            ]
            best = max(gifts)
            if best[0] > 0.0:
                shared[key] = best
        return shared

    def reasons(self, key: str) -> tuple[str, ...]:
        """Why a candidate was found, for people."""
        document, question = self._found.documents[key], self._question
        found = []
        if matched := [t for t in question.terms if family(t) & self._stems[key]]:
            found.append(f"words: {', '.join(matched)}")
        elif self._found.words and key in self._found.words:
            found.append("words nearby")
        if self._found.meaning and key in self._found.meaning:
            found.append(f"meaning {self._found.meaning[key]:.2f}")
        if document.speaker and document.speaker.casefold() in question.names:
            found.append(f"said by {document.speaker}")
        if document.place and document.place.casefold() in question.names:
            found.append(f"at {document.place}")
        if why := self._time(document)[1]:
            found.append(why)
        return tuple(found)

    def _worths(self) -> dict[str, float]:
        """What each term is worth: rarer among the candidates is worth more; 1 in all."""
        count = len(self._stems)
        rarity = {}
        for term in self._question.terms:
            holding = sum(1 for held in self._stems.values() if family(term) & held)
            rarity[term] = math.log(1.0 + count / (1.0 + holding))
        whole = sum(rarity.values()) or 1.0
        return {term: value / whole for term, value in rarity.items()}

    def _own_words(self, key: str) -> float:
        held = self._stems[key]
        return sum(worth for term, worth in self._worth.items() if family(term) & held)

    def _person(self, document: Document, held: set[str]) -> float:
        total = 0.0
        for name in self._question.names:
            if document.speaker.casefold() == name:
                total += self._weights.speaker
            elif stems(name) <= held:
                total += self._weights.named
        return total

    def _time(self, document: Document) -> tuple[float, str]:
        for span in self._question.times:
            if span.holds(document.time):
                return self._weights.time, f"{document.time:%-d %B %Y}"
            if 0.0 <= span.days_after(document.time) <= 14.0:
                return self._weights.told_later, f"soon after {span.words}"
        return 0.0, ""

    def _recency(self, document: Document) -> float:
        weight = self._weights.recent_scene if self._scene else self._weights.recent
        age = max(self._now - document.time, timedelta())
        return weight * math.exp2(-(age / self._weights.half_life))

    def _gift(
        self, key: str, giver: str | None, before: bool, scores: Mapping[str, float]
    ) -> tuple[float, str]:
        if giver is None:
            return 0.0, ""
        document, other = self._found.documents[key], self._found.documents[giver]
        if abs(document.time - other.time) > _SAME_SCENE:
            return 0.0, ""
        answers = before and _asks(other) and not _asks(document)
        part = self._weights.answer if answers else self._weights.share
        return part * max(scores[giver], 0.0), f"next to memory {other.first}"


def _asks(document: Document) -> bool:
    """Whether a raw memory ends on a question."""
    return document.kind is DocumentKind.MEMORY and document.text.rstrip(' "”’)').endswith("?")
