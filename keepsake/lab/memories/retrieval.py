"""Retrieval over all lines (RAG): vectors, words, or both, with an optional cross-encoder.

They keep no files. Each uses the standard method: cosine, Okapi BM25, the sum of z-scores.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import batched
from pathlib import Path
from typing import Any

import numpy as np

from keepsake.archive.records import Memory
from keepsake.lab.memories.plain import MOST_LINES, LineIndex, NewestLines, settings_of
from keepsake.language.perception import COMMON_WORDS, words, writable
from keepsake.markdown_config import between
from keepsake.memory.protocol import MemoryArguments, RecalledLine, dated
from keepsake.models.local.minilm import onnx_model, run_onnx
from keepsake.recall.documents import Document, DocumentKind

type Scores = Mapping[str, float]
"""Relevance scores of documents for a question, by key. An absent key counts as 0."""
_RERANK_BATCH = 16
"""Pairs of question and document that the reranker reads at once."""


@dataclass(frozen=True, slots=True)
class RagSettings:
    """The settings of plain RAG."""

    # number of newest memories in every prompt, as in the usual chat frameworks
    window: int = between(16, low=0, high=MOST_LINES)


@dataclass(frozen=True, slots=True)
class HybridSettings(RagSettings):
    """The settings of hybrid retrieval."""

    reranker: str = ""  # a folder with the files of a cross-encoder; empty for no reranking
    candidates: int = between(100, low=1, high=MOST_LINES)  # lines that it reranks


class Rag(NewestLines):
    """A memory that finds lines by cosine similarity, or by BM25 without an embedder.

    Args:
        own: The settings, if a subclass has already read them.
    """

    def __init__(self, given: MemoryArguments, own: RagSettings | None = None) -> None:
        super().__init__(given, (own or settings_of(RagSettings, given.settings)).window)
        self._embedder = given.embedder
        # SQLite's bm25() is Okapi BM25 with k1 = 1.2 and b = 0.75, over Porter stems.
        self._words = sqlite3.connect(":memory:", check_same_thread=False)
        self._words.execute(
            "CREATE VIRTUAL TABLE lines USING fts5(key UNINDEXED, text, "
            "tokenize = 'porter unicode61')"
        )
        weakref.finalize(self, self._words.close)
        add = self._words.executemany
        insert = "INSERT INTO lines VALUES (?, ?)"
        self._index = LineIndex(
            given.embedder, lambda found: add(insert, [(each.key, each.text) for each in found])
        )
        self._entries: dict[str, tuple[str, tuple[int, ...]]] = {}  # text and numbers, by key

    def perceive(self, memory: Memory) -> None:
        """Keep the line, to be indexed later."""
        super().perceive(memory)
        number = memory.number
        key = f"{DocumentKind.MEMORY}:{memory.number}"
        text = writable(dated(memory))  # the date in the text helps to find more of the evidence
        self._entries[key] = text, (number,)
        self._index.add(Document(key, DocumentKind.MEMORY, text, memory.time, number, number))

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """Return the lines that score highest.

        Raises:
            ModelError: Nothing could be embedded.
        """
        self._index.flush()
        found = self.rank(question)[:limit]
        return [RecalledLine(*self._entries[key], score) for key, score in found]

    def rank(self, question: str) -> list[tuple[str, float]]:
        """Return keys and scores of the indexed lines, best first.

        Raises:
            ModelError: Nothing could be embedded.
        """
        return _best_first(self.scores(question))

    def scores(self, question: str) -> Scores:
        """Return scores by meaning; without an embedder by words, common words counting least.

        Raises:
            ModelError: Nothing could be embedded.
        """
        if self._embedder is None:
            rare = self.word_scores(question)
            every = self._bm25([*_words_of(question)])
            part = min(rare.values(), default=1.0) / max(every.values(), default=1.0)
            return {**{key: score * part for key, score in every.items()}, **rare}
        vector = self._embedder.embed([writable(question)])[0]
        return dict(self._index.query(vector, MOST_LINES))

    def word_scores(self, question: str) -> Scores:
        """Return BM25 scores by words; common words count only if there are no others."""
        every = _words_of(question)
        return self._bm25([word for word in every if word not in COMMON_WORDS] or [*every])

    def _bm25(self, terms: Sequence[str]) -> Scores:
        asked = "SELECT key, -bm25(lines) FROM lines WHERE lines MATCH ?"
        any_of = " OR ".join(f'"{word}"' for word in terms)
        return dict(self._words.execute(asked, [any_of]).fetchall()) if any_of else {}

    def rest(self, *, asleep: bool) -> None:
        """Index the waiting lines."""
        self._index.flush()


def _words_of(question: str) -> Mapping[str, None]:
    return dict.fromkeys(word.casefold() for word in words(writable(question)))


class Bm25(Rag):
    """A memory that finds lines by their words alone."""

    def __init__(self, given: MemoryArguments) -> None:
        super().__init__(replace(given, embedder=None))


class Hybrid(Rag):
    """A memory that adds the z-scores of cosine and BM25; a cross-encoder can rerank the best.

    A cross-encoder reads question and line together. Use ``ms-marco-MiniLM-L6-v2``, as
    ``model.onnx`` and ``tokenizer.json``.

    Raises:
        ModelMissing: The cross-encoder cannot be loaded.
    """

    def __init__(self, given: MemoryArguments) -> None:
        own = settings_of(HybridSettings, given.settings)
        super().__init__(given, own)
        folder = Path(own.reranker).expanduser()
        self._candidates = own.candidates
        self._reader = onnx_model(folder) if own.reranker else None

    def rank(self, question: str) -> list[tuple[str, float]]:
        """Return keys and scores, best first.

        Raises:
            ModelError: Nothing could be embedded.
        """
        parts = self.scores(question), self.word_scores(question)
        sums = sum(_z([part.get(key, 0.0) for key in self._entries]) for part in parts)
        found = _best_first(dict(zip(self._entries, np.atleast_1d(sums).tolist(), strict=True)))
        if self._reader is None:
            return found
        read: dict[str, float] = {}
        for batch in batched(found[: self._candidates], _RERANK_BATCH):
            pairs = [(question, self._entries[key][0]) for key, _ in batch]
            said = run_onnx(*self._reader, pairs).reshape(len(batch), -1)[:, -1]
            read |= zip((key for key, _ in batch), said.tolist(), strict=True)
        return _best_first(read)


def _z(values: Sequence[float]) -> Any:
    """Return the z-scores: distances from the mean in standard deviations."""
    row = np.asarray(values, dtype=np.float64)
    return (row - row.mean()) / (row.std() or 1.0) if len(row) else row


def _best_first(scores: Scores) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda each: -each[1])
