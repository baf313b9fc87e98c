"""What was found and sent for an agent, and why: by the event log, or by a search made by hand.

In a view's thread, as log and archive are read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path

from keepsake.errors import KeepsakeError
from keepsake.events.agent_names import Names, time_of
from keepsake.events.prompts import PromptStore
from keepsake.events.reasons import PromptSource, Under, Why
from keepsake.events.recent_activity import MOST_BYTES
from keepsake.events.types import Thought
from keepsake.events.why import thoughts_of, why_did
from keepsake.json_lines import Record
from keepsake.recall.documents import DocumentKind, Hit
from keepsake.web.agents import ArchiveAccess, Bounds, ranked
from keepsake.web.archive_views import memory_view
from keepsake.web.shapes import (
    HitView,
    LeantView,
    PromptCost,
    PromptView,
    RecallView,
    Section,
    SentPrompts,
    SentRow,
    Stretch,
    UnderView,
    WhyView,
    iso,
)

FAR = 64_000_000
"""Bytes of the log that are read back for an earlier prompt: a second or so."""


class NoSuchAct(KeepsakeError):
    """The agent has no such act, as far as log and archive show."""


def why(life: ArchiveAccess, log: Path, nth: int, *, everything: bool) -> WhyView:
    """The ``nth`` last act of an agent, 1 for the last, with all that led to it.

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
    return WhyView.of(
        found,
        at=iso(found.time),
        cause=memory_view(found.cause, bounds) if found.cause else None,
        act=memory_view(found.act, bounds) if found.act else None,
        recalled=tuple(map(_hit, found.recalled)),
        summaries=tuple(LeantView.of(each, kind=each.tier) for each in found.summaries),
        under=tuple(map(_under, found.under)),
        cost=_cost(found.cost) if found.cost else None,
    )


def _cost(thought: Thought) -> PromptCost:
    return PromptCost.of(
        thought,
        prompt=thought.prompt_tokens,
        cached=thought.cached_tokens,
        completion=thought.completion_tokens,
    )


def _hit(shown: PromptSource) -> HitView:
    is_memory = shown.kind in ("memory", "called back")
    title = _title(shown.kind, shown.n, shown.title)
    return HitView.of(shown, title=title, n=shown.n if is_memory else 0)


def _title(kind: str, n: int, title: str) -> str:
    """``n`` is a memory's number, or a compaction's; a summary's title says which memories."""
    match kind:
        case "note":
            return f"note: {title}"
        case "summary":
            return f"short-term summary {n}" + (f" ({title})" if title else "")
        case "called back":
            return f"memory {n}, called back"
    return f"{kind} {n}"


def _under(under: Under) -> UnderView:
    memory = under.memory
    return UnderView.of(under, n=memory.number, at=iso(memory.time), text=memory.line)


# -- recall tried by hand


def recall(number: int, question: str, limit: int) -> RecallView:
    """What an agent's memory finds for words, as for its own thoughts, and why.

    Raises:
        NoSuchAgent: There is none with that number.
        KeepsakeError: It cannot be searched now.
    """
    began = time.perf_counter()
    hits = ranked(number, question, limit)
    seconds = round(time.perf_counter() - began, 6)
    problem = "Recall cannot search now. The agents' log says why; so does `keepsake doctor`"
    return RecallView(
        question=question,
        hits=tuple(map(_found, hits or ())),
        seconds=seconds,
        problem=problem if hits is None else "",
    )


def _found(hit: Hit) -> HitView:
    found = hit.document
    kind, n, title = found.kind.value, found.first, found.title
    if found.kind is DocumentKind.SUMMARY:
        kind, n = "summary", int(found.key.partition(":")[2])
        title = f"memories {found.first}-{found.last}"
    return HitView(
        kind=kind,
        title=_title(kind, n, title),
        text=found.text,
        score=round(hit.score, 4),
        why="; ".join(hit.reasons) or "beside one that was found",
        n=found.first if found.kind is DocumentKind.MEMORY else 0,
    )


# -- the last prompt of before the server started


def last_prompt(log: Path, names: Names, nothing: PromptView) -> PromptView:
    """What was last sent for an agent, as far as the newest part of the log tells.

    The log has the text as a whole, and what each section cost: not which line was whose.

    Raises:
        OSError: The log cannot be read.
    """
    thought = next(_sent(log, names), None)
    if thought is None:
        return nothing
    found = _prompt_view(log, thought)
    return found.model_copy(update={"budget": found.budget or nothing.budget})


def prompt_of(log: Path, names: Names, seq: int) -> PromptView:
    """What was sent for the thought of that number.

    Raises:
        NoSuchAct: The newest part of the log has none.
        OSError: The log cannot be read.
    """
    thought = next((each for each in _sent(log, names, FAR) if each["seq"] <= seq), None)
    if thought is None or thought["seq"] != seq:
        raise NoSuchAct(f"There is no prompt of a thought {seq}", "GET …/prompts lists them")
    return _prompt_view(log, thought)


def sent_prompts(log: Path, names: Names, before: int | None, limit: int) -> SentPrompts:
    """What was sent, the newest first.

    Raises:
        OSError: The log cannot be read.
    """
    sent = (each for each in _sent(log, names, FAR) if before is None or each["seq"] < before)
    found = [*islice(sent, limit + 1)]
    return SentPrompts(prompts=tuple(map(_row, found[:limit])), more=len(found) > limit)


def _row(thought: Record) -> SentRow:
    return SentRow(
        seq=thought["seq"],
        at=iso(time_of(thought.get("t"))) or "",
        trigger=_trigger(thought),
        outcome=str(thought.get("outcome") or ""),
        command=str(thought.get("command") or ""),
        tokens=sum(each.tokens for each in _sections(thought)),
    )


def _sent(log: Path, names: Names, most: int = MOST_BYTES) -> Iterator[Record]:
    """Thoughts for which something was sent, the newest first."""
    return (each for each in thoughts_of(log, names, most) if each.get("prompt"))


def _trigger(thought: Record) -> str:
    trigger, source = str(thought.get("trigger") or ""), str(thought.get("source") or "")
    return f"{trigger}: {source}" if source else trigger


def _prompt_view(log: Path, thought: Record) -> PromptView:
    text = PromptStore(log).text(str(thought["prompt"]), int(thought["seq"]))
    sections = tuple(_sections(thought))
    ended = time_of(thought.get("t"))
    latency = timedelta(seconds=float(thought.get("latency") or 0.0))
    return PromptView(
        at=iso(ended - latency if ended else None),
        sections=sections,
        sent=(Stretch(name="", text=text),) if text else (),
        tokens=sum(each.tokens for each in sections),
        budget=_number(thought, "budget"),
        cached=_number(thought, "cached_tokens"),
        server_tokens=_number(thought, "prompt_tokens"),
        trigger=_trigger(thought),
        answer=str(thought.get("answer") or ""),
    )


def _sections(thought: Record) -> Iterator[Section]:
    costs = thought.get("sections")
    for name, tokens in costs.items() if isinstance(costs, dict) else ():
        if isinstance(tokens, int):
            yield Section(name=str(name), tokens=tokens, text="")


def _number(thought: Record, name: str) -> int:
    value = thought.get(name)
    return value if isinstance(value, int) else 0
