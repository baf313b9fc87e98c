"""Finds documents by their words: SQLite's FTS5 with Porter stems, in memory or in one file.

A memory is indexed with the text of the two memories around it, at a lower weight: in talk the
question names the thing and the next line answers it. FTS5's ``bm25`` adds up the weighted
occurrences over the columns, so this is BM25F. The documents lie in the same database; the
words' table holds no copy of their texts (an external content table). Each kind has a range of row
numbers of its own, so that a search of a few hundred notes does not score ten thousand memories; a
memory's row number is the memory's. What was stemmed once is kept with the document.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from keepsake.errors import IndexUnavailable
from keepsake.index.scored import RowScores, TermScores, highest, within
from keepsake.language.words import writable
from keepsake.recall.documents import Document, DocumentKind, Wanted
from keepsake.recall.fusion import between_blanks
from keepsake.recall.query import stems

SCHEMA, _FORMER = 3, 2
"""Kept in ``PRAGMA user_version``; a file of the former is converted when it is opened, one of
another number must be made anew."""
_SPAN = 1 << 40
RANGES = {kind: range(n * _SPAN, (n + 1) * _SPAN) for n, kind in enumerate(DocumentKind)}
"""The row numbers of each kind."""
SAME_SCENE = timedelta(hours=3)
"""Memories further apart than this are no neighbours: another evening, another talk."""
_MOST_READ, READ_BYTES = 16_384, 700
"""Documents that are remembered, as what agents ask in one place is answered by the same; and what
each of them takes."""
_CACHE_KB = 64
"""Of a file's pages in memory; with 2,000 a search takes hardly less."""
_AROUND_WEIGHT = 0.5
_TITLE_WEIGHT = 2.0
_MOST_ROWS = 1500
"""So many rows may be scored for one question if it has rarer words; each takes a microsecond.

In an index of 10,000 memories a word of every sixth text says little beside a rarer one. With
the same share of rows, scaled down, the shipped data set loses nothing.
"""
_FIELDS = "key, kind, text, time, first, last, speaker, place, title, stems"
_TABLES = f"""
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, text TEXT NOT NULL,
    time TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, speaker TEXT NOT NULL,
    place TEXT NOT NULL, title TEXT NOT NULL, stems TEXT NOT NULL,
    around TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS documents_by_number ON documents (kind, first);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    text, title, around, content='documents', content_rowid='id', tokenize='porter unicode61'
);
INSERT INTO words (words, rank)
VALUES ('rank', 'bm25(1.0, {_TITLE_WEIGHT}, {_AROUND_WEIGHT})');
CREATE TRIGGER IF NOT EXISTS documents_added AFTER INSERT ON documents BEGIN
    INSERT INTO words (rowid, text, title, around)
    VALUES (new.id, new.text, new.title, new.around);
END;
CREATE TRIGGER IF NOT EXISTS documents_removed AFTER DELETE ON documents BEGIN
    INSERT INTO words (words, rowid, text, title, around)
    VALUES ('delete', old.id, old.text, old.title, old.around);
END;
CREATE TRIGGER IF NOT EXISTS documents_changed AFTER UPDATE ON documents BEGIN
    INSERT INTO words (words, rowid, text, title, around)
    VALUES ('delete', old.id, old.text, old.title, old.around);
    INSERT INTO words (rowid, text, title, around)
    VALUES (new.id, new.text, new.title, new.around);
END;
"""
_CONVERSION = f"""
BEGIN;
DROP TRIGGER documents_added; DROP TRIGGER documents_removed; DROP TRIGGER documents_changed;
DROP TABLE words; DROP INDEX documents_by_number;
ALTER TABLE documents RENAME TO former;
{_TABLES}
INSERT INTO documents
SELECT row_number_of(kind, key, id), key, kind, text, time, first, last, speaker, place, title,
    stems_of(text, title), around
FROM former;
DROP TABLE former;
PRAGMA user_version = {SCHEMA};
COMMIT;
"""
_UPSERT = f"""
INSERT INTO documents (id, {_FIELDS}, around) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, text = excluded.text,
    time = excluded.time, first = excluded.first, last = excluded.last,
    speaker = excluded.speaker, place = excluded.place, title = excluded.title,
    stems = excluded.stems, around = excluded.around
"""
_BY_NUMBER = f"SELECT {_FIELDS} FROM documents WHERE id IN (SELECT value FROM json_each(?))"
_BY_KEY = f"SELECT {_FIELDS} FROM documents WHERE key IN (SELECT value FROM json_each(?))"
"""One text each, however many are asked for: SQLite need not read it again."""
_COUNTS = """
SELECT value, (SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH value LIMIT ?))
FROM json_each(?)
"""
"""One statement for all terms of a question: each statement lets go of the interpreter."""
_KINDS = {kind.value: kind for kind in DocumentKind}
"""A search makes 300 documents; looking a kind up here takes a third of the time."""

