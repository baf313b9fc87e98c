"""The time to append a memory and to open a memory, by its number of lines."""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from keepsake.memory.summary_text import Draft, SummarySource
from keepsake.memory.types import CompactReason
from tests.bench.figures import Figure
from tests.bench.lives import opened

SIZES = (100, 10_000, 100_000)
_ROUNDS, _EACH, _STEP = 41, 50, 1000
_TEXT = 'Tom says to you, "The ferry was late again, and number {} of the barrels leaked."'


class _Shortened:
    """A summarizer without cost, because the bench measures the memory alone."""

    def __call__(self, source: SummarySource) -> Draft:
        return Draft("\n".join(source.lines)[: source.characters], "shortened")


def measure() -> Iterator[Figure]:
    """Measure appending and opening; all memories are compacted to windows of the same length."""
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            memory = opened(Path(folder), summarizer=_Shortened)
            for number in range(1, size + 1):
                memory.append(_TEXT.format(number))
                if number in (size - 20, size - 4) or number % _STEP == 0:
                    memory.compact(CompactReason.MANUAL)
            memory.close()
            del memory
            gc.collect()
            open_ms, append_ms = list[float](), list[float]()
            for _ in range(_ROUNDS):
                began = time.perf_counter()
                memory = opened(Path(folder), summarizer=_Shortened)
                open_ms.append((time.perf_counter() - began) * 1000)
                memory.close()
            memory = opened(Path(folder), summarizer=_Shortened)
            for _ in range(_ROUNDS):
                began = time.perf_counter()
                for number in range(_EACH):
                    memory.append(_TEXT.format(number))
                append_ms.append((time.perf_counter() - began) / _EACH * 1000)
            memory.close()
        yield Figure("memory.append", size, statistics.median(append_ms), "ms")
        yield Figure("open an agent's memory", size, statistics.median(open_ms), "ms")
