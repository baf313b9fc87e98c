"""The plain memories: all that was lived, the newest of it, and retrieval over all lines (RAG)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from keepsake.archive.records import Memory
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.lab.line_index import LineIndex
from keepsake.language.words import writable
from keepsake.markdown_config import ConfigSection, Setting, between
from keepsake.memory.protocol import Figure, RecalledLine, Surroundings, dated, line_of
from keepsake.ports import Tokens
from keepsake.recall.documents import Document, DocumentKind

MOST_LINES = 100_000
"""The largest window that a setting may ask for."""


def settings_of[C](config: type[C], written: Mapping[str, str]) -> C:
    """Settings as a dataclass that has a field with a default for each of them.

    Bounds come from :func:`keepsake.markdown_config.between`.

    Raises:
        KeepsakeError: A value or a name is wrong; says which, and what there is.
    """
    entries = {key: Setting(value, 1) for key, value in written.items()}
    return plainly(lambda: ConfigSection(Path("settings"), "", 1, entries).into(config))


def plainly[T](reading: Callable[[], T]) -> T:
    """What ``reading`` gives; what it refuses is told without a file's name and line.

    Raises:
        KeepsakeError: A setting is wrong.
    """
    try:
        return reading()
    except ConfigError as error:
        raise KeepsakeError(f"A memory's setting: {error.reason}", error.cure) from error


def first_within(lines: Iterable[str], budget: int, tokens: Tokens) -> Iterator[str]:
    """The first of ``lines``, as many as ``budget`` tokens hold."""
    for line in lines:
        budget -= tokens.of(line)
        if budget < 0:
            return
        yield line


class Newest:
    """A memory that shows its newest ``size`` lines in every prompt, and finds nothing.

    It keeps no file: it is lived anew from the archive whenever it is opened. So nothing can be out
    of step with the archive, and what is forgotten there is gone here as well.
    """

    def __init__(self, given: Surroundings, size: int) -> None:
        self._tokens, self._size = given.tokens, size
        self._lines: dict[int, str] = {}
        self._newest = 0

    @property
    def newest(self) -> int:
        """Nothing is kept on disk."""
        return self._newest

    def perceive(self, memory: Memory) -> None:
        """Keep the line, and drop the oldest."""
        self._newest = memory.number
        self._lines[memory.number] = dated(memory)
        while len(self._lines) > self._size:
            del self._lines[next(iter(self._lines))]

    def context(self, budget: int) -> Sequence[str]:
        """The newest lines that fit."""
        return list(first_within(reversed(self._lines.values()), budget, self._tokens))[::-1]

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """Nothing: what there is stands in the context."""
        return ()

    def rest(self, *, asleep: bool) -> None:
        """Nothing to do."""

    def state(self) -> Mapping[str, Figure]:
        """How many lines it shows."""
        return {"lines": len(self._lines)}

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class NoSettings:
    """Nothing can be set."""


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """What a sliding window takes."""

    window: int = between(64, low=1, high=MOST_LINES)  # memories


class FullContext(Newest):
    """Everything verbatim, as far back as the prompt has room: no summary, no search."""

    def __init__(self, given: Surroundings) -> None:
        settings_of(NoSettings, given.settings)
        super().__init__(given, sys.maxsize)


class SlidingWindow(Newest):
    """The newest ``window`` memories (64), and nothing else."""

    def __init__(self, given: Surroundings) -> None:
        super().__init__(given, settings_of(WindowSettings, given.settings).window)


@dataclass(frozen=True, slots=True)
class RagSettings:
    """What plain RAG takes."""

    # the newest memories that stand in every prompt, as in the usual frameworks for chat
    window: int = between(16, low=0, high=MOST_LINES)


class Rag(Newest):
    """Finds the lines nearest to a question by cosine, or by BM25 where nothing embeds.

    It is lived anew whenever it is opened, like :class:`Newest`, and embeds again what it is first
    asked for.
    """

    def __init__(self, given: Surroundings) -> None:
        super().__init__(given, settings_of(RagSettings, given.settings).window)
        self._index = LineIndex(given.embedder)
        self._dated: dict[str, tuple[str, tuple[int, ...]]] = {}

    def perceive(self, memory: Memory) -> None:
        """Keep the line, to be embedded later."""
        super().perceive(memory)
        number, key = memory.number, f"{DocumentKind.MEMORY}:{memory.number}"
        self._dated[key] = dated(memory), (number,)
        text = writable(line_of(memory))
        self._index.add(Document(key, DocumentKind.MEMORY, text, memory.time, number, number))

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """The nearest lines.

        Raises:
            ModelError: Nothing could be embedded.
        """
        found = self._index.near(question, limit)
        return [RecalledLine(*self._dated[key], score) for key, score in found]

    def rest(self, *, asleep: bool) -> None:
        """Embed what waits."""
        self._index.settle()

    def state(self) -> Mapping[str, Figure]:
        """How many lines it has, and how many of them are not indexed yet."""
        return {"lines": len(self._dated), "waiting": self._index.waiting}
