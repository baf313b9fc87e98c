"""What the summaries keep of what was said: facts planted, then looked for.

Lives of 129 to 257 memories are summarised at the shipped sizes, once in each way without a
model and once in prose by the embedded model; ten random lines are the floor. Then the
embedded model is asked for notes under headings, to see how often it gives all of them.

A shorter life with six compactions is summarised by a model through all the checks of the game,
and without one: by the model of an OpenAI-compatible server whose address stands in
``KEEPSAKE_SUMMARIZER`` (its name in ``KEEPSAKE_SUMMARIZER_MODEL``), else by the embedded one.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random

from keepsake.archive.records import MemoryKind, Tier
from keepsake.compaction.config import CompactionConfig
from keepsake.errors import SummaryRefused
from keepsake.models.profiles import OPENAI, ModelProfile
from keepsake.models.servers import build
from keepsake.models.recording import Recorder
from keepsake.paths import REPOSITORY
from keepsake.ports import Generation, LanguageModel
from keepsake.prompt.script import cursor
from keepsake.summaries.attribution import swapped
from keepsake.summaries.source import Summarizer, SummarySource
from keepsake.summaries.strategy import Layout, Strategies, Strategy
from keepsake.summaries.summarizer import EXTRACTIVE, ExtractiveSummarizer, ModelSummarizer
from keepsake.summaries.writing import SummaryWriter
from tests.bench.embedded_up import embedded_model
from tests.bench.figures import Figure
from tests.bench.talk import FACTS, NAME, Fact, Line, talk

LENGTHS = (129, 193, 193, 257)
CONFIG = CompactionConfig()
_SHORT = CompactionConfig(immediate_window=14, recent_window=14)
_LONG_TOKENS = 700
_SHORT_LENGTH, _SHORT_FACTS = 99, 20
SEEDS = (11, 12, 13, 14, 15, 16)
"""Evenings without a model; the first is the one that the model summarises too."""
_DRAWS, _RANDOM_LINES = 200, 10
_NOTE_SOURCES, _NOTE_LINES, _NOTE_TOKENS = 6, 16, 400
"""How often notes are asked for, of how many memories, and the most tokens of an answer."""


@dataclass(frozen=True, slots=True)
class _Life:
    """What happens to one agent, and which of it is worth keeping.

    Attributes:
        lines: Every memory, oldest first.
        facts: Those planted among the memories that no window holds at the end.
    """

    lines: tuple[Line, ...]
    facts: tuple[Fact, ...]

    config: CompactionConfig = CONFIG

    @property
    def past(self) -> tuple[Line, ...]:
        """What the summaries stand for."""
        return self.lines[: -self.config.immediate_window]

    @property
    def due(self) -> range:
        """How many memories there are at each compaction."""
        window = self.config.immediate_window + self.config.recent_window
        return range(window + 1, len(self.lines) + 1, self.config.recent_window)


@dataclass
class _Summaries:
    """Both summaries of one life, as they grow.

    Attributes:
        way: How they are written.
        summarizer: By whom.
        longterm: The long-term summary.
        recent: The short-term summary.
        done: Memories that they stand for.
        refused: Compactions that changed nothing; of a checked one, summaries that were made
            without the model.
        checked: Whether they are written as in the game: judged, tried again, made by rules.
        log: What was refused, and why.
    """

    way: Strategy
    summarizer: Summarizer
    longterm: str = ""
    recent: str = ""
    done: int = 0
    refused: int = 0
    checked: bool = False
    log: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What an agent has of its past."""
        return f"{self.longterm} {self.recent}"

    def live(self, life: _Life) -> None:
        """Compact whenever it is due."""
        for due in life.due:
            last = due - life.config.immediate_window
            lines = tuple(_source_line(line) for line in life.lines[self.done : last])
            try:
                self._compact(lines, tuple(range(self.done + 1, last + 1)))
            except SummaryRefused:
                self.refused += 1
            else:
                self.done = last

    def _compact(self, lines: tuple[str, ...], numbers: tuple[int, ...]) -> None:
        older = (self.recent,) if self.recent else ()
        limit = CONFIG.longterm_tokens
        if self.way.layout is Layout.REPLACE:
            mixed = (0,) * len(older) + numbers
            self.recent = self._written(Tier.RECENT, (*older, *lines), mixed, limit)
            return
        recent = self._written(Tier.RECENT, lines, numbers)
        if older:
            older = (self.longterm, *older) if self.longterm else older
            self.longterm = self._written(Tier.LONGTERM, older, limit=limit)
        self.recent = recent

    def _written(
        self, tier: Tier, lines: tuple[str, ...], numbers: tuple[int, ...] = (), limit: int = 0
    ) -> str:
        source = SummarySource(tier, NAME, lines, numbers, self.way, limit)
        if not self.checked:
            return self.summarizer.summarize(source).text
        writer = SummaryWriter(self.summarizer, True, (), (), self.log.append)
        written = writer.write(source)
        self.refused += written.model == EXTRACTIVE
        return written.text


def measure() -> Iterator[Figure]:
    """Share of the planted facts in the summaries, by how and by whom they are written."""
    ways = Strategies(REPOSITORY / "vault" / "config" / "compaction")
    lives = _lives(SEEDS[0])
    planted = sum(len(life.facts) for life in lives)
    floor = 100 * _random_lines(lives) / planted
    yield Figure("planted facts kept by ten random lines", planted, floor, "%", "the floor")
    for name in ("narrative", "structured", "replace"):
        yield from _without_model(ways.get(name))
    with embedded_model("summarizer") as (profile, model):
        yield _prose_by_model(ways.get("narrative"), lives, profile, model)
        yield _notes_by_model(ways.get("structured"), profile, model)
    yield from six_compactions()


