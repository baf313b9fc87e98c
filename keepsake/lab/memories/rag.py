"""Plain retrieval-augmented generation: every line is embedded, the nearest are found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import batched

from keepsake.archive.records import Memory
from keepsake.lab.local_vectors import LocalVectors
from keepsake.lab.memories.windows import MOST_LINES, Newest, settings_of
from keepsake.language.words import words, writable
from keepsake.markdown_config import between
from keepsake.memory.protocol import Figure, RecalledLine, Surroundings, dated, line_of
from keepsake.ports import Embedder
from keepsake.recall.documents import Document, DocumentKind
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
        for batch in batched(list(self._to_embed.values()), BATCH):
            self.vectors.add(batch, self._embedder.embed([each.text for each in batch]))
            for each in batch:
                del self._to_embed[each.key]

    def close(self) -> None:
        """Let go of it."""
        self.words.close()


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
        self._embedder = given.embedder
        self._index = LineIndex(given.embedder, worded=False)
        self._dated: dict[str, str] = {}

    def perceive(self, memory: Memory) -> None:
        """Keep the line, to be embedded later."""
        super().perceive(memory)
        document = line_document(memory)
        self._dated[document.key] = dated(memory)
        self._index.add(document)

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """The nearest lines.

        Raises:
            ModelError: Nothing could be embedded.
        """
        self._index.settle()
        if self._embedder is None:
            by_words = self._index.words.search(words(question), limit)
            found = [(document.key, score) for document, score in by_words]
        else:
            found = self._index.vectors.query(self._embedder.embed([writable(question)])[0], limit)
        return [RecalledLine(self._dated[key], (number_of(key),), score) for key, score in found]

    def rest(self, *, asleep: bool) -> None:
        """Embed what waits."""
        self._index.settle()

    def state(self) -> Mapping[str, Figure]:
        """How many lines it has, and how many of them are not indexed yet."""
        return {"lines": len(self._dated), "waiting": self._index.waiting}

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()


def line_document(memory: Memory) -> Document:
    """A memory as others than ours index it: with its speaker in the line."""
    return Document(
        key=f"{DocumentKind.MEMORY}:{memory.number}",
        kind=DocumentKind.MEMORY,
        text=writable(line_of(memory)),
        time=memory.time,
        first=memory.number,
        last=memory.number,
    )


def number_of(key: str) -> int:
    """The number of the memory that a document of :func:`line_document` stands for."""
    return int(key.partition(":")[2])
