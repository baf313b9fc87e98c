"""Value types of an agent's memory: contexts, loads, compactions and their results."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from enum import StrEnum
from typing import Any

from keepsake.archive.records import Memory
from keepsake.archive.summaries import Summary
from keepsake.events.values import CompactionOutcome, CompactReason
from keepsake.memory.config import CompactionConfig

UNCHANGED = "unchanged"
"""The ``model`` of a long-term summary that holds the earlier summaries as they were, because both
fit; no model was asked."""


class Rung(StrEnum):
    """The steps of the ladder, from gentle to lossy."""

    MASK = "mask"
    SUMMARISE = "summarise"
    RESUMMARISE = "summarise again"
    TRUNCATE = "truncate"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRequest:
    """What is asked of a memory, with all that the compaction needs from the agent's world.

    It is made on the reactor thread, and read in a worker thread.

    Attributes:
        reason: Why it is asked for; None for whatever is due in the background, if anything is.
        limits: The settings, fitted to the agents' model. They hold for the whole compaction.
        asleep: Whether the agent sleeps; then a compaction is due earlier.
        in_talk: Whether the agent talks with a player; then a compaction waits for a pause.
        names: The names of the people and places that the game knows, for summaries.
        persona: Who the agent is, a paragraph; for summaries.
    """

    reason: CompactReason | None = None
    limits: CompactionConfig
    asleep: bool = False
    in_talk: bool = False
    names: frozenset[str] = frozenset()
    persona: str = ""


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
        return self.used / self.budget if self.budget > 0 else math.inf

    @property
    def leaves_no_room(self) -> bool:
        """Whether the rest of the prompt alone needs the whole budget. No compaction can help."""
        return self.overhead >= self.budget


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
    # the window as a prompt shows it: old tool results shortened, repeats folded; without asides or
    # its oldest lines if the budget has no room for them
    shown: tuple[Memory, ...] = ()
    compaction: int = 0  # number of the compaction that made the summaries; 0 for none
    asides_through: int = 0  # the last memory up to which asides are left out; 0 if all are shown

    def shown_from(self, most: int = 0) -> int | None:
        """Return the number of the first memory that a prompt shows; None if it shows none.

        ``most``: The most lines of the prompt; 0 for all.
        """
        lines = self.shown[-most:]
        return lines[0].number if lines else None

    def searched_before(self, most: int = 0) -> int | None:
        """Return the number of the memory before which recall searches; None for all.

        From that memory on a prompt shows every line. Of those before, :meth:`shown_before` says
        which it shows too.

        ``most``: The most lines of the prompt; 0 for all.
        """
        first = self.shown_from(most)
        return None if first is None else max(first, self.asides_through + 1)

    def shown_before(self, number: int | None, most: int = 0) -> frozenset[int]:
        """Return the numbers of the memories before ``number`` that a prompt shows."""
        lines = self.shown[-most:]
        return frozenset(each.number for each in lines if number and each.number < number)

    @property
    def masked(self) -> frozenset[int]:
        """The numbers of the memories of the window that a prompt shows shortened or folded."""
        shown = {each.number: each.text for each in self.shown}
        return frozenset(each.number for each in self.window if shown.get(each.number) != each.text)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """The existing summaries, long-term first."""
        return tuple(each for each in (self.longterm, self.recent) if each is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFigures:
    """What a compaction did, in figures."""

    outcome: CompactionOutcome
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

    reason: CompactReason | None  # None if none was due in the background
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
