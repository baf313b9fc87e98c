"""What recall and indexing cost: processor time of this process and of Chroma's server together."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial, wraps
from itertools import batched
from pathlib import Path
from statistics import quantiles
from typing import Any
from unittest.mock import patch

from keepsake.lab.benchmarks import read_trials
from keepsake.memory.agent_memory import AgentMemory
from keepsake.models.embedders import MiniLMEmbedder
from keepsake.ports import SystemClock
from keepsake.recall import search
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.chroma import AgentVectors
from keepsake.recall.documents import DocumentKind
from keepsake.recall.service import CHILD, IndexService
from keepsake.recall.words import WordIndex
from tests.bench.busy_world import life
from tests.bench.figures import Figure
from tests.bench.lives import lived
from tests.bench.recall_bench import DATA, SETS
from tests.bench.talk import NAME, PEOPLE
from tests.unit.llm.conftest import places_in, until

SIZES = tuple(map(int, os.environ.get("INDEX_SIZES", "100 2000 10000").split()))
_QUESTIONS, _ADDED = 300, 500
_ROUND = 10
"""Memories that an agent of a busy world makes between two rounds of the service."""
_KINDS = {DocumentKind.MEMORY: 8, DocumentKind.SUMMARY: 5, DocumentKind.NOTE: 6}  # of a prompt
_PARTS: tuple[tuple[str, Any, str], ...] = (
    ("words", WordIndex, "search of_time get add remove keys counts waiting embedded"),
    ("vectors, our side", AgentVectors, "query add"),
    ("embedding", MiniLMEmbedder, "_run"),
    ("fusion", search, "rank"),
    ("archive", AgentMemory, "append"),
)
_REST, _SERVER = "the rest", "Chroma's server"


class _Meter:
    """Milliseconds of a processor by part; what a part calls counts for the part."""

    def __init__(self) -> None:
        self._parts, self._within, self.server = Counter[str](), threading.local(), 0

    def timed(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._within, "part", ""):
                return call(*args, **kwargs)
            self._within.part, began = part, time.thread_time()
            try:
                return call(*args, **kwargs)
            finally:
                self._parts[part] += 1000 * (time.thread_time() - began)
                self._within.part = ""

        return timed

    def spent(self, work: Callable[[], object]) -> Counter[str]:
        """What ``work`` takes, by part, and ``wall``."""
        began, before = time.perf_counter(), self._read()
        work()
        return self._read() - before + Counter({"wall": 1000 * (time.perf_counter() - began)})

    def _read(self) -> Counter[str]:
        server = 1000 * time.clock_gettime((~self.server << 3) | 2)  # Linux: of all its threads
        rest = 1000 * time.process_time() - self._parts.total()
        return self._parts + Counter({_SERVER: server, _REST: rest})


def measure() -> Iterator[Figure]:
    """A question and a new memory, by the length of a life: processor time, all and by part."""
    meter = _Meter()
    with ExitStack() as stack:
        for part, owner, names in _PARTS:
            for name in names.split():
                timed = meter.timed(part, getattr(owner, name))
                stack.enter_context(patch.object(owner, name, timed))
        for size in SIZES:
            here = places_in(Path(stack.enter_context(tempfile.TemporaryDirectory())))
            embedder, said = MiniLMEmbedder(), list[str]()
            service = IndexService(here, CHILD, embedder, said.append)
            stack.callback(service.close, stop_server=True)
            assert service.server is not None
            until(service.server.watch)
            meter.server = service.server.pid or 0
            memory = lived(here.agents / NAME, NAME, life(1, size))
            index = service.open(NAME, here.agents / NAME / "archive")
            service._go_round()
            yield from _asked(index, embedder, meter, size)
            for each in (_ROUND, _ADDED):
                spent = meter.spent(partial(_add, service, index, memory, each))
                told = ", ".join(f"{k} {v / _ADDED:.2f}" for k, v in spent.most_common())
                total = (spent.total() - spent["wall"]) / _ADDED
                yield Figure(f"index: a memory more, {each} a round", size, total, "ms", told)
            assert not said, said


def _add(service: IndexService, index: AgentIndex, memory: AgentMemory, each: int) -> None:
    for lines in batched(life(20 + each, 2 * _ADDED)[:_ADDED], each):
        for line in lines:
            memory.append(line.text, line.kind, place="The Kettle")
            if each == _ROUND:
                index.refresh()  # as somebody asks
        service._go_round()
    time.sleep(1.0)  # the server has more to do than to answer


def _asked(
    index: AgentIndex, embedder: MiniLMEmbedder, meter: _Meter, size: int
) -> Iterator[Figure]:
    trials = [trial for each in SETS for trial in read_trials(DATA / f"recall_{each}.json")]
    texts = list(dict.fromkeys(each.text for trial in trials for each in trial.questions))
    recall = search.MemorySearch(
        index.words, index, embedder, names=lambda: PEOPLE, clock=SystemClock(), agent=NAME
    )
    spent = [
        meter.spent(partial(recall.search, text, kinds=_KINDS, before=size - 60))
        for text in texts[:_QUESTIONS]
    ]
    whole = [each.total() - each["wall"] for each in spent]
    for what, values in (
        ("", whole),
        (", without embedding", [w - s["embedding"] for w, s in zip(whole, spent, strict=True)]),
        (", wall time", [each["wall"] for each in spent]),
    ):
        cuts = quantiles(values, n=20)
        parts = sum(spent, Counter())
        told = ", ".join(f"{k} {v / len(spent):.2f}" for k, v in parts.most_common() if not what)
        yield Figure(f"index: a question{what}, p50", size, cuts[9], "ms", told)
        yield Figure(f"index: a question{what}, p95", size, cuts[18], "ms")
