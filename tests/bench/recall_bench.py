"""Recall: how much it finds against its parts alone.

Found is the share of the marked evidence among the first ten of the questions in two data
sets: ``recall_hythe.json``, many people in one world, and ``recall_two_friends.json``, two who
chat. The parts: words alone (FTS5, a memory with its neighbours), meaning alone (MiniLM over
the bare texts, names taken out of the question), and the two by reciprocal-rank fusion, the
usual hybrid.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from keepsake.lab.benchmarks import read_trials
from keepsake.lab.conversation import Conversation, read_turns
from keepsake.lab.measures import DEPTHS
from keepsake.models.embedders import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from keepsake.recall.fusion import Weights
from keepsake.recall.query import RecallQuery
from keepsake.recall.query import read as read_question
from keepsake.recall.search import MemorySearch
from tests.bench.figures import Figure

SETS = ("hythe", "two_friends")
_POOL, _DEPTH = 100, 20
_SIGNALS = ("speaker", "linked", "place", "time", "when", "asking", "full", "answer")
_NO_SIGNALS = Weights(**dict.fromkeys(_SIGNALS, 0))
type Way = Callable[[str], list[str]]
"""From a question to the ids of turns, best first."""


def measure() -> Iterator[Figure]:
    """The share of the evidence that each way finds, by data set."""
    embedder = MiniLMEmbedder(threads=2)
    for which in SETS:
        path = REPOSITORY / "tests" / "data" / f"recall_{which}.json"
        turns, (trial,) = read_turns(json.loads(path.read_text("utf-8"))), read_trials(path)
        marked = [(q.text, {turns[n - 1].id for n in q.evidence}) for q in trial.questions]
        conversation = Conversation(embedder)
        conversation.ingest(turns)
        for name, way in ways(conversation).items():
            answered = [(evidence, way(text)[:_DEPTH]) for text, evidence in marked]
            share = {
                depth: 100
                * fmean(len(wanted & {*ids[:depth]}) / len(wanted) for wanted, ids in answered)
                for depth in DEPTHS
            }
            ranks = (
                next((1 / n for n, each in enumerate(ids, 1) if each in wanted), 0.0)
                for wanted, ids in answered
            )
            told = f"@5 {share[5]:.1f}, @20 {share[20]:.1f}, MRR {100 * fmean(ranks):.1f}"
            what = f"evidence in the top 10, {which}: {name}"
            yield Figure(what, len(marked), share[10], "%", told)


def reciprocal(lists: Sequence[Sequence[str]], constant: int = 60) -> list[str]:
    """Keys by reciprocal-rank fusion of ranked lists, best first; for comparison."""
    scores: dict[str, float] = {}
    for ranked in lists:
        for place, key in enumerate(ranked):
            scores[key] = scores.get(key, 0.0) + 1.0 / (constant + place + 1)
    return sorted(scores, key=lambda key: (-scores[key], key))


def ways(conversation: Conversation) -> dict[str, Way]:
    """Each way of finding that is compared, by name; all over the same two indexes."""
    names = conversation.names
    embedder = conversation.embedder

    def question(text: str) -> RecallQuery:
        return read_question(text, names, conversation.ended.now())

    def by_words(text: str) -> list[str]:
        asked = question(text)
        found = conversation.words.search(asked.terms or asked.names, _POOL)
        return [conversation.ids[document.key] for document, _ in found]

    def by_meaning(text: str) -> list[str]:
        assert embedder is not None
        vector = embedder.embed(question(text).meaning)[0]
        return [conversation.ids[key] for key, _ in conversation.vectors.query(vector, _POOL)]

    def with_weights(weights: Weights) -> Way:
        recall = MemorySearch(
            conversation.words,
            conversation.vectors,
            embedder,
            names=lambda: names,
            clock=conversation.ended,
            weights=weights,
        )
        return lambda text: [
            conversation.ids[hit.document.key] for hit in recall.search(text, limit=_DEPTH) or ()
        ]

    return {
        "words only": by_words,
        "meaning only": by_meaning,
        "reciprocal-rank fusion": lambda text: reciprocal([by_words(text), by_meaning(text)]),
        "scores fused, no signals": with_weights(_NO_SIGNALS),
        "recall": with_weights(Weights()),
    }
