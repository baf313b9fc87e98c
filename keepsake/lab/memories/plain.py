"""The plain memories (full context, sliding window), and helpers for the other memories.

They keep no files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path

from keepsake.archive.records import Memory
from keepsake.markdown_config import ConfigSection, Setting, between
from keepsake.memory.protocol import MemoryArguments, RecalledLine, dated
from keepsake.ports import Embedder, Tokens, as_word_embedder
from keepsake.recall.documents import Document, passage_key
from keepsake.recall.ranking.word_vectors import signs
from keepsake.recall.sqlite_vectors import VectorTable

MOST_LINES = 100_000
"""The largest window that a setting may ask for."""
BATCH = 256
"""Texts embedded per call. The limit is there because an embedder holds a whole batch in memory."""


def settings_of[C](config: type[C], written: Mapping[str, str]) -> C:
    """Return the settings as a dataclass, whose fields hold the defaults.

    Bounds come from :func:`keepsake.markdown_config.between`.

    Raises:
        ConfigError: A value or a name is wrong. The message names it and the known settings.
    """
    entries = {key: Setting(value, 1) for key, value in written.items()}
    return ConfigSection(Path("settings"), "", 1, entries).into(config)


def within_budget(lines: Iterable[str], budget: int, tokens: Tokens) -> Iterator[str]:
    """Yield the first of ``lines``, as many as fit into ``budget`` tokens."""
    for line in lines:
        budget -= tokens.of(line)
        if budget < 0:
            return
        yield line


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """The settings of the sliding window."""

    window: int = between(64, low=1, high=MOST_LINES)  # memories


@dataclass(frozen=True, slots=True)
class FullContextSettings:
    """The settings of the full context."""

    budget: int = between(0, low=0, high=100_000_000)  # tokens of context; 0 for all memories


class NewestLines:
    """A memory that shows its newest ``size`` lines in every prompt, and recalls nothing."""

    keeps_whispers = False  # as usual for these memories, everybody is shown everything

    def __init__(self, given: MemoryArguments, size: int) -> None:
        self._tokens = given.tokens
        self._size = size
        self._lines: dict[int, str] = {}

    def perceive(self, memory: Memory) -> None:
        """Keep the line; drop the oldest if there are too many."""
        self._lines[memory.number] = dated(memory)
        while len(self._lines) > self._size:
            del self._lines[next(iter(self._lines))]

    def context(self, budget: int) -> Sequence[str]:
        """Return the newest lines that fit."""
        return list(within_budget(reversed(self._lines.values()), budget, self._tokens))[::-1]

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """Return nothing: all lines are in the context."""
        return ()

    def rest(self, *, asleep: bool) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


class FullContext(NewestLines):
    """A memory that shows everything verbatim, without summaries or search.

    Attributes:
        own_budget: Tokens of its context, instead of the evaluation's budget.
    """

    def __init__(self, given: MemoryArguments) -> None:
        super().__init__(given, sys.maxsize)
        self.own_budget = settings_of(FullContextSettings, given.settings).budget or sys.maxsize


class SlidingWindow(NewestLines):
    """A memory that shows the newest ``window`` lines (64 by default), and nothing else."""

    def __init__(self, given: MemoryArguments) -> None:
        super().__init__(given, settings_of(WindowSettings, given.settings).window)


def _whole(document: Document) -> tuple[str, ...]:
    return (document.text,)


class LineIndex:
    """A vector index of documents that embeds them when they are first needed.

    Embedding a line takes some milliseconds. So lines wait until a question comes or the agent
    rests, and are embedded in batches. Not thread-safe.

    Args:
        embedder: Embeds the documents; None for words alone.
        add_words: Adds documents to the word index.
        texts: Returns the texts of a document to embed, one or more; its whole text by default.
        add_signs: Stores the signs of the words of documents of one text, by key; None for none.
    """

    def __init__(
        self,
        embedder: Embedder | None,
        add_words: Callable[[Sequence[Document]], object],
        texts: Callable[[Document], Sequence[str]] = _whole,
        add_signs: Callable[[Mapping[str, bytes]], object] | None = None,
    ) -> None:
        self._embedder = embedder
        self._add_words = add_words
        self._texts = texts
        self._add_signs = add_signs
        self._vectors = VectorTable()
        self._waiting: dict[str, Document] = {}

    def add(self, document: Document) -> None:
        """Add a document to be indexed later; it replaces one with the same key."""
        self._waiting[document.key] = document

    def flush(self) -> None:
        """Index all waiting documents; blocks.

        Raises:
            ModelError: They could not be embedded. They stay waiting.
        """
        waiting = list(self._waiting.values())
        if self._embedder is not None:
            for batch in batched(waiting, BATCH):
                texts = [(each, list(self._texts(each))) for each in batch]
                keys = [passage_key(each.key, n) for each, own in texts for n in range(len(own))]
                vectors = self._embedder.embed([text for _, own in texts for text in own])
                self._vectors.put(keys, vectors)
                short = {each.key: own[0] for each, own in texts if len(own) == 1}
                by_words = as_word_embedder(self._embedder)
                if self._add_signs is not None and by_words is not None:
                    found = by_words.embed_words([*short.values()])
                    self._add_signs(dict(zip(short, map(signs, found), strict=True)))
        self._add_words(waiting)
        self._waiting.clear()

    def query(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Return keys of passages and cosine similarities, best first."""
        return self._vectors.nearest(vector, limit)
