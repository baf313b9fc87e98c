"""Finds documents by their words: SQLite's FTS5 with Porter stems, in memory or in one file.

A memory is indexed with the text of the two memories around it, at a lower weight: in talk the
question names the thing and the next line answers it. FTS5's ``bm25`` adds up the weighted
occurrences over the columns, so this is BM25F. The documents lie in the same database; the
words' table holds no copy of their texts (an external content table). It knows the kind of
each document too, so that a search of a few hundred notes does not score ten thousand memories.
"""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from game.mind.errors import IndexUnavailable
from game.mind.language.words import writable
from game.mind.recall.documents import Document, DocumentKind

SCHEMA = 2
"""Kept in ``PRAGMA user_version``; a file of another number must be made anew."""
SAME_SCENE = timedelta(hours=3)
"""Memories further apart than this are no neighbours: another evening, another talk."""
_AROUND_WEIGHT = 0.5
_TITLE_WEIGHT = 2.0
_MOST_VARIABLES = 500
_MOST_ROWS = 1500
"""So many rows may be scored for one question if it has rarer words; each takes a microsecond.

In an index of 10,000 memories a word of every sixth text says little beside a rarer one. With
the same share of rows, scaled down, the shipped data set loses nothing.
"""
_TEXTS = "{{text title around}} : ({})"
"""Where a term is looked for: a question's "note" does not mean every note."""
_FIELDS = "key, kind, text, time, first, last, speaker, place, title"
_TABLES = f"""
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, text TEXT NOT NULL,
    time TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, speaker TEXT NOT NULL,
    place TEXT NOT NULL, title TEXT NOT NULL, around TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS documents_by_number ON documents (kind, first);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    kind, text, title, around,
    content='documents', content_rowid='id', tokenize='porter unicode61'
);
INSERT INTO words (words, rank)
VALUES ('rank', 'bm25(0.0, 1.0, {_TITLE_WEIGHT}, {_AROUND_WEIGHT})');
CREATE TRIGGER IF NOT EXISTS documents_added AFTER INSERT ON documents BEGIN
    INSERT INTO words (rowid, kind, text, title, around)
    VALUES (new.id, new.kind, new.text, new.title, new.around);
END;
CREATE TRIGGER IF NOT EXISTS documents_removed AFTER DELETE ON documents BEGIN
    INSERT INTO words (words, rowid, kind, text, title, around)
    VALUES ('delete', old.id, old.kind, old.text, old.title, old.around);
END;
CREATE TRIGGER IF NOT EXISTS documents_changed AFTER UPDATE ON documents BEGIN
    INSERT INTO words (words, rowid, kind, text, title, around)
    VALUES ('delete', old.id, old.kind, old.text, old.title, old.around);
    INSERT INTO words (rowid, kind, text, title, around)
    VALUES (new.id, new.kind, new.text, new.title, new.around);
END;
"""
_UPSERT = f"""
INSERT INTO documents ({_FIELDS}, around) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, text = excluded.text,
    time = excluded.time, first = excluded.first, last = excluded.last,
    speaker = excluded.speaker, place = excluded.place, title = excluded.title,
    around = excluded.around
"""

_RARE = {DocumentKind.SUMMARY: '"summary"', DocumentKind.NOTE: '"note"'}
"""What the words' table holds as the kind of documents that are few; the tokenizer splits at
``_``, and a memory's kind has no such word."""
_KINDS = {kind.value: kind for kind in DocumentKind}
"""A search makes 300 documents; looking a kind up here takes a third of the time."""

type _Told = dict[int, tuple[datetime, str]]
"""Number of a raw memory: its time and text."""


