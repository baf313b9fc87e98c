"""The lines of one life, to be searched by words and by meaning, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keepsake.lab.local_vectors import LocalVectors
from keepsake.ports import Embedder
from keepsake.recall.documents import Document
from keepsake.recall.words import WordIndex

BATCH = 256
"""Texts that are embedded at a time: an embedder holds all of a batch in memory."""


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

    def __init__(self, embedder: Embedder | None, *, worded: bool = True) -> None:
        self.words, self.vectors = WordIndex(), LocalVectors()
        self._embedder = embedder
        self._worded = worded or embedder is None
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
            IndexUnavailable: The embedder has changed its dimension.
        """
        self.words.add(self._to_word.values())
        self._to_word.clear()
        if self._embedder is None:
            return
        for batch in _batches(list(self._to_embed.values())):
            self.vectors.add(batch, self._embedder.embed([each.text for each in batch]))
            for each in batch:
                del self._to_embed[each.key]

    def close(self) -> None:
        """Let go of it."""
        self.words.close()


def _batches(documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    for start in range(0, len(documents), BATCH):
        yield documents[start : start + BATCH]
