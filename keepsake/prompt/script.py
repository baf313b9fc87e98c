"""The window as lines of a play script, with day, hour and place where they change.

Every line depends on its own memory and the one before it alone, so a longer
window begins with the very lines of the shorter one: a model server finds them
in its cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from keepsake.archive.records import STOCK, Memory, MemoryKind
from keepsake.language.perception import for_prompt
from keepsake.prompt.verbs import PRIVATE

_HOURS = (("night", 6), ("morning", 6), ("afternoon", 6), ("evening", 4), ("night", 2))
DAYTIMES = tuple(word for word, hours in _HOURS for _ in range(hours))
"""``morning``, ``afternoon``, ``evening`` or ``night``, by the hour."""


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
    text, cursor = f"{memory.text} | {memory.reason}" if memory.reason else memory.line, f"~{name}>"
    return f"{cursor} {for_prompt(text.strip().removeprefix(cursor))}"


def heading(memory: Memory) -> str:
    """``[Thursday 26 November 2026, evening, the Kettle]``."""
    return _heading(memory.time, memory.place)


@lru_cache(maxsize=16_384)  # the windows of a hundred agents, again in each prompt
def _heading(moment: datetime, place: str) -> str:
    return f"[{day_and_time(moment)}{f', {for_prompt(place)}' if place else ''}]"


def day_and_time(moment: datetime) -> str:
    """``Thursday 26 November 2026, evening``, in the machine's time zone."""
    here = moment.astimezone()
    return f"{here:%A} {here.day} {here:%B %Y}, {DAYTIMES[here.hour]}"


RECALLED = "You recall: "
RECALLED_NOTHING = "You recall nothing about "
REMEMBERED = "You live again through "
LISTED = "Your notes: "
PINNED = "Pinned: "
UNPINNED = "No longer pinned: "
KEPT = "Kept as your note "
ADDED = "Added to your note "
PUT_AWAY = "You put the note "
WRITTEN_DOWN = "Written into your journal: "
COMPACTED = "You clear your mind: "
PROMISED = "Noted as your promise: "
PROMISE_KEPT = "Kept, and off your promises: "
RESULTS = (
    *(RECALLED, RECALLED_NOTHING, REMEMBERED, LISTED, PINNED, UNPINNED),
    *(KEPT, ADDED, PUT_AWAY, WRITTEN_DOWN, COMPACTED, PROMISED, PROMISE_KEPT),
)
"""How every result begins that comes of the agent's use of its own memory."""
_TRIED = "You tried to "


def about_memory(memory: Memory) -> bool:
    """Whether a memory is only a use of the memory itself: a note, a search, what it brought.

    Such a line repeats what stands elsewhere, and would be found in its place: an index
    leaves it out. So it does with a stock phrase, which tells nothing at all.
    """
    text = memory.text
    if memory.kind is MemoryKind.ACT:
        return memory.event in STOCK or text.partition(" ")[0].casefold() in PRIVATE
    verb = text.removeprefix(_TRIED).split(" ")[0].rstrip(":,.")
    told = text.startswith(RESULTS) or (text.startswith(_TRIED) and verb in PRIVATE)
    return memory.kind is MemoryKind.RESULT and told
