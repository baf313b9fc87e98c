"""The rows of the index: which document is in which, by its key alone."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from keepsake.events.values import RecalledKind
from keepsake.recall.documents import DocumentKind

FAR = 1 << 62
"""Above every row number."""
NOTES = 1 << 40
"""Rows of memories are positive, those of summaries from -1 down to minus this, those of notes
below."""


@lru_cache(maxsize=32_768)  # a search looks up hundreds; memories of all agents share keys
def row_of(key: str) -> int:
    """Return the row number of a document's key: the number of a memory, negative for others."""
    kind, _, name = key.partition(":")
    if name.isascii() and name.isdecimal() and 0 < int(name) < NOTES:
        if kind == RecalledKind.MEMORY:
            return int(name)
        if kind == RecalledKind.SUMMARY:
            return -int(name)
    digest = hashlib.sha256(key.encode("utf-8", "replace")).digest()
    return -NOTES - 1 - int.from_bytes(digest[:7])


def kind_of(row: int) -> DocumentKind:
    """Return the kind of the document in a row."""
    if row > 0:
        return DocumentKind.MEMORY
    return DocumentKind.SUMMARY if row >= -NOTES else DocumentKind.NOTE
