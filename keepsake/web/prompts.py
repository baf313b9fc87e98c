"""What was sent for an agent, by the event log; in a view's thread, as the log is read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path

from keepsake.errors import KeepsakeError
from keepsake.events.prompts import prompt_text
from keepsake.events.reader import newest_first, time_of
from keepsake.json_lines import Record
from keepsake.web.shapes import PromptView, SentRow, Stretch

LATELY, FAR = 16_000_000, 64_000_000
"""Bytes of the log that are read back for the last prompt, and for an earlier one."""


class NoSuchPrompt(KeepsakeError):
    """The agent had no such prompt, as far as the log shows."""


def last_prompt(log: Path, number: int, nothing: PromptView) -> PromptView:
    """What was last sent for an agent, as far as the newest part of the log tells.

    Raises:
        OSError: The log cannot be read.
    """
    thought = next(_sent(log, number, LATELY), None)
    return nothing if thought is None else _prompt(log, thought)


def prompt_of(log: Path, number: int, seq: int) -> PromptView:
    """What was sent for the thought of that number.

    Raises:
        NoSuchPrompt: The newest part of the log has none.
        OSError: The log cannot be read.
    """
    thought = next((each for each in _sent(log, number) if each["seq"] <= seq), None)
    if thought is None or thought["seq"] != seq:
        raise NoSuchPrompt(f"There is no prompt of a thought {seq}", "GET …/prompts lists them")
    return _prompt(log, thought)


def sent_prompts(log: Path, number: int, before: int | None, limit: int) -> list[SentRow]:
    """What was sent, the newest first.

    Raises:
        OSError: The log cannot be read.
    """
    sent = (each for each in _sent(log, number) if before is None or each["seq"] < before)
    return [
        SentRow(
            seq=each["seq"],
            at=time_of(each.get("t")),
            trigger=_trigger(each),
            outcome=str(each.get("outcome") or ""),
            command=str(each.get("command") or ""),
            tokens=sum((each.get("sections") or {}).values()),
        )
        for each in islice(sent, limit)
    ]


def _sent(log: Path, number: int, most: int = FAR) -> Iterator[Record]:
    """Thoughts for which something was sent, the newest first."""
    thoughts = newest_first(log, kind="thought", agent_id=number, most=most)
    return (each for each in thoughts if each.get("prompt"))


def _trigger(thought: Record) -> str:
    trigger, source = str(thought.get("trigger") or ""), str(thought.get("source") or "")
    return f"{trigger}: {source}" if source else trigger


def _prompt(log: Path, thought: Record) -> PromptView:
    """The log has the text as a whole, and what each section cost: not which line was whose."""
    text = prompt_text(log, str(thought["prompt"]), int(thought["seq"]))
    ended = time_of(thought.get("t"))
    return PromptView(
        at=ended and ended - timedelta(seconds=float(thought.get("latency") or 0.0)),
        sections=thought.get("sections") or {},
        sent=(Stretch(name="", text=text),) if text else (),
        budget=thought.get("budget") or 0,
        cached=thought.get("cached_tokens") or 0,
        server_tokens=thought.get("prompt_tokens") or 0,
        trigger=_trigger(thought),
        answer=thought.get("answer") or "",
    )
