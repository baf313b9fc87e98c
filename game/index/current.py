"""Stand-ins for the index of an agent: the one behind them may be made anew meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from game.index.vectors import CollectionMissing
from game.mind.errors import IndexUnavailable
from game.mind.recall.documents import Document, DocumentKind, VectorIndex, WordIndex


class Gate:
    """Many may pass at once; one who must be alone waits for them and holds up the rest."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside = 0
        self._closed = False

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Be inside together with others."""
        with self._condition:
            self._condition.wait_for(lambda: not self._closed)
            self._inside += 1
        try:
            yield
        finally:
            with self._condition:
                self._inside -= 1
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be inside with nobody else; for the one thread that indexes."""
        with self._condition:
            self._closed = True
            self._condition.wait_for(lambda: not self._inside)
        try:
            yield
        finally:
            with self._condition:
                self._closed = False
                self._condition.notify_all()


class CurrentWords:
    """A :class:`game.mind.recall.documents.WordIndex`: whichever is there now.

    Args:
        gate: Passed for every call.
        current: Gives the index, or raises ``IndexUnavailable``.
    """

    def __init__(self, gate: Gate, current: Callable[[], WordIndex]) -> None:
        self._gate, self._current = gate, current

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents; one with a known key replaces the old one."""
        with self._gate.passing():
            self._current().add(documents)

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents; unknown keys do no harm."""
        with self._gate.passing():
            self._current().remove(keys)

    def search(
        self, terms: Sequence[str], limit: int, kinds: Collection[DocumentKind] = ()
    ) -> list[tuple[str, float]]:
        """Keys and BM25 scores (higher is better), best first; no ``kinds`` means all."""
        with self._gate.passing():
            return self._current().search(terms, limit, kinds)

    def get(self, keys: Collection[str]) -> Mapping[str, Document]:
        """The documents that are known among ``keys``."""
        with self._gate.passing():
            return self._current().get(keys)

    def neighbours(self, number: int, reach: int = 1) -> list[Document]:
        """The raw memories from ``number - reach`` to ``number + reach`` without itself."""
        with self._gate.passing():
            return self._current().neighbours(number, reach)


class CurrentVectors:
    """A :class:`game.mind.recall.documents.VectorIndex`: whichever is there now.

    Args:
        current: Gives the index; None while there is none, or one that is being made.
        lost: Called when the server turns out to have lost it.
    """

    def __init__(self, current: Callable[[], VectorIndex | None], lost: Callable[[], None]) -> None:
        self._current, self._lost = current, lost

    def add(self, documents: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        """Add documents with their vectors; one with a known key replaces the old one."""
        self._there().add(documents, vectors)

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents; unknown keys do no harm."""
        self._there().remove(keys)

    def query(
        self, vector: Sequence[float], limit: int, kinds: Collection[DocumentKind] = ()
    ) -> list[tuple[str, float]]:
        """Keys and cosine similarities, best first; no ``kinds`` means all."""
        try:
            return self._there().query(vector, limit, kinds)
        except CollectionMissing:
            self._lost()
            raise

    def _there(self) -> VectorIndex:
        if (vectors := self._current()) is None:
            raise IndexUnavailable(
                "The vectors are being made", "Recall goes on with words until they are there"
            )
        return vectors
