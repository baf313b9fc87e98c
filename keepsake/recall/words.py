"""Finds documents by their words: one table of SQLite's FTS5, in a file or in memory.

A memory is indexed with the text of the two memories around it, at a lower weight: in talk the
question names the thing and the next line answers it. FTS5's ``bm25`` adds up the weighted
occurrences over the columns, so this is BM25F. A row number follows from the document's key: a
memory's is its own number, so that the newest memories can be left out of a search.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from keepsake.books.files import sync
from keepsake.errors import IndexUnavailable
from keepsake.language.perception import writable
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.query import stemmed

SCHEMA = 4
"""Kept in ``PRAGMA user_version``; a file of another number is made anew."""
SAME_SCENE = timedelta(hours=3)
"""Memories further apart than this are no neighbours: another evening, another talk."""
_FAR, _NOTES = 1 << 62, 1 << 40
_RANGES = {
    DocumentKind.MEMORY: (1, _FAR),
    DocumentKind.SUMMARY: (-_NOTES, -1),
    DocumentKind.NOTE: (-_FAR, -_NOTES - 1),
    None: (-_FAR, _FAR),
}
"""The row numbers of each kind, and of all."""
_MOST_LATELY = 8192
"""Documents that are remembered: of some 700 bytes each."""
_AROUND_WEIGHT, _TITLE_WEIGHT = 0.5, 2.0
_MOST_ROWS = 1500
"""So many rows may be scored for one question if it has rarer words; each takes a microsecond.

