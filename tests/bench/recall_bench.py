"""Recall: how much it finds against its parts alone, and how long it takes by size.

Found is the share of the marked evidence among the first ten of the questions in two data
sets: ``recall_hythe.json``, many people in one world, and ``recall_two_friends.json``, two who
chat. The parts: words alone (FTS5, a memory with its neighbours), meaning alone (MiniLM over
the bare texts, names taken out of the question), and the two by reciprocal-rank fusion, the
usual hybrid. And of gestures, which may go without a vector (``gestures.yaml``).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import yaml

from keepsake.lab.conversation import Conversation, ConversationTurn, MarkedQuestion
from keepsake.lab.local_vectors import LocalVectors
from keepsake.lab.measure import Answered, RetrievalScore, scores
from keepsake.models.minilm import DIMENSION, MiniLMEmbedder
from keepsake.paths import REPOSITORY
from keepsake.ports import SystemClock
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.fusion import Weights
from keepsake.recall.query import RecallQuery
from keepsake.recall.query import read as read_question
from keepsake.recall.search import MemorySearch
from keepsake.recall.sources import text_of
from keepsake.recall.words import WordIndex
from tests.bench.figures import Figure, median_ms, percentile
from tests.recall_data import read_data

SETS = ("hythe", "two_friends")
SIZES = (1_000, 10_000)
_POOL, _DEPTH = 100, 20
_GESTURES = REPOSITORY / "tests" / "data" / "gestures.yaml"
"""What was seen, and two questions about each: in other words, and as one would ask."""
_APART = timedelta(minutes=7)
_AMONG = 8
"""As many memories as a thought is given."""
_NO_SIGNALS = Weights(
    speaker=0,
    named=0,
    place=0,
    time=0,
    when=0,
    asking=0,
    full=0,
    answer=0,
    recent=0,
)
_CHOICES: dict[str, tuple[float, ...]] = {
    "words": (3, 4, 5, 6, 8),
    "nearby": (0.15, 0.3, 0.45),
    "speaker": (1, 1.5, 2, 2.5, 3, 3.5),
    "named": (0, 0.2, 0.4),
    "place": (0.2, 0.4, 0.8),
    "time": (1.5, 2.5, 3.5),
    "when": (0, 0.75, 1.5),
    "asking": (0.4, 0.8, 1.2),
    "full": (0.5, 1, 1.5, 2, 2.5),
    "answer": (0, 0.1, 0.2),
}
"""What each weight may be when weights are chosen anew."""

type Way = Callable[[str], list[str]]
"""From a question to the ids of turns, best first."""
type Asked = list[tuple[Conversation, Sequence[MarkedQuestion]]]
"""Conversations, each with questions about it."""


def reciprocal(lists: Sequence[Sequence[str]], constant: int = 60) -> list[str]:
    """Keys by reciprocal-rank fusion of ranked lists, best first; for comparison."""
    scores: dict[str, float] = {}
    for ranked in lists:
        for place, key in enumerate(ranked):
            scores[key] = scores.get(key, 0.0) + 1.0 / (constant + place + 1)
    return sorted(scores, key=lambda key: (-scores[key], key))


def measure() -> Iterator[Figure]:
    """All figures of recall."""
    for name in SETS:
        yield from _quality(name, *read(name))
    yield from _split()
    yield from _gestures()
    turns, questions = read(SETS[0])
    yield from _taking_in(turns)
    texts = [turn.text for turn in turns]
    speakers = sorted({turn.speaker for turn in turns})
    for size in SIZES:
        yield from _search_time(size, texts, speakers, [q.text for q in questions])


def read(name: str) -> tuple[list[ConversationTurn], list[MarkedQuestion]]:
    """Turns and questions of one of :data:`SETS`."""
    return read_data(REPOSITORY / "tests" / "data" / f"recall_{name}.json")


def ways(conversation: Conversation, weights: Weights | None = None) -> dict[str, Way]:
    """Each way of finding that is compared, by name; all over the same two indexes."""
    names = conversation.names
    embedder = conversation.embedder

    def question(text: str) -> RecallQuery:
        return read_question(text, names, conversation.now())

    def by_words(text: str) -> list[str]:
        asked = question(text)
        found = conversation.words.search(asked.terms or asked.names, _POOL)
        return [conversation.id_of(key) for key, _ in found]

    def by_meaning(text: str) -> list[str]:
        assert embedder is not None
        vector = embedder.embed(question(text).meaning)[0]
        return [conversation.id_of(key) for key, _ in conversation.vectors.query(vector, _POOL)]

    def with_weights(weights: Weights) -> Way:
        recall = MemorySearch(
            conversation.words,
            conversation.vectors,
            embedder,
            names=lambda: names,
            clock=conversation,
            weights=weights,
        )
        return lambda text: [
            conversation.id_of(hit.document.key) for hit in recall.search(text, limit=_DEPTH) or ()
        ]

    return {
        "words only": by_words,
        "meaning only": by_meaning,
        "reciprocal-rank fusion": lambda text: reciprocal([by_words(text), by_meaning(text)]),
        "scores fused, no signals": with_weights(_NO_SIGNALS),
        "recall": with_weights(weights or Weights()),
    }


def compare(
    turns: Sequence[ConversationTurn], questions: Sequence[MarkedQuestion]
) -> dict[str, list[RetrievalScore]]:
    """The scores of each way over the same questions."""
    conversation = Conversation(MiniLMEmbedder(threads=2))
    conversation.ingest(turns)
    return {
        name: scores(Answered(q.kind, q.evidence, way(q.text)[:_DEPTH]) for q in questions)
        for name, way in ways(conversation).items()
    }


def _quality(
    which: str, turns: Sequence[ConversationTurn], questions: Sequence[MarkedQuestion]
) -> Iterator[Figure]:
    for name, found in compare(turns, questions).items():
        whole = found[-1]
        others = ", ".join(f"@{depth} {100 * whole.recall[depth]:.1f}" for depth in (5, 20))
        reference = f"{others}, MRR {100 * whole.mrr:.1f}"
        yield Figure(
            f"evidence in the top 10, {which}: {name}",
            len(questions),
            100 * whole.recall[10],
            "%",
            reference,
        )


def _split() -> Iterator[Figure]:
    """Weights chosen from scratch on some of the questions, and others asked with them.

    Chosen on one half of the questions of both sets, or on one set alone; both ways.
    """
    sets = [(_held(turns), questions) for turns, questions in map(read, SETS)]
    for seed in range(2):
        halves: tuple[Asked, Asked] = ([], [])
        for conversation, questions in sets:
            order = random.Random(seed).sample(questions, len(questions))
            halves[0].append((conversation, order[: len(order) // 2]))
            halves[1].append((conversation, order[len(order) // 2 :]))
        for own, other in (halves, halves[::-1]):
            yield from _chosen_and_asked(f"halving {seed + 1}", own, other)
    for place, name in enumerate(SETS):
        yield from _chosen_and_asked(f"chosen on {name}", [sets[place]], [sets[1 - place]])


def _held(turns: Sequence[ConversationTurn]) -> Conversation:
    conversation = Conversation(Remembering())
    conversation.ingest(turns)
    return conversation


def _chosen_and_asked(how: str, own: Asked, other: Asked) -> Iterator[Figure]:
    chosen = _chosen(own)
    for name, asked, weights in (
        ("what chose", own, chosen),
        ("what did not", other, chosen),
        ("what did not, weights as shipped", other, Weights()),
    ):
        found = [_asked(conversation, some, weights) for conversation, some in asked]
        shares = ", ".join(f"{100 * each.recall[10]:.1f}" for each in found)
        share = 100 * sum(each.recall[10] for each in found) / len(found)
        count = sum(each.questions for each in found)
        yield Figure(f"evidence in the top 10, {how}: {name}", count, share, "%", shares)


def _chosen(asked: Asked) -> Weights:
    """The best weights for these questions: from the lowest ones, one after the other."""
    weights = _with({name: values[0] for name, values in _CHOICES.items()})
    best = _found(asked, weights)
    for name, values in _CHOICES.items():
        for value in values[1:]:
            other = _with({name: value}, weights)
            if (share := _found(asked, other)) > best:
                best, weights = share, other
    return weights


def _with(values: dict[str, Any], weights: Weights | None = None) -> Weights:
    return replace(weights or Weights(), **values)


def _found(asked: Asked, weights: Weights) -> float:
    """The share of the evidence, 0 to 1: a mean over three depths, which is less of a chance."""
    found = [_asked(conversation, questions, weights) for conversation, questions in asked]
    return sum(sum(each.recall.values()) / len(each.recall) for each in found) / len(found)


def _asked(
    conversation: Conversation, questions: Sequence[MarkedQuestion], weights: Weights
) -> RetrievalScore:
    way = ways(conversation, weights)["recall"]
    return scores(Answered(q.kind, q.evidence, way(q.text)[:_DEPTH]) for q in questions)[-1]


def _gestures() -> Iterator[Figure]:
    """How many gestures among the talk of the first set are found, with vectors and without."""
    seen = yaml.safe_load(_GESTURES.read_text(encoding="utf-8"))
    lived = [(turn.speaker, f'{turn.speaker} says, "{turn.text}"') for turn in read(SETS[0])[0]]
    talk, chance = len(lived), random.Random(5)
    lived += [(each["who"], each["line"]) for each in seen]
    numbers = chance.sample(range(1, len(lived) + 1), len(lived))
    now = datetime.now(UTC)
    documents = [
        _memory(number, now - number * _APART)._replace(text=text, speaker=who)
        for number, (who, text) in zip(numbers, lived, strict=True)
    ]
    embedder, index, names = Remembering(), WordIndex(), {who for who, _ in lived}
    index.add(documents)
    for how, embedded in (("with vectors", documents), ("by words", documents[:talk])):
        vectors = LocalVectors()
        vectors.add(embedded, embedder.embed([text_of(each, "") for each in embedded]))
        recall = MemorySearch(index, vectors, embedder, names=lambda: names, clock=SystemClock())
        for place, asked in enumerate(("in other words", "as one asks")):
            hits = (recall.search(each["asks"][place], limit=_AMONG) for each in seen)
            found = [{hit.document.key for hit in each or ()} for each in hits]
            wanted = [each.key for each in documents[talk:]]
            share = 100 * sum(map(set.__contains__, found, wanted)) / len(wanted)
            what = f"gestures in the top {_AMONG}, {how}: {asked}"
            yield Figure(what, len(wanted), share, "%")


def _taking_in(turns: Sequence[ConversationTurn]) -> Iterator[Figure]:
    conversation = Conversation(MiniLMEmbedder(threads=2))
    conversation.query("Is anybody there?", 1)  # loads the weights
    began = time.perf_counter()
    conversation.ingest(turns)
    yield Figure(
        "recall serve: take in turns", len(turns), time.perf_counter() - began, "s", "10 s"
    )
    asked = median_ms(lambda: conversation.query("Who keeps the box of savings?", 20), rounds=30)
    yield Figure("recall serve: a query with its embedding", len(turns), asked, "ms", "50 ms")


class Remembering:
    """The real embedder, asked only once for each text."""

    def __init__(self) -> None:
        self._embedder = MiniLMEmbedder(threads=2)
        self.model_name = self._embedder.model_name
        self._known: dict[str, list[float]] = {}

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector a text."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._known |= zip(missing, self._embedder.embed(missing), strict=True)
        return [self._known[text] for text in texts]


class _Given:
    """Gives one vector for whatever it is asked: the search is measured without the model."""

    model_name = "given"

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        rows: list[list[float]] = self._random.normal(size=(len(texts), DIMENSION)).tolist()
        return rows


def _search_time(
    size: int, texts: Sequence[str], speakers: Sequence[str], questions: Sequence[str]
) -> Iterator[Figure]:
    chance, words = random.Random(7), " ".join(texts).split()
    begin = datetime.now(UTC) - timedelta(minutes=size)
    documents = [
        _memory(n, begin + timedelta(minutes=n))._replace(
            text=" ".join(chance.choices(words, k=15)),
            speaker=chance.choice(speakers),
        )
        for n in range(1, size + 1)
    ]
    index, vectors, embedder = WordIndex(), LocalVectors(), _Given()
    began = time.perf_counter()
    index.add(documents)
    added = (time.perf_counter() - began) / size * 1000
    yield Figure("words: add a memory, in one batch", size, added, "ms")
    vectors.add(documents, embedder.embed([document.text for document in documents]))
    recall = MemorySearch(index, vectors, embedder, names=lambda: speakers, clock=SystemClock())
    took = [median_ms(lambda text=text: recall.search(text), rounds=1) for text in questions]
    yield Figure("recall: search, in memory, without model, p50", size, percentile(took, 0.5), "ms")
    yield Figure(
        "recall: search, in memory, without model, p95", size, percentile(took, 0.95), "ms"
    )


def _memory(number: int, time: datetime) -> Document:
    return Document(f"memory:{number}", DocumentKind.MEMORY, "", time, number, number)
