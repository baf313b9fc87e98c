"""The recall index: how long a recall takes, how large it is, and what indexing does to the game.

A recall is what a thought asks for: notes, summaries and memories for one question. Lines are
made of two halves of lines in ``tests/data/recall_hythe.json``, so that a telling word stands in
as many of them as in the talk of that world, and its questions are asked. All vectors are the real
embedder's; those of the questions are made beforehand, so that no time holds an embedding call.
Each agent has a file and a collection of its own, all with the same lines.

``KEEPSAKE_BENCH_AGENTS=100`` measures with so many, which takes a quarter of an hour.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import psutil

from game.cli.recall import read_data
from game.index.chroma_server import ChromaServer
from game.index.conversation import ConversationTurn
from game.index.vectors import Chroma, ChromaVectors
from game.index.words import Fts5Index
from game.llm.clients.minilm import MiniLMEmbedder
from game.mind.recall.documents import Document, DocumentKind
from game.mind.recall.recall import MemorySearch, SearchRequest
from game.paths import REPOSITORY
from tests.bench.embedded_up import child_up
from tests.bench.figures import Figure, percentile

HYTHE = REPOSITORY / "tests" / "data" / "recall_hythe.json"
AGENTS = (2, 10, *([int(n)] if (n := os.environ.get("KEEPSAKE_BENCH_AGENTS")) else []))
MEMORIES, FEW_MEMORIES = 10_000, 1_000
A_SUMMARY, A_NOTE = 64, 250
"""So many memories for each summary, and for each note."""
WANTED = (
    SearchRequest(6, (DocumentKind.NOTE,)),
    SearchRequest(5, (DocumentKind.SUMMARY,)),
    SearchRequest(8, (DocumentKind.MEMORY,)),
)
"""What a thought asks for with the shipped configuration."""
DIMENSION = 384
RECALLS = 314
"""Each question twice."""
BATCHES = (8, 128)
_START = datetime(2026, 1, 1, tzinfo=UTC)
_PORT = 47_700


class Synthetic:
    """An embedder that costs nothing: unit vectors around some hundred topics."""

    model_name = "synthetic"

    def __init__(self, seed: int = 1) -> None:
        self._random = np.random.default_rng(seed)
        self._topics = self._random.normal(size=(200, DIMENSION))

    def embed(self, texts: list[str]) -> list[list[float]]:
        """As many vectors, whatever the texts."""
        return self.rows(len(texts)).tolist()

    def rows(self, count: int) -> Any:
        """So many unit rows."""
        topics = self._topics[self._random.integers(len(self._topics), size=count)]
        rows = topics + 0.7 * self._random.normal(size=(count, DIMENSION))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class Clock:
    """The end of the time that was lived."""

    def now(self) -> datetime:
        """Always the same."""
        return _START + timedelta(minutes=MEMORIES + 60)


def measure() -> Iterator[Figure]:
    """All figures; takes three to four minutes."""
    folder = Path(tempfile.mkdtemp(prefix="keepsake-index-"))
    try:
        with child_up(ChromaServer, folder, _PORT) as server:
            yield from _stutter(server, folder)
            yield from _scale(server, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# -- what indexing does to a thread that must be quick


def _stutter(server: ChromaServer, folder: Path) -> Iterator[Figure]:
    embedder = Synthetic()
    yield Figure("tick delay, idle, p95", 1, percentile(_delays(lambda: time.sleep(1)), 0.95), "ms")
    for batch in BATCHES:
        for name, collection in _collections(server, folder, batch):
            rows = batch * max(6, 512 // batch)
            began = time.perf_counter()
            delays = _delays(lambda c=collection, n=rows, b=batch: _fill(c, embedder.rows(n), b))
            cost = (time.perf_counter() - began) / rows * 1000
            late = f"tick delay while {name} adds"
            yield Figure(f"{late}, p95", batch, percentile(delays, 0.95), "ms")
            yield Figure(f"{late}, worst", batch, max(delays), "ms")
            yield Figure(f"{name}, a row", batch, cost, "ms")


def _collections(server: ChromaServer, folder: Path, batch: int) -> Iterator[tuple[str, Any]]:
    import chromadb  # noqa: PLC0415 - two seconds that other benches need not wait for
    from chromadb.config import Settings  # noqa: PLC0415

    persistent = chromadb.PersistentClient(
        str(folder / "persistent"), settings=Settings(anonymized_telemetry=False)
    )
    for name, client in (
        ("PersistentClient", persistent),
        ("the child server", Chroma(server.address).client()),
    ):
        yield name, client.get_or_create_collection(f"stutter-{batch}", embedding_function=None)


def _fill(collection: Any, rows: Any, batch: int) -> None:
    for start in range(0, len(rows), batch):
        part = list(rows[start : start + batch])
        collection.upsert(ids=[f"{start + i}" for i in range(len(part))], embeddings=part)


def _delays(work: Callable[[], object]) -> list[float]:
    """How late a thread that wakes every millisecond is while ``work`` runs, in ms."""
    delays: list[float] = []
    done = threading.Event()

    def tick() -> None:
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            delays.append((now - last) * 1000 - 1.0)
            last = now

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        work()
    finally:
        done.set()
        thread.join()
    return delays


# -- how long a recall takes


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


def _scale(server: ChromaServer, folder: Path) -> Iterator[Figure]:
    embedder, chroma = Remembering(), Chroma(server.address)
    turns, questions = read_data(HYTHE)
    asked = [question.text for question in questions]
    speakers = sorted({turn.speaker for turn in turns})
    medians: dict[int, float] = {}
    for memories in (FEW_MEMORIES, MEMORIES):
        lines = _lived(memories, turns, speakers)
        rows = embedder.embed([line.text for line in lines])
        agents: list[MemorySearch] = []
        for count in AGENTS:
            began, before = time.perf_counter(), len(agents)
            for number in range(before, count):
                words, vectors = _index(f"{memories}-{number}", lines, rows, folder, chroma)
                recall = MemorySearch(
                    words, vectors, embedder, names=lambda: speakers, clock=Clock()
                )
                agents.append(recall)
            cost = (time.perf_counter() - began) / ((count - before) * memories) * 1000
            times = _times(agents, asked)
            medians.setdefault(memories, percentile(times, 0.5))
            more = percentile(times, 0.5) / medians[FEW_MEMORIES]
            note = f"{count} agents; median {more:.2f} × {AGENTS[0]} agents with {FEW_MEMORIES:,}"
            yield from _recall_figures(times, memories, note)
        yield Figure("indexing, words and vectors, a memory", memories, cost, "ms")
    yield from _sizes(server, folder)
    chroma.close()


def _recall_figures(times: list[float], memories: int, note: str) -> Iterator[Figure]:
    for share in (0.5, 0.95):
        name = f"recall without the embedding call, p{share * 100:.0f}"
        yield Figure(name, memories, percentile(times, share), "ms", note)


def _sizes(server: ChromaServer, folder: Path) -> Iterator[Figure]:
    agents, lived = AGENTS[-1], AGENTS[-1] * (MEMORIES + FEW_MEMORIES)
    vectors = _megabytes(folder / "home" / "index" / ".chroma") * MEMORIES / lived
    words = sum(path.stat().st_size for path in folder.glob(f"{MEMORIES}-*.db*")) / 1e6
    yield Figure("vectors on disk, an agent", MEMORIES, vectors, "MB")
    yield Figure("words on disk, an agent", MEMORIES, words / agents, "MB")
    if server.pid is not None:
        memory = psutil.Process(server.pid).memory_info().rss / 1e6
        yield Figure("memory of Chroma's server", lived, memory, "MB", f"{agents} agents")
    yield Figure("memory of this process", lived, psutil.Process().memory_info().rss / 1e6, "MB")


def _index(
    name: str, documents: list[Document], rows: list[list[float]], folder: Path, chroma: Chroma
) -> tuple[Fts5Index, ChromaVectors]:
    """The two indexes of one agent."""
    words, vectors = Fts5Index(folder / f"{name}.db"), ChromaVectors(chroma, name)
    vectors.create({"agent": name})
    for start in range(0, len(documents), 1000):
        part = documents[start : start + 1000]
        words.add(part)
        vectors.add(part, rows[start : start + 1000])
    return words, vectors


def _lived(
    memories: int, turns: Sequence[ConversationTurn], speakers: Sequence[str]
) -> list[Document]:
    """So many memories, with the summaries and notes that come with them."""
    random = Random(memories)

    def told(sentences: int) -> str:
        pairs = [(random.choice(turns).text, random.choice(turns).text) for _ in range(sentences)]
        return " ".join(_halves(*pair) for pair in pairs)

    lived = [
        _document(DocumentKind.MEMORY, n, n, told(1), random.choice(speakers))
        for n in range(1, memories + 1)
    ]
    for last in range(A_SUMMARY, memories + 1, A_SUMMARY):
        first = last - A_SUMMARY + 1
        lived.append(_document(DocumentKind.SUMMARY, first, last, told(8)))
    lived += [_document(DocumentKind.NOTE, 0, n, told(2)) for n in range(A_NOTE, memories, A_NOTE)]
    return lived


def _halves(one: str, other: str) -> str:
    """The first half of a line and the second of another."""
    first, second = one.split(), other.split()
    return " ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])


def _document(kind: DocumentKind, first: int, last: int, text: str, speaker: str = "") -> Document:
    key, when = f"{kind.partition('_')[2] or kind}:{last}", _START + timedelta(minutes=last)
    if kind is DocumentKind.NOTE:
        return Document(key, kind, text, when, title=text.split(maxsplit=1)[0])
    place = "The Mill" if kind is DocumentKind.MEMORY else ""
    return Document(key, kind, text, when, first, last, speaker, place)


def _times(agents: list[MemorySearch], questions: list[str]) -> list[float]:
    """Milliseconds of recalls that go to the agents in turn; the first of each only warms it."""
    for question in questions:  # embedded now, and not while the time runs
        agents[0].search_each(question, WANTED)
    for recall in agents:
        recall.search_each("What of the mill?", WANTED)
    times = []
    for number in range(RECALLS):
        recall, question = agents[number % len(agents)], questions[number % len(questions)]
        began = time.perf_counter()
        found = recall.search_each(question, WANTED)
        times.append((time.perf_counter() - began) * 1000)
        assert found, "a recall that could not search measures nothing"
        assert found[-1], "nor does one that finds nothing"
    return times


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
