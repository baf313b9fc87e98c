"""Value types of an agent's memory: contexts, loads, compactions and their results."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum
from typing import Any

from keepsake.archive.records import Memory, Summary


class CompactReason(StrEnum):
    """Why a compaction is made."""

    COUNT = "count"
    """The window reached its size."""
    HIGH = "high"
    """The prompt passed the high mark."""
    SLEEP = "sleep"
    """The agent sleeps, and the prompt is over the sleep mark."""
    EMERGENCY = "emergency"
    """The prompt passed the emergency mark just before a thought."""
    MANUAL = "manual"
    """A builder asked."""

    @property
    def asked(self) -> bool:
        """Whether a person asked for it. Then it is made, whatever it saves."""
        return self is CompactReason.MANUAL


class Rung(StrEnum):
    """The steps of the ladder, from gentle to lossy."""

    MASK = "mask"
    SUMMARISE = "summarise"
    RESUMMARISE = "summarise again"
    TRUNCATE = "truncate"


class Outcome(StrEnum):
    """How a compaction ended; a failed one raises instead."""

    FIRST = "first summary"
    WATERFALL = "waterfall"
    SHORTENED = "summaries shortened"
    NOTHING = "nothing to compact"


@dataclass(frozen=True, slots=True)
class Load:
    """What the prompt costs, as far as it is known without building it."""

    used: int  # tokens of the whole prompt
    summaries: int
    window: int  # tokens of the window as it is shown, masked
    budget: int  # tokens that the prompt may have: the context minus the reserve

    @property
    def overhead(self) -> int:
        """Tokens of everything except summaries and window."""
        return self.used - self.summaries - self.window

    @property
    def share(self) -> float:
        """The used share of the budget; 1.0 is full."""
        return self.used / self.budget


@dataclass(frozen=True, slots=True)
class RungStep:
    """What one rung did in a compaction."""

    rung: Rung
    tokens_before: int  # tokens of summaries and window before it
    tokens_after: int
    calls: int = 0


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """The part of a memory that is in the prompt: each memory is in exactly one of the tiers."""

    longterm: Summary | None
    recent: Summary | None  # summary of the memories L+1 … S; None before the first compaction
    window: tuple[Memory, ...]  # the memories S+1 … N verbatim, oldest first
    # the window as a prompt shows it: old tool results shortened, repeats folded
    shown: tuple[Memory, ...] = ()
    compaction: int = 0  # number of the compaction that made the summaries; 0 for none

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """The existing summaries, long-term first."""
        return tuple(each for each in (self.longterm, self.recent) if each is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFigures:
    """What a compaction did, in figures."""

    outcome: Outcome
    number: int = 0  # 0 if it changed nothing
    # first and last memory that it summarised; None if it only shortened summaries
    covered: tuple[int, int] | None = None
    kept: int = 0
    tokens_before: int = 0  # estimated tokens of summaries and window before
    tokens_after: int = 0  # the same afterwards
    seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    steps: tuple[RungStep, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Return the fields that an archive line stores besides the summaries."""
        tokens = self.tokens_before, self.tokens_after, self.prompt_tokens, self.completion_tokens
        keys = "rung", "before", "after", "calls"
        return {
            "outcome": self.outcome.value,
            "kept": self.kept,
            "seconds": round(self.seconds, 3),
            "calls": self.calls,
            "tokens": dict(zip(("before", "after", "prompt", "completion"), tokens, strict=True)),
            "steps": [dict(zip(keys, astuple(step), strict=True)) for step in self.steps],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionResult(CompactionFigures):
    """What a compaction did, with its reason and a description."""

    reason: CompactReason
    detail: str
    model: str = ""
    # refused answers of a model: the task, the answer, and why it was refused
    refused: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What the undo of a compaction did."""

    number: int
    detail: str
    left: int  # how many more compactions can be undone
