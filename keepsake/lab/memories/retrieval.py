"""Retrieval over all lines (RAG): by meaning, by words, by both, and read again by a cross-encoder.

They keep no files, and each is as its field has it: cosine, Okapi's BM25, the sum of z-scores.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from typing import Any

import numpy as np

from keepsake.archive.records import Memory
from keepsake.lab.memories.plain import MOST_LINES, LocalVectors, Newest, settings_of
from keepsake.language.perception import COMMON_WORDS, words, writable
from keepsake.markdown_config import between
from keepsake.memory.protocol import RecalledLine, Surroundings, dated, line_of
from keepsake.models.embedders import onnx_model, run_onnx
from keepsake.ports import Embedder
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


class Lines:
    """Documents, and how near each is to a question. Not for several threads at once.

    Args:
        embedder: Embeds them; None for words alone.
        worded: Whether words are indexed beside an embedder too.
    """

    def __init__(self, embedder: Embedder | None, *, worded: bool = False) -> None:
        self._embedder, self._worded = embedder, worded or embedder is None
        self._vectors, self._waiting = LocalVectors(), dict[str, Document]()
        # Its bm25() is Okapi's, with k1 = 1.2 and b = 0.75, over stems by Porter.
        self._words = sqlite3.connect(":memory:", check_same_thread=False)
        self._words.execute(
            "CREATE VIRTUAL TABLE lines USING fts5(key UNINDEXED, text, "
            "tokenize = 'porter unicode61')"
        )
        weakref.finalize(self, self._words.close)

    def add(self, document: Document) -> None:
        """Have a document indexed when somebody asks or the agent rests."""
        self._waiting[document.key] = document

    def settle(self) -> None:
        """Index all that waits; blocks.

        Raises:
            ModelError: They could not be embedded, and go on waiting.
        """
        waiting = list(self._waiting.values())
        if self._embedder is not None:
            self._vectors.embed(waiting, self._embedder)
        if self._worded:
            rows = [(each.key, each.text) for each in waiting]
            self._words.executemany("INSERT INTO lines VALUES (?, ?)", rows)
        self._waiting.clear()

    def near(self, question: str) -> Scores:
        """By meaning, or by words where nothing embeds.

        Raises:
            ModelError: Nothing could be embedded.
        """
        if self._embedder is None:
            return self.matching(question)
        self.settle()
        vector = self._embedder.embed([writable(question)])[0]
        return dict(self._vectors.query(vector, MOST_LINES))

    def matching(self, question: str) -> Scores:
        """By words, after BM25.

        Raises:
            ModelError: What waits could not be embedded.
        """
        self.settle()
        every = dict.fromkeys(word.casefold() for word in words(writable(question)))
        telling = [word for word in every if word not in COMMON_WORDS] or [*every]
        terms = " OR ".join(f'"{word}"' for word in telling)
        asked = "SELECT key, -bm25(lines) FROM lines WHERE lines MATCH ?"
        return dict(self._words.execute(asked, [terms]).fetchall()) if terms else {}


class Retrieval(Newest):
    """Shows its newest lines, and finds those that score highest for a question.

    Args:
        given: As any memory is given.
        lines: What is searched.
        window: Lines that stand in every prompt.
    """

    def __init__(self, given: Surroundings, lines: Lines, window: int) -> None:
        super().__init__(given, window)
        self.lines = lines
        self.lived: dict[str, tuple[str, tuple[int, ...]]] = {}  # as prompts have it, by key

    def perceive(self, memory: Memory) -> None:
        """Keep the line, to be indexed later."""
        super().perceive(memory)
        number, key = memory.number, f"{DocumentKind.MEMORY}:{memory.number}"
        self.lived[key] = dated(memory), (number,)
        text = writable(line_of(memory))
        self.lines.add(Document(key, DocumentKind.MEMORY, text, memory.time, number, number))

    def ranked(self, question: str) -> list[tuple[str, float]]:
        """Keys and scores, best first.

        Raises:
            ModelError: Nothing could be embedded.
        """
        return _best_first(self.lines.near(question))

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """The lines that score highest.

        Raises:
            ModelError: Nothing could be embedded.
        """
        found = self.ranked(question)[:limit]
        return [RecalledLine(*self.lived[key], score) for key, score in found]

    def rest(self, *, asleep: bool) -> None:
        """Embed what waits."""
        self.lines.settle()


class Rag(Retrieval):
    """Finds the lines nearest to a question by cosine, or by BM25 where nothing embeds."""

    def __init__(self, given: Surroundings) -> None:
        own = settings_of(RagSettings, given.settings)
        super().__init__(given, Lines(given.embedder), own.window)


class Bm25(Retrieval):
    """Finds lines by their words alone."""

    def __init__(self, given: Surroundings) -> None:
        own = settings_of(RagSettings, given.settings)
        super().__init__(given, Lines(None), own.window)


class Hybrid(Retrieval):
    """Cosine and BM25 as z-scores over all lines, added up; the best read by a cross-encoder.

    Raises:
        KeepsakeError: The cross-encoder cannot be used.
    """

    def __init__(self, given: Surroundings) -> None:
        own = settings_of(HybridSettings, given.settings)
        super().__init__(given, Lines(given.embedder, worded=True), own.window)
        self._candidates = own.candidates
        self._reader = CrossEncoder(Path(own.reranker).expanduser()) if own.reranker else None

    def ranked(self, question: str) -> list[tuple[str, float]]:
        """Keys and scores, best first.

        Raises:
            ModelError: Nothing could be embedded.
        """
        parts = self.lines.near(question), self.lines.matching(question)
        sums = sum(_z([part.get(key, 0.0) for key in self.lived]) for part in parts)
        found = _best_first(dict(zip(self.lived, np.atleast_1d(sums).tolist(), strict=True)))
        if self._reader is None:
            return found
        keys = [key for key, _ in found[: self._candidates]]
        read = self._reader.scores(question, [self.lived[key][0] for key in keys])
        return _best_first(dict(zip(keys, read, strict=True)))


class CrossEncoder:
    """Reads a question and a line together, on onnxruntime: ``ms-marco-MiniLM-L6-v2`` and others.

    Args:
        folder: Has ``model.onnx`` and ``tokenizer.json``.

    Raises:
        KeepsakeError: They are not there, or are of something else.
    """

    def __init__(self, folder: Path) -> None:
        self._tokenizer, self._session = onnx_model(folder, threads=1)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the question; higher is better."""
        found: list[float] = []
        for batch in batched(texts, _READ_AT_ONCE):
            pairs = [(question, text) for text in batch]
            said, _ = run_onnx(self._tokenizer, self._session, pairs)
            found += said.reshape(len(batch), -1)[:, -1].tolist()
        return found


def _z(values: Sequence[float]) -> Any:
    """Each as its distance from the mean, in standard deviations."""
    row = np.asarray(values, dtype=np.float64)
    return (row - row.mean()) / (row.std() or 1.0) if len(row) else row


def _best_first(scores: Scores) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda each: -each[1])