In an index of 10,000 memories a word of every sixth text says little beside a rarer one.
"""
_TABLES = f"""
CREATE VIRTUAL TABLE words USING fts5(
    text, title, around, key UNINDEXED, kind UNINDEXED, time UNINDEXED, first UNINDEXED,
    last UNINDEXED, speaker UNINDEXED, place UNINDEXED, stemmed UNINDEXED,
    tokenize = 'porter unicode61'
);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, {_TITLE_WEIGHT}, {_AROUND_WEIGHT})');
CREATE TABLE waiting (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE);
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA user_version = {SCHEMA};
"""
_FIELDS = "key, kind, text, time, first, last, speaker, place, title, stemmed"
_AMONG = "rowid IN (SELECT value FROM json_each(?))"
# By row number: the sort would read the fields of each row that it looks at.
_BEST = """
SELECT rowid, -rank FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?
ORDER BY rank, rowid LIMIT ?
"""
_COUNTS = """
SELECT value, (SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH value LIMIT ?))
FROM json_each(?)
"""
_WAIT = "INSERT OR REPLACE INTO waiting (key) "
_NOT_NOW = {
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY),
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM),
}
"""Errors of a file that may be sound."""

type _Told = dict[int, tuple[datetime, str]]
"""Number of a memory: its time and text."""


class IndexDamaged(IndexUnavailable):
    """The file of the words is broken, or of another version; it must be made anew."""


class WordIndex:
    """Documents and their words. Safe to use from several threads; opened when first used.

    Args:
        path: The database file, made if it is not there; None keeps all in memory.

    Attributes:
        damage: What a call found broken; empty where nothing is, and after :meth:`delete`.

    Raises:
        IndexUnavailable: From every method: the file cannot be used now.
        IndexDamaged: From every method: it is broken.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path, self.damage = path, ""
        self._lock = threading.RLock()
        self._open: sqlite3.Connection | None = None
        self._lately: dict[int, Document] = {}  # what was asked for; questions of a talk repeat

    # -- searching

    def search(
        self,
        terms: Sequence[str],
        limit: int,
        kind: DocumentKind | None = None,
        before: int | None = None,
    ) -> list[tuple[Document, float]]:
        """Documents with their BM25 scores (higher is better), best first.

        Args:
            terms: Words. Very common ones count only when the rarer ones leave room for them.
            limit: The most documents.
            kind: Only documents of this kind; None for all.
            before: Only memories before this number; None for all.
        """
        # A quote would end the word, a zero the whole query.
        clean = (term.replace('"', " ").replace("\0", " ").strip() for term in terms)
        quoted = [f'"{term}"' for term in dict.fromkeys(clean) if term]
        if not quoted:
            return []
        first, last = _RANGES[kind]
        last = last if before is None else min(last, before - 1)
        with self._reading() as database:
            if last > 0 and len(quoted) > 1:
                quoted = _rarest(database, quoted)
            rows = database.execute(_BEST, (" OR ".join(quoted), first, last, limit)).fetchall()
            found = self._documents(database, [row for row, _ in rows])
            return [(found[row], score) for row, score in rows]

    def get(self, keys: Iterable[str]) -> dict[str, Document]:
        """The documents that are known among ``keys``."""
        rows = list(map(row_of, keys))
        if not rows:
            return {}
        with self._reading() as database:
            return {each.key: each for each in self._documents(database, rows).values()}

    def _documents(self, database: sqlite3.Connection, rows: Sequence[int]) -> dict[int, Document]:
        """Those that are there, by their row numbers."""
        known = {row: self._lately[row] for row in rows if row in self._lately}
        if missing := [row for row in rows if row not in known]:
            asked = f"SELECT rowid, {_FIELDS} FROM words WHERE {_AMONG}"
            new = {
                row: _document(fields)
                for row, *fields in database.execute(asked, [json.dumps(missing)])
            }
            if len(self._lately) > _MOST_LATELY:
                self._lately.clear()
            self._lately |= new
            known |= new
        return known

    def keys(self, kind: DocumentKind) -> set[str]:
        """The keys of all documents of a kind."""
        with self._reading() as database:
            asked = "SELECT key FROM words WHERE rowid BETWEEN ? AND ?"
            return {key for (key,) in database.execute(asked, _RANGES[kind])}

    def count(self, kind: DocumentKind | None = None) -> int:
        """How many documents there are, of a kind or of all."""
        with self._reading() as database:
            asked = "SELECT count(*) FROM words WHERE rowid BETWEEN ? AND ?"
            return int(database.execute(asked, _RANGES[kind]).fetchone()[0])

    # -- writing: each is one transaction

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents; one with a known key replaces the old one."""
        batch = {row_of(each.key): each for each in documents}
        if not batch:
            return
        with self._writing() as database:
            for row in batch:
                self._lately.pop(row, None)
            memories = {n: each for n, each in batch.items() if each.kind is DocumentKind.MEMORY}
            near = {n + step for n in memories for step in (-2, -1, 1, 2)}
            told = _told(database, near)
            told |= {n: (each.time, writable(each.text)) for n, each in memories.items()}
            database.executemany(
                f"REPLACE INTO words (rowid, around, {_FIELDS}) VALUES (?{', ?' * 11})",
                [(n, _around(n, told), *_row(each)) for n, each in batch.items()],
            )
            _surround(database, _beside(memories), told)
            database.executemany(f"{_WAIT} VALUES (?)", [(each.key,) for each in batch.values()])

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents; unknown keys do no harm."""
        numbers = [row_of(key) for key in keys]
        with self._writing() as database:
            for row in numbers:
                self._lately.pop(row, None)
            database.execute(f"DELETE FROM words WHERE {_AMONG}", [json.dumps(numbers)])
            beside = _beside(numbers)
            _surround(database, beside, _told(database, beside | _beside(beside)))
            database.executemany(f"{_WAIT} VALUES (?)", [(key,) for key in keys])

    # -- which vectors are to be made

    def waiting(self, limit: int) -> dict[str, int]:
        """The keys of documents that are new, changed or gone since their vectors were made.

        Returns:
            The first ``limit`` of them, each with what :meth:`embedded` takes.
        """
        with self._reading() as database:
            asked = "SELECT key, id FROM waiting ORDER BY id LIMIT ?"
            return dict(database.execute(asked, [limit]).fetchall())

    def embedded(self, done: Iterable[int]) -> None:
        """These wait no longer, unless they have changed again."""
        with self._writing() as database:
            database.executemany("DELETE FROM waiting WHERE id = ?", [(each,) for each in done])

    def count_waiting(self) -> int:
        """How many wait."""
        with self._reading() as database:
            return int(database.execute("SELECT count(*) FROM waiting").fetchone()[0])

    def save(self, state: Mapping[str, str], *, all_wait: bool = False) -> None:
        """Keep some values; with ``all_wait`` all vectors are to be made anew."""
        with self._writing() as database:
            if all_wait:
                database.execute(f"{_WAIT} SELECT key FROM words")
            database.executemany("REPLACE INTO state VALUES (?, ?)", state.items())

    @property
    def state(self) -> dict[str, str]:
        """The values that were kept."""
        with self._reading() as database:
            return dict(database.execute("SELECT name, value FROM state").fetchall())

    # -- the file

    def close(self) -> None:
        """Let go of the file; it is opened again when it is used."""
        with self._lock:
            self._lately.clear()
            if self._open is not None:
                self._open.close()
                self._open = None

    def delete(self) -> None:
        """Delete the file, with what SQLite keeps beside it.

        Raises:
            OSError: It is still there.
        """
        with self._lock:
            self.close()
            self.damage = ""
            if self.path is not None:
                for path in self.path.parent.glob(f"{self.path.stem}.*"):
                    path.unlink()
                if self.path.parent.exists():
                    sync(self.path.parent)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._open is None:
                    self._open = _opened(self.path)
                    weakref.finalize(self, self._open.close)
                yield self._open
            except (sqlite3.Error, OverflowError, OSError) as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
                what = f"The index of words {self.path} cannot be used ({error})"
                cure = "Delete it: the next start makes it anew"
                if isinstance(error, OSError) or code in _NOT_NOW:
                    raise IndexUnavailable(what, cure) from error
                self.damage = what
                raise IndexDamaged(what, cure) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:  # whatever it was, a half batch must not stay
                database.rollback()
                raise
            database.execute("COMMIT")


