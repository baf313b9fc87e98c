"""The cost of a memory, a query and a thought, compared with other libraries in one run.

    pip install langgraph-checkpoint-sqlite pysqlite3 mem0ai faiss-cpu

A library that is not installed is left out. All use the same lines and the same embedder. Processor
time is the sum of all processes; wall time ends when the added line can be found by meaning.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import batched, count, islice
from pathlib import Path
from random import Random
from statistics import quantiles
from types import SimpleNamespace

import psutil

from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.paths import Places, Ports
from keepsake.ports import SystemClock
from keepsake.recall.search import MemorySearch
from keepsake.recall.service import IndexService
from keepsake.recall.stores import CHILD
from tests.bench.busy_model import only_once
from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of
from tests.bench.lives import opened
from tests.bench.talk import PEOPLE, talk
from tests.free_ports import free_base
from tests.memories import seen

SIZES = (1_000, 10_000)
_EACH = 40
_TOGETHER = 20
_FOUND = 10
_SECONDS = 600

type Store = tuple[Callable[[Sequence[str]], object], Callable[[str], Sequence[object]]]
"""A function that adds lines, and one that searches; both block until done."""


class Shipped(MiniLMEmbedder):
    """The embedder; lines that fill the stores are embedded once for all stores."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = dict[str, list[float]]()
        self.filling = False

    # Other stores take lists, and the embedder makes arrays.
    def embed(self, texts: Sequence[str]) -> list[list[float]]:  # type: ignore[override]  # so
        """Return a list per text; while the stores are filled, only quoted words are embedded."""
        if not self.filling:
            return [each.tolist() for each in super().embed(texts)]
        said = [each.partition('"')[2].rstrip('"') or each for each in texts]
        if new := [each for each in dict.fromkeys(said) if each not in self.kept]:
            vectors = (each.tolist() for each in super().embed(new))
            self.kept |= zip(new, vectors, strict=True)
        return [self.kept[each] for each in said]


@contextmanager
def langgraph(folder: Path, embedder: Shipped) -> Iterator[Store]:
    """LangGraph's store on SQLite, with pysqlite3, because it must load extensions."""
    made = import_module("langgraph.store.sqlite")
    sqlite = import_module("pysqlite3")
    put = import_module("langgraph.store.base").PutOp
    numbers = count()
    file = sqlite.connect(f"{folder}/store.db", check_same_thread=False, isolation_level=None)
    index = {"dims": 384, "embed": embedder.embed, "fields": ["text"]}
    store = made.SqliteStore(file, index=index)
    mira = ("mira",)
    store.setup()

    def add(lines: Sequence[str]) -> None:
        for some in batched(lines, 100):
            store.batch([put(mira, f"{next(numbers)}", {"text": line}) for line in some])

    yield add, lambda text: store.search(mira, query=text, limit=_FOUND)
    file.close()


@contextmanager
def mem0(folder: Path, embedder: Shipped) -> Iterator[Store]:
    """mem0 with FAISS, without extraction by a model; it saves no index while it is filled."""
    os.environ |= {"MEM0_DIR": str(folder), "MEM0_TELEMETRY": "False"}
    how = {"path": f"{folder}/faiss", "embedding_model_dims": 384}
    nobody = {"provider": "openai", "config": {"api_key": "is never used"}}
    parts = dict.fromkeys(("llm", "embedder"), nobody) | {
        "vector_store": {"provider": "faiss", "config": how | {"distance_strategy": "cosine"}}
    }
    config = parts | {"history_db_path": f"{folder}/history.db"}
    store = import_module("mem0").Memory.from_config(config)
    mira = {"user_id": "mira"}
    embed = embedder.embed
    save = store.vector_store._save
    store.embedding_model = SimpleNamespace(embed=lambda text, *_: embed([text])[0])

    def add(lines: Sequence[str]) -> None:
        store.vector_store._save = (lambda: None) if embedder.filling else save
        safe = "OFF" if embedder.filling else "FULL"  # the default, which waits for the disk
        store.db.connection.execute(f"PRAGMA synchronous = {safe}")
        said = [{"role": "user", "content": line} for line in lines]
        store.add(said, infer=False, **mira)

    yield add, lambda text: store.search(text, top_k=_FOUND, filters=mira)["results"]
    store.close()


