"""Documents that searches have read from their indexes, as the next search probably needs them.

To read a document from SQLite takes ten microseconds, and a search ranks some hundreds of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count

from keepsake.recall.documents import Document

_GENERATION = 8192
"""Documents that all indexes of a process keep, up to twice as many: of talk some 25 MB."""

type _Documents = dict[tuple[int, int], Document]
"""Documents by the number of their reader and their row."""

_readers = count(1)


@dataclass(slots=True)
class Generations:
    """What all indexes keep. What is not read while a generation fills up is dropped with it."""

    young: _Documents = field(default_factory=dict)
    old: _Documents = field(default_factory=dict)

    def keep(self, key: tuple[int, int], document: Document) -> None:
        """Keep a document as one that was just read."""
        if len(self.young) >= _GENERATION:
            # Another thread may do so at the same time: then more is dropped, and read again.
            self.old = self.young
            self.young = {}
        self.young[key] = document


_kept = Generations()


class DocumentCache:
    """The documents that were read last from one index. One thread at a time may use it."""

    def __init__(self) -> None:
        self._reader = next(_readers)
        self._version = -1

    def clear(self) -> None:
        """Forget all documents, because the file may be another one."""
        self._reader = next(_readers)  # the old ones are dropped with their generation
        self._version = -1

    def check(self, database: sqlite3.Connection) -> None:
        """Forget all documents if another connection has changed the file."""
        version = database.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version:
            self.clear()
            self._version = version

    def of(self, rows: Iterable[int]) -> dict[int, Document]:
        """Return those documents of these rows that are known."""
        reader = self._reader
        young = _kept.young
        found = dict[int, Document]()
        for row in rows:
            key = reader, row
            document = young.get(key)
            if document is None:
                document = _kept.old.get(key)
                if document is None:
                    continue
                _kept.keep(key, document)
            found[row] = document
        return found

    def keep(self, found: Mapping[int, Document]) -> None:
        """Keep documents that were just read, by row."""
        for row, document in found.items():
            _kept.keep((self._reader, row), document)

    def drop(self, rows: Iterable[int]) -> None:
        """Forget the documents of these rows, which are about to change."""
        for row in rows:
            _kept.young.pop((self._reader, row), None)
            _kept.old.pop((self._reader, row), None)
