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
from pathlib import Path
from typing import Any

import numpy as np

from keepsake.recall.documents import passage_key
from keepsake.recall.stores import Made, Nearest, VectorsUnusable

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT NOT NULL, model TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
"""
"""Nothing waits for the disk: what a crash takes is made anew from the archive."""
_FEWEST_ROWS = 256
"""Rows for which a matrix has room at first; it doubles when it is full."""


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
            VectorsUnusable: The file cannot be written.
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
        self._keys: list[str] | None = None  # by row of the matrix; None before the first search
        self._rows: dict[str, int] = {}
        self._matrix: Any = None

    def count(self) -> int:
        """Return the number of vectors."""
        with self._lock, _named_errors(self._path):
            return int(self._file.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def query(self, vector: Sequence[float], limit: int) -> Nearest:
        """Return keys and cosine similarities of the nearest passages, best first."""
        asked = np.asarray(vector, np.float32)
        asked = asked / max(float(np.linalg.norm(asked)), 1e-12)
        with self._lock, _named_errors(self._path):
            keys = self._loaded()
            if not keys:
                return []
            near = self._matrix[: len(keys)] @ asked
            best = np.arange(len(keys))
            if limit < len(keys):
                best = np.sort(np.argpartition(near, len(keys) - limit)[len(keys) - limit :])
            best = best[np.argsort(-near[best], kind="stable")]
            return [(keys[row], float(near[row])) for row in best]

    def add(self, made: Made) -> None:
        """Add documents with the vectors of their passages, which replace vectors of that key."""
        given = [
            (passage_key(document.key, number), np.asarray(vector, np.float32))
            for document, vectors in made
            for number, vector in enumerate(vectors)
        ]
        with self._lock, _named_errors(self._path):
            self._file.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [(key, row.tobytes()) for key, row in given],
            )
            self._file.commit()
            if self._keys is not None:
                for key, row in given:
                    self._put(self._keys, key, row)

    def remove(self, keys: Collection[str]) -> None:
        """Delete vectors by the keys of their passages; unknown keys do no harm."""
        with self._lock, _named_errors(self._path):
            self._file.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in keys])
            self._file.commit()
            self._keys = None  # seldom: the next search loads them again

    def _loaded(self) -> list[str]:
        if self._keys is None:
            self._rows = {}
            self._matrix = None
            loaded = list[str]()
            for key, data in self._file.execute("SELECT key, vector FROM vectors"):
                self._put(loaded, key, np.frombuffer(data, np.float32))
            self._keys = loaded
        return self._keys

    def _put(self, keys: list[str], key: str, row: Any) -> None:
        """Write a row of the matrix, which grows if it is full."""
        if self._matrix is None:
            self._matrix = np.zeros((_FEWEST_ROWS, len(row)), np.float32)
        place = self._rows.get(key, len(keys))
        if place == len(keys):
            keys.append(key)
            self._rows[key] = place
            if place == len(self._matrix):
                self._matrix = np.concatenate([self._matrix, np.zeros_like(self._matrix)])
        self._matrix[place] = row

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of wrong vectors into VectorsUnusable: all is made anew then."""
    try:
        yield
    except (sqlite3.Error, OSError, ValueError) as error:
        raise VectorsUnusable(f"The vectors in {path} cannot be used ({error})") from error