def six_compactions() -> Iterator[Figure]:
    """Facts kept and speakers swapped over six compactions, with a model and without."""
    way = Strategies(REPOSITORY / "vault" / "config" / "compaction").get("narrative")
    life = _life(Random(31), _SHORT_LENGTH, list(FACTS[:_SHORT_FACTS]), _SHORT)
    lived = [_source_line(line) for line in life.lines]
    with _summarizer() as (name, summarizer):
        both = (("extractive", ExtractiveSummarizer()), (name, summarizer))
        for who, writes in both:
            summaries = _Summaries(way, writes, checked=who != "extractive")
            summaries.live(life)
            kept = sum(fact.kept(summaries.text) for fact in life.facts)
            wrong = sum(
                len(swapped(x, lived, NAME)) for x in (summaries.longterm, summaries.recent)
            )
            of = 2 * len(life.due) - 1
            said = f"{wrong} swapped speakers, {summaries.refused} of {of} summaries refused"
            share = 100 * kept / len(life.facts)
            yield Figure(
                f"facts kept over six compactions, {who}", len(life.facts), share, "%", said
            )


@contextmanager
def _summarizer() -> Iterator[tuple[str, Summarizer]]:
    """The model that six compactions are measured with."""
    if not (host := os.environ.get("KEEPSAKE_SUMMARIZER")):
        with embedded_model("summarizer") as (profile, model):
            yield "gemma-3-270m", _by_model(profile, model, max_tokens=_NOTE_TOKENS)
        return
    name = os.environ.get("KEEPSAKE_SUMMARIZER_MODEL", "model")
    profile = replace(
        ModelProfile("summarizer", provider=OPENAI, host=host, model=name, temperature=0.3),
        max_tokens=_LONG_TOKENS,
        time_limit=600.0,
        in_flight=1,
    )
    client = build(profile, None, {}, Recorder()).client
    yield name, _by_model(profile, client, max_tokens=_LONG_TOKENS)
    client.close()


def _without_model(way: Strategy) -> Iterator[Figure]:
    lives = [life for seed in SEEDS for life in _lives(seed)]
    kept, _, characters = _kept(lives, way, ExtractiveSummarizer())
    said = f"promises {_share(kept, lives, MemoryKind.ACT):.0f} %, {characters:.0f} characters"
    count = sum(len(life.facts) for life in lives)
    share = _share(kept, lives)
    yield Figure(f"planted facts kept by {way.name}, extractive", count, share, "%", said)


def _prose_by_model(
    way: Strategy, lives: list[_Life], profile: ModelProfile, model: LanguageModel
) -> Figure:
    kept, refused, _ = _kept(lives, way, _by_model(profile, model))
    compactions = sum(len(life.due) for life in lives)
    planted = sum(len(life.facts) for life in lives)
    return Figure(
        f"planted facts kept by {way.name}, gemma-3-270m",
        planted,
        _share(kept, lives),
        "%",
        f"{refused} of {compactions} compactions refused",
    )


def _notes_by_model(way: Strategy, profile: ModelProfile, model: LanguageModel) -> Figure:
    """How often the model gives every heading, in two tries, of few memories."""
    random, given, lacking = Random(21), 0, 0
    summarizer = _by_model(profile, model, max_tokens=_NOTE_TOKENS)
    for _ in range(_NOTE_SOURCES):
        lines = tuple(_source_line(x) for x in itertools.islice(talk(random), _NOTE_LINES))
        numbers = tuple(range(1, _NOTE_LINES + 1))
        try:
            summarizer.summarize(SummarySource(Tier.RECENT, NAME, lines, numbers, way))
            given += 1
        except SummaryRefused as error:
            lacking += "lacks" in error.what
    return Figure(
        f"{way.name} summaries that gemma-3-270m gets right",
        _NOTE_SOURCES,
        100 * given / _NOTE_SOURCES,
        "%",
        f"{lacking} lacked headings, the others repeated themselves or told nothing",
    )


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
    return _Life(tuple(lines), tuple(facts), config)


def _kept(
    lives: list[_Life], way: Strategy, summarizer: Summarizer
) -> tuple[list[Fact], int, float]:
    """Facts kept over all lives, compactions that were refused, characters of a life."""
    kept: list[Fact] = []
    refused = characters = 0
    for life in lives:
        summaries = _Summaries(way, summarizer)
        summaries.live(life)
        kept += [fact for fact in life.facts if fact.kept(summaries.text)]
        refused += summaries.refused
        characters += len(summaries.text)
    return kept, refused, characters / len(lives)


def _share(kept: list[Fact], lives: list[_Life], kind: MemoryKind | None = None) -> float:
    """Percent of the planted facts that were kept, all or those of one kind."""
    planted = [fact for life in lives for fact in life.facts]
    chosen = [sum(kind in (None, f.line.kind) for f in facts) for facts in (kept, planted)]
    return 100 * chosen[0] / chosen[1]


def _source_line(line: Line) -> str:
    return f"{cursor(NAME)} {line.text}" if line.kind is MemoryKind.ACT else line.text


def _by_model(
    profile: ModelProfile, model: LanguageModel, max_tokens: int | None = None
) -> ModelSummarizer:
    def generate(prompt: str, stop: tuple[str, ...]) -> Generation:
        return model.generate(profile.request(prompt, stop=stop, max_tokens=max_tokens))

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
