"""The vectors of one agent in a SQLite file: for a program that has no server for them.

A search compares the question with every vector, all of them in memory: 10,000 vectors of 384
numbers take 15 MB and a millisecond. For a village of agents Chroma is better.
"""

from __future__ import annotations

import sqlite3
import threading
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import batched
from pathlib import Path

import numpy as np
import numpy.typing as npt

from keepsake.errors import IndexUnavailable
from keepsake.recall.documents import passage_key
from keepsake.recall.index.index_file import is_passing
from keepsake.recall.stores import Made, Nearest, VectorsUnusable

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT NOT NULL, model TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
"""
"""Nothing waits for the disk: what a crash takes is made anew from the archive."""
_LOADED = 4096
"""Vectors that are read from the file at once."""
_BLOCK = 16
"""Rows that are multiplied at once. OpenBLAS multiplies a larger matrix in threads on all cores,
which wait for each other in a loop: a search then costs several times the processor time."""


class VectorTable:
    """Vectors by key; a query copies and sorts none of them. Not safe for threads."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._places: dict[str, int] = {}
        self._rows = np.empty((0, 0), np.float32)

    def __len__(self) -> int:
        return len(self._keys)

    def put(self, keys: Sequence[str], vectors: npt.ArrayLike) -> None:
        """Add vectors of length one; a vector with a known key replaces the old one.

        Raises:
            ValueError: The vectors have different lengths, or another one than those here.
        """
        if not keys:
            return
        rows = np.asarray(vectors, np.float32)
        size = len(self._keys) + len(keys)
        if size > len(self._rows):  # twice as many rows, so that each row is copied once or twice
            whole = -(-2 * size // _BLOCK) * _BLOCK
            grown = np.zeros((whole, rows.shape[1]), np.float32)
            if self._keys:
                grown[: len(self._rows)] = self._rows
            self._rows = grown
        for key, row in zip(keys, rows, strict=True):
            place = self._places.setdefault(key, len(self._keys))
            if place == len(self._keys):
                self._keys.append(key)
            self._rows[place] = row

    def nearest(self, vector: npt.ArrayLike, limit: int) -> list[tuple[str, float]]:
        """Return keys and cosine similarities, best first; of equals the one added first.

        Args:
            vector: The vector of the question; similarities are in proportion to its length.
            limit: The most keys.

        Raises:
            ValueError: The vector has another length than those here.
        """
        number = len(self._keys)
        if not number:
            return []
        blocks = self._rows[: -(-number // _BLOCK) * _BLOCK].reshape(-1, _BLOCK, len(self._rows[0]))
        near = (blocks @ np.asarray(vector, np.float32)).ravel()[:number]
        best = np.arange(number)
        if limit < number:
            best = np.sort(np.argpartition(near, number - limit)[number - limit :])
        best = best[np.argsort(-near[best], kind="stable")]
        return [(self._keys[n], like) for n, like in zip(best, near[best].tolist(), strict=True)]


class SqliteVectors:
    """Keeps the vectors of one agent; safe for threads. See :class:`keepsake.recall.stores`.

    Args:
        path: The file; made if it is missing, and made anew if it is broken.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: SqliteCollection | None = None

    def create(self, agent: str, model: str, former: str = "") -> SqliteCollection:
        """Create an empty collection in place of any other.

        Raises:
            IndexUnavailable: The file cannot be written.
        """
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(f"{self._path.name}{suffix}").unlink(missing_ok=True)
        name = f"agent-{uuid.uuid4().hex}"
        with _named_errors(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = self._connected()
            file.execute("INSERT INTO about VALUES (?, ?)", (name, model))
            file.commit()
        self._open = SqliteCollection(self._path, file, name, model)
        return self._open

    def open(self, name: str) -> SqliteCollection:
        """Open the collection of that name.

        Raises:
            VectorsUnusable: There is none, or the file is broken.
            IndexUnavailable: The file cannot be read now.
        """
        self.close()
        if not self._path.exists():
            raise VectorsUnusable("There are no vectors yet", "They are being made")
        with _named_errors(self._path):
            file = self._connected()
            try:
                found = file.execute("SELECT name, model FROM about").fetchone()
            except BaseException:
                file.close()
                raise
        if found is None or found[0] != name:
            file.close()
            raise VectorsUnusable("The vectors belong to another index", "They are made anew")
        self._open = SqliteCollection(self._path, file, name, found[1])
        return self._open

    def close(self) -> None:
        """Close the file; the next :meth:`open` opens it again."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _connected(self) -> sqlite3.Connection:
        # One connection for all threads: the collection's lock guards it.
        file = sqlite3.connect(self._path, check_same_thread=False)
        try:
            file.executescript(_SCHEMA)
        except BaseException:
            file.close()
            raise
        return file


class SqliteCollection:
    """The vectors of one agent: in the file, and as a matrix in memory since the first search."""

    def __init__(self, path: Path, file: sqlite3.Connection, name: str, model: str) -> None:
        self.name = name
        self.model = model
        self._path = path
        self._file = file
        self._lock = threading.Lock()
        self._table: VectorTable | None = None  # None before the first search

    def count(self) -> int:
        """Return the number of vectors."""
        with self._lock, _named_errors(self._path):
            return int(self._file.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def query(self, vector: Sequence[float], limit: int) -> Nearest:
        """Return keys and cosine similarities of the nearest passages, best first."""
        asked = np.asarray(vector, np.float32)
        asked = asked / max(float(np.linalg.norm(asked)), 1e-12)
        with self._lock, _named_errors(self._path):
            return self._loaded().nearest(asked, limit)

    def add(self, made: Made) -> None:
        """Add documents with the vectors of their passages, which replace vectors of that key."""
        given = [
            (passage_key(document.key, number), np.asarray(vector, np.float32))
            for document, vectors in made
            for number, vector in enumerate(vectors)
        ]
        with self._lock, _named_errors(self._path):
            with self._file:  # commits, or rolls back after any error
                self._file.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    [(key, row.tobytes()) for key, row in given],
                )
            if self._table is not None:
                self._table.put([key for key, _ in given], [row for _, row in given])

    def remove(self, keys: Collection[str]) -> None:
        """Delete vectors by the keys of their passages; unknown keys do no harm."""
        with self._lock, _named_errors(self._path):
            with self._file:
                gone = [(key,) for key in keys]
                self._file.executemany("DELETE FROM vectors WHERE key = ?", gone)
            self._table = None  # seldom: the next search loads them again

    def _loaded(self) -> VectorTable:
        if self._table is None:
            loaded = VectorTable()
            stored = self._file.execute("SELECT key, vector FROM vectors")
            for some in batched(stored, _LOADED):
                vectors = [np.frombuffer(data, np.float32) for _, data in some]
                loaded.put([key for key, _ in some], vectors)
            self._table = loaded
        return self._table

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of wrong vectors into VectorsUnusable: all is made anew then.

    A file that may be intact is kept, as if the store were silent: making vectors costs time, and
    money if a server is paid for them.
    """
    try:
        yield
    except (sqlite3.Error, OSError, ValueError) as error:
        kind = IndexUnavailable if is_passing(error) else VectorsUnusable
        raise kind(f"The vectors in {path} cannot be used ({error})") from error
