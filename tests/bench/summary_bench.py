"""What the summaries keep of what was said: facts planted, then looked for.

Lives of 129 to 257 memories are summarised at the shipped sizes without a model; ten random lines
are the floor.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from keepsake.archive.records import Memory, MemoryKind, Tier
from keepsake.memory.config import CompactionConfig
from keepsake.memory.strategy import Layout, Strategies, Strategy
from keepsake.memory.summarizer import Draft, ExtractiveSummarizer, Summarizer
from keepsake.memory.summary_text import SummarySource
from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure
from tests.bench.talk import FACTS, NAME, PEOPLE, Fact, Line, talk

LENGTHS = (129, 193, 193, 257)
CONFIG = CompactionConfig()
_SHORT = CompactionConfig(immediate_window=14, recent_window=14)
_SHORT_LENGTH, _SHORT_FACTS = 99, 20
SEEDS = (11, 12, 13, 14, 15, 16)
_DRAWS, _RANDOM_LINES = 200, 10
_START = datetime(2026, 5, 4, 18, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Life:
    """What happens to one agent, and which of it is worth keeping.

    Attributes:
        memories: Every memory, oldest first.
        facts: Those planted among the memories that no window holds at the end.
    """

    memories: tuple[Memory, ...]
    facts: tuple[Fact, ...]
    config: CompactionConfig = CONFIG

    @property
    def past(self) -> tuple[Memory, ...]:
        """What the summaries cover."""
        return self.memories[: -self.config.immediate_window]

    @property
    def due(self) -> range:
        """How many memories there are at each compaction."""
        window = self.config.immediate_window + self.config.recent_window
        return range(window + 1, len(self.memories) + 1, self.config.recent_window)


@dataclass
class _Summaries:
    """Both summaries of one life, as they grow."""

    way: Strategy
    summarizer: Summarizer
    longterm: str = ""
    recent: str = ""
    drafts: list[Draft] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What an agent has of its past."""
        return f"{self.longterm} {self.recent}"

    def live(self, life: _Life) -> None:
        """Compact whenever it is due."""
        done = 0
        for due in life.due:
            last = due - life.config.immediate_window
            self._compact(life.memories[done:last])
            done = last

    def _compact(self, leaving: tuple[Memory, ...]) -> None:
        limit = CONFIG.longterm_tokens
        older = (self.recent,) if self.recent else ()
        if self.way.layout is Layout.REPLACE:
            self.recent = self._written(Tier.RECENT, leaving, older, limit)
            return
        recent = self._written(Tier.RECENT, leaving)
        if older:
            older = (self.longterm, *older) if self.longterm else older
            self.longterm = self._written(Tier.LONGTERM, older=older, limit=limit)
        self.recent = recent

    def _written(
        self,
        tier: Tier,
        memories: tuple[Memory, ...] = (),
        older: tuple[str, ...] = (),
        limit: int = 0,
    ) -> str:
        source = SummarySource(tier, NAME, memories, older, self.way, limit)
        self.drafts.append(self.summarizer.summarize(source))
        return self.drafts[-1].text


def measure() -> Iterator[Figure]:
    """Share of the planted facts in the summaries, by how and by whom they are written."""
    ways = Strategies(REPOSITORY / "vault" / "config" / "compaction")
    lives = _lives(SEEDS[0])
    planted = sum(len(life.facts) for life in lives)
    floor = 100 * _random_lines(lives) / planted
    yield Figure("planted facts kept by ten random lines", planted, floor, "%", "the floor")
    for name in ("narrative", "replace"):
        yield _without_model(ways.get(name))


def _without_model(way: Strategy) -> Figure:
    kept, planted, characters = list[Fact](), list[Fact](), 0
    lives = [life for seed in SEEDS for life in _lives(seed)]
    for life in lives:
        summaries = _Summaries(way, ExtractiveSummarizer())
        summaries.live(life)
        kept += [fact for fact in life.facts if fact.kept(summaries.text)]
        planted += life.facts
        characters += len(summaries.text)
    own, of = (sum(f.line.kind is MemoryKind.ACT for f in facts) for facts in (kept, planted))
    said = f"own words {100 * own / of:.0f} %, {characters / len(lives):.0f} characters"
    share = 100 * len(kept) / len(planted)
    return Figure(f"planted facts kept by {way.name}, extractive", len(planted), share, "%", said)


def _lives(seed: int) -> list[_Life]:
    """Evenings among which the facts are spread in proportion to what is summarised."""
    random, facts = Random(seed), list(FACTS)
    random.shuffle(facts)
    past = [length - CONFIG.immediate_window for length in LENGTHS]
    ends = [round(len(facts) * end / sum(past)) for end in itertools.accumulate(past)]
    shares = itertools.pairwise([0, *ends])
    return [
        _life(random, length, facts[begin:end])
        for length, (begin, end) in zip(LENGTHS, shares, strict=True)
    ]


def _life(
    random: Random, length: int, facts: list[Fact], config: CompactionConfig = CONFIG
) -> _Life:
    lines = list(itertools.islice(talk(random), length))
    places = random.sample(range(length - config.immediate_window), len(facts))
    for place, fact in zip(places, facts, strict=True):
        lines[place] = fact.line
    return _Life(tuple(itertools.starmap(_memory, enumerate(lines, 1))), tuple(facts), config)


def _memory(number: int, line: Line) -> Memory:
    first = line.text.partition(" ")[0]
    source = first if line.kind is MemoryKind.PERCEPTION and first in PEOPLE else ""
    time = _START + timedelta(minutes=number)
    return Memory(number, time, line.kind, line.text, source=source)


def _random_lines(lives: list[_Life]) -> float:
    """Facts in ten random lines of each life, on average."""
    random = Random(5)
    kept = 0
    for life in lives:
        for _ in range(_DRAWS):
            text = " ".join(each.text for each in random.sample(life.past, _RANDOM_LINES))
            kept += sum(fact.kept(text) for fact in life.facts)
    return kept / _DRAWS
