"""The window as lines of a play script, with the time where a gap matters.

Every line depends on its own memory and the one before it alone, so a longer
window begins with the very lines of the shorter one: a model server finds them
in its cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from keepsake.language.perception import for_prompt, is_repeat, repeated

_SMALL_WORDS = "no one two three four five six seven eight nine ten eleven twelve"
_SMALL = _SMALL_WORDS.split()
_MINUTES_THAT_MATTER = 20
_DAYTIMES = ((5, "night"), (12, "morning"), (18, "afternoon"), (22, "evening"), (24, "night"))


@dataclass(frozen=True, slots=True)
class RenderedMemory:
    """One memory of the window."""

    text: str  # what happened; an own act as ``say Good day!``, with or without a cursor
    time: datetime  # when, in the time zone that the agent lives in
    own_act: bool = False


type FoldedMemory = tuple[RenderedMemory, int]
"""A memory, and how often in a row it was told."""


def cursor(name: str) -> str:
    """Where the script waits for ``name``: ``~Mira>``."""
    return f"~{name}>"


def script(window: Sequence[RenderedMemory], name: str) -> list[str]:
    """The lines of the script: times in square brackets, own acts behind the cursor."""
    told: list[FoldedMemory] = []
    fold(told, window)
    return lines_from(told, 0, name)


def lines_from(told: Sequence[FoldedMemory], first: int, name: str) -> list[str]:
    """The lines of those from ``first`` on."""
    lines: list[str] = []
    before = told[first - 1][0] if first else None
    for memory, count in told[first:]:
        if when := time_line(before.time if before else None, memory.time):
            lines.append(when)
        lines.append(repeated(_line(memory, name), count))
        before = memory
    return lines


def time_line(before: datetime | None, now: datetime) -> str:
    """``[two hours later]``, ``[Tuesday 4 March 2025, morning]`` on a new day, or empty."""
    if before is None or now.date() > before.date():
        daytime = next(word for end, word in _DAYTIMES if now.hour < end)
        return f"[{now:%A} {now.day} {now:%B %Y}, {daytime}]"
    return _later(now - before)


def _later(gap: timedelta) -> str:
    minutes = gap.total_seconds() / 60
    if minutes < _MINUTES_THAT_MATTER:
        return ""
    if minutes < 45:
        return "[half an hour later]"
    hours = round(minutes / 60)
    if hours <= 1:
        return "[an hour later]"
    return f"[{_SMALL[hours] if hours < len(_SMALL) else hours} hours later]"


def _line(memory: RenderedMemory, name: str) -> str:
    if not memory.own_act:
        return for_prompt(memory.text)
    text = memory.text.strip().removeprefix(cursor(name))
    return f"{cursor(name)} {for_prompt(text)}"


def fold(told: list[FoldedMemory], more: Iterable[RenderedMemory]) -> None:
    """Append memories; equal ones in a row become one entry with a count."""
    for memory in more:
        if told:
            last, count = told[-1]
            if last.own_act == memory.own_act and is_repeat(last.text, memory.text):
                told[-1] = (last, count + 1)
                continue
        told.append((memory, 1))