class Fts5Index:
    """A :class:`game.mind.recall.documents.WordIndex`. Safe to use from several threads.

    Args:
        path: The database file, made if it is not there; ``:memory:`` for none.
        lazily: Open it when it is first used, and again when it is used after :meth:`close`.

    Raises:
        IndexUnavailable: From every method: the file is corrupt, locked or of another schema.
    """

    def __init__(self, path: Path | str = ":memory:", *, lazily: bool = False) -> None:
        self._path = str(path)
        self._lock = threading.RLock()
        self._lazily, self._is_open = lazily, False
        if not lazily:
            self._open()

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents in one transaction; one with a known key replaces the old one."""
        batch = {document.key: document for document in documents}
        if not batch:
            return
        with self._writing():
            told = self._told_near(_numbers(batch.values()))
            told.update(
                (d.first, (d.time, writable(d.text))) for d in batch.values() if _is_memory(d)
            )
            self._database.executemany(
                _UPSERT,
                [
                    (*_row(d), _around(d.first, told) if _is_memory(d) else "")
                    for d in batch.values()
                ],
            )
            self._surround(_beside(_numbers(batch.values())), told)

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents in one transaction; unknown keys do no harm."""
        with self._writing():
            gone = _numbers(self._fetch(keys))
            for part in _parts(keys):
                self._database.execute(f"DELETE FROM documents WHERE key IN ({_marks(part)})", part)
            self._surround(_beside(gone), self._told_near(gone))

    def search(
        self, terms: Sequence[str], limit: int, kinds: Collection[DocumentKind] = ()
    ) -> list[tuple[str, float]]:
        """Keys and BM25 scores (higher is better), best first; no ``kinds`` means all.

        Where raw memories are among what is wanted, very common terms only count when the
        rarer ones leave room for them.
        """
        # A quote would end the word, a zero the whole query.
        clean = (term.replace('"', " ").replace("\0", " ").strip() for term in terms)
        quoted = [f'"{term}"' for term in dict.fromkeys(clean) if term]
        if not quoted:
            return []
        rare = bool(kinds) and DocumentKind.MEMORY not in kinds
        only = f"AND documents.kind IN ({_marks(kinds)})" if kinds else ""
        with self._reading():
            match = _TEXTS.format(" OR ".join(quoted if rare else self._telling(quoted)))
            if rare:
                match = f"kind : ({' OR '.join(_RARE[kind] for kind in kinds)}) AND {match}"
            rows = self._database.execute(
                f"SELECT key, -rank FROM words JOIN documents ON documents.id = words.rowid "
                f"WHERE words MATCH ? {only} ORDER BY rank LIMIT ?",
                (match, *(kind.value for kind in kinds), limit),
            ).fetchall()
        return [(str(key), float(score)) for key, score in rows]

    def _telling(self, quoted: list[str]) -> list[str]:
        """The rarest of the terms, as many as :data:`_MOST_ROWS` allow; at least one.

        Scoring a row takes ten times as long as counting it, and counting ends early.
        """
        if len(quoted) < 2:
            return quoted
        count = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        found: dict[str, int] = {
            term: self._database.execute(count, (_TEXTS.format(term), _MOST_ROWS)).fetchone()[0]
            for term in quoted
        }
        kept: list[str] = []
        rows = 0
        for term in sorted(quoted, key=lambda term: found[term]):
            if rows and rows + found[term] > _MOST_ROWS:
                break
            kept.append(term)
            rows += found[term]
        return kept

    def get(self, keys: Collection[str]) -> Mapping[str, Document]:
        """The documents that are known among ``keys``."""
        with self._reading():
            return {document.key: document for document in self._fetch(keys)}

    def check(self) -> None:
        """Look through the whole file.

        Raises:
            IndexUnavailable: It is damaged, or words and documents disagree.
        """
        with self._writing():
            found = self._database.execute("PRAGMA quick_check").fetchone()[0]
            if found != "ok":
                raise sqlite3.DatabaseError(found)
            self._database.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._is_open:
                self._is_open = False
                self._close()

    def _open(self) -> None:
        with _named(self._path):
            # Autocommit, with explicit transactions: a batch is there whole or not at all.
            self._database = sqlite3.connect(
                self._path, check_same_thread=False, isolation_level=None
            )
            # An index in memory may simply be dropped; a file should be closed, but is then too.
            self._close = weakref.finalize(self, self._database.close)
            try:
                self._prepare()
            except BaseException:
                self._close()
                raise
        self._is_open = True

    def _prepare(self) -> None:
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, SCHEMA):
            raise sqlite3.DatabaseError(f"its schema is {version}, not {SCHEMA}")
        # The archive can make the index anew, so a lost last batch is no loss.
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        if version != SCHEMA:
            self._database.executescript(f"{_TABLES} PRAGMA user_version = {SCHEMA};")

    def _surround(self, numbers: Collection[int], told: _Told) -> None:
        """Give the memories ``numbers`` the texts that now stand beside them."""
        self._database.executemany(
            "UPDATE documents SET around = :around"
            " WHERE kind = :kind AND first = :first AND around <> :around",
            [
                {"around": _around(n, told), "kind": DocumentKind.MEMORY.value, "first": n}
                for n in numbers
                if n in told
            ],
        )

    def _told_near(self, numbers: Collection[int]) -> _Told:
        """Time and text of the raw memories from two before to two after ``numbers``."""
        if not numbers:
            return {}
        rows = self._database.execute(
            "SELECT first, time, text FROM documents WHERE kind = ? AND first BETWEEN ? AND ?",
            (DocumentKind.MEMORY.value, min(numbers) - 2, max(numbers) + 2),
        )
        return {int(n): (datetime.fromisoformat(t), str(text)) for n, t, text in rows}

    def _fetch(self, keys: Collection[str]) -> list[Document]:
        rows: list[tuple[str, ...]] = []
        for part in _parts(keys):
            rows += self._database.execute(
                f"SELECT {_FIELDS} FROM documents WHERE key IN ({_marks(part)})", part
            )
        return [_document(row) for row in rows]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock, _named(self._path):
            if self._lazily and not self._is_open:
                self._open()
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._reading():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:  # whatever it was, a half batch must not stay
                self._database.rollback()
                raise
            self._database.execute("COMMIT")


@contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OverflowError) as error:  # a number that SQLite cannot hold
        raise IndexUnavailable(
            f"The index of words {path} cannot be used ({error})",
            "Make it anew with `keepsake index rebuild`",
        ) from error


def _around(number: int, told: _Told) -> str:
    """The texts before and after memory ``number``, as far as they belong to its scene."""
    time = told[number][0]
    near = [told[n] for n in (number - 1, number + 1) if n in told]
    return "\n".join(text for when, text in near if abs(when - time) <= SAME_SCENE)


def _beside(numbers: Collection[int]) -> set[int]:
    return {n + step for n in numbers for step in (-1, 1)}.difference(numbers)


def _numbers(documents: Iterable[Document]) -> set[int]:
    return {document.first for document in documents if _is_memory(document)}


def _is_memory(document: Document) -> bool:
    return document.kind is DocumentKind.MEMORY


def _parts(keys: Collection[str]) -> Iterator[list[str]]:
    """The keys in parts that one statement can hold."""
    ordered = list(keys)
    for start in range(0, len(ordered), _MOST_VARIABLES):
        yield ordered[start : start + _MOST_VARIABLES]


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))


def _row(document: Document) -> tuple[str | int, ...]:
    return (
        *(document.key, document.kind.value, writable(document.text), document.time.isoformat()),
        *(document.first, document.last),
        *map(writable, (document.speaker, document.place, document.title)),
    )


def _document(row: Sequence[str]) -> Document:
    key, kind, text, time, first, last, speaker, place, title = row
    lived = datetime.fromisoformat(time)
    return Document(key, _KINDS[kind], text, lived, int(first), int(last), speaker, place, title)
