"""How far an index is: kept in the file of the words, so that both live and die together."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from game.index.tail import Mark
from game.mind.errors import IndexUnavailable

_TABLES = """
CREATE TABLE IF NOT EXISTS progress (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS kept (
    key TEXT PRIMARY KEY, digest TEXT NOT NULL, embedded TEXT NOT NULL DEFAULT ''
);
"""


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """What of an agent is indexed.

    Attributes:
        mark: Everything before it in the archive is.
        memories: Number of the newest memory that can be found by words.
        window: Number of the oldest memory in the window, as last heard; it is not indexed.
        summary: The newest compaction's number, and what its short-term summary covers.
        embedded: Number of the newest memory that has a vector.
        rows: How many memories have one.
        complete: Whether the vectors were once all there; before that they are not asked.
        collection: Chroma's name for the vectors; empty before the first.
        model: What they were made with.
        dimension: Numbers in each.
    """

    mark: Mark = field(default_factory=Mark)
    memories: int = 0
    window: int = 1
    summary: tuple[int, int, int] = (0, 0, 0)
    embedded: int = 0
    rows: int = 0
    complete: bool = False
    collection: str = ""
    model: str = ""
    dimension: int = 0


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A summary or note in the index.

    Attributes:
        key: The document's key.
        digest: Of its present text; empty when it is gone.
        embedded: Of the text that its vector was made from; empty without a vector.
    """

    key: str
    digest: str
    embedded: str


class IndexState:
    """The two tables; safe to use from several threads.

    Raises:
        IndexUnavailable: From every method: the file is corrupt, locked or full.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False)
        try:
            with self._using(self._database) as database:
                database.execute("PRAGMA synchronous = NORMAL")
                database.executescript(_TABLES)
        except IndexUnavailable:
            self._database.close()
            raise

    def load(self) -> IndexProgress:
        """How far the index is."""
        with self._using(self._database) as database:
            row = database.execute("SELECT state FROM progress").fetchone()
            return IndexProgress() if row is None else _progress(json.loads(row[0]))

    def save(self, progress: IndexProgress) -> None:
        """Remember how far it is."""
        with self._using(self._database) as database:
            database.execute(
                "INSERT OR REPLACE INTO progress VALUES (1, ?)", [json.dumps(asdict(progress))]
            )

    def kept(self) -> dict[str, IndexedDocument]:
        """All summaries and notes, those too that are gone but still have a vector."""
        with self._using(self._database) as database:
            rows = database.execute("SELECT key, digest, embedded FROM kept").fetchall()
        return {row[0]: IndexedDocument(*row) for row in rows}

    def keep(self, digests: Mapping[str, str]) -> None:
        """Their words are indexed; an empty digest says that they are gone."""
        with self._using(self._database) as database:
            database.executemany(
                "INSERT INTO kept (key, digest) VALUES (?, ?) "
                "ON CONFLICT (key) DO UPDATE SET digest = excluded.digest",
                list(digests.items()),
            )

    def embedded(self, done: Iterable[IndexedDocument]) -> None:
        """Their vectors are indexed, or removed for what is gone."""
        rows = [(each.digest, each.key) for each in done]
        with self._using(self._database) as database:
            database.executemany("UPDATE kept SET embedded = ? WHERE key = ?", rows)
            database.execute("DELETE FROM kept WHERE digest = '' AND embedded = ''")

    def forget_vectors(self) -> None:
        """No summary or note has a vector any more."""
        with self._using(self._database) as database:
            database.execute("UPDATE kept SET embedded = ''")
            database.execute("DELETE FROM kept WHERE digest = ''")

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _using(self, database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        try:
            with self._lock, database:
                yield database
        except (sqlite3.Error, ValueError, TypeError, KeyError, AttributeError) as error:
            raise IndexUnavailable(
                f"The index {self._path} cannot be used ({error})",
                "Make it anew with `keepsake index rebuild`",
            ) from error


def _progress(found: dict[str, Any]) -> IndexProgress:
    mark, (number, first, last) = Mark(**found.pop("mark")), found.pop("summary")
    return IndexProgress(mark=mark, summary=(number, first, last), **found)
