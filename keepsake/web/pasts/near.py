"""Reads lines by the agents' indexes: which say in other words what somebody typed."""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.ports import Embedder
from keepsake.recall.reading_lines import IndexReader
from keepsake.web.searching import Searched


def line_reader(embedder: Embedder | None, agents: Sequence[Searched]) -> IndexReader | None:
    """Return what reads lines by the indexes of agents; None if nothing embeds texts."""
    if embedder is None:
        return None
    vectors = {str(each): by.vectors for each, _, _, by in agents if by is not None}
    return IndexReader(embedder, {key: each for key, each in vectors.items() if each is not None})
