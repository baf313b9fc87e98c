"""Links in the texts that the dashboard shows: each cited memory is a link to its place.

A link is markdown: ``memory [17](#memory/17)``. So the page needs to know nothing about citations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from keepsake.archive.summaries import Summary
from keepsake.archive.tiers import SummaryState
from keepsake.books.entries import MEMORIES_FIELD
from keepsake.language.citations import Citation, citations_in, numbers_in


def with_links(text: str) -> str:
    """Return markdown in which the numbers of cited memories are links."""
    return "".join(map(_linked_line, text.splitlines(keepends=True)))


def summary_with_links(summary: Summary | None) -> Summary | None:
    """Return a summary whose text has links."""
    return replace(summary, text=with_links(summary.text)) if summary is not None else None


def state_with_links(state: SummaryState) -> SummaryState:
    """Return the summaries after a compaction, with links in their texts."""
    return replace(
        state,
        longterm=summary_with_links(state.longterm),
        recent=summary_with_links(state.recent),
    )


def numbers_cited(text: str) -> list[int]:
    """Return the numbers of the memories that a text cites, in order; of a range its ends."""
    cited = (each for line in text.splitlines() for each in _cited_in(line))
    return sorted({number for each in cited for number in (each.first, each.last)})


def _cited_in(line: str) -> Iterable[Citation]:
    if line.startswith(MEMORIES_FIELD):
        return numbers_in(line, len(MEMORIES_FIELD), len(line))
    return citations_in(line)


def _linked_line(line: str) -> str:
    found = _cited_in(line)
    parts = list[str]()
    at = 0
    for each in found:
        parts += [line[at : each.start], _link(line, each)]
        at = each.end
    return "".join(chain(parts, [line[at:]]))


def _link(line: str, cited: Citation) -> str:
    place = str(cited.first) if cited.first == cited.last else f"{cited.first}-{cited.last}"
    return f"[{line[cited.start : cited.end]}](#memory/{place})"
