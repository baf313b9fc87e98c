"""The file of an index: its tables, its connection, and what happens if it is broken."""

from __future__ import annotations

import json
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from keepsake.errors import IndexUnavailable
from keepsake.files import sync
from keepsake.language.languages import forms_to_index, language_of
from keepsake.recall.passages import passages_of

SCHEMA = 12
"""Stored in ``PRAGMA user_version``; a file with another number is rebuilt. Raise it if the tables
change, or the way in which documents are made from archive lines."""
_AROUND_WEIGHT = 0.5
_TITLE_WEIGHT = 2.0
"""The weights in BM25 of words in the memories around one, and in the title of a note; a word of
the text itself has 1."""
_SEGMENTS = 4
"""Segments of one size that FTS5 merges into one. A word is looked up in each: by default in 20."""
_TABLES = f"""
CREATE VIRTUAL TABLE words USING fts5(
    text, title, around, key UNINDEXED, time UNINDEXED, first UNINDEXED, last UNINDEXED,
    speaker UNINDEXED, place UNINDEXED, apart, said UNINDEXED, record UNINDEXED,
    tokenize = 'porter unicode61'
);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, {_TITLE_WEIGHT}, {_AROUND_WEIGHT})');
INSERT INTO words (words, rank) VALUES ('crisismerge', {_SEGMENTS});
CREATE INDEX times ON words_content (unixepoch(c4));
CREATE TABLE waiting (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE);
CREATE TABLE passages (key TEXT PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE signs (id INTEGER PRIMARY KEY, packed BLOB NOT NULL);
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA user_version = {SCHEMA};
"""


class IndexDamaged(IndexUnavailable):
    """The file of the words is broken or has another version; it must be rebuilt."""


class OtherVersion(sqlite3.DatabaseError):
    """The file of the words has the tables of another version of Keepsake."""


class IndexFile:
    """The database of an index. Safe to use from several threads; opened at the first use.

    Args:
        path: The file, created if missing; None keeps everything in memory.
        on_close: Called when the file is closed; the next one may be another.

    Attributes:
        damage: What a call found broken; empty if nothing was, and after :meth:`delete`.
        is_outdated: Whether that is only that the file is of another version.
    """

    def __init__(self, path: Path | None, on_close: Callable[[], object]) -> None:
        self.path = path
        self.damage = ""
        self.is_outdated = False
        self.lock = threading.RLock()
        self._on_close = on_close
        self._open: sqlite3.Connection | None = None

    @contextmanager
    def connected(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield the database and translate its errors; ``write`` makes it one transaction.

        Raises:
            IndexUnavailable: The file is busy, or the disk is full; it may be intact.
            IndexDamaged: The file cannot be used; :attr:`damage` says why.
        """
        with self.lock:
            try:
                if self._open is None:
                    self._open = _opened(self.path)
                    weakref.finalize(self, self._open.close)
                if write:
                    self._open.execute("BEGIN IMMEDIATE")
                with self._open:  # commits, or rolls back after any error
                    yield self._open
            except (sqlite3.Error, OverflowError, OSError) as error:
                what = f"The index of words {self.path} cannot be used ({error})"
                cure = "Delete it: the next start rebuilds it"
                if is_passing(error):
                    raise IndexUnavailable(what, cure) from error
                self.is_outdated = isinstance(error, OtherVersion)
                if self.is_outdated:
                    what = f"The index of words {self.path} is of another version"
                    cure = ""
                self.damage = what
                raise IndexDamaged(what, cure) from error

    # -- notes of the index about itself

    def keep(self, name: str, value: str) -> None:
        """Store a value under a name."""
        with self.connected(write=True) as database:
            database.execute("REPLACE INTO state VALUES (?, ?)", [name, value])

    def kept(self, name: str) -> str:
        """Return the value stored under a name; empty if there is none."""
        with self.connected() as database:
            asked = "SELECT value FROM state WHERE name = ?"
            return str((database.execute(asked, [name]).fetchone() or ("",))[0])

    # -- opening and closing

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self.lock:
            if self._open is not None:
                self._open.close()
                self._open = None
            self._on_close()

    def delete(self) -> None:
        """Delete the file, with SQLite's files beside it.

        Raises:
            OSError: It could not be deleted.
        """
        with self.lock:
            self.close()
            self.damage = ""
            self.is_outdated = False
            if self.path is not None:
                for path in self.path.parent.glob(f"{self.path.stem}.*"):
                    path.unlink(missing_ok=True)  # another connection may be closing
                if self.path.parent.exists():
                    sync(self.path.parent)


def is_passing(error: Exception) -> bool:
    """Whether a file may be intact that could not be used: it is busy, or the disk is full."""
    is_of_disk = isinstance(error, (sqlite3.OperationalError, OSError))
    return is_of_disk and getattr(error, "sqlite_errorname", "") != "SQLITE_ERROR"


def one(database: sqlite3.Connection, asked: str, given: Sequence[Any]) -> Any:
    """Run a query that returns one row of JSON, and return its value."""
    return json.loads(database.execute(asked, given).fetchone()[0])


def _opened(path: Path | None) -> sqlite3.Connection:
    """Open the database, and create its tables if it is new."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    # Autocommit, with explicit transactions: a batch is written completely or not at all.
    database = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
    try:
        database.create_function("casefold", 1, str.casefold, deterministic=True)
        database.create_function("adjoining", 2, _adjoining, deterministic=True)
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, SCHEMA):
            raise OtherVersion(f"its schema is {version}, not {SCHEMA}")
        # The index can be rebuilt from the archive, so it may lose its last batch.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        if version == 0:
            database.executescript(f"BEGIN; {_TABLES} COMMIT;")
    except BaseException:
        database.close()
        raise
    return database


def _adjoining(text: str, follows: int) -> str:
    """Return the passage of a neighbour that adjoins a memory: its first if it follows.

    With the other forms of its words, as in :func:`forms_to_index`.
    """
    beside = passages_of(text)[0 if follows else -1]
    forms = forms_to_index(beside, language_of(beside))
    return f"{beside} {forms}" if forms else beside
