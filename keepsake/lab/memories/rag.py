"""Plain retrieval-augmented generation: every line is embedded, the nearest are found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keepsake.archive.records import Memory
from keepsake.lab.memories import settings
from keepsake.lab.memories.line_index import LineIndex
from keepsake.lab.memories.windows import MOST_LINES, Newest
from keepsake.language.words import words, writable
from keepsake.markdown_config import between
from keepsake.memory.protocol import Figure, RecalledLine, Surroundings, dated, line_of
from keepsake.recall.documents import Document, DocumentKind


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
        super().__init__(given, settings.read(RagSettings, given.settings).window)
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
