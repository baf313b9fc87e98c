"""The library's own time: import, first happening, opening 10,000 memories, an answer."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from keepsake import Memory, Speech
from keepsake.ports import Generation, GenerationRequest
from tests.bench.figures import Figure

MEMORIES = 10_000
RUNS = 7
"""Runs of which the median is taken."""
ANSWERS = 40
_PEOPLE = ("Anneke", "Bram", "Jonas", "Oswin")
_IMPORT = """
import time
began = time.perf_counter()
busy = time.process_time()
from keepsake import Memory, Speech
print(time.perf_counter() - began, time.process_time() - busy)
"""
_TEXT = "She drowned three winters ago, and you have told me so {}."


class Quick:
    """A model that answers at once, so that only the library's own time is left."""

    name = "quick"

    def __init__(self) -> None:
        self.answers = 0

    def generate(self, request: GenerationRequest) -> Generation:
        """Return a sentence."""
        self.answers += 1
        return Generation(_TEXT.format(self.answers), "stop", 0, None, 0, 0.0, self.name)


def measure() -> Iterator[Figure]:
    """Measure them, each in a folder of its own."""
    # Without byte code files, each import would compile all modules.
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    seconds = [_imported(environ) for _ in range(RUNS + 1)][1:]  # the first one compiles
    wall, cpu = (median(each) for each in zip(*seconds, strict=True))
    yield Figure("import Memory, Speech", 1, wall, "s", "wanted 0.4")
    yield Figure("CPU time of the import", 1, cpu, "s")
    with tempfile.TemporaryDirectory() as folder:
        yield Figure("first perceive", 1, _first_perceive(Path(folder)), "ms", "wanted 5")
        path = Path(folder, "many")
        _fill(path)
        yield Figure("open", MEMORIES, _opened(path), "ms", "wanted 50")
        first, later, cpu = _answers(path)
        yield Figure("first answer without the model", MEMORIES, first, "ms")
        yield Figure("an answer without the model", MEMORIES, later, "ms", "wanted 20")
        yield Figure("CPU time of an answer, all threads", MEMORIES, cpu, "ms")


def _imported(environ: dict[str, str]) -> tuple[float, float]:
    command = [sys.executable, "-c", _IMPORT]
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=environ)
    wall, cpu = map(float, said.stdout.split())
    return wall, cpu


def _first_perceive(folder: Path) -> float:
    """Return the median time of a memory's first happening, in milliseconds."""
    took = []
    for run in range(RUNS):
        with Memory(folder / f"new{run}", name="Mira") as mira:
            began = time.perf_counter()
            mira.perceive(Speech("Anneke", "My sister Liesbet drowned.", to=["Mira"]))
            took.append((time.perf_counter() - began) * 1000)
    return median(took)


def _fill(path: Path) -> None:
    """Make a memory of :data:`MEMORIES` lines, with its compactions and its index."""
    began = datetime(2026, 5, 1, 8, tzinfo=UTC)
    with Memory(path, name="Mira") as mira:
        for number in range(MEMORIES):
            who = _PEOPLE[number % len(_PEOPLE)]
            words = f"The boat number {number} came to quay {number % 97} with {number % 31} sacks."
            mira.perceive(Speech(who, words), time=began + timedelta(minutes=number))
        while mira.summaries().window[1] - mira.summaries().window[0] > 200:
            mira.compact()
        mira.recall("boat")


def _opened(path: Path) -> float:
    """Return the median time of an opening, in milliseconds."""
    took = []
    for _ in range(RUNS):
        began = time.perf_counter()
        memory = Memory(path, name="Mira")
        took.append((time.perf_counter() - began) * 1000)
        memory.close()
    return median(took)


def _answers(path: Path) -> tuple[float, float, float]:
    """Return the times of the first answer and the median of later ones, and their CPU time.

    All in milliseconds. On a busy machine the CPU time says more.
    """
    took = []
    with Memory(path, name="Mira", persona="You are Mira.", model=Quick()) as mira:
        for number in range(ANSWERS):
            began = time.perf_counter()
            mira.answer(f"When did boat {number * 7} come to the quay?", by="Anneke")
            took.append((time.perf_counter() - began) * 1000)
            if number == 0:
                busy = time.process_time()
        spent = (time.process_time() - busy) * 1000 / (ANSWERS - 1)
    return took[0], median(took[1:]), spent
