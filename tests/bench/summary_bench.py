"""What the two summaries keep of what was said: facts planted, then looked for.

Lives of 129 to 257 memories go through the cascade at the shipped sizes, once with the
extractive summarizer and once with the embedded model; ten random lines are the floor.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from game.llm.profiles import Profile
from game.mind.archive import Archive
from game.mind.cascade import CascadeMemory
from game.mind.compaction_config import CompactionConfig
from game.mind.errors import CompactionError
from game.mind.memory import CompactReason
from game.mind.ports import Generation, LanguageModel, SystemClock
from game.mind.summaries import SummaryFolder
from game.mind.summarize import ExtractiveSummarizer, ModelSummarizer, Summarizer
from tests.bench.embedded_up import embedded_model
from tests.bench.figures import Figure
from tests.bench.talk import FACTS, NAME, Fact, Line, talk

LENGTHS = (129, 193, 193, 257)
CONFIG = CompactionConfig(fallback_after=0)
_DRAWS, _RANDOM_LINES = 200, 10


@dataclass(frozen=True, slots=True)
class _Life:
    """What happens to one agent, and which of it is worth keeping.

    Attributes:
        lines: Every memory, oldest first.
        facts: Those planted among the memories that no window holds at the end.
    """

    lines: tuple[Line, ...]
    facts: tuple[Fact, ...]

    @property
    def past(self) -> tuple[Line, ...]:
        """What the summaries stand for."""
        return self.lines[: -CONFIG.immediate_window]


def measure() -> Iterator[Figure]:
    """Share of the planted facts in the summaries, by who wrote them."""
    lives = _lives()
    planted = sum(len(life.facts) for life in lives)
    floor = _random_lines(lives)
    extractive = _kept(lives, ExtractiveSummarizer())[0]
    yield _figure("ten random lines", planted, floor, "the floor")
    shipped = f"{extractive / floor:.1f} × the floor"
    yield _figure("extractive summaries", planted, extractive, shipped)
    with embedded_model("summarizer") as (profile, model):
        kept, refused = _kept(lives, _by_model(profile, model))
    compactions = sum(len(_due(life)) for life in lives)
    said = f"{refused} of {compactions} compactions refused, {kept / floor:.1f} × the floor"
    yield _figure("gemma-3-270m's summaries", planted, kept, said)


def _figure(who: str, planted: int, kept: float, reference: str) -> Figure:
    return Figure(f"planted facts kept by {who}", planted, 100 * kept / planted, "%", reference)


def _lives() -> list[_Life]:
    """Evenings among which the facts are spread in proportion to what is summarised."""
    random, facts = Random(11), list(FACTS)
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


def _kept(lives: list[_Life], summarizer: Summarizer) -> tuple[int, int]:
    """Facts kept over all lives, and compactions that were refused."""
    kept = refused = 0
    for life in lives:
        with tempfile.TemporaryDirectory() as scratch:
            memory = _open(Path(scratch), summarizer)
            refused += _live(memory, life)
            context = memory.context()
            memory.close()
        texts = [each.text for each in (context.longterm, context.recent) if each]
        kept += sum(fact.kept(" ".join(texts)) for fact in life.facts)
    return kept, refused


def _live(memory: CascadeMemory, life: _Life) -> int:
    """Live it, compacting when it is due; returns how often that was refused."""
    refused = 0
    for number, line in enumerate(life.lines, start=1):
        memory.append(line.text, line.kind)
        if number in _due(life):
            try:
                memory.compact(CompactReason.COUNT)
            except CompactionError:
                refused += 1
    return refused


def _due(life: _Life) -> range:
    whole = CONFIG.immediate_window + CONFIG.recent_window + 1
    return range(whole, len(life.lines) + 1, CONFIG.recent_window)


def _open(folder: Path, summarizer: Summarizer) -> CascadeMemory:
    return CascadeMemory(
        NAME,
        Archive(folder / "archive"),
        SummaryFolder(folder / "summaries", NAME),
        config=lambda: CONFIG,
        summarizer=lambda: summarizer,
        clock=SystemClock(),
        log=lambda _: None,
    )


def _by_model(profile: Profile, model: LanguageModel) -> ModelSummarizer:
    def generate(prompt: str, stop: tuple[str, ...]) -> Generation:
        return model.generate(profile.request(prompt, stop=stop))

    return ModelSummarizer(generate, context_tokens=profile.context_tokens or 4096)


def _random_lines(lives: list[_Life]) -> float:
    """Facts in ten random lines of each life, on average."""
    random = Random(5)
    kept = 0
    for life in lives:
        for _ in range(_DRAWS):
            text = " ".join(line.text for line in random.sample(life.past, _RANDOM_LINES))
            kept += sum(fact.kept(text) for fact in life.facts)
    return kept / _DRAWS
