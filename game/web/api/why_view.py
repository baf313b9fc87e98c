"""Why an agent did what it did, for the page; in a view's thread, as log and archive are read."""

from __future__ import annotations

from pathlib import Path

from game.mind.errors import KeepsakeError
from game.mind.events.reasons import Leant, PromptSource, Under, Why
from game.mind.events.types import Thought
from game.mind.events.why import why_did
from game.web.api.archive_views import Bounds, memory_view
from game.web.api.shapes import Cost, HitView, LeantView, UnderView, WhyView
from game.web.api.snapshots import ArchiveAccess, iso


class NoSuchAct(KeepsakeError):
    """The agent has not done so much, as far as anything tells of it."""


def why(life: ArchiveAccess, log: Path, nth: int, *, everything: bool) -> WhyView:
    """The ``nth`` last act of an agent, with all that led to it.

    Args:
        life: Whose.
        log: The folder of the event log.
        nth: Which, 1 for the last.
        everything: Count what came to nothing as well.

    Raises:
        NoSuchAct: There is none.
        KeepsakeError: The log cannot be read.
        OSError: The archive cannot be read.
    """
    try:
        found = why_did(log, life.names, life.archive, nth, everything=everything)
    except KeepsakeError as error:
        if isinstance(error.__cause__, OSError):
            raise
        raise NoSuchAct(error.what, error.cure) from error
    return _view(found, Bounds.of(life.context, life.archive.last_number))


def _view(found: Why, bounds: Bounds) -> WhyView:
    return WhyView(
        nth=found.nth,
        at=iso(found.time) or "",
        seq=found.seq,
        outcome=found.outcome,
        command=found.command,
        reason=found.reason,
        problem=found.problem,
        trigger=found.trigger,
        priority=found.priority,
        source=found.source,
        cause=memory_view(found.cause, bounds) if found.cause else None,
        act=memory_view(found.act, bounds) if found.act else None,
        recalled=tuple(map(_hit, found.recalled)),
        summaries=tuple(map(_leant, found.summaries)),
        under=tuple(map(_under, found.under)),
        window=found.window,
        cost=_cost(found.cost) if found.cost else None,
        missing=found.missing,
    )


def _cost(thought: Thought) -> Cost:
    tokens = {name: getattr(thought, f"{name}_tokens") for name in _TOKENS}
    rest = Cost.model_fields.keys() - tokens.keys()
    return Cost(**tokens, **{name: getattr(thought, name) for name in rest})


_TOKENS = ("prompt", "cached", "completion")


def _hit(shown: PromptSource) -> HitView:
    is_memory = shown.kind in ("memory", "called back")
    return HitView(
        kind=shown.kind,
        title=_title(shown),
        text=shown.text,
        score=shown.score,
        why=shown.why,
        n=shown.n if is_memory else 0,
    )


def _title(shown: PromptSource) -> str:
    match shown.kind:
        case "note":
            return f"note: {shown.title}"
        case "summary":
            return summary_title(shown.n, shown.title)
        case "called back":
            return f"memory {shown.n}, called back"
    return f"{shown.kind} {shown.n}"


def summary_title(compaction: int, memories: str) -> str:
    """How a short-term summary is named among what was found.

    Args:
        compaction: The compaction that wrote it.
        memories: What it is of, as ``memories 1-7``; empty if that is not known any more.
    """
    return f"short-term summary {compaction}" + (f" ({memories})" if memories else "")


def _leant(leant: Leant) -> LeantView:
    return LeantView(
        kind=leant.tier,
        compaction=leant.compaction,
        first=leant.first,
        last=leant.last,
        model=leant.model,
        text=leant.text,
        told=leant.told,
    )


def _under(under: Under) -> UnderView:
    memory = under.memory
    return UnderView(
        n=memory.number,
        at=iso(memory.time) or "",
        text=memory.line,
        shared=under.shared,
        weight=under.weight,
    )
