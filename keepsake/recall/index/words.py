"""Finds documents by their words, in one FTS5 table of SQLite, in a file or in memory.

A memory is indexed with the text of its two neighbours, at a lower weight: in talk, the question
names the thing and the next line answers it. The column ``apart`` has what SQLite's tokenizer does
not know: stems of other languages than English, and single characters of scripts without spaces
between words. FTS5's ``bm25`` sums the weighted occurrences over
the columns, so this is BM25F. A document's row number follows from its key. The row number of a
memory is the memory's own number, so a search can leave out the newest memories.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from keepsake.happening import Person
from keepsake.language.languages import ENGLISH, forms_to_index, language_of
from keepsake.language.perception import writable
from keepsake.recall.documents import SAME_SCENE, Document, DocumentKind
from keepsake.recall.index.document_cache import DocumentCache
from keepsake.recall.index.embeddings import WAIT, Embeddings
from keepsake.recall.index.expressions import counted, expressions
from keepsake.recall.index.index_file import IndexFile, one
from keepsake.recall.index.rows import FAR, NOTES, kind_of, row_of
from keepsake.recall.times import Span

_MOST_ROWS = 500
"""The most rows to score for one question, unless its rarest word has more; 1 microsecond each.

In an index of 10,000 memories a word of every twentieth text adds little to a rarer one.
"""
_RARE = 4
"""The most memories that may share a word for it to link them."""
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
        embeddings: Which documents have vectors.

    Raises:
        IndexUnavailable: From every method: the file cannot be used now.
        IndexDamaged: From every method: the file is broken.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._cache = DocumentCache()
        self._file = IndexFile(path, self._cache.clear)
        self.embeddings = Embeddings(self._file)

    # -- searching

    def search(
        self,
        terms: Iterable[str],
        most: Mapping[DocumentKind | None, int],
        before: int | None = None,
        language: str = ENGLISH,
        *,
        beside: Iterable[str] = (),
    ) -> tuple[dict[int, float], dict[str, float]]:
        """Return BM25 scores by row number, best (highest) first, and the weight of each word.

        Args:
            terms: Words. Among memories, very common words count only if rarer ones leave room.
            most: The most documents of each kind to search; the kind None stands for all kinds.
            before: Only memories before this number; None for all.
            language: That of the terms.
            beside: Words that are weighed like terms, and not looked for.
        """
        asked_for = expressions(terms, language)
        weighed = expressions(beside, language)
        quoted = [*asked_for]
        left = dict(most)
        found = dict[int, float]()
        scored = list[tuple[float, int]]()
        with self._file.connected() as database:
            counts = counted(database, quoted, _MOST_ROWS) if len(quoted) > 1 else {}
            others = counted(database, [*weighed], _MOST_ROWS) if weighed else {}
            fitting = sum(rows <= _MOST_ROWS for rows in accumulate(counts.values()))
            rarest = [*counts][: fitting or 1] or quoted
            last = (before or FAR) - 1
            parts = [(quoted, -FAR, last)]
            if len(rarest) < len(quoted):
                parts = [(rarest, 1, last), (quoted, -FAR, -1)]
            for asked, *between in parts if quoted else ():
                match = " OR ".join(asked), *between
                scored += map(tuple, one(database, _SCORES, match))
            for rank, row in sorted(scored):
                kind = None if None in left else kind_of(row)
                if left.get(kind, 0):
                    left[kind] -= 1
                    found[row] = -rank
        # A word is counted in its own row and in the two neighbouring rows.
        named = weighed | asked_for
        rows = others | counts
        worth = {named[each]: math.log(_MOST_ROWS / (n / 3 + 0.5)) for each, n in rows.items()}
        return found, worth

    def rare(self, terms: Iterable[str], before: int | None, language: str = ENGLISH) -> set[int]:
        """Return the memories before that number whose own text has a word that only a few have.

        ``language``: That of the terms.
        """
        quoted = [f"{{text apart}} : {each}" for each in expressions(terms, language)]
        with self._file.connected() as database:
            counts = counted(database, quoted, _RARE + 1) if len(quoted) > 1 else {}
            asked = " OR ".join(each for each, count in counts.items() if 1 < count <= _RARE)
            match = asked, 1, (before or FAR) - 1
            return {row for _, row in one(database, _SCORES, match)} if asked else set()

    def of_time(
        self, span: Span, limit: int, before: int | None, who: Person | None = None
    ) -> list[int]:
        """Return memories of that period: first those of ``who``, then the newest.

        A person is compared by identity where a memory has one, else by name. ``before``: The
        number of the first memory that is not wanted any more; None for none.
        """
        by = (who.id, who.id, who.name.casefold()) if who is not None else ("", "", "")
        when = span[0].timestamp(), span[1].timestamp() - 1
        with self._file.connected() as database:
            return list(one(database, _OF_TIME, (*when, (before or FAR) - 1, *by, limit)))

    def documents_at(self, rows: Iterable[int]) -> dict[int, Document]:
        """Return the existing documents of these rows, in the order of their numbers."""
        wanted = sorted(rows)
        with self._file.connected() as database:
            self._cache.check(database)
            known = self._cache.of(wanted)
            missing = [row for row in wanted if row not in known]
            if missing:
                read = one(database, _OF_ROWS, [json.dumps(missing)])
                new = {
                    row: Document(key, kind_of(row), text, datetime.fromisoformat(time), *others)
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
        with self._file.connected() as database:
            found = database.execute("SELECT key FROM words WHERE rowid < ?", [-NOTES])
            return {key for (key,) in found}

    def counts(self) -> IndexCounts:
        """Count the documents."""
        with self._file.connected() as database:
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
        with self._file.lock:
            with self._file.connected(write=True) as database:
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
                database.executemany(f"{WAIT} VALUES (?)", [(each.key,) for each in rows.values()])
            self._cache.keep(rows)
        return any(each.key in known for each in rows.values())

    def remove(self, keys: Collection[str]) -> None:
        """Remove documents; unknown keys do no harm."""
        known = self.get(keys)
        if not known:
            return
        rows = [row_of(key) for key in known]
        with self._file.connected(write=True) as database:
            self._cache.drop(rows)
            database.execute(f"DELETE FROM words WHERE {_AMONG}", [json.dumps(rows)])
            database.executemany("DELETE FROM signs WHERE id = ?", [(row,) for row in rows])
            beside = [row + step for row in rows if row > 0 for step in (-1, 1)]
            database.execute(_SURROUND, [json.dumps(beside)])
            database.executemany(f"{WAIT} VALUES (?)", [(key,) for key in known])

    # -- notes of the index about itself

    def keep(self, name: str, value: str) -> None:
        """Store a value under a name."""
        self._file.keep(name, value)

    def kept(self, name: str) -> str:
        """Return the value stored under a name; empty if there is none."""
        return self._file.kept(name)

    # -- the file

    @property
    def path(self) -> Path | None:
        """The database file; None if everything is in memory."""
        return self._file.path

    @property
    def is_outdated(self) -> bool:
        """Whether the damage is only that the file is of another version of Keepsake."""
        return self._file.is_outdated

    @property
    def damage(self) -> str:
        """What a call found broken; empty if nothing was, and after :meth:`delete`."""
        return self._file.damage

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._file.close()

    def delete(self) -> None:
        """Delete the file, with SQLite's files beside it.

        Raises:
            OSError: It could not be deleted.
        """
        self._file.delete()


def _as_read(document: Document) -> Document:
    """Return a document as it will be read from the file."""
    key, _, text, time, first, last, *others = document
    fixed = datetime.fromisoformat(time.isoformat())  # without rules of a time zone
    return Document(
        key, kind_of(row_of(key)), writable(text), fixed, first, last, *map(writable, others)
    )
