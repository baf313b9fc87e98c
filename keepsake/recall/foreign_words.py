"""Terms that are words of one language and stop words of another."""

from __future__ import annotations

from collections.abc import Mapping

from keepsake.language.languages import foreign_stop_words, language_of
from keepsake.language.perception import stem
from keepsake.recall.documents import Document
from keepsake.recall.query import RecallQuery, saying, terms_in


def scores_in_own_language(
    query: RecallQuery, worded: Mapping[int, float], known: Mapping[int, Document]
) -> dict[int, float]:
    """Return the scores by words without rows that share a term only as a stop word of their own.

    Such rows stay candidates by meaning.

    "When did Lotte die?" does not find the German article "die". A row may share the term by its
    neighbours, whose words are indexed with it.
    """
    if foreign_stop_words().isdisjoint(query.terms):
        return dict(worded)
    roots = {term: stem(term) for term in query.terms}

    def matched(row: int) -> tuple[list[str], list[str]]:
        """Return the terms of a row, and those that are no stop words there."""
        document = known.get(row)
        if document is None:
            return [], []
        words = document.said or document.text
        found = terms_in(f"{document.text} {document.title}", roots, language_of(words))
        return found, saying(found, words)

    kept = dict[int, float]()
    for row, score in worded.items():
        near = [matched(row + step) for step in (-1, 0, 1)]
        # The index knows more forms of a word than `terms_in`: "died" for "die".
        if any(said for _, said in near) or not any(found for found, _ in near):
            kept[row] = score
    return kept
