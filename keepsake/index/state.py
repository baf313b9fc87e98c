"""Words and vectors of one agent in one file, and how far they are: all live and die together.

The vectors are a copy of what Chroma keeps. A search reads the copy: it takes a tenth of the time
of a call to Chroma's server, and answers while that is away. What is copied lies in the same
transactions as the words, so whatever happens to the file happens to both.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from keepsake.errors import IndexUnavailable
from keepsake.index.open_files import OpenFiles
from keepsake.index.rows import VectorRows, packed, shape, unpacked
from keepsake.index.tail import Mark
from keepsake.index.words import RANGES, READ_BYTES, Fts5Index
from keepsake.recall.documents import DocumentKind, Wanted

_TABLES = """
CREATE TABLE IF NOT EXISTS progress (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS kept (
    key TEXT PRIMARY KEY, digest TEXT NOT NULL, embedded TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, row BLOB NOT NULL);
CREATE TRIGGER IF NOT EXISTS vectors_removed AFTER DELETE ON documents BEGIN
    DELETE FROM vectors WHERE id = old.id;
END;
"""
_NUMBERS = "SELECT key, id FROM documents WHERE key IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """What of an agent is indexed."""

    mark: Mark = field(default_factory=Mark)  # everything before it in the archive is
    memories: int = 0  # number of the newest memory that can be found by words
    window: int = 1  # number of the oldest memory in the window, as last heard; it is not indexed
    # the newest compaction's number, and what its short-term summary covers
    summary: tuple[int, int, int] = (0, 0, 0)
    embedded: int = 0  # number of the newest memory that has a vector
    rows: int = 0  # how many memories have one
    # whether the vectors were once all there; before that they are not asked
    complete: bool = False
    copied: bool = False  # whether this file has a copy of every vector
    collection: str = ""  # Chroma's name for the vectors; empty before the first
    dropping: tuple[str, ...] = ()  # collections of before, until they are deleted
    model: str = ""  # what they were made with
    dimension: int = 0  # numbers in each


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A summary or note in the index."""

    key: str  # the document's key
    digest: str  # of its present text; empty when it is gone
    embedded: str  # of the text that its vector was made from; empty without a vector


class IndexFile(Fts5Index):
    """Words and vectors of one agent, and how far they are; opened when first used.

    It is a :class:`keepsake.recall.documents.WordIndex` and a ``VectorIndex``.

    Args:
        path: The database file.
        open_files: Says when to let go of it for a while; None for never.
        model: What questions are embedded with; empty where none is.

    Attributes:
        distrusted: Whether it may hold words of somebody who was forgotten: nothing is searched.
        path: The database file.
        progress: How far the index is; nothing as long as it was not opened.
    """

    def __init__(self, path: Path, open_files: OpenFiles | None = None, model: str = "") -> None:
        super().__init__(path, lazily=True)
        self._open_files, self._model = open_files, model
        self._rows: VectorRows | None = None  # None when they have changed, or were never read
        self.distrusted = False
        self.path = path
        self.progress = IndexProgress()

    def put_vectors(self, keys: Sequence[str], vectors: Sequence[Sequence[float]]) -> None:
        """Keep the vectors of documents, in one transaction; those that are not here are left out.

        Raises:
            IndexUnavailable: The file cannot be used.
        """
        if not keys:
            return
        dimension, rows = len(vectors[0]), dict(zip(keys, packed(vectors), strict=True))
        with self._lock:
            with self._writing():
                found = self._database.execute(_NUMBERS, [json.dumps(list(rows))])
                here = {number: rows[key] for key, number in found}
                self._database.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    [(number, row.tobytes()) for number, row in here.items()],
                )
            if self._rows is not None and here:
                same = self._rows.dimension == dimension
                made = np.array(list(here.values()), shape(dimension))
                self._rows = self._rows.changed(list(here), made) if same else None
        if self._open_files is not None:  # what was read for it is held, too
            self._open_files.uses(self)

    def remove_vectors(self, keys: Collection[str]) -> None:
        """Forget vectors of documents that stay; unknown keys do no harm."""
        if not keys:
            return
        with self._writing():
            asked = f"DELETE FROM vectors WHERE id IN (SELECT id FROM ({_NUMBERS}))"
            self._database.execute(asked, [json.dumps(list(keys))])
            self._rows = None

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents and their vectors in one transaction; unknown keys do no harm."""
        with self._lock:
            super().remove(keys)
            self._rows = None

    def search_each(self, terms: Sequence[str], wanted: Wanted) -> list[list[tuple[str, float]]]:
        """As :meth:`Fts5Index.search_each`.

        Raises:
            IndexUnavailable: It is distrusted.
        """
        self._require_trust()
        found = super().search_each(terms, wanted)
        if self._open_files is not None:
            self._open_files.uses(self)
        return found

    def query(
        self, vector: Sequence[float], limit: int, kinds: Collection[DocumentKind] = ()
    ) -> list[tuple[str, float]]:
        """One of :meth:`query_each`."""
        return self.query_each(vector, [(limit, kinds)])[0]

    def query_each(self, vector: Sequence[float], wanted: Wanted) -> list[list[tuple[str, float]]]:
        """As :meth:`nearest_each`, once every document has its vector, of the model that asks.

        Raises:
            IndexUnavailable: They are being made, or as :meth:`nearest_each`.
        """
        progress = self.opened()
        if not (progress.complete and progress.copied and progress.model == self._model):
            raise IndexUnavailable(
                "The vectors are being made", "Recall goes on with words until they are there"
            )
        return self.nearest_each(vector, wanted)

    def nearest(
        self, vector: Sequence[float], limit: int, kinds: Collection[DocumentKind] = ()
    ) -> list[tuple[str, float]]:
        """One of :meth:`nearest_each`."""
        return self.nearest_each(vector, [(limit, kinds)])[0]

    def nearest_each(
        self, vector: Sequence[float], wanted: Wanted
    ) -> list[list[tuple[str, float]]]:
        """For each that is wanted keys and cosine similarities, best first.

        Raises:
            IndexUnavailable: It is distrusted, the vector is of another dimension, or the file
                cannot be used.
        """
        self._require_trust()
        with self._reading():
            rows = self._read(len(vector))
        if self._open_files is not None:
            self._open_files.uses(self)
        asked = np.asarray(vector, dtype=np.float32)
        found = [rows.nearest(asked, limit, _places(rows, kinds)) for limit, kinds in wanted]
        numbers = rows.numbers[[place for each in found for place, _ in each]].tolist()
        with self._reading():
            keys = iter(self._keys_of(numbers))
        # One without a key was removed meanwhile.
        return [
            [(key, near) for (_, near), key in zip(each, keys, strict=False) if key]
            for each in found
        ]

    def _require_trust(self) -> None:
        if self.distrusted:
            raise IndexUnavailable("The index is being made anew", "Ask again in a moment")

    def opened(self) -> IndexProgress:
        """How far the index is; opens it."""
        with self._reading():
            return self.progress

    def save(self, progress: IndexProgress) -> None:
        """Go on from here after a restart."""
        with self._reading():
            self._save(progress)
        self.progress = progress

    def _save(self, progress: IndexProgress) -> None:
        state = json.dumps(asdict(progress))
        self._database.execute("INSERT OR REPLACE INTO progress VALUES (1, ?)", [state])

    def kept(self) -> dict[str, IndexedDocument]:
        """All summaries and notes, those too that are gone but still have a vector."""
        with self._reading():
            rows = self._database.execute("SELECT key, digest, embedded FROM kept").fetchall()
        return {row[0]: IndexedDocument(*row) for row in rows}

    def keep(self, digests: Mapping[str, str]) -> None:
        """Their words are indexed; an empty digest says that they are gone."""
        with self._writing():
            self._database.executemany(
                "INSERT INTO kept (key, digest) VALUES (?, ?) "
                "ON CONFLICT (key) DO UPDATE SET digest = excluded.digest",
                list(digests.items()),
            )

    def embedded(self, done: Iterable[IndexedDocument]) -> None:
        """Their vectors are indexed, or removed for what is gone."""
        rows = [(each.digest, each.key) for each in done]
        with self._writing():
            self._database.executemany("UPDATE kept SET embedded = ? WHERE key = ?", rows)
            self._database.execute("DELETE FROM kept WHERE digest = '' AND embedded = ''")

    def forget_vectors(self, progress: IndexProgress) -> None:
        """Nothing has a vector any more; go on from there."""
        with self._writing():
            self._database.execute("UPDATE kept SET embedded = ''")
            self._database.execute("DELETE FROM kept WHERE digest = ''")
            self._database.execute("DELETE FROM vectors")
            self._save(progress)
            self._rows = None
        self.progress = progress

    def delete(self) -> None:
        """Remove the file with what SQLite keeps beside it."""
        with self._lock:
            self.close()
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            self.progress = IndexProgress()

    def become(self, other: IndexFile) -> None:
        """Put the other's file in this one's place; whoever searches meanwhile waits."""
        with self._lock:
            other.close()
            self.delete()
            other.path.rename(self.path)
            self.opened()

    @property
    def held_bytes(self) -> int:
        """Bytes of vectors, documents and rows of terms in memory."""
        vectors = 0 if (rows := self._rows) is None else rows.nbytes
        return vectors + READ_BYTES * len(self._lately) + self._scores.nbytes

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

    def _prepare(self) -> None:
        super()._prepare()
        self._database.executescript(_TABLES)
        row = self._database.execute("SELECT state FROM progress").fetchone()
        try:
            self.progress = IndexProgress() if row is None else _progress(json.loads(row[0]))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise sqlite3.DatabaseError(f"its progress makes no sense: {error!r}") from error

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        super()._open()
        if self._open_files is not None:
            self._open_files.uses(self)

    def _read(self, dimension: int) -> VectorRows:
        if self._rows is None:
            found = self._database.execute("SELECT id, row FROM vectors ORDER BY id").fetchall()
            numbers = np.array([number for number, _ in found], np.int64)
            rows = unpacked([row for _, row in found], dimension)
            self._rows = VectorRows(numbers, rows)
        return self._rows


def _places(rows: VectorRows, kinds: Collection[DocumentKind]) -> list[slice]:
    """Where the rows of these kinds are."""
    bounds = [(span.start, span.stop) for kind, span in RANGES.items() if kind in kinds]
    return [slice(*np.searchsorted(rows.numbers, ends)) for ends in bounds] or [slice(None)]


def _progress(found: dict[str, Any]) -> IndexProgress:
    mark, (number, first, last) = Mark(**found.pop("mark")), found.pop("summary")
    dropping = tuple(map(str, found.pop("dropping", ())))
    return IndexProgress(mark=mark, summary=(number, first, last), dropping=dropping, **found)
