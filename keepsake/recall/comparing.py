"""Compares the words of a query with those of memories, and of the lines that its prompt shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from keepsake.ports import WordVector
from keepsake.recall.documents import Document
from keepsake.recall.index.words import WordIndex
from keepsake.recall.query import RecallQuery
from keepsake.recall.ranking.needs import UNKNOWN
from keepsake.recall.ranking.word_vectors import Compared, compared


class Asked(NamedTuple):
    """What an embedder makes of a query besides its vector.

    Attributes:
        words: Its words; empty if they are unknown.
        need: How probable it is that it asks for something told before; see :func:`need`.
    """

    words: Sequence[WordVector]
    need: float


NOTHING_ASKED = Asked((), UNKNOWN)


def beside_memories(
    index: WordIndex,
    query: RecallQuery,
    asked: Asked,
    worths: Mapping[str, float],
    rows: Collection[int],
    *,
    shown: Collection[int] = (),
) -> Compared | None:
    """Return a query's words beside those of memories; None if they are unknown.

    It was learned from talk. Long texts have no such words; if one in four is long, they are
    unknown.

    Args:
        worths: What each term of it is worth.
        rows: The rows of the memories.
        shown: The rows of the lines that the prompt shows.

    Raises:
        IndexUnavailable: The index cannot be read.
    """
    if not asked.words:
        return None
    signs = index.embeddings.signs_at({*rows, *shown})
    known = {row: signs[row] for row in rows if row in signs}
    window = [signs[row] for row in shown if row in signs]
    is_talk = 4 * len(known) > 3 * len(rows)
    weighed = (*query.terms, *query.asking)
    found = compared(asked.words, weighed, worths, known, window) if is_talk else None
    if found is not None:
        found.need = asked.need
    return found


def shown_from(
    index: WordIndex, before: int, text: str, may: Callable[[Document], bool]
) -> list[int]:
    """Return the rows of the memories that a prompt shows, but for those which say a text.

    Args:
        before: The number of the first memory that it shows.
        text: What is answered, which the prompt shows, too.
        may: Whether a document may be found.

    Raises:
        IndexUnavailable: The index cannot be read.
    """
    lines = index.documents_at(index.embeddings.rows_from(before))
    return [n for n, line in lines.items() if may(line) and not (line.said and line.said in text)]
