"""A memory behind one Protocol, and how one is found by its name.

An evaluation hands a memory everything that an agent experiences, and asks it. A memory may keep
files in its folder, or nothing at all. A name is an entry point (:data:`GROUP`) or
``package.module:Class``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Protocol, runtime_checkable

from keepsake.archive.privacy import NOBODY, Audience
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.ports import Clock, Embedder, LanguageModel, Tokens
from keepsake.prompt.tokens import Heuristic

GROUP = "keepsake.memories"
"""The group of entry points in which packages name their memories."""
METHODS = ("perceive", "context", "recall", "rest", "close")
"""What a :class:`MemorySystem` has."""


@dataclass(frozen=True, slots=True)
class RecalledLine:
    """Something that a memory found for a question."""

    text: str  # a line for a prompt, with who said it
    # the memories that the line tells, best first: a score for evidence counts these. A line that
    # quotes a memory names it, and names no other
    numbers: tuple[int, ...] = ()
    score: float = 0.0  # comparable within one answer only


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a memory is given when it is made."""

    agent: str  # whose memory it is; empty where it only listens, as in the field's benchmarks
    folder: Path  # its own, and empty
    clock: Clock  # what time it is for the agent
    embedder: Embedder | None = None  # None where there are words alone
    # writes summaries and reflections: continues a text, or answers messages; None for rules
    model: LanguageModel | None = None
    tokens: Tokens = field(default_factory=Heuristic)
    budget: int = 3840  # tokens that a prompt may have
    # who hears what `context` and `recall` show now: the ids of persons, see
    # :meth:`MemorySystem.perceive`. Empty for nobody in particular: no whisper is shown
    audience: Callable[[], Audience] = lambda: NOBODY
    # its own settings, as somebody wrote them: ``--set window=32``
    settings: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class MemorySystem(Protocol):
    """What one agent remembers.

    It is made with :class:`Surroundings` as its only argument. Each method may block. One that is
    to have another budget than the others in an evaluation has it as ``own_budget``. One that
    shows everything to everybody says so: ``keeps_whispers = False``. ``keepsake eval --check``
    (:mod:`keepsake.lab.conformance`) checks this contract.
    """

    def perceive(self, memory: Memory) -> None:
        """Take in the next memory of the life; numbers are 1, 2, 3 and so on.

        ``source_id`` is the id of who caused it and stays when the name, ``source``, changes; in
        an own act ``to_id`` is the id of who was meant. The audience is a set of such ids. What
        was whispered may be shown only where the audience is the other of the two, alone;
        :class:`keepsake.archive.privacy.PrivateWords` has that rule.
        """
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


type Maker = Callable[[Surroundings], MemorySystem]


def maker(name: str) -> Maker:
    """The class of that name: an entry point of :data:`GROUP`, or ``package.module:Class``.

    Raises:
        KeepsakeError: There is none, or it cannot be imported; says which there are.
    """
    known = entry_points(group=GROUP)
    point = known[name] if name in known.names else EntryPoint(name, name, GROUP)
    # As with `python -m`: what is nowhere else is found where one stands.
    sys.path += [""] * ("" not in sys.path)
    importlib.invalidate_caches()
    try:
        found: Maker = point.load()
    except Exception as error:  # whatever somebody's module does when it is imported
        cure = (
            f"There are: {', '.join(sorted(known.names))}. Or name a package.module:Class that can "
            f"be imported here, or is installed: `{sys.executable} -m pip install -e FOLDER`"
        )
        raise KeepsakeError(f"The memory {name!r} cannot be loaded ({error!r})", cure) from error
    missing = [each for each in METHODS if not hasattr(found, each)]
    if not callable(found) or (isinstance(found, type) and missing):
        told = f"{name} is no memory: it lacks {', '.join(missing)}"
        raise KeepsakeError(told, f"It needs {', '.join(METHODS)}; see docs/research.md")
    return found
