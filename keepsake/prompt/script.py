"""The window as lines of a play script, with day, hour and place where they change.

Every line depends on its own memory and the one before it alone, so a longer
window begins with the very lines of the shorter one: a model server finds them
in its cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.perception import for_prompt

_DAYTIMES = ((5, "night"), (12, "morning"), (17, "afternoon"), (22, "evening"), (24, "night"))


def cursor(name: str) -> str:
    """Where the script waits for ``name``: ``~Mira>``."""
    return f"~{name}>"


def script(window: Sequence[Memory], name: str) -> list[str]:
    """The lines of the script: headings in square brackets, own acts behind the cursor.

    Args:
        window: Memories, oldest first.
        name: The character's name.
    """
    lines, shown = [], ""
    for memory in window:
        if (when := heading(memory)) != shown:
            lines.append(when)
        lines.append(script_line(memory, name))
        shown = when
    return lines


def script_line(memory: Memory, name: str) -> str:
    """A memory as a line of the script; an own act stands behind the cursor, with its reason."""
    if memory.kind is not MemoryKind.ACT:
        return for_prompt(memory.line)
    text = f"{memory.text} | {memory.reason}" if memory.reason else memory.line
    return f"{cursor(name)} {for_prompt(text.strip().removeprefix(cursor(name)))}"


def heading(memory: Memory) -> str:
    """``[Thursday 26 November 2026, evening, the Kettle]``."""
    place = f", {for_prompt(memory.place)}" if memory.place else ""
    return f"[{day_and_time(memory.time)}{place}]"


def daytime(moment: datetime) -> str:
    """``morning``, ``afternoon``, ``evening`` or ``night``."""
    return next(word for end, word in _DAYTIMES if moment.hour < end)


@lru_cache(maxsize=16_384)  # the windows of a hundred agents, again in each prompt
def day_and_time(moment: datetime) -> str:
    """``Thursday 26 November 2026, evening``, in the machine's time zone."""
    here = moment.astimezone()
    return f"{here:%A} {here.day} {here:%B %Y}, {daytime(here)}"
