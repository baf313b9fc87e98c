"""Words and vectors in memory, for a few thousand lines of one process."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched
from typing import Any

import numpy as np

from keepsake.language.words import words, writable
from keepsake.ports import Embedder
from keepsake.recall.documents import Document
from keepsake.recall.words import WordIndex

BATCH = 256
"""Texts that are embedded at a time: an embedder holds all of a batch in memory."""


class LocalVectors:
    """Finds documents by meaning, compared one by one. Not for several threads at once."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}  # rows of length one, by key
        self._rows: Any = None  # all of them; None when they have changed

    def add(self, documents: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        """Add documents with their vectors; one with a known key replaces the old one."""
        for document, vector in zip(documents, vectors, strict=True):
            row = np.asarray(vector, dtype=np.float32)
            self._held[document.key] = row / max(float(np.linalg.norm(row)), 1e-12)
        self._rows = None

    def query(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Keys and cosine similarities, best first."""
        if not self._held:
            return []
        if self._rows is None:
            self._rows = np.stack(list(self._held.values()))
        asked = np.asarray(vector, dtype=np.float32)
        near = (self._rows @ (asked / max(float(np.linalg.norm(asked)), 1e-12))).tolist()
        return sorted(zip(self._held, near, strict=True), key=lambda each: -each[1])[:limit]


class LineIndex:
    """Documents that are indexed when they are first wanted. Not for several threads at once.

    To embed a line takes some milliseconds, so lines wait until somebody asks or the agent rests,
    and are embedded together.

    Args:
        embedder: Embeds them; None for words alone.
        worded: Whether words are indexed beside an embedder too.

    Attributes:
        words, vectors: What they are searched in.
    """

    def __init__(self, embedder: Embedder | None, *, worded: bool = False) -> None:
        self.words, self.vectors = WordIndex(), LocalVectors()
        self._embedder, self._worded = embedder, worded or embedder is None
        self._to_word: dict[str, Document] = {}
        self._to_embed: dict[str, Document] = {}

    def add(self, document: Document) -> None:
        """Have a document indexed later; one with a known key replaces the old one."""
        if self._worded:
            self._to_word[document.key] = document
        if self._embedder is not None:
            self._to_embed[document.key] = document

    @property
    def waiting(self) -> int:
        """How many are not indexed yet."""
        return max(len(self._to_word), len(self._to_embed))

    def settle(self) -> None:
        """Index all that waits; blocks.

        Raises:
            ModelError: They could not be embedded: words are indexed, the rest goes on waiting.
        """
        self.words.add(self._to_word.values())
        self._to_word.clear()
        if self._embedder is None:
            return
        for batch in batched(list(self._to_embed.values()), BATCH):
            self.vectors.add(batch, self._embedder.embed([each.text for each in batch]))
            for each in batch:
                del self._to_embed[each.key]

    def near(self, question: str, limit: int) -> list[tuple[str, float]]:
        """Keys and scores of what is nearest, by meaning, or by words where nothing embeds.

        Raises:
            ModelError: Nothing could be embedded.
        """
        self.settle()
        if self._embedder is None:
            found = self.words.search(words(question), limit)
            return [(document.key, score) for document, score in found]
        return self.vectors.query(self._embedder.embed([writable(question)])[0], limit)
