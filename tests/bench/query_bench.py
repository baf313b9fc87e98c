"""The processor time of a recall in the lab, ranking included, without embedding.

Keepsake's memory holds made evenings and is asked the questions of three data sets, all different.
Times are of all threads of the process together.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, quantiles

from keepsake.archive.old_lines import what_of
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.archive.records import Memory
from keepsake.lab.benchmarks import read_trials
from keepsake.lab.memories.keepsake import KeepsakeMemory
from keepsake.memory.protocol import MemoryArguments
from tests.bench.busy_world import life
from tests.bench.figures import Figure
from tests.bench.lives import TenSeconds
from tests.bench.recall_bench import DATA, SETS
from tests.bench.talk import NAME
from tests.fakes.embedder import BagOfWords

SIZES = (1_000, 10_000)
_LIMIT = 100
"""Lines that each question asks for."""


class _Timed(BagOfWords):
    """An embedder that counts its processor time, in seconds, so that it can be left out."""

    def __init__(self) -> None:
        super().__init__()
        self.spent = 0.0

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        began = time.thread_time()
        try:
            return super().embed(texts)
        finally:
            self.spent += time.thread_time() - began


def measure() -> Iterator[Figure]:
    """Measure a recall and a line more, by the number of lines."""
    trials = [trial for each in SETS for trial in read_trials(DATA / f"recall_{each}.json")]
    questions = dict.fromkeys(each.text for trial in trials for each in trial.questions)
    for size in SIZES:
        embedder = _Timed()
        with tempfile.TemporaryDirectory() as folder:
            memory = KeepsakeMemory(
                MemoryArguments(
                    agent=NAME,
                    folder=Path(folder),
                    clock=TenSeconds(size),
                    embedder=embedder,
                    audience=lambda: NO_PRIVATE_WORDS,
                )
            )
            began = time.process_time()
            for line in _lines(size):
                memory.perceive(line)
            memory.rest(asleep=False)
            used = 1000 * (time.process_time() - began - embedder.spent)
            yield Figure("query: a line more", size, used / size, "ms", "without embedding")
            times = list[float]()
            for question in questions:
                embedder.spent = 0.0
                began = time.process_time()
                memory.recall(question, _LIMIT)
                times.append(1000 * (time.process_time() - began - embedder.spent))
            memory.close()
        cuts = quantiles(times, n=20)
        told = f"p95 {cuts[18]:.1f}, mean {fmean(times):.1f}, {len(times)} questions"
        yield Figure("query: a recall without embedding, median", size, cuts[9], "ms", told)


def _lines(size: int) -> Iterator[Memory]:
    clock = TenSeconds(size)
    for number, line in enumerate(life(1, size), 1):
        yield Memory(number, clock.now(), what_of({"text": line.text, "kind": line.kind}))
