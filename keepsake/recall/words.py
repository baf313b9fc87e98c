"""Finds documents by their words, in one FTS5 table of SQLite, in a file or in memory.

A memory is indexed with the text of its two neighbours, at a lower weight: in talk, the question
names the thing and the next line answers it. The column ``apart`` has what SQLite's tokenizer does
not know: stems of other languages than English, and single characters of scripts without spaces
between words. FTS5's ``bm25`` sums the weighted occurrences over
the columns, so this is BM25F. A document's row number follows from its key. The row number of a
memory is the memory's own number, so a search can leave out the newest memories.
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

from keepsake.errors import IndexUnavailable
from keepsake.events.values import RecalledKind
from keepsake.files import sync
from keepsake.happening import Person
from keepsake.language.languages import ENGLISH, forms_to_index, language_of, stem
from keepsake.language.perception import UNSPACED, writable
from keepsake.recall.document_cache import DocumentCache
from keepsake.recall.documents import SAME_SCENE, Document, DocumentKind
from keepsake.recall.passages import passages_of
from keepsake.recall.query import Span

SCHEMA = 12
"""Stored in ``PRAGMA user_version``; a file with another number is rebuilt. Raise it if the tables
change, or the way in which documents are made from archive lines."""
_FAR = 1 << 62
"""Above every row number."""
_NOTES = 1 << 40
"""Rows of memories are positive, those of summaries from -1 down to minus this, those of notes
below."""
_AROUND_WEIGHT = 0.5
_TITLE_WEIGHT = 2.0
"""The weights in BM25 of words in the memories around one, and in the title of a note; a word of
the text itself has 1."""
_MOST_ROWS = 500
"""The most rows to score for one question, unless its rarest word has more; 1 microsecond each.

