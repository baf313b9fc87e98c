"""Helpers for tests of memory: an agent without a world, a manual clock, a fake summarizer."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.summaries import Tier
from keepsake.errors import ModelUnavailable
from keepsake.events.values import CompactReason
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.config import CompactionConfig
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.summary_text import Draft, SummarySource
from keepsake.memory.types import CompactionRequest, CompactionResult, MemoryContext
from keepsake.memory.window import MemoryHost
from keepsake.ports import FixedClock, Generation, Tokens
from tests.memories import did, got, old_memory, seen

SMALL = CompactionConfig(
    immediate_window=4, recent_window=3, preserve_memories=4, min_saving_tokens=0, count_from=0.0
)
"""Windows of a few memories. They fill little of the budget, and compacting them saves few tokens,
so neither is required."""
WIDE = CompactionConfig(
    immediate_window=500,
    recent_window=500,
    context_tokens=1100,
    reserve_tokens=100,
    min_saving_tokens=50,
    preserve_memories=5,
    longterm_tokens=120,
)
"""A budget of 1000 tokens, and windows so wide that the count of memories never matters."""

EVENING = datetime(2026, 5, 4, 20, 0, tzinfo=UTC)


class WordTokens:
    """Counts one token for each word and one for the line end, for sums that are easy to check."""

    factor = 1.0

    def of(self, text: str) -> int:
        return len(text.split()) + 1

    def each(self, texts: Sequence[str]) -> list[int]:
        return list(map(self.of, texts))


class ManualClock(FixedClock):
    """A clock that only ``advance`` moves."""

    def __init__(self, time: datetime = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)) -> None:
        super().__init__(time)

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class ScriptedSummarizer:
    """A fake summarizer that records its sources and fails for the tiers in ``failing``."""

    failing: set[Tier] = field(default_factory=set)
    bad: bool = False
    """Whether its summaries are unrelated to their sources."""
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
            raise ModelUnavailable("The model does not answer", "Start the model server")
        if self.bad:
            return Draft(
                "Quux plugh xyzzy, and fnord.",
                "scripted",
                answers=(Generation("", "stop", 0, 0, 0, 0.0, ""),),
            )
        lines = (*source.older, *map(_raw, source.memories))
        first = lines[: 4 if len(lines) > 5 else 1]
        last = lines[-1]
        return Draft(" ".join(line[:40] for line in dict.fromkeys([*first, last])), "scripted")


def _raw(memory: Memory) -> str:
    if memory.kind is not MemoryKind.ACT:
        return memory.line
    return f"~Mira> {memory.line}" + (f" | {memory.reason}" if memory.reason else "")


@dataclass
class FakeAgent:
    """An agent without a world: settings, a folder, and a memory that tests open again."""

    folder: Path
    config: CompactionConfig = SMALL
    clock: ManualClock = field(default_factory=ManualClock)
    summarizer: ScriptedSummarizer = field(default_factory=ScriptedSummarizer)
    constraints: tuple[str, ...] = ()
    tokens: Tokens = field(default_factory=WordTokens)
    more: dict[str, Any] = field(default_factory=dict)

    def open(self) -> AgentMemory:
        memory = AgentMemory(
            "Mira",
            Archive(self.folder / "archive"),
            SummaryFolder(self.folder / "summaries", "Mira"),
            replace(
                MemoryHost(
                    config=lambda: self.config,
                    summarizer=lambda _: self.summarizer,
                    clock=self.clock,
                    tokens=self.tokens,
                    constraints=lambda: self.constraints,
                ),
                **self.more,
            ),
        )
        memory.window.overhead = 0  # as after a prompt that holds nothing but memories
        return memory


def compact(memory: AgentMemory, reason: CompactReason, **more: Any) -> CompactionResult:
    """Compact for a reason, as the game does; ``more``: fields of the request."""
    request = CompactionRequest(reason=reason, limits=memory.host.config(), **more)
    return memory.compact(request)


def due(memory: AgentMemory, *, asleep: bool = False) -> CompactReason | None:
    """Return why a background compaction is due and pays; None if none is."""
    if memory.may_be_due(asleep=asleep) is None:
        return None
    plan = memory.plan(CompactionRequest(limits=memory.host.config(), asleep=asleep))
    return plan.reason if plan is not None else None


def memories_of(*lines: str) -> list[Memory]:
    """Return memories from lines. ``~`` begins an own act, ``=`` a result, ``Tom| `` Tom's."""
    found = []
    for number, line in enumerate(lines, 1):
        kind = {"~": MemoryKind.ACT, "=": MemoryKind.RESULT}.get(line[:1], MemoryKind.PERCEPTION)
        source, mark, text = line.partition("| ")
        if kind is not MemoryKind.PERCEPTION or not mark:
            source = ""
            text = line[kind is not MemoryKind.PERCEPTION :]
        found.append(
            old_memory(number, EVENING + timedelta(minutes=number), kind, text, source=source)
        )
    return found


def add(memory: AgentMemory, count: int) -> None:
    """Append ``count`` different events."""
    start = memory.tiers.last_number
    for number in range(start + 1, start + count + 1):
        memory.append(seen(f"Thing {number} happened."))


def add_talk(memory: AgentMemory, count: int, words: int = 20) -> None:
    """Append ``count`` different lines of speech, each of ``words`` words."""
    for number in range(memory.tiers.last_number + 1, memory.tiers.last_number + count + 1):
        rest = " ".join(f"w{number}x{place}" for place in range(words - 4))
        memory.append(seen(f"The baker told {number} {rest}."))


def add_look(memory: AgentMemory, place: str, words: int = 60) -> None:
    """Append a look at ``place``: the act and its long result."""
    memory.append(did(f"look {place}"))
    furniture = " ".join(f"chair{number}" for number in range(words))
    memory.append(got(f"{place}. There is {furniture}. Exits: north."))


def covered(context: MemoryContext) -> list[int]:
    """Return the numbers of all memories in the three tiers, in order, with duplicates."""
    numbers: list[int] = []
    for summary in (context.longterm, context.recent):
        if summary:
            numbers += range(summary.first, summary.last + 1)
    return numbers + [memory.number for memory in context.window]


def fill(memory, share: float) -> None:
    """Append lines of 20 words until the prompt takes this share of its budget."""
    while memory.load().share < share:
        add_talk(memory, 1)


def clear(agent: FakeAgent, memory: AgentMemory) -> AgentMemory:
    """Append the line with which earlier versions emptied a prompt; return the memory reopened."""
    number = memory.tiers.last_number
    made = memory.tiers.compactions
    record = {"type": "clear", "n": number, "t": memory.host.clock.now().isoformat()}
    memory.archive.append({**record, "compactions": made, "step": memory.tiers.step})
    memory.close()
    return agent.open()
