"""Vectors in memory, for a few thousand documents of one process: compared one by one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from keepsake.errors import IndexUnavailable
from keepsake.recall.documents import Document


class LocalVectors:
    """A :class:`keepsake.recall.documents.Vectors`. Not for several threads at once."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}  # rows of length one, by key
        self._rows: Any = None  # all of them; None when they have changed

    def add(self, documents: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        """Add documents with their vectors; one with a known key replaces the old one.

        Raises:
            IndexUnavailable: The vectors are not of the dimension of those before.
        """
        if documents:
            rows: Any = np.asarray(vectors, dtype=np.float32)
            self._check(rows.shape[1])
            rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
            self._held |= {document.key: row for document, row in zip(documents, rows, strict=True)}
            self._rows = None

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents; unknown keys do no harm."""
        for key in keys:
            self._held.pop(key, None)
        self._rows = None

    def query(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Keys and cosine similarities, best first.

        Raises:
            IndexUnavailable: The vector is not of the dimension of those held.
        """
        if not self._held:
            return []
        self._check(len(vector))
        if self._rows is None:
            self._rows = np.stack(list(self._held.values()))
        asked = np.asarray(vector, dtype=np.float32)
        near = (self._rows @ (asked / max(float(np.linalg.norm(asked)), 1e-12))).tolist()
        best = sorted(zip(self._held, near, strict=True), key=lambda each: -each[1])
        return best[:limit]

    def _check(self, dimension: int) -> None:
        held = next(map(len, self._held.values()), dimension)
        if dimension != held:
            raise IndexUnavailable(
                f"Vectors have {dimension} numbers, those held have {held}",
                "Make the index anew with one embedding model",
            )
