"""The recall index: how long a recall takes, how large it is, and what indexing does to the game.

Vectors are synthetic, so that what is measured is the index and not the embedder. Lines are
drawn from the words of ``tests/data/recall_hythe.json`` as often as they stand there, and its
questions are asked: a telling word stands in as many lines as in the talk of that world.
"""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import psutil

from game.cli.recall import read_data
from game.index.chroma_server import ChromaServer
from game.index.conversation import Turn
from game.index.vectors import Chroma, ChromaVectors
from game.index.words import Fts5Index
from game.mind.recall.documents import Document, DocumentKind
from game.mind.recall.recall import Recall
from game.paths import REPOSITORY, Places, Ports
from tests.bench.figures import Figure, percentile

HYTHE = REPOSITORY / "tests" / "data" / "recall_hythe.json"
AGENTS, FEW_AGENTS = 10, 2
MEMORIES, FEW_MEMORIES = 10_000, 1_000
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
    """All figures; takes two to three minutes."""
    folder = Path(tempfile.mkdtemp(prefix="keepsake-index-"))
    try:
        with _server(folder) as server:
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


def _scale(server: ChromaServer, folder: Path) -> Iterator[Figure]:
    embedder, chroma = Synthetic(2), Chroma(server.address)
    turns, questions = read_data(HYTHE)
    asked = [question.text for question in questions]

    def agents(name: str, numbers: range, memories: int) -> list[Recall]:
        # Two at a time: Chroma works on one while the words of the other are indexed.
        with ThreadPoolExecutor(2) as pool:
            make = partial(_agent, folder=folder, chroma=chroma, embedder=embedder)
            return list(pool.map(lambda n: make(f"{name}-{n}", memories, turns), numbers))

    small = _times(agents("small", range(AGENTS), FEW_MEMORIES), asked)
    yield from _recall_figures(small, FEW_MEMORIES, f"{AGENTS} agents")
    began = time.perf_counter()
    large = agents("large", range(FEW_AGENTS), MEMORIES)
    few = _times(large, asked)
    large += agents("large", range(FEW_AGENTS, AGENTS), MEMORIES)
    cost = (time.perf_counter() - began) / (AGENTS * MEMORIES) * 1000
    many = _times(large, asked)
    for times, agents_asked, other in ((few, FEW_AGENTS, small), (many, AGENTS, few)):
        against = "1,000 memories" if other is small else f"{FEW_AGENTS} agents"
        times_more = percentile(times, 0.5) / percentile(other, 0.5)
        note = f"{agents_asked} agents; median {times_more:.2f} × with {against}"
        yield from _recall_figures(times, MEMORIES, note)
    yield Figure("indexing, words and vectors, a memory", AGENTS * MEMORIES, cost, "ms")
    yield from _sizes(server, folder)
    chroma.close()


def _recall_figures(times: list[float], memories: int, note: str) -> Iterator[Figure]:
    for share in (0.5, 0.95):
        name = f"recall without the embedding call, p{share * 100:.0f}"
        yield Figure(name, memories, percentile(times, share), "ms", note)


def _sizes(server: ChromaServer, folder: Path) -> Iterator[Figure]:
    rows = AGENTS * MEMORIES
    vectors = _megabytes(folder / "home" / "index" / "chroma")
    words = sum(path.stat().st_size for path in folder.glob("large-*.db*")) / 1e6
    yield Figure("vectors on disk, an agent", MEMORIES, vectors / AGENTS, "MB")
    yield Figure("words on disk, an agent", MEMORIES, words / AGENTS, "MB")
    if server.pid is not None:
        memory = psutil.Process(server.pid).memory_info().rss / 1e6
        yield Figure("memory of Chroma's server", rows, memory, "MB", f"{AGENTS} agents")
    yield Figure("memory of this process", rows, psutil.Process().memory_info().rss / 1e6, "MB")


def _agent(
    name: str,
    memories: int,
    turns: list[Turn],
    *,
    folder: Path,
    chroma: Chroma,
    embedder: Synthetic,
) -> Recall:
    random, lexicon = Random(name), [word for turn in turns for word in turn.text.split()]
    speakers = sorted({turn.speaker for turn in turns})
    documents = [_memory(n, random, lexicon, speakers) for n in range(1, memories + 1)]
    words = Fts5Index(folder / f"{name}.db")
    vectors = ChromaVectors(chroma, name)
    vectors.create({"agent": name})
    for start in range(0, memories, 1000):
        part = documents[start : start + 1000]
        words.add(part)
        vectors.add(part, embedder.rows(len(part)))
    return Recall(words, vectors, embedder, names=lambda: speakers, clock=Clock())


def _memory(number: int, random: Random, lexicon: list[str], speakers: list[str]) -> Document:
    text, speaker = " ".join(random.choices(lexicon, k=13)), random.choice(speakers)
    time_lived = _START + timedelta(minutes=number)
    key, kind = f"memory:{number}", DocumentKind.MEMORY
    return Document(key, kind, text, time_lived, number, number, speaker, "The Mill")


def _times(agents: list[Recall], questions: list[str]) -> list[float]:
    """Milliseconds of recalls that go to the agents in turn; the first of each only warms it."""
    times = []
    for recall in agents:
        recall.search("What of the mill?")
    for number in range(RECALLS):
        recall, question = agents[number % len(agents)], questions[number % len(questions)]
        began = time.perf_counter()
        found = recall.search(question)
        times.append((time.perf_counter() - began) * 1000)
        assert found, "a recall that finds nothing measures nothing"
    return times


@contextmanager
def _server(folder: Path) -> Iterator[ChromaServer]:
    places = Places(folder / "home", folder / "vault", Ports(_free_base()))
    places.home.mkdir(parents=True)
    server = ChromaServer(places, grace=2.0)
    try:
        for _ in range(400):
            if server.watch():
                break
            time.sleep(0.05)
        else:
            raise server.problem or TimeoutError("Chroma's server did not come up")
        yield server
    finally:
        server.stop()


def _free_base() -> int:
    """A base whose port for vectors is free."""
    for base in range(_PORT, 60_000, 10):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", Ports(base).vectors)):
                return base
    return _PORT


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
