"""The recall index: how long a recall takes, how large it is, and what indexing does to the game.

A recall is what a thought asks for: notes, summaries and memories for one question. Lines are
made of two halves of lines in ``tests/data/recall_hythe.json``, so that a telling word stands in
as many of them as in the talk of that world, and its questions are asked, and what thoughts ask
in the course of that talk. All vectors are the real
embedder's: a line's is the mean of its halves', and those of the questions are made beforehand, so
that no time holds an embedding call. Each agent has a file of its own, all with the same lines.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import psutil

from keepsake.index.chroma_server import ChromaServer
from keepsake.index.conversation import ConversationTurn
from keepsake.index.open_files import OpenFiles
from keepsake.index.state import IndexFile
from keepsake.index.vectors import Chroma, ChromaVectors
from keepsake.models.clients.minilm import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from keepsake.ports import FixedClock
from keepsake.recall.documents import Document, DocumentKind, Wanted
from keepsake.recall.query import read
from keepsake.recall.recall import MemorySearch, SearchRequest
from tests.bench.embedded_up import child_up
from tests.bench.figures import Figure, percentile
from tests.recall_data import read_data

HYTHE = REPOSITORY / "tests" / "data" / "recall_hythe.json"
MEMORIES = 10_000
LIVES = ((1_000, 2), (1_000, 10), (10_000, 2), (10_000, 10), (100_000, 1))
"""How many memories, and how many agents that have so many."""
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
"""All agents are asked the same in turn."""
BATCHES = (8, 128)
_START = datetime(2026, 1, 1, tzinfo=UTC)
_END = _START + timedelta(minutes=LIVES[-1][0] + 60)
_PORT = 47_700
_WARMING = "What of the mill?"


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


def measure() -> Iterator[Figure]:
    """All figures; takes three minutes."""
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
    embedder, open_files = Remembering(), OpenFiles()
    turns, questions = read_data(HYTHE)
    asked, talk = [(question.text, False) for question in questions], list(_thoughts(turns))
    speakers = sorted({turn.speaker for turn in turns})
    for text, _ in [*asked, *talk, (_WARMING, False)]:  # embedded now, and not while the time runs
        found = read(text, speakers, _END)
        embedder.embed(found.meaning + found.nameless)
    lines: dict[int, tuple[list[Document], Any]] = {}
    agents: list[MemorySearch] = []
    files: list[IndexFile] = []
    began_with: dict[str, float] = {}
    for memories, count in LIVES:
        if memories not in lines:
            lines[memories], agents, files = _lived(memories, turns, speakers, embedder), [], []
        began = time.process_time()
        for number in range(len(agents), count):
            name = f"{memories}-{number}"
            files.append(_index(name, *lines[memories], folder, open_files))
            search = MemorySearch(
                files[-1],
                Nearest(files[-1]),
                embedder,
                names=lambda: speakers,
                clock=FixedClock(_END),
            )
            agents.append(search)
        indexed = (time.process_time() - began) * 1000
        for name, texts in (("recall", asked), ("asked again", asked), ("in a talk", talk)):
            if name != "asked again":
                for file in files:  # what it remembers of other questions is gone
                    file.close()
            walls, works = _times(agents, texts)
            began_with.setdefault(name, percentile(works, 0.5))
            times = percentile(works, 0.5) / began_with[name]
            more = f"{count} agents; {times:.2f} × the first"
            for share in (0.5, 0.95):
                at = f"p{share * 100:.0f}"
                wall, work = percentile(walls, share), percentile(works, share)
                yield Figure(f"{name}, {at}", memories, wall, "ms", more)
                yield Figure(f"the same, of the processor, {at}", memories, work, "ms", more)
        if count == 1:
            yield Figure(
                "words and vectors, without Chroma, a memory", memories, indexed / memories, "ms"
            )
    yield from _chroma(server, *lines[MEMORIES])
    yield from _sizes(folder)


def _chroma(server: ChromaServer, documents: list[Document], rows: Any) -> Iterator[Figure]:
    """What it costs to keep the same vectors in Chroma, and to read them from there."""
    chroma = Chroma(server.address)
    vectors = ChromaVectors(chroma, "kept")
    vectors.create({"agent": "kept"})
    child = psutil.Process(server.pid)
    began, theirs = time.process_time(), sum(child.cpu_times()[:2])
    for start in range(0, len(documents), 64):
        vectors.add(documents[start : start + 64], rows[start : start + 64])
    own, theirs = time.process_time() - began, sum(child.cpu_times()[:2]) - theirs
    yield Figure(
        "a vector to Chroma, of the game", len(documents), own / len(documents) * 1e3, "ms"
    )
    each = theirs / len(documents) * 1e3
    yield Figure("a vector to Chroma, of its server", len(documents), each, "ms")
    began = time.process_time()
    assert sum(len(keys) for keys, _ in vectors.pages()) == len(documents)
    took = (time.process_time() - began) * 1e3
    yield Figure("all vectors read from Chroma, of the game", len(documents), took, "ms")
    yield Figure("memory of Chroma's server", len(documents), child.memory_info().rss / 1e6, "MB")
    chroma.close()


def _sizes(folder: Path) -> Iterator[Figure]:
    for memories, _ in LIVES[::2]:
        file = folder / f"{memories}-0.db"
        size = sum(each.stat().st_size for each in folder.glob(f"{file.name}*")) / 1e6
        yield Figure("words and vectors on disk, an agent", memories, size, "MB")
        index, asked = IndexFile(file), [0.1] * DIMENSION
        index.opened()
        began = time.process_time()
        index.nearest(asked, 1)
        yield Figure(
            "vectors of one that was closed, read again",
            memories,
            (time.process_time() - began) * 1e3,
            "ms",
            f"{index.held_bytes / 1e6:.1f} MB",
        )
        index.close()


class Nearest:
    """The vectors of a file."""

    def __init__(self, file: IndexFile) -> None:
        self._file = file

    def query_each(self, vector: Sequence[float], wanted: Wanted) -> list[list[tuple[str, float]]]:
        """Keys and cosine similarities."""
        return self._file.nearest_each(vector, wanted)


def _index(
    name: str, documents: list[Document], rows: Any, folder: Path, open_files: OpenFiles
) -> IndexFile:
    """Words and vectors of one agent."""
    index = IndexFile(folder / f"{name}.db", open_files)
    for start in range(0, len(documents), 256):
        part = documents[start : start + 256]
        index.add(part)
        index.put_vectors([each.key for each in part], rows[start : start + 256])
    return index


def _lived(
    memories: int,
    turns: Sequence[ConversationTurn],
    speakers: Sequence[str],
    embedder: Remembering,
) -> tuple[list[Document], Any]:
    """So many memories, with the summaries and notes that come with them; and their vectors."""
    random = Random(memories)
    halves = sorted({half for turn in turns for half in _halves(turn.text)})
    vectors = dict(zip(halves, np.array(embedder.embed(halves), np.float32), strict=True))
    lived: list[Document] = []
    rows: list[Any] = []

    def live(kind: DocumentKind, first: int, last: int, sentences: int, speaker: str = "") -> None:
        said = [_halves(random.choice(turns).text)[n % 2] for n in range(2 * sentences)]
        lived.append(_document(kind, first, last, " ".join(said), speaker))
        rows.append(sum(vectors[half] for half in said))

    for n in range(1, memories + 1):
        live(DocumentKind.MEMORY, n, n, 1, random.choice(speakers))
    for last in range(A_SUMMARY, memories + 1, A_SUMMARY):
        live(DocumentKind.SUMMARY, last - A_SUMMARY + 1, last, 8)
    for n in range(A_NOTE, memories, A_NOTE):
        live(DocumentKind.NOTE, 0, n, 2)
    whole = np.stack(rows)
    return lived, whole / np.linalg.norm(whole, axis=1, keepdims=True)


def _halves(line: str) -> tuple[str, str]:
    """The first half of a line and the second."""
    words = line.split()
    return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])


def _document(kind: DocumentKind, first: int, last: int, text: str, speaker: str = "") -> Document:
    key, when = f"{kind.partition('_')[2] or kind}:{last}", _START + timedelta(minutes=last)
    if kind is DocumentKind.NOTE:
        return Document(key, kind, text, when, title=text.split(maxsplit=1)[0])
    place = "The Mill" if kind is DocumentKind.MEMORY else ""
    return Document(key, kind, text, when, first, last, speaker, place)


def _thoughts(turns: Sequence[ConversationTurn]) -> Iterator[tuple[str, bool]]:
    """What is asked while the talk goes on, and whether it is a scene: a line, and the last two."""
    lines = [f"{turn.speaker}: {turn.text}" for turn in turns[: RECALLS // 4]]
    for before, line in pairwise(lines):
        yield line, False
        yield f"{before}\n{line}", True


def _times(
    agents: list[MemorySearch], texts: list[tuple[str, bool]]
) -> tuple[list[float], list[float]]:
    """Milliseconds of recalls that go to the agents in turn, by the clock and of the processor."""
    for recall in agents:  # it reads its vectors
        recall.search_each(_WARMING, WANTED)
    walls, works = [], []
    for number in range(min(RECALLS, len(agents) * len(texts))):
        recall, (text, scene) = agents[number % len(agents)], texts[number // len(agents)]
        began, worked = time.perf_counter(), time.process_time()
        found = recall.search_each(text, WANTED, scene=scene)
        walls.append((time.perf_counter() - began) * 1000)
        works.append((time.process_time() - worked) * 1000)
        assert found, "a recall that could not search measures nothing"
        assert found[-1], "nor does one that finds nothing"
    return walls, works
