"""What an index knows of the vectors of its documents: which wait for them, and in which parts.

The vectors themselves are in a collection of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from keepsake.recall.index.index_file import IndexFile
from keepsake.recall.index.rows import row_of

WAIT = "INSERT OR REPLACE INTO waiting (key) "
"""Begins a statement that has documents wait for their vectors."""


class Embeddings:
    """Which documents of an index have vectors.

    Args:
        file: The database of the index.
    """

    def __init__(self, file: IndexFile) -> None:
        self._file = file

    def waiting(self, limit: int) -> dict[str, int]:
        """Return keys of documents that are new, changed or removed since their vectors were made.

        Returns:
            The first ``limit`` of them, each with the number that :meth:`embedded` takes.
        """
        with self._file.connected() as database:
            asked = "SELECT key, id FROM waiting ORDER BY id LIMIT ?"
            return dict(database.execute(asked, [limit]).fetchall())

    def embedded(self, done: Iterable[int]) -> None:
        """Mark these documents as done, unless they have changed again."""
        with self._file.connected(write=True) as database:
            database.executemany("DELETE FROM waiting WHERE id = ?", [(each,) for each in done])

    def passages(self, keys: Iterable[str]) -> dict[str, int]:
        """Return how many passages with vectors these documents have, if it is more than one."""
        with self._file.connected() as database:
            asked = "SELECT key, number FROM passages WHERE key IN (SELECT value FROM json_each(?))"
            return dict(database.execute(asked, [json.dumps([*keys])]).fetchall())

    def save_passages(self, numbers: Mapping[str, int]) -> None:
        """Store how many passages with vectors these documents have."""
        with self._file.connected(write=True) as database:
            database.executemany("DELETE FROM passages WHERE key = ?", [(key,) for key in numbers])
            database.executemany(
                "INSERT INTO passages VALUES (?, ?)",
                [(key, number) for key, number in numbers.items() if number > 1],
            )

    def signs_at(self, rows: Iterable[int]) -> dict[int, bytes]:
        """Return the packed signs of the words of these rows, of those that have them."""
        with self._file.connected() as database:
            asked = "SELECT id, packed FROM signs WHERE id IN (SELECT value FROM json_each(?))"
            return dict(database.execute(asked, [json.dumps(sorted(rows))]).fetchall())

    def rows_from(self, first: int) -> list[int]:
        """Return the rows of memories with signs, from a number on."""
        with self._file.connected() as database:
            return [
                row for (row,) in database.execute("SELECT id FROM signs WHERE id >= ?", [first])
            ]

    def save_signs(self, packed: Mapping[str, bytes]) -> None:
        """Store the packed signs of the words of these documents; empty ones are deleted."""
        if not packed:
            return
        rows = {row_of(key): each for key, each in packed.items()}
        with self._file.connected(write=True) as database:
            database.executemany("DELETE FROM signs WHERE id = ?", [(row,) for row in rows])
            database.executemany(
                "INSERT INTO signs VALUES (?, ?)",
                [(row, each) for row, each in rows.items() if each],
            )

    def save(self, collection: str) -> None:
        """Store the name of a new collection; all documents then wait for their vectors."""
        with self._file.connected(write=True) as database:
            database.execute(f"{WAIT} SELECT key FROM words")
            database.execute("DELETE FROM passages")
            database.execute("DELETE FROM signs")
        self._file.keep("collection", collection)

    @property
    def collection(self) -> str:
        """The stored name of the collection; empty if there is none."""
        return self._file.kept("collection")
