"""Finds documents by their words: one table of SQLite's FTS5, in a file or in memory.

A memory is indexed with the text of the two memories around it, at a lower weight: in talk the
question names the thing and the next line answers it. FTS5's ``bm25`` adds up the weighted
occurrences over the columns, so this is BM25F. A row number follows from the document's key: a
memory's is its own number, so that the newest memories can be left out of a search.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from keepsake.books.files import sync
from keepsake.errors import IndexUnavailable
from keepsake.language.perception import UNSPACED, writable
from keepsake.recall.documents import SAME_SCENE, Document, DocumentKind
from keepsake.recall.query import Span

SCHEMA = 8
"""Kept in ``PRAGMA user_version``; a file of another number is made anew."""
_FAR, _NOTES = 1 << 62, 1 << 40
_AROUND_WEIGHT, _TITLE_WEIGHT = 0.5, 2.0
_MOST_ROWS = 500
"""So many rows may be scored for one question if it has rarer words; each takes a microsecond.

In an index of 10,000 memories a word of every twentieth text says little beside a rarer one.
"""
_SEGMENTS = 4
"""So many parts of one size are made one; a word is looked up in each part, by default in 20."""
_RARE = 4
"""A word that so many memories have at most links them."""
_TABLES = f"""
CREATE VIRTUAL TABLE words USING fts5(
    text, title, around, key UNINDEXED, time UNINDEXED, first UNINDEXED, last UNINDEXED,
    speaker UNINDEXED, place UNINDEXED, apart,
    tokenize = 'porter unicode61'
);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, {_TITLE_WEIGHT}, {_AROUND_WEIGHT})');
INSERT INTO words (words, rank) VALUES ('crisismerge', {_SEGMENTS});
CREATE INDEX times ON words_content (unixepoch(c4));
CREATE TABLE waiting (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE);
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA user_version = {SCHEMA};
"""
_FIELDS = "key, text, time, first, last, speaker, place, title"
# Where FTS5 keeps them; to read them through it takes twice as long. Many rows come as one: at each
# row of its own Python would let other threads on, and wait for them.
_OF_ROWS = """
SELECT json_group_array(json_array(value, c3, c0, c4, c5, c6, c7, c8, c1))
FROM json_each(?) CROSS JOIN words_content ON words_content.id = value
"""
_AMONG = "rowid IN (SELECT value FROM json_each(?))"
_MATCHES = "FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
_SCORES = f"SELECT json_group_array(json_array(rank, rowid)) {_MATCHES}"
_OF_TIME = """
SELECT json_group_array(id) FROM (
    SELECT id FROM words_content WHERE unixepoch(c4) BETWEEN ? AND ? AND +id BETWEEN 1 AND ?
    ORDER BY casefold(c7) = ? DESC, id DESC LIMIT ?
)
"""
_COUNTS = """
SELECT json_group_object(value, (
    SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH value LIMIT ?)
)) FROM json_each(?)
"""
_SURROUND = f"""
UPDATE words SET around = coalesce((
    SELECT group_concat(near.text, char(10)) FROM words AS near
    WHERE near.rowid IN (words.rowid - 1, words.rowid + 1)
    AND abs(unixepoch(near.time) - unixepoch(words.time)) <= {SAME_SCENE}
), '') WHERE {_AMONG}
"""
_WAIT = "INSERT OR REPLACE INTO waiting (key) "


class IndexDamaged(IndexUnavailable):
    """The file of the words is broken, or of another version; it must be made anew."""


class IndexCounts(NamedTuple):
    """How many rows there are."""

    documents: int
    memories: int  # the documents among them that are memories
    waiting: int  # documents whose vectors are to be made, or deleted


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

    # -- searching

    def search(
        self,
        terms: Iterable[str],
        most: Mapping[DocumentKind | None, int],
        before: int | None = None,
    ) -> tuple[dict[int, float], dict[str, float]]:
        """BM25 scores (higher is better) by row number, best first; what each term is worth.

        Args:
            terms: Words. Of memories very common ones count only when the rarer ones leave room.
            most: The most documents of each kind that is searched; None stands for all kinds.
            before: Only memories before this number; None for all.
        """
        quoted, left = _quoted(terms), dict(most)
        found, scored = dict[int, float](), list[tuple[float, int]]()
        with self._connected() as database:
            counts = _counted(database, quoted, _MOST_ROWS) if len(quoted) > 1 else {}
            fitting = sum(rows <= _MOST_ROWS for rows in accumulate(counts.values()))
            rarest, last = [*counts][: fitting or 1] or quoted, (before or _FAR) - 1
            parts = [(quoted, -_FAR, last)]
            if len(rarest) < len(quoted):
                parts = [(rarest, 1, last), (quoted, -_FAR, -1)]
            for asked, *between in parts if quoted else ():
                match = " OR ".join(asked), *between
                scored += map(tuple, _one(database, _SCORES, match))
            for rank, row in sorted(scored):
                kind = None if None in left else _kind(row)
                if left.get(kind, 0):
                    left[kind] -= 1
                    found[row] = -rank
        # A word is counted in its own row and in the two beside it.
        worth = {e[1:-1]: math.log(_MOST_ROWS / (n / 3 + 0.5)) for e, n in counts.items()}
        return found, worth

    def rare(self, terms: Iterable[str], before: int | None) -> set[int]:
        """The memories before that number whose own text has a word that a few have, no more."""
        quoted = [f"{{text apart}} : {each}" for each in _quoted(terms)]
        with self._connected() as database:
            counts = _counted(database, quoted, _RARE + 1) if len(quoted) > 1 else {}
            asked = " OR ".join(each for each, count in counts.items() if 1 < count <= _RARE)
            match = asked, 1, (before or _FAR) - 1
            return {row for _, row in _one(database, _SCORES, match)} if asked else set()

    def of_time(self, span: Span, limit: int, before: int | None, who: str) -> list[int]:
        """The memories of that time: first those of ``who`` (in lower case), then the newest."""
        when = span[0].timestamp(), span[1].timestamp() - 1
        with self._connected() as database:
            return list(_one(database, _OF_TIME, (*when, (before or _FAR) - 1, who, limit)))

    def read(self, rows: Iterable[int]) -> dict[int, Document]:
        """The documents that are known among these rows, in their order."""
        with self._connected() as database:
            found = _one(database, _OF_ROWS, [json.dumps(sorted(rows))])
        return {
            row: Document(key, _kind(row), text, datetime.fromisoformat(time), a, b, who, at, title)
            for row, key, text, time, a, b, who, at, title in found
        }

    def get(self, keys: Iterable[str]) -> dict[str, Document]:
        """The documents that are known among ``keys``."""
        return {document.key: document for document in self.read(map(row_of, keys)).values()}

    def notes(self) -> set[str]:
        """The keys of all notes."""
        with self._connected() as database:
            found = database.execute("SELECT key FROM words WHERE rowid < ?", [-_NOTES])
            return {key for (key,) in found}

    def counts(self) -> IndexCounts:
        """How many documents there are."""
        with self._connected() as database:
            # Of each row FTS5 keeps its length too, and these few bytes are soon counted.
            tables = ("words_docsize", "words_docsize WHERE id > 0", "waiting")
            asked = ", ".join(f"(SELECT count(*) FROM {each})" for each in tables)
            return IndexCounts(*database.execute(f"SELECT {asked}").fetchone())

    # -- writing: each is one transaction

    def add(self, documents: Iterable[Document]) -> bool:
        """Add documents; one with a known key replaces the old one.

        Returns:
            Whether one was known and is different.
        """
        batch = {each.key: each for each in documents}
        known = self.get(batch)
        rows = {row_of(key): each for key, each in batch.items() if known.get(key) != each}
        if not rows:
            return False
        with self._connected(write=True) as database:
            database.executemany(
                f"REPLACE INTO words (rowid, {_FIELDS}, apart, around) VALUES (?{', ?' * 9}, '')",
                [
                    (
                        *(row, d.key, writable(d.text), d.time.isoformat()),
                        *(d.first, d.last, writable(d.speaker), writable(d.place)),
                        writable(d.title),
                        " ".join(writable(d.text)) if UNSPACED.search(d.text) else "",
                    )
                    for row, d in rows.items()
                ],
            )
            beside = {row + step for row in rows if row > 0 for step in (-1, 0, 1)}
            database.execute(_SURROUND, [json.dumps([*beside])])
            database.executemany(f"{_WAIT} VALUES (?)", [(each.key,) for each in rows.values()])
        return any(each.key in known for each in rows.values())

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents; unknown keys do no harm."""
        known = self.get(keys)
        if not known:
            return
        rows = [row_of(key) for key in known]
        with self._connected(write=True) as database:
            database.execute(f"DELETE FROM words WHERE {_AMONG}", [json.dumps(rows)])
            beside = [row + step for row in rows if row > 0 for step in (-1, 1)]
            database.execute(_SURROUND, [json.dumps(beside)])
            database.executemany(f"{_WAIT} VALUES (?)", [(key,) for key in known])

    # -- which vectors are to be made

    def waiting(self, limit: int) -> dict[str, int]:
        """The keys of documents that are new, changed or gone since their vectors were made.

        Returns:
            The first ``limit`` of them, each with what :meth:`embedded` takes.
        """
        with self._connected() as database:
            asked = "SELECT key, id FROM waiting ORDER BY id LIMIT ?"
            return dict(database.execute(asked, [limit]).fetchall())

    def embedded(self, done: Iterable[int]) -> None:
        """These wait no longer, unless they have changed again."""
        with self._connected(write=True) as database:
            database.executemany("DELETE FROM waiting WHERE id = ?", [(each,) for each in done])

    def save(self, collection: str) -> None:
        """Keep the name of a new collection; all vectors are to be made for it."""
        with self._connected(write=True) as database:
            database.execute(f"{_WAIT} SELECT key FROM words")
            database.execute("REPLACE INTO state VALUES ('collection', ?)", [collection])

    @property
    def collection(self) -> str:
        """The name that was kept; empty for none."""
        asked = "SELECT value FROM state WHERE name = 'collection'"
        with self._connected() as database:
            return str((database.execute(asked).fetchone() or ("",))[0])

    # -- the file

    def close(self) -> None:
        """Let go of the file; it is opened again when it is used."""
        with self._lock:
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
    def _connected(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The database, with errors by name; what is to ``write`` is one transaction."""
        with self._lock:
            try:
                if self._open is None:
                    self._open = _opened(self.path)
                    weakref.finalize(self, self._open.close)
                if write:
                    self._open.execute("BEGIN IMMEDIATE")
                with self._open:  # commits, or rolls back whatever it was
                    yield self._open
            except (sqlite3.Error, OverflowError, OSError) as error:
                what = f"The index of words {self.path} cannot be used ({error})"
                cure = "Delete it: the next start makes it anew"
                # Of a file that may be sound: it is busy, the disk is full.
                passing = isinstance(error, (sqlite3.OperationalError, OSError))
                if passing and getattr(error, "sqlite_errorname", "") != "SQLITE_ERROR":
                    raise IndexUnavailable(what, cure) from error
                self.damage = what
                raise IndexDamaged(what, cure) from error


@lru_cache(maxsize=8192)  # a search asks hundreds twice; the memories of all agents share theirs
def row_of(key: str) -> int:
    """The row number of the document with that key: above 0 for a memory, whose number it is."""
    kind, _, name = key.partition(":")
    if name.isascii() and name.isdecimal() and 0 < int(name) < _NOTES:
        if kind == DocumentKind.MEMORY:
            return int(name)
        if kind == "summary":
            return -int(name)
    digest = hashlib.sha256(key.encode("utf-8", "replace")).digest()
    return -_NOTES - 1 - int.from_bytes(digest[:7])


def _opened(path: Path | None) -> sqlite3.Connection:
    """The database, with its tables."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    # Autocommit, with explicit transactions: a batch is there whole or not at all.
    database = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
    try:
        database.create_function("casefold", 1, str.casefold, deterministic=True)
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


def _one(database: sqlite3.Connection, asked: str, given: Sequence[Any]) -> Any:
    """What a query gives whose rows are one, as JSON."""
    return json.loads(database.execute(asked, given).fetchone()[0])


def _quoted(terms: Iterable[str]) -> list[str]:
    # A quote would end the word, a zero the whole query.
    clean = (term.replace('"', " ").replace("\0", " ").strip() for term in terms)
    return [f'"{term}"' for term in dict.fromkeys(clean) if term]


def _counted(database: sqlite3.Connection, quoted: Sequence[str], most: int) -> dict[str, int]:
    """How many rows each has, ``most`` at most, the rarest first: that takes a tenth of a score."""
    found = _one(database, _COUNTS, (most, json.dumps(quoted)))
    return {each: found[each] for each in sorted(quoted, key=found.__getitem__)}


def _kind(row: int) -> DocumentKind:
    """Of which kind the document of a row is."""
    if row > 0:
        return DocumentKind.MEMORY
    return DocumentKind.SUMMARY if row >= -_NOTES else DocumentKind.NOTE
