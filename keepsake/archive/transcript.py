"""Memories as lines of a play script, with a heading when the day, hour or place changes.

Each line depends only on its own memory and the one before it. So a longer window
begins with the same lines as the shorter one, and a model server finds them in its
prefix cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from keepsake.archive.message_types import STOCK
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.tool_verbs import TOOL_VERBS
from keepsake.happening import KnownVerb
from keepsake.language.perception import for_prompt

_HOURS = (("night", 6), ("morning", 6), ("afternoon", 6), ("evening", 4), ("night", 2))
DAYTIMES = tuple(word for word, hours in _HOURS for _ in range(hours))
"""``morning``, ``afternoon``, ``evening`` or ``night`` for each hour, 0 to 23."""


def script(window: Sequence[Memory], name: str) -> list[str]:
    """Return the lines of the script: headings in square brackets, own acts after the cursor.

    Args:
        window: Memories, oldest first.
    """
    lines = []
    shown = ""
    for memory in window:
        if (when := heading(memory)) != shown:
            lines.append(when)
        lines.append(script_line(memory, name))
        shown = when
    return lines


def script_line(memory: Memory, name: str) -> str:
    """Return a memory as a line of the script; an own act follows the cursor, with its reason."""
    if memory.kind is not MemoryKind.ACT:
        return for_prompt(memory.line)
    text = f"{memory.text} | {memory.reason}" if memory.reason else memory.line
    cursor = f"~{name}>"
    return f"{cursor} {for_prompt(text.strip().removeprefix(cursor))}"


def heading(memory: Memory) -> str:
    """Return a heading: ``[Thursday 26 November 2026, evening, the Kettle]``."""
    return _heading(memory.time, memory.place)


def heading_after(memory: Memory, before: Memory | None) -> str:
    """Return the heading of a memory behind another one: what has changed; empty for nothing.

    In another place of the same evening that is the place: ``[The Quay]``.
    """
    now = heading(memory)
    if before is None:
        return now
    if now == heading(before):
        return ""
    moved = memory.place and day_and_time(memory.time) == day_and_time(before.time)
    return f"[{for_prompt(memory.place)}]" if moved else now


@lru_cache(maxsize=16_384)  # the windows of a hundred agents, reused in each prompt
def _heading(moment: datetime, place: str) -> str:
    return f"[{day_and_time(moment)}{f', {for_prompt(place)}' if place else ''}]"


def day_and_time(moment: datetime) -> str:
    """Return ``Thursday 26 November 2026, evening``, in the machine's time zone."""
    here = moment.astimezone()
    return f"{here:%A} {here.day} {here:%B %Y}, {DAYTIMES[here.hour]}"


def about_memory(memory: Memory) -> bool:
    """Return whether a memory is only a use of the memory tools (a note, a search, a result).

    An index leaves out such a line, because it repeats other text and would be found instead
    of it. It also leaves out stock phrases, which contain no information. A fact that was told in
    private stands in no note, so that the act itself is found.
    """
    if memory.is_own and memory.verb == KnownVerb.REMEMBER and memory.confidants is not None:
        return False
    if memory.is_own:
        return memory.event in STOCK or memory.verb in TOOL_VERBS
    return memory.kind is MemoryKind.RESULT and memory.verb in TOOL_VERBS
