"""What was found and sent for an agent: by the event log, or by a search made by hand.

In a view's thread, as the log is read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path

from keepsake.errors import KeepsakeError
from keepsake.events.prompts import prompt_text
from keepsake.events.reader import newest_first, time_of
from keepsake.events.why import PromptSource
from keepsake.json_lines import Record
from keepsake.recall.documents import DocumentKind, Hit
from keepsake.web.shapes import (
    PromptView,
    RecallView,
    Section,
    SentPrompts,
    SentRow,
    Stretch,
    iso,
)
from keepsake.web.world import ranked

LATELY, FAR = 16_000_000, 64_000_000
"""Bytes of the log that are read back for the last prompt, and for an earlier one."""


class NoSuchPrompt(KeepsakeError):
    """The agent had no such prompt, as far as the log shows."""


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


def _found(hit: Hit) -> PromptSource:
    found = hit.document
    kind, n, title = found.kind.value, found.first, found.title
    if found.kind is DocumentKind.SUMMARY:
        kind, n = "summary", int(found.key.partition(":")[2])
        title = f"memories {found.first}-{found.last}"
    why = "; ".join(hit.reasons) or "beside one that was found"
    return PromptSource(kind, n, title, round(hit.score, 4), why, found.text)


# -- the last prompt of before the server started


def last_prompt(log: Path, number: int, nothing: PromptView) -> PromptView:
    """What was last sent for an agent, as far as the newest part of the log tells.

    The log has the text as a whole, and what each section cost: not which line was whose.

    Raises:
        OSError: The log cannot be read.
    """
    thought = next(_sent(log, number), None)
    if thought is None:
        return nothing
    found = _prompt_view(log, thought)
    return found.model_copy(update={"budget": found.budget or nothing.budget})


def prompt_of(log: Path, number: int, seq: int) -> PromptView:
    """What was sent for the thought of that number.

    Raises:
        NoSuchPrompt: The newest part of the log has none.
        OSError: The log cannot be read.
    """
    thought = next((each for each in _sent(log, number, FAR) if each["seq"] <= seq), None)
    if thought is None or thought["seq"] != seq:
        raise NoSuchPrompt(f"There is no prompt of a thought {seq}", "GET …/prompts lists them")
    return _prompt_view(log, thought)


def sent_prompts(log: Path, number: int, before: int | None, limit: int) -> SentPrompts:
    """What was sent, the newest first.

    Raises:
        OSError: The log cannot be read.
    """
    sent = (each for each in _sent(log, number, FAR) if before is None or each["seq"] < before)
    found = [*islice(sent, limit + 1)]
    return SentPrompts(prompts=tuple(map(_row, found[:limit])), more=len(found) > limit)


def _row(thought: Record) -> SentRow:
    return SentRow(
        seq=thought["seq"],
        at=iso(time_of(thought.get("t"))) or "",
        trigger=_trigger(thought),
        outcome=str(thought.get("outcome") or ""),
        command=str(thought.get("command") or ""),
        tokens=sum((thought.get("sections") or {}).values()),
    )


def _sent(log: Path, number: int, most: int = LATELY) -> Iterator[Record]:
    """Thoughts for which something was sent, the newest first."""
    thoughts = newest_first(log, kind="thought", agent_id=number, most=most)
    return (each for each in thoughts if each.get("prompt"))


def _trigger(thought: Record) -> str:
    trigger, source = str(thought.get("trigger") or ""), str(thought.get("source") or "")
    return f"{trigger}: {source}" if source else trigger


def _prompt_view(log: Path, thought: Record) -> PromptView:
    text = prompt_text(log, str(thought["prompt"]), int(thought["seq"]))
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
