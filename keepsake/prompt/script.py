"""The window as lines of a play script, with the time where a gap matters.

Every line depends on its own memory and the one before it alone, so a longer
window begins with the very lines of the shorter one: a model server finds them
in its cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.perception import for_prompt

_SMALL_WORDS = "no one two three four five six seven eight nine ten eleven twelve"
_SMALL = _SMALL_WORDS.split()
_MINUTES_THAT_MATTER = 20
_DAYTIMES = ((5, "night"), (12, "morning"), (17, "afternoon"), (22, "evening"), (24, "night"))


def cursor(name: str) -> str:
    """Where the script waits for ``name``: ``~Mira>``."""
    return f"~{name}>"


def script(window: Sequence[Memory], name: str) -> list[str]:
    """The lines of the script: times in square brackets, own acts behind the cursor.

    Args:
        window: Memories, oldest first; equal ones in a row become one line with a count.
        name: The character's name.
    """
    told: list[tuple[Memory, int]] = []
    for memory in window:
        if told and _same(told[-1][0], memory):
            told[-1] = (told[-1][0], told[-1][1] + 1)
        else:
            told.append((memory, 1))
    lines: list[str] = []
    before: datetime | None = None
    for memory, count in told:
        now = memory.time.astimezone()
        if when := time_line(before, now):
            lines.append(when)
        times = f" (repeated {count}×)" if count > 1 else ""
        lines.append(_line(memory, name) + times)
        before = now
    return lines


def time_line(before: datetime | None, now: datetime) -> str:
    """``[two hours later]``, ``[Tuesday 4 March 2025, morning]`` on a new day, or empty."""
    if before is None or now.date() > before.date():
        return f"[{day(now)}, {daytime(now)}]"
    return _later(now - before)


def daytime(moment: datetime) -> str:
    """``morning``, ``afternoon``, ``evening`` or ``night``."""
    return next(word for end, word in _DAYTIMES if moment.hour < end)


def day(moment: datetime) -> str:
    """``Thursday 26 November 2026``."""
    return f"{moment:%A} {moment.day} {moment:%B %Y}"


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


def _line(memory: Memory, name: str) -> str:
    if memory.kind is not MemoryKind.ACT:
        return for_prompt(memory.line)
    text = _told(memory).strip().removeprefix(cursor(name))
    return f"{cursor(name)} {for_prompt(text)}"


def _same(one: Memory, other: Memory) -> bool:
    own = (one.kind is MemoryKind.ACT, other.kind is MemoryKind.ACT)
    return own[0] == own[1] and _told(one) == _told(other)


def _told(memory: Memory) -> str:
    """What happened, of an own act with its reason."""
    if memory.kind is MemoryKind.ACT and memory.reason:
        return f"{memory.text} | {memory.reason}"
    return memory.line
