"""What remembering and opening cost, by the length of a life."""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.summarizer import Draft
from keepsake.memory.summary_text import SummarySource
from keepsake.memory.types import CompactReason
from tests.bench.figures import Figure
from tests.bench.lives import opened

SIZES = (100, 10_000, 100_000)
_ROUNDS, _EACH, _OPENINGS = 41, 50, 41
_STEP = 1000
_TEXT = 'Tom says to you, "The ferry was late again, and number {} of the barrels leaked."'


class _Shortened:
    """A summarizer that costs nothing: here the memory is measured, not the summaries."""

    def summarize(self, source: SummarySource) -> Draft:
        return Draft("\n".join(source.lines)[: source.characters], "shortened")


def measure() -> Iterator[Figure]:
    """Cost of ``append`` and of opening, at several lengths of life."""
    with tempfile.TemporaryDirectory() as scratch:
        folders = {size: Path(scratch) / str(size) for size in SIZES}
        memories = {size: _lived(folder, size) for size, folder in folders.items()}
        for memory in memories.values():
            memory.close()
        # In turn, so that a busy moment of the machine falls on all sizes alike.
        rounds = [{size: _opened(folders[size]) for size in SIZES} for _ in range(_OPENINGS)]
        took = {size: statistics.median(each[size] for each in rounds) for size in SIZES}
        for size, folder in folders.items():
            yield Figure("memory.append", size, _append(folder), "ms")
        for size in SIZES:
            ratio = f"{took[size] / took[SIZES[0]]:.2f} × the time at {SIZES[0]}"
            yield Figure("open an agent's memory", size, took[size], "ms", ratio)


def _lived(folder: Path, size: int) -> AgentMemory:
    """A memory of ``size`` memories, compacted as they came, if in larger steps.

    Its last two compactions are made just before the end, so that every length of life
    ends with two summaries and the same number of memories in the window.
    """
    memory = opened(folder, summarizer=_Shortened)
    for number in range(1, size + 1):
        memory.append(_TEXT.format(number))
        if number in (size - 20, size - 4) or number % _STEP == 0:
            memory.compact(CompactReason.MANUAL)
    return memory


def _opened(folder: Path) -> float:
    """Milliseconds that one opening takes."""
    began = time.perf_counter()
    memory = opened(folder, summarizer=_Shortened)
    took = time.perf_counter() - began
    memory.close()
    return took * 1000


def _append(folder: Path) -> float:
    """Milliseconds that one memory takes, the median of rounds of fifty."""
    memory, times = opened(folder, summarizer=_Shortened), []
    gc.collect()
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        for number in range(_EACH):
            memory.append(_TEXT.format(number))
        times.append((time.perf_counter() - began) / _EACH * 1000)
    memory.close()
    return statistics.median(times)
