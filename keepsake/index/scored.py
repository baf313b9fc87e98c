"""Rows with what each is worth: added up over the terms of a question, and the best of them.

BM25 is a sum over the terms. What a row is worth for one of them hangs on the index alone, so it is
remembered until that changes: in a talk the same words are asked for again and again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from itertools import batched, chain, pairwise

import numpy as np
from numpy.typing import NDArray

_OF_TERM = "SELECT {place}, rowid, -rank FROM words WHERE words MATCH ? AND rowid >= ?"
_AT_ONCE = 200
"""Terms of one statement; SQLite takes 500."""
_MOST_ROWS = 1 << 18
"""So many are remembered of one index before it forgets all: 4 MB."""
_ROWS_A_TERM = 24
"""What is kept of each term beside its rows takes as much as so many."""

type RowScores = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Row numbers in rising order, and the worth of each."""


class TermScores:
    """What each row is worth for single terms, as far as somebody asked. Not for several threads.

    A term is asked for together with the number of the first row that counts: 0 means all.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], RowScores] = {}
        self._rows = 0

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return 16 * self._rows

    def count(self, term: str) -> int | None:
        """How many rows hold the term, if that is known."""
        known = self._known.get((term, 0))
        return None if known is None else len(known[0])

    def forget(self) -> None:
        """The index has changed: the worth of every row hangs on all rows."""
        self._known, self._rows = {}, 0

    def read(self, database: sqlite3.Connection, asked: Collection[tuple[str, int]]) -> None:
        """Look up what is not known of these terms; all of a question by one statement."""
        if self._rows > _MOST_ROWS:
            self.forget()
        missing = [each for each in asked if each not in self._known]
        held = {*self._known, *missing}
        reading = [(term, first) for term, first in missing if not first or (term, 0) not in held]
        for some in batched(reading, _AT_ONCE):
            parts = " UNION ALL ".join(_OF_TERM.format(place=n) for n in range(len(some)))
            rows = database.execute(parts, [*chain(*some)]).fetchall()
            self._known |= zip(some, _divided(rows, len(some)), strict=True)
            self._rows += len(rows) + _ROWS_A_TERM * len(some)
        for term, first in set(missing).difference(reading):
            numbers, worths = self._known[term, 0]
            since = np.searchsorted(numbers, first)
            self._known[term, first] = numbers[since:], worths[since:]

    def total(self, terms: Sequence[str], first: int) -> RowScores:
        """What rows are worth for all these terms together, which were read."""
        parts = [self._known[term, first] for term in terms]
        if len(parts) == 1:
            return parts[0]
        every = np.concatenate([numbers for numbers, _ in parts])
        numbers, places = np.unique(every, return_inverse=True)
        # In the order of the terms, as SQLite adds them up.
        worths = np.concatenate([worths for _, worths in parts])
        return numbers, np.bincount(places, weights=worths, minlength=len(numbers))


def within(rows: RowScores, spans: Sequence[range]) -> RowScores:
    """Those rows whose numbers lie in one of the spans, which rise."""
    numbers, worths = rows
    places = [slice(*np.searchsorted(numbers, (span.start, span.stop))) for span in spans]
    return (
        np.concatenate([numbers[each] for each in places]),
        np.concatenate([worths[each] for each in places]),
    )


def highest[T: np.floating](
    numbers: NDArray[np.int64], worths: NDArray[T], limit: int
) -> list[tuple[int, float]]:
    """The best, best first; of those worth the same the lowest number."""
    if len(numbers) > limit:
        kept = worths >= np.partition(worths, -limit)[-limit]
        numbers, worths = numbers[kept], worths[kept]
    order = np.lexsort((numbers, -worths))[:limit]
    return list(zip(numbers[order].tolist(), worths[order].tolist(), strict=True))


def _divided(rows: Sequence[tuple[int, int, float]], count: int) -> list[RowScores]:
    """Rows that say first to which of ``count`` parts they belong, part by part."""
    flat = np.fromiter(chain.from_iterable(rows), np.float64, 3 * len(rows)).reshape(-1, 3)
    ends = np.searchsorted(flat[:, 0], np.arange(count + 1))
    return [
        (flat[start:end, 1].astype(np.int64), flat[start:end, 2].copy())
        for start, end in pairwise(ends)
    ]
