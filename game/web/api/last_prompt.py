"""The last prompt of before the server started, from the event log; in a view's thread."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from game.mind.events.agent_names import Names, time_of
from game.mind.events.prompts import Prompts
from game.mind.events.recent_activity import MOST_BYTES
from game.mind.events.why import thoughts_of
from game.mind.json_lines import Record
from game.web.api.shapes import PromptView, Section, Stretch
from game.web.api.snapshots import iso


def prompt(log: Path, names: Names, nothing: PromptView) -> PromptView:
    """What was last sent for an agent, as far as the newest part of the log tells.

    The log has the text as a whole, and what each section cost: not which line was whose.

    Raises:
        OSError: The log cannot be read.
    """
    sent = (each for each in thoughts_of(log, names, MOST_BYTES) if each.get("prompt"))
    thought = next(sent, None)
    if thought is None:
        return nothing
    text = Prompts(log).text(str(thought["prompt"]), int(thought["seq"]))
    return _view(thought, text or "", nothing)


def _view(thought: Record, text: str, nothing: PromptView) -> PromptView:
    sections = tuple(_sections(thought))
    trigger, source = str(thought.get("trigger") or ""), str(thought.get("source") or "")
    ended = time_of(thought.get("t"))
    latency = timedelta(seconds=float(thought.get("latency") or 0.0))
    return PromptView(
        at=iso(ended - latency if ended else None),
        sections=sections,
        sent=(Stretch(name="", text=text),) if text else (),
        tokens=sum(each.tokens for each in sections),
        budget=_number(thought, "budget") or nothing.budget,
        cached=_number(thought, "cached_tokens"),
        server_tokens=_number(thought, "prompt_tokens"),
        trigger=f"{trigger}: {source}" if source else trigger,
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
