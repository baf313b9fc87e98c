"""What remembering and opening cost, beside a bare JSON line appended to a file."""

from __future__ import annotations

import gc
import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from game.mind.archive import Archive
from game.mind.cascade import CascadeMemory
from game.mind.compaction_config import CompactionConfig
from game.mind.memory import CompactReason
from game.mind.ports import SystemClock
from game.mind.summaries import SummaryFolder
from game.mind.summarize import ExtractiveSummarizer
from tests.bench.figures import Figure, median_ms

SIZES = (100, 10_000, 100_000)
_ROUNDS, _EACH = 41, 50
_TEXT = 'Tom says to you, "The ferry was late again, and number {} of the barrels leaked."'


def measure() -> Iterator[Figure]:
    """Cost of ``append`` and of opening, at several lengths of life."""
    bare = _bare_append()
    yield Figure("bare JSON line appended and flushed", _EACH * _ROUNDS, bare, "ms")
    opened_first = 0.0
    for size in SIZES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            memory = _lived(folder, size)
            added = _append(memory)
            memory.close()
            yield Figure("memory.append", size, added, "ms", f"{added / bare:.1f} × bare append")
            opened = median_ms(lambda: _open(folder).close(), rounds=15)
            opened_first = opened_first or opened
            ratio = f"{opened / opened_first:.2f} × the time at {SIZES[0]}"
            yield Figure("open an agent's memory", size, opened, "ms", ratio)


def _open(folder: Path) -> CascadeMemory:
    config = CompactionConfig()
    return CascadeMemory(
        "Mira",
        Archive(folder / "archive"),
        SummaryFolder(folder / "summaries", "Mira"),
        config=lambda: config,
        summarizer=ExtractiveSummarizer,
        clock=SystemClock(),
        log=lambda _: None,
    )


def _lived(folder: Path, size: int) -> CascadeMemory:
    """A memory of ``size`` memories, compacted as they came, though in large steps."""
    memory = _open(folder)
    for number in range(size):
        memory.append(_TEXT.format(number))
        if number % 5000 == 4999 or number == size - 80:
            memory.compact(CompactReason.MANUAL)
    return memory


def _append(memory: CascadeMemory) -> float:
    numbers = iter(range(10**9))
    gc.collect()
    return median_ms(
        lambda: memory.append(_TEXT.format(next(numbers))), rounds=_ROUNDS, each=_EACH
    )


def _bare_append() -> float:
    """The least there is: one JSON line, written and flushed."""
    with tempfile.TemporaryDirectory() as scratch, (Path(scratch) / "bare.jsonl").open("a") as file:

        def append() -> None:
            record = {"n": 1, "t": datetime.now(UTC).isoformat(), "text": _TEXT}
            file.write(json.dumps(record) + "\n")
            file.flush()

        return median_ms(append, rounds=_ROUNDS, each=_EACH)
