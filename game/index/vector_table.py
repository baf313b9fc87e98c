"""Words and vectors of one agent in one file; the vectors are a copy of what Chroma keeps.

A search reads the copy: it takes a tenth of the time of a call to Chroma's server, and answers
while that is away. What is copied lies in the same transactions as the words, so whatever
happens to the file happens to both.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

import numpy as np

from game.index.open_files import OpenFiles
from game.index.rows import VectorRows, packed, unpacked
from game.index.words import RANGES, READ_BYTES, Fts5Index
from game.mind.recall.documents import DocumentKind

_TABLES = """
CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, row BLOB NOT NULL);
CREATE TRIGGER IF NOT EXISTS vectors_removed AFTER DELETE ON documents BEGIN
    DELETE FROM vectors WHERE id = old.id;
END;
"""
_NUMBERS = "SELECT key, id FROM documents WHERE key IN (SELECT value FROM json_each(?))"


class VectorTable(Fts5Index):
    """An index of words that finds by meaning too; opened when first used.

    Args:
        path: The database file.
        open_files: Says when to let go of it for a while; None for never.
    """

    def __init__(self, path: str, open_files: OpenFiles | None = None) -> None:
        super().__init__(path, lazily=True)
        self._open_files = open_files
        self._rows: VectorRows | None = None  # None when they have changed, or were never read

    def put_vectors(self, keys: Sequence[str], vectors: Sequence[Sequence[float]]) -> None:
        """Keep the vectors of documents, in one transaction; those that are not here are left out.

        Raises:
            IndexUnavailable: The file cannot be used.
        """
        if not keys:
            return
        rows = packed(vectors)
        with self._writing():
            numbers = dict(self._database.execute(_NUMBERS, [json.dumps(list(keys))]))
            self._database.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [
                    (numbers[key], row.tobytes())
                    for key, row in zip(keys, rows, strict=True)
                    if key in numbers
                ],
            )
            self._rows = None

    def remove_vectors(self, keys: Collection[str]) -> None:
        """Forget vectors of documents that stay; unknown keys do no harm."""
        with self._writing():
            asked = f"DELETE FROM vectors WHERE id IN (SELECT id FROM ({_NUMBERS}))"
            self._database.execute(asked, [json.dumps(list(keys))])
            self._rows = None

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents and their vectors in one transaction; unknown keys do no harm."""
        with self._lock:
            super().remove(keys)
            self._rows = None

    def nearest(
        self, vector: Sequence[float], limit: int, kinds: Collection[DocumentKind] = ()
    ) -> list[tuple[str, float]]:
        """Keys and cosine similarities, best first; no ``kinds`` means all.

        Raises:
            IndexUnavailable: The vector is of another dimension, or the file cannot be used.
        """
        with self._reading():
            rows = self._read(len(vector))
        if self._open_files is not None:
            self._open_files.uses(self)
        bounds = [(span.start, span.stop) for kind, span in RANGES.items() if kind in kinds]
        places = [slice(*np.searchsorted(rows.numbers, ends)) for ends in bounds]
        found = rows.nearest(vector, limit, places or [slice(None)])
        numbers = rows.numbers[[place for place, _ in found]].tolist()
        with self._reading():
            keys = self._keys_of(numbers)
        # One without a key was removed meanwhile.
        return [(key, near) for key, (_, near) in zip(keys, found, strict=True) if key]

    @property
    def held_bytes(self) -> int:
        """Bytes of vectors and documents in memory."""
        vectors = 0 if (rows := self._rows) is None else rows.nbytes
        return vectors + READ_BYTES * len(self._lately)

    def close_if_idle(self) -> bool:
        """Close it until it is used again, unless it is in use now; whether it was closed."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self.close()
        finally:
            self._lock.release()
        return True

    def close(self) -> None:
        """Let go of file and vectors; both are read again when they are used."""
        with self._lock:
            super().close()
            self._rows = None

    def _read(self, dimension: int) -> VectorRows:
        if self._rows is None:
            found = self._database.execute("SELECT id, row FROM vectors ORDER BY id").fetchall()
            numbers = np.array([number for number, _ in found], np.int64)
            rows = unpacked([row for _, row in found], dimension)
            self._rows = VectorRows(numbers, rows)
        return self._rows

    def _prepare(self) -> None:
        super()._prepare()
        self._database.executescript(_TABLES)

    def _open(self) -> None:
        super()._open()
        if self._open_files is not None:
            self._open_files.uses(self)
