"""The cost of recall and indexing: processor time of this process and of Chroma's server."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import batched
from pathlib import Path
from statistics import quantiles
from typing import Any
from unittest.mock import patch

from keepsake.archive.old_lines import what_of
from keepsake.lab.benchmarks import read_trials
from keepsake.memory.agent_memory import AgentMemory
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.ports import SystemClock
from keepsake.recall import search
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.chroma import AgentVectors
from keepsake.recall.documents import DocumentKind
from keepsake.recall.index.words import WordIndex
from keepsake.recall.service import IndexService
from keepsake.recall.stores import CHILD
from tests.bench.busy_world import life
from tests.bench.figures import Figure
from tests.bench.lives import lived
from tests.bench.recall_bench import DATA, SETS
from tests.bench.talk import NAME, PEOPLE
from tests.unit.llm.conftest import places_in, until

SIZES = tuple(map(int, os.environ.get("INDEX_SIZES", "100 2000 10000").split()))
_QUESTIONS = 300
_ADDED = 500
_ROUND = 10  # memories of a busy agent between two rounds
_KINDS = {DocumentKind.MEMORY: 8, DocumentKind.SUMMARY: 5, DocumentKind.NOTE: 6}  # of a prompt
_PARTS: tuple[tuple[str, Any, str], ...] = (
    (
        "words",
        WordIndex,
        "search rare of_time documents_at add remove notes counts waiting embedded",
    ),
    ("vectors", AgentVectors, "query add"),
    ("embedding", MiniLMEmbedder, "_run"),
    ("fusion", search, "rank"),
    ("archive", AgentMemory, "append"),
)
_spent = Counter[str]()
"""Processor time in nanoseconds, by part, in all threads."""
_NS = 1_000_000
"""Nanoseconds in a millisecond."""
_within = threading.local()
"""The part that each thread runs now."""


def measure() -> Iterator[Figure]:
    """Measure the processor time of a question and of a new memory, by number of memories."""
    with ExitStack() as stack:
        for part, owner, names in _PARTS:
            for name in names.split():
                timed = _timed(part, getattr(owner, name))
                stack.enter_context(patch.object(owner, name, timed))
        for size in SIZES:
            here = places_in(Path(stack.enter_context(tempfile.TemporaryDirectory())))
            service = IndexService(here, CHILD, MiniLMEmbedder())
            stack.callback(service.close, stop_server=True)
            assert service.server is not None
            until(service.server.watch)
            clock = (~(service.server.pid or 0) << 3) | 2  # Linux's clock of that process
            memory = lived(here.agents / NAME, NAME, life(1, size))
            index = service.open(NAME, here.agents / NAME / "archive")
            service._run_round()
            asked = [_used(clock, ask) for ask in _questions(index, size)]
            for what, part in (("", ""), (", without embedding", "embedding")):
                cuts = quantiles(((each.total() - each[part]) / _NS for each in asked), n=20)
                told = f"p95 {cuts[18]:.1f}; mean of {_by_part(sum(asked, Counter()), len(asked))}"
                yield Figure(f"index: a question{what}, median", size, cuts[9], "ms", told)
            for each in (_ROUND, _ADDED):
                used = _used(clock, partial(_add, service, index, memory, each))
                told = _by_part(used, _ADDED)
                name = f"index: a memory more, {each} a round"
                yield Figure(name, size, used.total() / _NS / _ADDED, "ms", told)


def _timed(part: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*args: Any, **kwargs: Any) -> Any:
        if getattr(_within, "part", ""):  # calls within a part count as that part
            return call(*args, **kwargs)
        _within.part = part
        began = time.thread_time_ns()
        try:
            return call(*args, **kwargs)
        finally:
            _spent[part] += time.thread_time_ns() - began
            _within.part = ""

    return timed


def _used(server: int, work: Callable[[], object]) -> Counter[str]:
    """Return the processor time of ``work`` in nanoseconds, by part."""
    _spent.clear()
    here = time.process_time_ns()
    there = time.clock_gettime_ns(server)
    work()
    rest = time.process_time_ns() - here - _spent.total()
    served = time.clock_gettime_ns(server) - there
    return Counter({**_spent, "Chroma's server": served, "the rest": rest})


def _by_part(used: Counter[str], count: int) -> str:
    return ", ".join(f"{part} {spent / _NS / count:.2f}" for part, spent in used.most_common())


def _questions(index: AgentIndex, size: int) -> Iterator[Callable[[], object]]:
    trials = [trial for each in SETS for trial in read_trials(DATA / f"recall_{each}.json")]
    texts = dict.fromkeys(each.text for trial in trials for each in trial.questions)
    recall = search.MemorySearch(
        index.words, index, MiniLMEmbedder(), names=lambda: PEOPLE, clock=SystemClock()
    )
    for text in list(texts)[:_QUESTIONS]:
        yield partial(recall.search, text, kinds=_KINDS, before=size - 60)


def _add(service: IndexService, index: AgentIndex, memory: AgentMemory, each: int) -> None:
    for lines in batched(life(20 + each, 2 * _ADDED)[:_ADDED], each):
        for line in lines:
            what = what_of({"text": line.text, "kind": line.kind})
            memory.append(what, place="The Kettle")
            if each == _ROUND:
                index.refresh()  # as a search does
        service._run_round()
    time.sleep(1.0)  # the server works on after its answer
