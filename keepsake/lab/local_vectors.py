"""An index of vectors in memory, for a few thousand documents of one process."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

import numpy as np

from keepsake.errors import IndexUnavailable
from keepsake.index.rows import Rows, VectorRows, packed
from keepsake.recall.documents import Document, DocumentKind, Wanted


class LocalVectors:
    """A :class:`keepsake.recall.documents.VectorIndex`. Safe to use from several threads.

    It searches as the index of an agent in the game does (:mod:`keepsake.index.rows`).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, tuple[DocumentKind, Rows]] = {}
        self._rows: VectorRows | None = None  # of all; None when they have changed
        self._keys: list[str] = []  # of the rows, a kind's together
        self._spans: dict[DocumentKind, slice] = {}

    def add(self, documents: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        """Add documents with their vectors; one with a known key replaces the old one.

        Raises:
            IndexUnavailable: The vectors are not of the dimension of those before.
        """
        if not documents:
            return
        rows = packed(vectors)
        with self._lock:
            held = next((row.dtype for _, row in self._held.values()), rows.dtype)
            if rows.dtype != held:
                raise IndexUnavailable(
                    f"Vectors have {rows.dtype['row'].shape[0]} numbers,"
                    f" those held have {held['row'].shape[0]}",
                    "Make the index anew with one embedding model",
                )
            for place, document in enumerate(documents):
                self._held[document.key] = document.kind, rows[place : place + 1]
            self._rows = None

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents; unknown keys do no harm."""
        with self._lock:
            for key in keys:
                if self._held.pop(key, None) is not None:
                    self._rows = None

    def query(
        self, vector: Sequence[float], limit: int, kinds: Collection[DocumentKind] = ()
    ) -> list[tuple[str, float]]:
        """One of :meth:`query_each`."""
        return self.query_each(vector, [(limit, kinds)])[0]

    def query_each(self, vector: Sequence[float], wanted: Wanted) -> list[list[tuple[str, float]]]:
        """For each that is wanted keys and cosine similarities, best first.

        Raises:
            IndexUnavailable: The vector is not of the dimension of those held.
        """
        with self._lock:
            if not self._held:
                return [[] for _ in wanted]
            rows, keys, spans = self._gathered(), self._keys, self._spans.copy()
        places = [
            [spans[kind] for kind in DocumentKind if not kinds or kind in kinds]
            for _, kinds in wanted
        ]
        return [
            [(keys[place], near) for place, near in rows.nearest(vector, limit, own)]
            for (limit, _), own in zip(wanted, places, strict=True)
        ]

    def _gathered(self) -> VectorRows:
        if self._rows is None:
            self._keys, parts = [], []
            for kind in DocumentKind:
                own = [(key, row) for key, (of, row) in self._held.items() if of is kind]
                self._spans[kind] = slice(len(self._keys), len(self._keys) + len(own))
                self._keys += [key for key, _ in own]
                parts += [row for _, row in own]
            self._rows = VectorRows(np.arange(len(parts)), np.concatenate(parts))
        return self._rows
