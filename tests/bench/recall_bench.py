"""Recall: how much it finds against its parts alone, and how long it takes by size.

Found is the share of the marked evidence among the first ten of the questions in two data
sets: ``recall_hythe.json``, many people in one world, and ``recall_two_friends.json``, two who
chat. The parts: words alone (FTS5, a memory with its neighbours), meaning alone (MiniLM over
the bare texts, names taken out of the question), and the two by reciprocal-rank fusion, the
usual hybrid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from keepsake.lab.conversation import Conversation, ConversationTurn
from keepsake.models.minilm import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from keepsake.recall.fusion import Weights
from keepsake.recall.query import RecallQuery
from keepsake.recall.query import read as read_question
from keepsake.recall.search import MemorySearch
from tests.bench.figures import Figure
from tests.bench.retrieval import Answered, RetrievalScore, scores
from tests.recall_data import MarkedQuestion, read_data

SETS = ("hythe", "two_friends")
_POOL, _DEPTH = 100, 20
_SIGNALS = ("speaker", "named", "place", "time", "when", "asking", "full", "answer", "recent")
_NO_SIGNALS = Weights(**dict.fromkeys(_SIGNALS, 0))
type Way = Callable[[str], list[str]]
"""From a question to the ids of turns, best first."""


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
        return [conversation.id_of(document.key) for document, _ in found]

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