def row_of(key: str) -> int:
    """The row number of the document with that key."""
    kind, _, name = key.partition(":")
    if name.isascii() and name.isdecimal() and 0 < int(name) < _NOTES:
        if kind == DocumentKind.MEMORY:
            return int(name)
        if kind == "summary":
            return -int(name)
    digest = hashlib.sha256(key.encode("utf-8", "replace")).digest()
    return -_NOTES - 1 - int.from_bytes(digest[:7])


def _opened(path: Path | None) -> sqlite3.Connection:
    """The database, with its tables.

    Raises:
        sqlite3.Error: It cannot be used, or is of another version.
    """
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    # Autocommit, with explicit transactions: a batch is there whole or not at all.
    database = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, SCHEMA):
            raise sqlite3.DatabaseError(f"its schema is {version}, not {SCHEMA}")
        # The archive can make the index anew, so a lost last batch is no loss.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        if version == 0:
            database.executescript(f"BEGIN; {_TABLES} COMMIT;")
    except BaseException:
        database.close()
        raise
    return database


def _rarest(database: sqlite3.Connection, quoted: list[str]) -> list[str]:
    """The rarest of the terms, as many as :data:`_MOST_ROWS` allow; at least one.

    Scoring a row takes ten times as long as counting it, and counting ends early.
    """
    counts: dict[str, int] = dict(database.execute(_COUNTS, (_MOST_ROWS, json.dumps(quoted))))
    kept, rows = list[str](), 0
    for term in sorted(quoted, key=counts.__getitem__):
        if rows and rows + counts[term] > _MOST_ROWS:
            break
        kept.append(term)
        rows += counts[term]
    return kept


def _told(database: sqlite3.Connection, numbers: Iterable[int]) -> _Told:
    """Time and text of those of the memories that are there."""
    asked = f"SELECT rowid, time, text FROM words WHERE {_AMONG}"
    rows = database.execute(asked, [json.dumps([n for n in numbers if n > 0])])
    return {n: (datetime.fromisoformat(time), text) for n, time, text in rows}


def _surround(database: sqlite3.Connection, numbers: Iterable[int], told: _Told) -> None:
    """Give memories the texts that now stand beside them."""
    database.executemany(
        "UPDATE words SET around = ?1 WHERE rowid = ?2 AND around <> ?1",
        [(_around(n, told), n) for n in numbers if n in told],
    )


def _around(number: int, told: _Told) -> str:
    """The texts before and after a memory, as far as they belong to its scene."""
    if number not in told:
        return ""
    time = told[number][0]
    near = [told[n] for n in (number - 1, number + 1) if n in told]
    return "\n".join(text for when, text in near if abs(when - time) <= SAME_SCENE)


def _beside(numbers: Collection[int]) -> set[int]:
    return {n + step for n in numbers for step in (-1, 1)}.difference(numbers)


def _row(document: Document) -> tuple[str | int, ...]:
    text, title = writable(document.text), writable(document.title)
    return (
        *(document.key, document.kind.value, text, document.time.isoformat()),
        *(document.first, document.last, writable(document.speaker), writable(document.place)),
        *(title, stemmed(text, title)),
    )


def _document(row: Sequence[Any]) -> Document:
    key, kind, text, time, *others = row
    return Document._make((key, DocumentKind(kind), text, datetime.fromisoformat(time), *others))