@contextmanager
def keepsake(folder: Path, embedder: Shipped) -> Iterator[Store]:
    """Keepsake's archive and index service: words, and vectors in a Chroma process."""
    places = Places(home=folder / "home", vault=folder / "vault", ports=Ports(free_base()))
    service = IndexService(places, CHILD, embedder)
    memory = opened(places.agents / "Mira")
    index = service.open("Mira", memory.archive.folder)
    parts = (index.words, index.vectors, embedder)
    clock = SystemClock()
    recall = MemorySearch(*parts, names=lambda: PEOPLE, clock=clock)
    service.start()

    def add(lines: Sequence[str]) -> None:
        for line in lines:
            memory.append(seen(line, line.partition(" ")[0]), place="The Kettle", event="say")
        indexed(service, "Mira", memory.tiers.last_number)

    def ask(text: str) -> Sequence[object]:
        index.refresh()
        return recall.search(text, limit=_FOUND) or ()

    yield add, ask
    service.close(stop_server=True)
    memory.close()


def indexed(service: IndexService, agent: str, memories: int) -> None:
    """Let the service index, and wait until this many memories can be found by meaning."""
    service.follow()
    while (now := service.status()[agent]).waiting or now.memories < memories:
        time.sleep(0.002)


def measure() -> Iterator[Figure]:
    """Measure the processor milliseconds of a memory, a query and a thought."""
    embedder = Shipped()
    texts = [[line] for line in islice(lines(), _EACH)]
    embedder.embed(texts.pop())  # loads it
    yield timed("a line embedded, which is part of all that follows", 1, embedder.embed, texts)
    for peer in (langgraph, mem0, keepsake):
        with tempfile.TemporaryDirectory() as folder:
            try:
                with peer(Path(folder), embedder) as store:
                    yield from _measured(peer.__name__, store, embedder)
            except ImportError as missing:
                print(f"{peer.__name__} is left out: {missing}", file=sys.stderr)
    yield from figures_of("tests.bench.peers_world", seconds=_SECONDS)


def _measured(name: str, store: Store, embedder: Shipped) -> Iterator[Figure]:
    add, ask = store
    told = lines()
    filled = 0
    for size in SIZES:
        embedder.filling = True
        add([*islice(told, size - filled)])
        embedder.filling = False
        one_by_one = [[line] for line in islice(told, _EACH)]
        asked = [line.partition('"')[2] for line in islice(told, _EACH)]
        assert len(ask(asked.pop())) == _FOUND  # this also loads everything
        yield timed(f"a memory added: {name}", size, add, one_by_one)
        more = [[*islice(told, _TOGETHER)] for _ in range(2)]
        yield timed(f"one of {_TOGETHER} added together: {name}", size, add, more, _TOGETHER)
        yield timed(f"a query: {name}", size, ask, asked)
        filled = size + _EACH + 2 * _TOGETHER


def timed[T](
    name: str, n: int, work: Callable[[T], object], items: Sequence[T], parts: int = 1
) -> Figure:
    """Measure the processor time of all processes, and the wall time, for each part of an item."""
    walls = list[float]()
    before = spent()
    for item in items:
        began = time.perf_counter()
        work(item)
        walls.append(1000 * (time.perf_counter() - began) / parts)
    used = 1000 * (spent() - before) / len(items) / parts
    of_100 = quantiles(walls, n=100, method="inclusive")
    wall = f"wall p50 {of_100[49]:.1f}, p95 {of_100[94]:.1f}"
    return Figure(f"peers: {name}", n, used, "ms", f"processor; {wall}")


def spent() -> float:
    """Return the processor seconds of this process and its children without the model server."""
    ours = psutil.Process().children(recursive=True)
    times = [each.cpu_times() for each in ours if "tests.bench.busy_model" not in each.cmdline()]
    return time.process_time() + sum(each.user + each.system for each in times)


def lines() -> Iterator[str]:
    """Yield lines that people say to Mira, all different."""
    heard = (line.text for line in talk(Random(5)) if line.text.endswith('"'))
    return (f'{only_once(line[:-1], number)}"' for number, line in enumerate(heard))
