"""What can be found, what a finding is, and what recall needs from an index."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    # the stems of its words, each between blanks; empty where nobody has made them yet
    stemmed: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found; scores are only comparable within one search."""

    document: Document
    score: float
    reasons: tuple[str, ...] = ()


type Wanted = Sequence[tuple[int, Collection[DocumentKind]]]
"""What each of several searches is to bring: how many, and of which kinds; none means all."""


class WordIndex(Protocol):
    """Finds documents of one agent by words. Raises ``IndexUnavailable``."""

    def search_each(self, terms: Sequence[str], wanted: Wanted) -> list[list[tuple[str, float]]]:
        """For each that is wanted keys and BM25 scores (higher is better), best first."""
        ...

    def get(self, keys: Collection[str]) -> Mapping[str, Document]:
        """The documents that are known among ``keys``."""
        ...


class VectorIndex(Protocol):
    """Finds documents of one agent by meaning. Raises ``IndexUnavailable``."""

    def query_each(self, vector: Sequence[float], wanted: Wanted) -> list[list[tuple[str, float]]]:
        """For each that is wanted keys and cosine similarities, best first."""
        ...
