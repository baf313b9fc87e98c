"""Recall: how much it finds against its parts alone, and how long it takes by size.

Found is the share of the marked evidence among the first ten of the questions in two data
sets: ``recall_hythe.json``, many people in one world, and ``recall_two_friends.json``, two who
chat. The parts: words alone (FTS5, a memory with its neighbours), meaning alone (MiniLM over
the bare texts, names taken out of the question), and the two by reciprocal-rank fusion, the
usual hybrid. Times are of a real index over a real Chroma server.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.lab.conversation import Conversation, ConversationTurn, MarkedQuestion
from keepsake.lab.measure import Answered, RetrievalScore, scores
from keepsake.models.minilm import DIMENSION, MiniLMEmbedder
from keepsake.paths import REPOSITORY, Places, Ports
from keepsake.ports import SystemClock
from keepsake.recall.agent_index import AgentIndex, AgentSources
from keepsake.recall.chroma import Chroma
from keepsake.recall.chroma_server import ChromaServer
from keepsake.recall.documents import DocumentKind
from keepsake.recall.fusion import Weights
from keepsake.recall.query import RecallQuery
from keepsake.recall.query import read as read_question
from keepsake.recall.search import MemorySearch
from tests.bench.figures import Figure, median_ms, percentile
from tests.recall_data import read_data

SETS = ("hythe", "two_friends")
SIZES = (200, 2_000, 10_000)
ADDED = 2_000
_PORT = 47_700
_POOL, _DEPTH = 100, 20
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
    turns, questions = read(SETS[0])
    yield from _taking_in(turns)
    folder = Path(tempfile.mkdtemp(prefix="keepsake-recall-"))
    server = ChromaServer(Places(folder, folder, Ports(_PORT)), grace=1.0)
    try:
        while not server.watch():
            time.sleep(0.1)
        for size in SIZES:
            yield from _search_time(server, folder / str(size), size, turns, questions)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


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


class _Topics:
    """Vectors around some hundred topics: the search is measured without the model."""

    model_name = "topics"

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)
        self._topics = self._random.normal(size=(200, DIMENSION))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        among = self._topics[self._random.integers(len(self._topics), size=len(texts))]
        rows: list[list[float]] = (
            among + 0.7 * self._random.normal(size=(len(texts), DIMENSION))
        ).tolist()
        return rows


def _search_time(
    server: ChromaServer,
    folder: Path,
    size: int,
    turns: Sequence[ConversationTurn],
    questions: Sequence[MarkedQuestion],
) -> Iterator[Figure]:
    """A recall as a thought makes it, among so many memories, and what indexing costs."""
    chance, words = random.Random(7), " ".join(turn.text for turn in turns).split()
    speakers = sorted({turn.speaker for turn in turns})
    begin, archive = datetime.now(UTC) - timedelta(days=90), Archive(folder / "archive")

    def live(count: int) -> None:
        for _ in range(count):
            n, who = archive.last_number + 1, chance.choice(speakers)
            text = f'{who} says, "{" ".join(chance.choices(words, k=15))}"'
            time = begin + timedelta(minutes=n)
            archive.append_memory(Memory(n, time, MemoryKind.PERCEPTION, text, "Inn", who))

    live(size)
    embedder, chroma = _Topics(), Chroma(server.address, Places(folder, folder, Ports(_PORT)))
    sources = AgentSources(f"agent-{size}", archive.folder)
    index = AgentIndex(folder / "index", sources, chroma, embedder, print)
    began = time.perf_counter()
    index.refresh()
    yield Figure("words: add a memory", size, (time.perf_counter() - began) / size * 1e3, "ms")
    index.embed()
    recall = MemorySearch(
        index.words, index, embedder, names=lambda: speakers, clock=SystemClock(), agent="Mira"
    )
    wanted = dict(zip(DocumentKind, (6, 5, 8), strict=True))
    took, near, worked = list[float](), list[float](), time.process_time()
    for question in questions:
        began = time.perf_counter()
        index.refresh()
        assert recall.search(question.text, kinds=wanted, before=size - 64)
        took.append((time.perf_counter() - began) * 1e3)
    worked = (time.process_time() - worked) / len(questions) * 1e3
    yield Figure("the same, of the processor", size, worked, "ms")
    for question in questions:
        (vector,) = embedder.embed([question.text])
        near.append(median_ms(lambda asked=vector: index.query(asked, 240), rounds=1))
    for share in (0.5, 0.95):
        yield Figure(
            f"recall without model, p{share * 100:.0f}", size, percentile(took, share), "ms"
        )
        yield Figure(
            f"its query of Chroma, p{share * 100:.0f}", size, percentile(near, share), "ms"
        )
    live(ADDED)
    delays = _delays(lambda: (index.refresh(), index.embed()))
    for share in (0.5, 0.95, 0.99):
        late = f"a thread is late while {ADDED} memories are indexed, p{share * 100:.0f}"
        yield Figure(late, size, percentile(delays, share), "ms")
    yield Figure("the same, worst", size, max(delays), "ms")
    index.close()
    archive.close()
    chroma.close()


def _delays(work: Callable[[], object]) -> list[float]:
    """How much later than asked for a thread wakes each millisecond, meanwhile."""
    worker = threading.Thread(target=work)
    worker.start()
    late = list[float]()
    while worker.is_alive():
        began = time.perf_counter()
        time.sleep(0.001)
        late.append((time.perf_counter() - began - 0.001) * 1e3)
    worker.join()
    return late
