"""Retrieval over all lines (RAG): by meaning, by words, by both, and read again by a cross-encoder.

They keep no files, and each is as its field has it: cosine, Okapi's BM25, the sum of z-scores.
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
from keepsake.lab.memories.plain import MOST_LINES, LineIndex, Newest, settings_of
from keepsake.language.perception import COMMON_WORDS, words, writable
from keepsake.markdown_config import between
from keepsake.memory.protocol import RecalledLine, Surroundings, dated
from keepsake.models.embedders import onnx_model, run_onnx
from keepsake.recall.documents import Document, DocumentKind

type Scores = Mapping[str, float]
"""How near documents are to a question, by key; what is absent has nothing of it."""
_READ_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class RagSettings:
    """What plain RAG takes."""

    # the newest memories that stand in every prompt, as in the usual frameworks for chat
    window: int = between(16, low=0, high=MOST_LINES)


@dataclass(frozen=True, slots=True)
class HybridSettings(RagSettings):
    """What hybrid retrieval takes."""

    reranker: str = ""  # a folder with the files of a cross-encoder; none is read again without it
    candidates: int = between(100, low=1, high=MOST_LINES)  # lines that it reads


class Rag(Newest):
    """Finds the lines nearest to a question by cosine, or by BM25 where nothing embeds.

    Args:
        given: As any memory is given.
        own: The settings, where they are read already.
    """

    def __init__(self, given: Surroundings, own: RagSettings | None = None) -> None:
        super().__init__(given, (own or settings_of(RagSettings, given.settings)).window)
        self._embedder = given.embedder
        # Its bm25() is Okapi's, with k1 = 1.2 and b = 0.75, over stems by Porter.
        self._words = sqlite3.connect(":memory:", check_same_thread=False)
        self._words.execute(
            "CREATE VIRTUAL TABLE lines USING fts5(key UNINDEXED, text, "
            "tokenize = 'porter unicode61')"
        )
        weakref.finalize(self, self._words.close)
        add, insert = self._words.executemany, "INSERT INTO lines VALUES (?, ?)"
        self._index = LineIndex(
            given.embedder, lambda found: add(insert, [(each.key, each.text) for each in found])
        )
        self._lived: dict[str, tuple[str, tuple[int, ...]]] = {}  # as prompts have it, by key

    def perceive(self, memory: Memory) -> None:
        """Keep the line, to be indexed later."""
        super().perceive(memory)
        number, key = memory.number, f"{DocumentKind.MEMORY}:{memory.number}"
        text = writable(dated(memory))  # with its day, more of the evidence is found
        self._lived[key] = text, (number,)
        self._index.add(Document(key, DocumentKind.MEMORY, text, memory.time, number, number))

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """The lines that score highest.

        Raises:
            ModelError: Nothing could be embedded.
        """
        self._index.settle()
        found = self.ranked(question)[:limit]
        return [RecalledLine(*self._lived[key], score) for key, score in found]

    def ranked(self, question: str) -> list[tuple[str, float]]:
        """Keys and scores of what is indexed, best first.

        Raises:
            ModelError: Nothing could be embedded.
        """
        return _best_first(self.near(question))

    def near(self, question: str) -> Scores:
        """What is indexed by meaning; where nothing embeds by words, common ones alone at the end.

        Raises:
            ModelError: Nothing could be embedded.
        """
        if self._embedder is None:
            telling, every = self.matching(question), self._scored([*_words_of(question)])
            part = min(telling.values(), default=1.0) / max(every.values(), default=1.0)
            return {**{key: score * part for key, score in every.items()}, **telling}
        vector = self._embedder.embed([writable(question)])[0]
        return dict(self._index.query(vector, MOST_LINES))

    def matching(self, question: str) -> Scores:
        """What is indexed by words, after BM25; common ones count where there are no others."""
        every = _words_of(question)
        return self._scored([word for word in every if word not in COMMON_WORDS] or [*every])

    def _scored(self, terms: Sequence[str]) -> Scores:
        asked = "SELECT key, -bm25(lines) FROM lines WHERE lines MATCH ?"
        any_of = " OR ".join(f'"{word}"' for word in terms)
        return dict(self._words.execute(asked, [any_of]).fetchall()) if any_of else {}

    def rest(self, *, asleep: bool) -> None:
        """Index what waits."""
        self._index.settle()


def _words_of(question: str) -> Mapping[str, None]:
    return dict.fromkeys(word.casefold() for word in words(writable(question)))


class Bm25(Rag):
    """Finds lines by their words alone."""

    def __init__(self, given: Surroundings) -> None:
        super().__init__(replace(given, embedder=None))


class Hybrid(Rag):
    """Cosine and BM25 as z-scores over all lines, added up; the best read by a cross-encoder.

    A cross-encoder reads question and line together: ``ms-marco-MiniLM-L6-v2``, as ``model.onnx``
    and ``tokenizer.json``.

    Raises:
        ModelMissing: The cross-encoder cannot be used.
    """

    def __init__(self, given: Surroundings) -> None:
        own = settings_of(HybridSettings, given.settings)
        super().__init__(given, own)
        folder, self._candidates = Path(own.reranker).expanduser(), own.candidates
        self._reader = onnx_model(folder) if own.reranker else None

    def ranked(self, question: str) -> list[tuple[str, float]]:
        """Keys and scores, best first.

        Raises:
            ModelError: Nothing could be embedded.
        """
        parts = self.near(question), self.matching(question)
        sums = sum(_z([part.get(key, 0.0) for key in self._lived]) for part in parts)
        found = _best_first(dict(zip(self._lived, np.atleast_1d(sums).tolist(), strict=True)))
        if self._reader is None:
            return found
        read: dict[str, float] = {}
        for batch in batched(found[: self._candidates], _READ_AT_ONCE):
            pairs = [(question, self._lived[key][0]) for key, _ in batch]
            said = run_onnx(*self._reader, pairs).reshape(len(batch), -1)[:, -1]
            read |= zip((key for key, _ in batch), said.tolist(), strict=True)
        return _best_first(read)


def _z(values: Sequence[float]) -> Any:
    """Each as its distance from the mean, in standard deviations."""
    row = np.asarray(values, dtype=np.float64)
    return (row - row.mean()) / (row.std() or 1.0) if len(row) else row


def _best_first(scores: Scores) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda each: -each[1])
