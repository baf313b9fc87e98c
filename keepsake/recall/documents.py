"""What can be found, and what recall needs from an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol


class DocumentKind(StrEnum):
    """Where a document comes from."""

    MEMORY = "memory"
    SUMMARY = "memory_summary"
    NOTE = "note"


class Document(NamedTuple):
    """Something that can be found again, with the numbers of the memories it stands for.

    Its key is unique for one agent: ``memory:17``, ``summary:3``, ``note:garden``. A note stands
    for memory 0, and has a title. A tuple, as a search makes some hundred.
    """

    key: str
    kind: DocumentKind
    text: str
    time: datetime
    first: int = 0
    last: int = 0
    speaker: str = ""
    place: str = ""
    title: str = ""
    # the stems of its words, each between blanks; empty for one that no index has seen yet
    stemmed: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found; scores are only comparable within one search."""

    document: Document
    score: float
    reasons: tuple[str, ...] = ()


class Words(Protocol):
    """Finds documents of one agent by words. Raises ``IndexUnavailable``."""

    def search(
        self,
        terms: Sequence[str],
        limit: int,
        kind: DocumentKind | None = None,
        before: int | None = None,
    ) -> list[tuple[Document, float]]:
        """Documents with BM25 scores (higher is better), best first.

        ``before`` leaves out memories from that number on.
        """
        ...

    def get(self, keys: Iterable[str]) -> dict[str, Document]:
        """The documents that are known among ``keys``."""
        ...


class Vectors(Protocol):
    """Finds documents of one agent by meaning. Raises ``IndexUnavailable``."""

    def query(self, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Keys and cosine similarities of the nearest documents of all kinds, best first."""
        ...
