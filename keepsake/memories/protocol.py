"""What a memory is to whoever uses it: five methods, whatever is behind them.

The archive stays the truth: it belongs to the host, which hands a memory everything that the agent
lives through, and again whatever :attr:`MemorySystem.newest` says it has not kept. So a memory may
keep files in its folder, or nothing at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from keepsake.archive.records import Memory, MemoryKind
from keepsake.ports import Clock, Embedder, LanguageModel, Tokens
from keepsake.prompt.tokens import Heuristic

type Figure = str | int | float
"""A value of :meth:`MemorySystem.state`."""


@dataclass(frozen=True, slots=True)
class RecalledLine:
    """Something that a memory found for a question."""

    text: str  # a line for a prompt, with who said it
    # the memories that it rests on, best first; a score for evidence counts these
    numbers: tuple[int, ...] = ()
    score: float = 0.0  # comparable within one answer only


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a memory is given when it is made."""

    agent: str  # whose memory it is; empty where it only listens, as in the field's benchmarks
    folder: Path  # its own; there, and empty the first time
    clock: Clock  # what time it is for the agent
    embedder: Embedder | None = None  # None where there are words alone
    # writes summaries and reflections: continues a text, or answers messages; None for rules
    model: LanguageModel | None = None
    tokens: Tokens = field(default_factory=Heuristic)
    budget: int = 3840  # tokens that a prompt may have
    # its own settings, as somebody wrote them: ``--set window=32``
    settings: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class MemorySystem(Protocol):
    """What one agent remembers.

    It is made with :class:`Surroundings` as its only argument. One method is called at a time, in
    any worker thread; each may block. What it raises beside a
    :class:`~keepsake.errors.KeepsakeError` is a fault of its own, and the agent goes on without.
    :mod:`keepsake.memories.conformance` tests all of what is said here.
    """

    @property
    def newest(self) -> int:
        """Number of the last memory that it still knows after being opened; 0 for none."""
        ...

    def perceive(self, memory: Memory) -> None:
        """Take in one line of the life: 1, 2, 3 …; the newest again where it was repeated."""
        ...

    def context(self, budget: int) -> Sequence[str]:
        """Lines that stand in every prompt, whatever is asked; oldest first, ``budget`` tokens."""
        ...

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """What bears on a question, best first; ``limit`` at most.

        Who asks stands before it, where that is known: ``Hanna: What is my trade?``. It may have
        been whispered, so keep no question.
        """
        ...

    def rest(self, *, asleep: bool) -> None:
        """A quiet moment (or, ``asleep``, a night) for what takes longer: summaries, reflection."""
        ...

    def state(self) -> Mapping[str, Figure]:
        """Figures about it, for tables and pages; quick."""
        ...

    def close(self) -> None:
        """Bring everything to the disk and let go of it; a second call does nothing."""
        ...


def line_of(memory: Memory) -> str:
    """A memory as a line of a prompt, with its speaker in front where it does not name them."""
    told = memory.line
    if memory.kind is MemoryKind.ACT:  # a command, which names nobody
        return f"You: {told}"
    return told if not memory.source or memory.source in told else f"{memory.source}: {told}"


def dated(memory: Memory) -> str:
    """The same with its day, as somebody needs it who is asked when something was."""
    return f"{memory.time:%-d %B %Y}, {line_of(memory)}"