type _Told = dict[int, tuple[datetime, str]]
"""Number of a raw memory: its time and text."""


class Fts5Index:
    """A :class:`keepsake.recall.documents.WordIndex`. Safe to use from several threads.

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
        self._lately: dict[str, Document] = {}  # what was asked for lately
        self._scores = TermScores()
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
            numbers = self._numbers_for(batch.values())
            self._database.executemany(
                _UPSERT,
                [
                    (numbers[d.key], *_row(d), _around(d.first, told) if _is_memory(d) else "")
                    for d in batch.values()
                ],
            )
            self._surround(_beside(_numbers(batch.values())), told)
            self._read_anew(batch)

    def remove(self, keys: Collection[str]) -> None:
        """Forget documents in one transaction; unknown keys do no harm."""
        with self._writing():
            gone = _numbers(self._fetch(keys))
            self._database.execute(
                "DELETE FROM documents WHERE key IN (SELECT value FROM json_each(?))",
                [json.dumps(list(keys))],
            )
            self._surround(_beside(gone), self._told_near(gone))
            self._read_anew(keys)

    def search(
        self, terms: Sequence[str], limit: int, kinds: Collection[DocumentKind] = ()
    ) -> list[tuple[str, float]]:
        """Keys and BM25 scores (higher is better), best first; no ``kinds`` means all."""
        return self.search_each(terms, [(limit, kinds)])[0]

    def search_each(self, terms: Sequence[str], wanted: Wanted) -> list[list[tuple[str, float]]]:
        """Several searches for the same terms, in the order of ``wanted``; see :meth:`search`.

        Where raw memories are among what is wanted, very common terms only count when the
        rarer ones leave room for them.
        """
        # A quote would end the word, a zero the whole query.
        clean = (term.replace('"', " ").replace("\0", " ").strip() for term in terms)
        quoted = [f'"{term}"' for term in dict.fromkeys(clean) if term]
        if not quoted:
            return [[] for _ in wanted]
        kinds = [frozenset(each) or frozenset(DocumentKind) for _, each in wanted]
        firsts = [0 if DocumentKind.MEMORY in each else _SPAN for each in kinds]
        with self._reading():
            sums = self._sums(quoted, firsts)
            best = [
                highest(*within(sums[first], _spans(each)), limit)
                for (limit, _), each, first in zip(wanted, kinds, firsts, strict=True)
            ]
            keys = iter(self._keys_of([number for each in best for number, _ in each]))
        return [
            [(key, score) for (_, score), key in zip(each, keys, strict=False)] for each in best
        ]

    def _sums(self, quoted: list[str], firsts: Collection[int]) -> dict[int, RowScores]:
        """What the rows from each of ``firsts`` on are worth for the terms that count there."""
        terms = {first: quoted if first else self._telling(quoted) for first in firsts}
        asked = [(term, first) for first, own in terms.items() for term in own]
        self._scores.read(self._database, asked)
        return {first: self._scores.total(own, first) for first, own in terms.items()}

    def _keys_of(self, numbers: Sequence[int]) -> list[str]:
        """The keys of documents by their row numbers."""
        notes = [number for number in numbers if number >= _NOTES]
        named: dict[int, str] = {}
        if notes:
            asked = "SELECT id, key FROM documents WHERE id IN (SELECT value FROM json_each(?))"
            named = dict(self._database.execute(asked, [json.dumps(notes)]))
        return [
            f"memory:{number}" if number < _SPAN else named.get(number) or key_of(number)
            for number in numbers
        ]

    def _numbers_for(self, documents: Iterable[Document]) -> dict[str, int]:
        """The row numbers of documents by their keys, those of new notes included."""
        newest = self._database.execute("SELECT max(id) FROM documents").fetchone()[0] or 0
        numbers: dict[str, int] = {}
        for document in documents:
            if document.kind is not DocumentKind.NOTE:
                numbers[document.key] = number_of(document.kind, document.key)
                continue
            known = self._database.execute(
                "SELECT id FROM documents WHERE key = ?", [document.key]
            ).fetchone()
            newest = newest if known else max(newest, _NOTES) + 1
            numbers[document.key] = known[0] if known else newest
        return numbers

    def _telling(self, quoted: list[str]) -> list[str]:
        """The rarest of the terms, as many as :data:`_MOST_ROWS` allow; at least one.

        Scoring a row takes ten times as long as counting it, and counting ends early.
        """
        if len(quoted) < 2:
            return quoted
        known = {term: self._scores.count(term) for term in quoted}
        unknown = json.dumps([term for term, count in known.items() if count is None])
        counted: dict[str, int] = dict(self._database.execute(_COUNTS, (_MOST_ROWS, unknown)))
        found = {term: min(count or 0, _MOST_ROWS) for term, count in known.items()} | counted
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
            known = self._lately
            found = {key: known[key] for key in keys if key in known}
            missing = [key for key in keys if key not in found] if len(found) < len(keys) else []
            new = {document.key: document for document in self._fetch(missing)} if missing else {}
            known |= new
            if len(self._lately) > _MOST_READ:
                self._lately = dict(islice(self._lately.items(), _MOST_READ // 2, None))
        return found | new

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
                self._is_open, self._lately = False, {}
                self._scores.forget()
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
        if version not in (0, _FORMER, SCHEMA):
            raise sqlite3.DatabaseError(f"its schema is {version}, not {SCHEMA}")
        # The archive can make the index anew, so a lost last batch is no loss.
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        # What was read stands in the system's cache, too, and once for all who have it open.
        self._database.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        if version == _FORMER:
            self._convert()
        elif version != SCHEMA:
            self._database.executescript(f"{_TABLES} PRAGMA user_version = {SCHEMA};")

    def _convert(self) -> None:
        """Bring a file of the former schema into this one, all of it or nothing."""
        self._database.create_function("row_number_of", 3, _converted)
        self._database.create_function("stems_of", 2, _stemmed)
        try:
            self._database.executescript(_CONVERSION)
        except sqlite3.Error:
            if self._database.in_transaction:
                self._database.rollback()
            raise

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
        notes, numbers = [], []
        for key in keys:
            number = _number_in(key)
            if number is None:
                notes.append(key)
            else:
                numbers.append(number)
        rows = self._database.execute(_BY_NUMBER, [json.dumps(numbers)]).fetchall()
        if notes:
            rows += self._database.execute(_BY_KEY, [json.dumps(notes)]).fetchall()
        return [_document(row) for row in rows]

    def _read_anew(self, keys: Iterable[str]) -> None:
        """These are others now: what is remembered of them holds no longer."""
        self._scores.forget()
        for key in keys:
            self._lately.pop(key, None)

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


_NOTES = RANGES[DocumentKind.NOTE].start
_NAMES = {DocumentKind.MEMORY: "memory:", DocumentKind.SUMMARY: "summary:"}
"""How the keys of those begin whose number is in the key."""
_FIRST = {name: RANGES[kind].start for kind, name in _NAMES.items()}


def number_of(kind: DocumentKind, key: str) -> int:
    """The row number of a memory or summary.

    Raises:
        IndexUnavailable: Its key does not end in a number.
    """
    number = _number_in(key)
    if number is None or number not in RANGES[kind]:
        raise IndexUnavailable(f"{key!r} is no key of a {kind.value}", "Number what is indexed")
    return number


def key_of(number: int) -> str:
    """The key of the memory or summary of that row number."""
    for kind, name in _NAMES.items():
        if number in RANGES[kind]:
            return f"{name}{number - RANGES[kind].start}"
    return ""


def _number_in(key: str) -> int | None:
    """The row number that a key says; None for a note, and for what is no key."""
    name, colon, digits = key.partition(":")
    first = _FIRST.get(name + colon)
    if first is None or not (digits.isascii() and digits.isdecimal()):
        return None
    number = int(digits)
    return first + number if number < _SPAN and str(number) == digits else None


def _spans(kinds: Collection[DocumentKind]) -> list[range]:
    """The ranges of row numbers of these kinds, those side by side as one."""
    found: list[range] = []
    for kind, span in RANGES.items():
        if kind in kinds:
            beside = found and found[-1].stop == span.start
            found[-1:] = [range(found[-1].start, span.stop)] if beside else [*found[-1:], span]
    return found


def _converted(kind: str, key: str, number: int) -> int:
    if kind == DocumentKind.NOTE:
        return _NOTES + number
    return number_of(_KINDS[kind], key)


def _stemmed(text: str, title: str) -> str:
    return between_blanks(stems(f"{text} {title}"))


def _row(document: Document) -> tuple[str | int, ...]:
    text, title = writable(document.text), writable(document.title)
    return (
        *(document.key, document.kind.value, text, document.time.isoformat()),
        *(document.first, document.last, writable(document.speaker), writable(document.place)),
        *(title, _stemmed(text, title)),
    )


def _document(row: tuple[Any, ...]) -> Document:
    key, kind, text, time, *others = row
    return Document._make((key, _KINDS[kind], text, datetime.fromisoformat(time), *others))