In an index of 10,000 memories a word of every twentieth text adds little to a rarer one.
"""
_SEGMENTS = 4
"""Segments of one size that FTS5 merges into one. A word is looked up in each: by default in 20."""
_RARE = 4
"""The most memories that may share a word for it to link them."""
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
_FIELDS = "key, text, time, first, last, speaker, place, title, said, record"
_REPLACE = f"REPLACE INTO words (rowid, {_FIELDS}, apart, around) VALUES (?{', ?' * 11}, '')"
# Reads FTS5's own content table, because reading through FTS5 takes twice as long. All rows come as
# one row of JSON: after each row Python yields to other threads, and waits for them.
_OF_ROWS = """
SELECT json_group_array(json_array(value, c3, c0, c4, c5, c6, c7, c8, c1, c10, c11))
FROM json_each(?) CROSS JOIN words_content ON words_content.id = value
"""
_AMONG = "rowid IN (SELECT value FROM json_each(?))"
_MATCHES = "FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
_SCORES = f"SELECT json_group_array(json_array(rank, rowid)) {_MATCHES}"
_OF_TIME = """
SELECT json_group_array(id) FROM (
    SELECT id FROM words_content WHERE unixepoch(c4) BETWEEN ? AND ? AND +id BETWEEN 1 AND ?
    ORDER BY CASE
        WHEN ? != '' AND c11 != '' AND json_extract(c11, '$.source_id') != ''
        THEN json_extract(c11, '$.source_id') = ?
        ELSE casefold(c7) = ?
    END DESC, id DESC LIMIT ?
)
"""
_COUNTS = """
SELECT json_group_object(value, (
    SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH value LIMIT ?)
)) FROM json_each(?)
"""
_SURROUND = f"""
UPDATE words SET around = coalesce((
    SELECT group_concat(adjoining(near.text, near.rowid > words.rowid), char(10))
    FROM words AS near
    WHERE near.rowid IN (words.rowid - 1, words.rowid + 1)
    AND abs(unixepoch(near.time) - unixepoch(words.time)) <= {SAME_SCENE.total_seconds()}
), '') WHERE {_AMONG}
"""
_MORE_PASSAGES = """
(SELECT coalesce(sum(number - 1), 0) FROM passages WHERE key NOT IN (SELECT key FROM waiting))
"""
_WAIT = "INSERT OR REPLACE INTO waiting (key) "


class IndexDamaged(IndexUnavailable):
    """The file of the words is broken or has another version; it must be rebuilt."""


class IndexCounts(NamedTuple):
    """The numbers of documents in an index."""

    documents: int
    memories: int  # the documents that are memories
    waiting: int  # documents whose vectors must be made or deleted
    vectors: int  # vectors of all other documents, one a passage


class WordIndex:
    """Documents and their words. Safe to use from several threads; opened at the first use.

    Args:
        path: The database file, created if missing; None keeps everything in memory.

    Attributes:
        damage: What a call found broken; empty if nothing was, and after :meth:`delete`.

    Raises:
        IndexUnavailable: From every method: the file cannot be used now.
        IndexDamaged: From every method: the file is broken.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.damage = ""
        self._lock = threading.RLock()
        self._open: sqlite3.Connection | None = None
        self._cache = DocumentCache()

    # -- searching

    def search(
        self,
        terms: Iterable[str],
        most: Mapping[DocumentKind | None, int],
        before: int | None = None,
        language: str = ENGLISH,
    ) -> tuple[dict[int, float], dict[str, float]]:
        """Return BM25 scores by row number, best (highest) first, and the weight of each term.

        Args:
            terms: Words. Among memories, very common words count only if rarer ones leave room.
            most: The most documents of each kind to search; the kind None stands for all kinds.
            before: Only memories before this number; None for all.
            language: That of the terms.
        """
        asked_for = _expressions(terms, language)
        quoted = [*asked_for]
        left = dict(most)
        found = dict[int, float]()
        scored = list[tuple[float, int]]()
        with self._connected() as database:
            counts = _counted(database, quoted, _MOST_ROWS) if len(quoted) > 1 else {}
            fitting = sum(rows <= _MOST_ROWS for rows in accumulate(counts.values()))
            rarest = [*counts][: fitting or 1] or quoted
            last = (before or _FAR) - 1
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
        # A word is counted in its own row and in the two neighbouring rows.
        worth = {asked_for[e]: math.log(_MOST_ROWS / (n / 3 + 0.5)) for e, n in counts.items()}
        return found, worth

    def rare(self, terms: Iterable[str], before: int | None, language: str = ENGLISH) -> set[int]:
        """Return the memories before that number whose own text has a word that only a few have.

        ``language``: That of the terms.
        """
        quoted = [f"{{text apart}} : {each}" for each in _expressions(terms, language)]
        with self._connected() as database:
            counts = _counted(database, quoted, _RARE + 1) if len(quoted) > 1 else {}
            asked = " OR ".join(each for each, count in counts.items() if 1 < count <= _RARE)
            match = asked, 1, (before or _FAR) - 1
            return {row for _, row in _one(database, _SCORES, match)} if asked else set()

    def of_time(
        self, span: Span, limit: int, before: int | None, who: Person | None = None
    ) -> list[int]:
        """Return memories of that period: first those of ``who``, then the newest.

        A person is compared by identity where a memory has one, else by name. ``before``: The
        number of the first memory that is not wanted any more; None for none.
        """
        by = (who.id, who.id, who.name.casefold()) if who is not None else ("", "", "")
        when = span[0].timestamp(), span[1].timestamp() - 1
        with self._connected() as database:
            return list(_one(database, _OF_TIME, (*when, (before or _FAR) - 1, *by, limit)))

    def documents_at(self, rows: Iterable[int]) -> dict[int, Document]:
        """Return the existing documents of these rows, in the order of their numbers."""
        wanted = sorted(rows)
        with self._connected() as database:
            self._cache.check(database)
            known = self._cache.of(wanted)
            missing = [row for row in wanted if row not in known]
            if missing:
                read = _one(database, _OF_ROWS, [json.dumps(missing)])
                new = {
                    row: Document(key, _kind(row), text, datetime.fromisoformat(time), *others)
                    for row, key, text, time, *others in read
                }
                self._cache.keep(new)
                known |= new
        return {row: known[row] for row in wanted if row in known} if missing else known

    def get(self, keys: Iterable[str]) -> dict[str, Document]:
        """Return the existing documents with these keys."""
        return {
            document.key: document for document in self.documents_at(map(row_of, keys)).values()
        }

    def notes(self) -> set[str]:
        """Return the keys of all notes."""
        with self._connected() as database:
            found = database.execute("SELECT key FROM words WHERE rowid < ?", [-_NOTES])
            return {key for (key,) in found}

    def counts(self) -> IndexCounts:
        """Count the documents."""
        with self._connected() as database:
            # FTS5 also stores the length of each row; these small rows are fast to count.
            tables = ("words_docsize", "words_docsize WHERE id > 0", "waiting")
            asked = ", ".join(f"(SELECT count(*) FROM {each})" for each in tables)
            found = database.execute(f"SELECT {asked}, {_MORE_PASSAGES}").fetchone()
            documents, memories, waiting, more = found
            return IndexCounts(documents, memories, waiting, documents - waiting + more)

    # -- writing: each is one transaction

    def add(self, documents: Iterable[Document]) -> bool:
        """Add documents; one with a known key replaces the old one.

        Returns:
            Whether a known document was replaced with a different one.
        """
        batch = {each.key: _as_read(each) for each in documents}
        known = self.get(batch)
        rows = {row_of(key): each for key, each in batch.items() if known.get(key) != each}
        if not rows:
            return False
        with self._lock:
            with self._connected(write=True) as database:
                self._cache.drop(rows)
                database.executemany(
                    _REPLACE,
                    [
                        (
                            row,
                            d.key,
                            d.text,
                            d.time.isoformat(),
                            d.first,
                            d.last,
                            d.speaker,
                            d.place,
                            d.title,
                            d.said,
                            d.record,
                            forms_to_index(d.text, language_of(d.said or d.text)),
                        )
                        for row, d in rows.items()
                    ],
                )
                beside = {row + step for row in rows if row > 0 for step in (-1, 0, 1)}
                database.execute(_SURROUND, [json.dumps([*beside])])
                database.executemany(f"{_WAIT} VALUES (?)", [(each.key,) for each in rows.values()])
            self._cache.keep(rows)
        return any(each.key in known for each in rows.values())

    def remove(self, keys: Collection[str]) -> None:
        """Remove documents; unknown keys do no harm."""
        known = self.get(keys)
        if not known:
            return
        rows = [row_of(key) for key in known]
        with self._connected(write=True) as database:
            self._cache.drop(rows)
            database.execute(f"DELETE FROM words WHERE {_AMONG}", [json.dumps(rows)])
            database.executemany("DELETE FROM signs WHERE id = ?", [(row,) for row in rows])
            beside = [row + step for row in rows if row > 0 for step in (-1, 1)]
            database.execute(_SURROUND, [json.dumps(beside)])
            database.executemany(f"{_WAIT} VALUES (?)", [(key,) for key in known])

    # -- documents that wait for their vectors

    def waiting(self, limit: int) -> dict[str, int]:
        """Return keys of documents that are new, changed or removed since their vectors were made.

        Returns:
            The first ``limit`` of them, each with the number that :meth:`embedded` takes.
        """
        with self._connected() as database:
            asked = "SELECT key, id FROM waiting ORDER BY id LIMIT ?"
            return dict(database.execute(asked, [limit]).fetchall())

    def embedded(self, done: Iterable[int]) -> None:
        """Mark these documents as done, unless they have changed again."""
        with self._connected(write=True) as database:
            database.executemany("DELETE FROM waiting WHERE id = ?", [(each,) for each in done])

    def passages(self, keys: Iterable[str]) -> dict[str, int]:
        """Return how many passages with vectors these documents have, if it is more than one."""
        with self._connected() as database:
            asked = "SELECT key, number FROM passages WHERE key IN (SELECT value FROM json_each(?))"
            return dict(database.execute(asked, [json.dumps([*keys])]).fetchall())

    def save_passages(self, numbers: Mapping[str, int]) -> None:
        """Store how many passages with vectors these documents have."""
        with self._connected(write=True) as database:
            database.executemany("DELETE FROM passages WHERE key = ?", [(key,) for key in numbers])
            database.executemany(
                "INSERT INTO passages VALUES (?, ?)",
                [(key, number) for key, number in numbers.items() if number > 1],
            )

    def signs_at(self, rows: Iterable[int]) -> dict[int, bytes]:
        """Return the packed signs of the words of these rows, of those that have them."""
        with self._connected() as database:
            asked = "SELECT id, packed FROM signs WHERE id IN (SELECT value FROM json_each(?))"
            return dict(database.execute(asked, [json.dumps(sorted(rows))]).fetchall())

    def save_signs(self, packed: Mapping[str, bytes]) -> None:
        """Store the packed signs of the words of these documents; empty ones are deleted."""
        if not packed:
            return
        rows = {row_of(key): each for key, each in packed.items()}
        with self._connected(write=True) as database:
            database.executemany("DELETE FROM signs WHERE id = ?", [(row,) for row in rows])
            database.executemany(
                "INSERT INTO signs VALUES (?, ?)",
                [(row, each) for row, each in rows.items() if each],
            )

    def save(self, collection: str) -> None:
        """Store the name of a new collection; all documents then wait for their vectors."""
        with self._connected(write=True) as database:
            database.execute(f"{_WAIT} SELECT key FROM words")
            database.execute("DELETE FROM passages")
            database.execute("DELETE FROM signs")
        self.keep("collection", collection)

    @property
    def collection(self) -> str:
        """The stored name of the collection; empty if there is none."""
        return self.kept("collection")

    # -- notes of the index about itself

    def keep(self, name: str, value: str) -> None:
        """Store a value under a name."""
        with self._connected(write=True) as database:
            database.execute("REPLACE INTO state VALUES (?, ?)", [name, value])

    def kept(self, name: str) -> str:
        """Return the value stored under a name; empty if there is none."""
        with self._connected() as database:
            asked = "SELECT value FROM state WHERE name = ?"
            return str((database.execute(asked, [name]).fetchone() or ("",))[0])

    # -- the file

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None
            self._cache.clear()

    def delete(self) -> None:
        """Delete the file, with SQLite's files beside it.

        Raises:
            OSError: It could not be deleted.
        """
        with self._lock:
            self.close()
            self.damage = ""
            if self.path is not None:
                for path in self.path.parent.glob(f"{self.path.stem}.*"):
                    path.unlink(missing_ok=True)  # another connection may be closing
                if self.path.parent.exists():
                    sync(self.path.parent)

    @contextmanager
    def _connected(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield the database and translate its errors; ``write`` makes it one transaction."""
        with self._lock:
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
                # With these errors the file may be intact: it is busy, or the disk is full.
                passing = isinstance(error, (sqlite3.OperationalError, OSError))
                if passing and getattr(error, "sqlite_errorname", "") != "SQLITE_ERROR":
                    raise IndexUnavailable(what, cure) from error
                self.damage = what
                raise IndexDamaged(what, cure) from error


@lru_cache(maxsize=32_768)  # a search looks up hundreds; memories of all agents share keys
def row_of(key: str) -> int:
    """Return the row number of a document's key: the number of a memory, negative for others."""
    kind, _, name = key.partition(":")
    if name.isascii() and name.isdecimal() and 0 < int(name) < _NOTES:
        if kind == RecalledKind.MEMORY:
            return int(name)
        if kind == RecalledKind.SUMMARY:
            return -int(name)
    digest = hashlib.sha256(key.encode("utf-8", "replace")).digest()
    return -_NOTES - 1 - int.from_bytes(digest[:7])


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
            raise sqlite3.DatabaseError(f"its schema is {version}, not {SCHEMA}")
        # The index can be rebuilt from the archive, so it may lose its last batch.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        if version == 0:
            database.executescript(f"BEGIN; {_TABLES} COMMIT;")
    except BaseException:
        database.close()
        raise
    return database


def _as_read(document: Document) -> Document:
    """Return a document as it will be read from the file."""
    key, _, text, time, first, last, *others = document
    fixed = datetime.fromisoformat(time.isoformat())  # without rules of a time zone
    return Document(
        key, _kind(row_of(key)), writable(text), fixed, first, last, *map(writable, others)
    )


def _adjoining(text: str, follows: int) -> str:
    """Return the passage of a neighbour that adjoins a memory: its first if it follows.

    With the other forms of its words, as in :func:`forms_to_index`.
    """
    beside = passages_of(text)[0 if follows else -1]
    forms = forms_to_index(beside, language_of(beside))
    return f"{beside} {forms}" if forms else beside


def _one(database: sqlite3.Connection, asked: str, given: Sequence[Any]) -> Any:
    """Run a query that returns one row of JSON, and return its value."""
    return json.loads(database.execute(asked, given).fetchone()[0])


def _expressions(terms: Iterable[str], language: str) -> dict[str, str]:
    """Return the terms by the expressions of FTS5 that find them in any form.

    ``language``: That of the terms.
    """
    # A quote would end the word, a zero byte the whole query.
    clean = {term: term.replace('"', " ").replace("\0", " ").strip() for term in terms}
    return {_expression(each, language): term for term, each in clean.items() if each}


def _expression(term: str, language: str) -> str:
    if UNSPACED.match(term):  # a phrase of characters
        return f'"{" ".join(term)}"'
    root = term if language == ENGLISH else stem(term, language)
    return f'"{term}"' if root == term else f'("{term}" OR "{root}")'


def _counted(database: sqlite3.Connection, quoted: Sequence[str], most: int) -> dict[str, int]:
    """Count each term's rows up to ``most``, rarest first; takes a tenth of the time of scoring."""
    found = _one(database, _COUNTS, (most, json.dumps(quoted)))
    return {each: found[each] for each in sorted(quoted, key=found.__getitem__)}


def _kind(row: int) -> DocumentKind:
    """Return the kind of the document in a row."""
    if row > 0:
        return DocumentKind.MEMORY
    return DocumentKind.SUMMARY if row >= -_NOTES else DocumentKind.NOTE
