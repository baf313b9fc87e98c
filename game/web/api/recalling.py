"""Recall tried by hand: what an agent's memory finds for words, and why."""

from __future__ import annotations

import time

from game.mind.recall.documents import Document, DocumentKind, Hit
from game.web.api.shapes import HitView, RecallView
from game.web.api.source import source
from game.web.api.why_view import summary_title

_KINDS = {DocumentKind.SUMMARY: "summary"}
_NO_REASON = "beside one that was found"


def recall(number: int, question: str, limit: int) -> RecallView:
    """Search as the agent's own thoughts do; in a view's thread.

    Raises:
        NoSuchAgent: There is none with that number.
        KeepsakeError: It cannot be searched now.
    """
    began = time.perf_counter()
    hits = source().ranked(number, question, limit)
    seconds = round(time.perf_counter() - began, 6)
    if hits is None:
        problem = "Recall cannot search now. The agents' log says why; so does `keepsake doctor`"
        return RecallView(question=question, hits=(), seconds=seconds, problem=problem)
    found = tuple(map(_hit, hits))
    return RecallView(question=question, hits=found, seconds=seconds, problem="")


def _hit(hit: Hit) -> HitView:
    found = hit.document
    return HitView(
        kind=_KINDS.get(found.kind, found.kind.value),
        title=_title(found),
        text=found.text,
        score=round(hit.score, 4),
        why="; ".join(hit.reasons) or _NO_REASON,
        n=found.first if found.kind is DocumentKind.MEMORY else 0,
    )


def _title(found: Document) -> str:
    match found.kind:
        case DocumentKind.MEMORY:
            return f"memory {found.first}"
        case DocumentKind.SUMMARY:
            compaction = int(found.key.partition(":")[2])
            return summary_title(compaction, f"memories {found.first}-{found.last}")
    return f"note: {found.title}"
