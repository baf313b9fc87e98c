"""What the index needs of a store of vectors, whatever keeps them: Chroma, or a file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from keepsake.errors import IndexUnavailable
from keepsake.recall.documents import Document

CHILD = "child"
NONE = "none"
"""The values of ``chroma`` in ``recall.md`` besides an address: a server that the game starts, or
no vectors at all."""

type Nearest = Sequence[tuple[str, float]]
"""Keys and cosine similarities of passages, best first."""

type Made = Sequence[tuple[Document, Sequence[Sequence[float]]]]
"""Documents, each with the vectors of its passages, in order."""


class VectorsUnusable(IndexUnavailable):
    """The store refuses a request: the collection is missing, broken or another one."""


class VectorsSilent(IndexUnavailable):
    """The store took a request and did not answer it in time."""


class Vectors(Protocol):
    """Finds documents of one agent by meaning. Raises ``IndexUnavailable``."""

    def query(self, vector: Sequence[float], limit: int) -> Nearest:
        """Return keys and cosine similarities of the nearest passages, best first."""


class Collected(Vectors, Protocol):
    """The vectors of one agent; any thread may search.

    Its methods raise :class:`VectorsUnusable` or :class:`IndexUnavailable`.
    """

    @property
    def name(self) -> str:
        """The name under which the store finds them again."""

    @property
    def model(self) -> str:
        """The embedder that made them."""

    def count(self) -> int:
        """Return the number of vectors."""

    def add(self, made: Made) -> None:
        """Add documents with the vectors of their passages, which replace vectors of that key.

        Passages of a former text that had more of them stay, until they are removed.
        """

    def remove(self, keys: Collection[str]) -> None:
        """Delete vectors by the keys of their passages; unknown keys do no harm."""


class VectorStore(Protocol):
    """Keeps the vectors of agents. Its methods raise as those of :class:`Collected`."""

    def create(self, agent: str, model: str, former: str = "") -> Collected:
        """Create an empty collection for an agent; delete its others and the ``former`` one."""

    def open(self, name: str) -> Collected:
        """Open a collection that :meth:`create` made."""

    def close(self) -> None:
        """Close files and connections."""
