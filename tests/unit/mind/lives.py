"""What the memory tests are built from: a clock that stands still, a scripted summarizer."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind, Tier
from keepsake.errors import ModelUnavailable
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.config import CompactionConfig
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.summary_text import Draft, SummarySource
from keepsake.memory.types import MemoryContext
from keepsake.memory.window import MemoryHost
from keepsake.ports import FixedClock, Generation, Tokens

SMALL = CompactionConfig(immediate_window=4, recent_window=3, min_saving_tokens=0)
"""Such small windows save next to nothing, so they must not ask for a saving."""
WIDE = CompactionConfig(
    immediate_window=500,
    recent_window=500,
    context_tokens=1100,
    reserve_tokens=100,
    min_saving_tokens=50,
    preserve_memories=5,
    longterm_tokens=120,
)
"""A budget of 1000 words, and a count that is never reached."""


EVENING = datetime(2026, 5, 4, 20, 0, tzinfo=UTC)


class WordTokens:
    """Counts a token for every word and one for the line end, so that sums can be done by head."""

    factor = 1.0

    def of(self, text: str) -> int:
        return len(text.split()) + 1

    def each(self, texts: Sequence[str]) -> list[int]:
        return list(map(self.of, texts))


class ManualClock(FixedClock):
    """Moves only when told to."""

    def __init__(self, time: datetime = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)) -> None:
        super().__init__(time)

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class ScriptedSummarizer:
    """Writes down what it was asked; fails for the tiers it is told to fail for."""

    failing: set[Tier] = field(default_factory=set)
    bad: bool = False
    """Whether it writes what has nothing to do with its source."""
    calls: int = 0
    sources: list[SummarySource] = field(default_factory=list)
    gate: threading.Event | None = None
    entered: threading.Event = field(default_factory=threading.Event)
    threads: set[int] = field(default_factory=set)

    def __call__(self, source: SummarySource) -> Draft:
        self.sources.append(source)
        self.threads.add(threading.get_ident())
        self.calls += 1
        self.entered.set()
        if self.gate is not None:
            assert self.gate.wait(60)
        if source.tier in self.failing:
            raise ModelUnavailable("nobody answers", "Start the model server")
        if self.bad:
            return Draft(
                "Quux plugh xyzzy, and fnord.",
                "scripted",
                answers=(Generation("", "stop", 0, 0, 0, 0.0, ""),),
            )
        lines = (*source.older, *map(_raw, source.memories))
        first, last = lines[: 4 if len(lines) > 5 else 1], lines[-1]
        return Draft(" ".join(line[:40] for line in dict.fromkeys([*first, last])), "scripted")


def _raw(memory: Memory) -> str:
    if memory.kind is not MemoryKind.ACT:
        return memory.line
    return f"~Mira> {memory.line}" + (f" | {memory.reason}" if memory.reason else "")


@dataclass
class Life:
    """One agent's memory on disk, which can be closed, killed and opened again."""

    folder: Path
    config: CompactionConfig = SMALL
    clock: ManualClock = field(default_factory=ManualClock)
    summarizer: ScriptedSummarizer = field(default_factory=ScriptedSummarizer)
    log: list[str] = field(default_factory=list)
    constraints: tuple[str, ...] = ()
    asleep: bool = False
    tokens: Tokens = field(default_factory=WordTokens)
    more: dict[str, Any] = field(default_factory=dict)

    def open(self) -> AgentMemory:
        return AgentMemory(
            "Mira",
            Archive(self.folder / "archive"),
            SummaryFolder(self.folder / "summaries", "Mira"),
            replace(
                MemoryHost(
                    config=lambda: self.config,
                    summarizer=lambda: self.summarizer,
                    clock=self.clock,
                    log=self.log.append,
                    tokens=self.tokens,
                    constraints=lambda: self.constraints,
                    asleep=lambda: self.asleep,
                ),
                **self.more,
            ),
        )


def lived(*lines: str) -> list[Memory]:
    """Memories: ``~`` begins an own act, ``=`` a result, ``Tom| `` what Tom causes."""
    found = []
    for number, line in enumerate(lines, 1):
        kind = {"~": MemoryKind.ACT, "=": MemoryKind.RESULT}.get(line[:1], MemoryKind.PERCEPTION)
        source, mark, text = line.partition("| ")
        if kind is not MemoryKind.PERCEPTION or not mark:
            source, text = "", line[kind is not MemoryKind.PERCEPTION :]
        found.append(Memory(number, EVENING + timedelta(minutes=number), kind, text, source=source))
    return found


def live(memory: AgentMemory, count: int) -> None:
    """Have ``count`` more things happen, each different."""
    start = memory.tiers.last_number
    for number in range(start + 1, start + count + 1):
        memory.append(f"Thing {number} happened.")


def talk(memory: AgentMemory, count: int, words: int = 20) -> None:
    """Have ``count`` more things happen, each of ``words`` words that tell them apart."""
    for number in range(memory.tiers.last_number + 1, memory.tiers.last_number + count + 1):
        rest = " ".join(f"w{number}x{place}" for place in range(words - 4))
        memory.append(f"The baker told {number} {rest}.")


def spread(memory: AgentMemory, place: str, words: int = 60) -> None:
    """Look at ``place``: an act and its long result."""
    memory.append(f"look {place}", MemoryKind.ACT)
    furniture = " ".join(f"chair{number}" for number in range(words))
    memory.append(f"{place}. There is {furniture}. Exits: north.", MemoryKind.RESULT)


def covered(context: MemoryContext) -> list[int]:
    """Every memory number the three tiers cover, in order, doubles included."""
    numbers: list[int] = []
    for summary in (context.longterm, context.recent):
        if summary:
            numbers += range(summary.first, summary.last + 1)
    return numbers + [memory.number for memory in context.window]


def fill(memory, share: float) -> None:
    """Lines of 20 words, each by somebody else, until the prompt has that share of its budget."""
    while memory.load().share < share:
        talk(memory, 1)


def cleared(life: Life, memory: AgentMemory) -> AgentMemory:
    """Opened after its prompt was emptied, as earlier versions could: such lines are archived."""
    number, made = memory.tiers.last_number, memory.tiers.compactions
    record = {"type": "clear", "n": number, "t": memory.host.clock.now().isoformat()}
    memory.archive.append({**record, "compactions": made, "step": memory.tiers.step})
    memory.close()
    return life.open()
