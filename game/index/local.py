"""An exact index of vectors in memory, for a few thousand documents of one process."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from game.mind.errors import IndexUnavailable
from game.mind.recall.documents import Document, DocumentKind


class ExactVectors:
    """A :class:`game.mind.recall.documents.VectorIndex`. Safe to use from several threads.

    A query is one product with a matrix of unit rows: 10,000 × 384 in about 2 ms.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, tuple[DocumentKind, NDArray[np.float32]]] = {}
        self._matrix: NDArray[np.float32] | None = None  # of all rows; None when they have changed

    def add(self, documents: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        """Add documents with their vectors; one with a known key replaces the old one.

        Raises:
            IndexUnavailable: The vectors are not of the dimension of those before.
        """
        if not documents:
            return
        rows = np.asarray(vectors, dtype=np.float32)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        with self._lock:
            self._require(rows.shape[1])
            for document, row in zip(documents, rows, strict=True):
                self._held[document.key] = document.kind, row
            self._matrix = None

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents; unknown keys do no harm."""
        with self._lock:
            for key in keys:
                if self._held.pop(key, None) is not None:
                    self._matrix = None

    def query(
        self, vector: Sequence[float], limit: int, kinds: Collection[DocumentKind] = ()
    ) -> list[tuple[str, float]]:
        """Keys and cosine similarities, best first; no ``kinds`` means all.

        Raises:
            IndexUnavailable: The vector is not of the dimension of those held.
        """
        with self._lock:
            if not self._held:
                return []
            asked = np.asarray(vector, dtype=np.float32)
            self._require(asked.shape[0])
            asked /= max(float(np.linalg.norm(asked)), 1e-12)
            if self._matrix is None:
                self._matrix = np.stack([row for _, row in self._held.values()])
            likeness = self._matrix @ asked
            keys = list(self._held)
            if kinds:
                wanted = np.fromiter((kind in kinds for kind, _ in self._held.values()), dtype=bool)
                likeness = np.where(wanted, likeness, -np.inf)
        best = np.argsort(-likeness, kind="stable")[:limit]
        return [(keys[row], float(likeness[row])) for row in best if likeness[row] > -np.inf]

    def _require(self, dimension: int) -> None:
        held = next((len(row) for _, row in self._held.values()), dimension)
        if dimension != held:
            raise IndexUnavailable(
                f"A vector has {dimension} numbers, those held have {held}",
                "Make the index anew with one embedding model",
            )
