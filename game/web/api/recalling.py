"""Recall tried by hand: what an agent's memory finds for words, and why."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as TookTooLong

from game.agent.services import services
from game.mind.recall.documents import Document, DocumentKind, Hit
from game.web.api.on_reactor import WorldBusy, on_reactor
from game.web.api.shapes import HitView, RecallView
from game.web.api.snapshots import mind_with
from game.web.api.why_view import summary_title

PATIENCE = 20.0
"""Seconds; a search gives up by itself long before."""
_KINDS = {DocumentKind.SUMMARY: "summary"}
_NO_REASON = "beside one that was found"


def recall(number: int, question: str, limit: int) -> RecallView:
    """Search as the agent's own thoughts do; in a view's thread.

    Raises:
        NoSuchAgent: There is none with that number.
        WorldBusy: All threads that search are busy.
        KeepsakeError: The agents' services are not running.
    """
    recaller = on_reactor(lambda: mind_with(number).keeper.recaller)
    on_reactor(recaller.prepare)
    began = time.perf_counter()
    # Where the agents' own searches are made: they and the game's pages share the threads.
    searching = services().searchers.submit(recaller.rank, question, limit)
    try:
        hits = searching.result(PATIENCE)
    except (TookTooLong, CancelledError) as error:
        searching.cancel()  # if it has not begun, nobody waits for it any more
        raise WorldBusy("The search took too long", "Try again in a moment") from error
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
