"""How many planted facts summaries keep, made without a model from lives of 129 to 257 memories.

Ten random lines are the baseline.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from keepsake.archive.records import MemoryKind
from keepsake.memory.config import CompactionConfig
from tests.bench.figures import Figure
from tests.bench.lives import lived
from tests.bench.talk import FACTS, NAME, Fact, Line, talk

LENGTHS = (129, 193, 193, 257)
CONFIG = CompactionConfig()
SEEDS = (11, 12, 13, 14, 15, 16)
_DRAWS = 200
_RANDOM_LINES = 10


@dataclass(frozen=True, slots=True)
class _Life:
    """The lines of one agent, and the facts that summaries should keep."""

    lines: tuple[Line, ...]  # oldest first
    facts: tuple[Fact, ...]  # planted among lines that the window does not hold at the end


def measure() -> Iterator[Figure]:
    """Measure the share of the planted facts in the summaries, and in random lines."""
    lives = _lives(SEEDS[0])
    planted = sum(len(life.facts) for life in lives)
    floor = 100 * _random_lines(lives) / planted
    yield Figure("planted facts kept by ten random lines", planted, floor, "%", "the floor")
    yield _without_model()


def _without_model() -> Figure:
    kept = list[Fact]()
    planted = list[Fact]()
    characters = 0
    lives = [life for seed in SEEDS for life in _lives(seed)]
    for life in lives:
        with TemporaryDirectory(prefix="keepsake-summary-") as folder:
            memory = lived(Path(folder), NAME, life.lines)
            text = " ".join(each.text for each in memory.context().summaries)
            memory.close()
        kept += [fact for fact in life.facts if fact.kept(text)]
        planted += life.facts
        characters += len(text)
    own, of = (sum(f.line.kind is MemoryKind.ACT for f in facts) for facts in (kept, planted))
    said = f"own words {100 * own / of:.0f} %, {characters / len(lives):.0f} characters"
    share = 100 * len(kept) / len(planted)
    return Figure("planted facts kept by extractive summaries", len(planted), share, "%", said)


def _lives(seed: int) -> list[_Life]:
    """Return lives with the facts, spread in proportion to the summarised lines."""
    random = Random(seed)
    facts = list(FACTS)
    random.shuffle(facts)
    past = [length - CONFIG.immediate_window for length in LENGTHS]
    ends = [round(len(facts) * end / sum(past)) for end in itertools.accumulate(past)]
    shares = itertools.pairwise([0, *ends])
    return [
        _life(random, length, facts[begin:end])
        for length, (begin, end) in zip(LENGTHS, shares, strict=True)
    ]


def _life(random: Random, length: int, facts: list[Fact]) -> _Life:
    lines = list(itertools.islice(talk(random), length))
    places = random.sample(range(length - CONFIG.immediate_window), len(facts))
    for place, fact in zip(places, facts, strict=True):
        lines[place] = fact.line
    return _Life(tuple(lines), tuple(facts))


def _random_lines(lives: list[_Life]) -> float:
    """Return the number of facts in ten random lines of each life, on average."""
    random = Random(5)
    kept = 0
    for life in lives:
        past = life.lines[: -CONFIG.immediate_window]
        for _ in range(_DRAWS):
            text = " ".join(each.text for each in random.sample(past, _RANDOM_LINES))
            kept += sum(fact.kept(text) for fact in life.facts)
    return kept / _DRAWS
