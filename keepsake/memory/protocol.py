"""The Protocol of a memory, and the lookup of memory classes by name.

An evaluation passes everything that an agent experiences to a memory, then asks it questions. A
memory may keep files in its folder, or none. A name is an entry point (:data:`GROUP`) or
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

from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.happening import actor_of, is_me
from keepsake.language.perception import MONTHS
from keepsake.language.tokens import Heuristic
from keepsake.ports import Clock, Embedder, LanguageModel, Tokens

GROUP = "keepsake.memories"
"""The group of entry points in which packages name their memories."""
METHODS = ("perceive", "context", "recall", "rest", "close")
"""The methods that a :class:`MemorySystem` must have."""


@dataclass(frozen=True, slots=True)
class RecalledLine:
    """A line that a memory found for a question."""

    text: str  # a line for a prompt, with its speaker
    # numbers of the memories that the line states, best first: an evaluation scores them as
    # evidence. A line that quotes a memory lists that number and no other
    numbers: tuple[int, ...] = ()
    score: float = 0.0  # comparable within one answer only


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryArguments:
    """The constructor argument of a memory."""

    agent: str  # the agent's name; empty if it only listens, as in the field's benchmarks
    folder: Path  # the memory's own folder, empty at first
    clock: Clock  # the agent's present time
    embedder: Embedder | None = None  # None to search by words alone
    # writes summaries and reflections: continues a text, or answers messages; None to use rules
    model: LanguageModel | None = None
    tokens: Tokens = field(default_factory=Heuristic)
    budget: int = 3840  # tokens that a prompt may have
    # ids of the persons who hear what `context` and `recall` return now, see
    # :meth:`MemorySystem.perceive`. Empty for nobody in particular: whispers are left out
    audience: Callable[[], Audience] = lambda: NO_PRIVATE_WORDS
    # the memory's own settings as text: ``--set window=32``
    settings: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class MemorySystem(Protocol):
    """The memory of one agent.

    Its constructor takes one argument, :class:`MemoryArguments`. Every method may block. A memory
    sets ``own_budget`` if its budget differs from the others' in an evaluation, and
    ``keeps_whispers = False`` if it shows everything to everybody. ``keepsake eval --check``
    (:mod:`keepsake.lab.conformance`) checks this contract.
    """

    def perceive(self, memory: Memory) -> None:
        """Take in the next memory of the agent's life; numbers are 1, 2, 3 and so on.

        ``source_id`` is the id of the person who caused the memory. It stays the same when their
        name, ``source``, changes. In the agent's own acts ``to_id`` is the id of the addressee.
        The audience is a set of such ids. A whisper may be shown only if the audience is exactly
        the other party; :class:`keepsake.archive.privacy.PrivateWords` implements that rule.
        """

    def context(self, budget: int) -> Sequence[str]:
        """Return lines for every prompt, whatever the question; oldest first, ``budget`` tokens."""

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """Return lines that are relevant to a question, best first; ``limit`` at most.

        The question begins with its speaker if known: ``Hanna: What is my trade?``. It may have
        been whispered, so do not store it.
        """

    def rest(self, *, asleep: bool) -> None:
        """Do slow work (summaries, reflection) in a quiet moment, or at night if ``asleep``."""

    def close(self) -> None:
        """Write everything to disk and release all resources; a second call does nothing."""


def line_of(memory: Memory) -> str:
    """Return a memory as a line of a prompt, with its speaker in front unless it names them."""
    told = memory.line
    somebody = actor_of(memory.what)
    if is_me(somebody):  # a command, which names no speaker
        return f"You: {told}"
    name = somebody.name if somebody is not None else ""
    return told if not name or name in told else f"{name}: {told}"


def dated(memory: Memory) -> str:
    """Return :func:`line_of` with the date, for questions about when something happened."""
    day = memory.time
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}, {line_of(memory)}"


type MemoryFactory = Callable[[MemoryArguments], MemorySystem]


def load_memory_class(name: str) -> MemoryFactory:
    """Return the class of that name: an entry point of :data:`GROUP` or ``package.module:Class``.

    Raises:
        KeepsakeError: There is none, or it cannot be imported. The error lists the known names.
    """
    known = entry_points(group=GROUP)
    point = known[name] if name in known.names else EntryPoint(name, name, GROUP)
    # Like `python -m`, also look for modules in the current directory, but last.
    sys.path += [""] * ("" not in sys.path)
    importlib.invalidate_caches()
    try:
        found: MemoryFactory = point.load()
    except Exception as error:  # a foreign module may raise anything when it is imported
        cure = (
            f"There are: {', '.join(sorted(known.names))}. Or name a package.module:Class that can "
            f"be imported here, or is installed: `{sys.executable} -m pip install -e FOLDER`"
        )
        raise KeepsakeError(f"The memory {name!r} cannot be loaded ({error!r})", cure) from error
    missing = [each for each in METHODS if not hasattr(found, each)]
    if not callable(found) or (isinstance(found, type) and missing):
        told = f"{name} is not a memory: it does not have {', '.join(missing)}"
        raise KeepsakeError(told, f"It needs {', '.join(METHODS)}; see docs/research.md")
    return found
