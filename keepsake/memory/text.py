"""Memories as the lines that a summary is written from, and a summary as lines of a prompt.

A memory reads ``12. [4 May, evening] Anneke says to you, "…"``, an own act ``You say to Anneke,
"…"``; the date stands where it changes. A summary is prose, a list of ``- `` lines, or notes under
``## `` headings. A line of a list that matters begins with ``* ``; the summary without a model
writes it so, and finds it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.heard import spoken
from keepsake.language.perception import for_prompt
from keepsake.language.words import short_day
from keepsake.prompt.script import daytime

MARK = "## "
WIDE = 0x2E80
"""From this character on, scripts are written without blanks between words."""
_ITEMS = ("- ", "* ")
_LONGEST = 20_000
"""Characters of one line of prose."""


def numbered(memories: Iterable[Memory]) -> list[str]:
    """Memories as a model is shown them, one line each."""
    lines, before = [], ""
    for memory in memories:
        when = f"[{short_day(memory.time)}, {daytime(memory.time)}] "
        lines.append(f"{memory.number}. {'' if when == before else when}{told(memory)}")
        before = when
    return lines


def told(memory: Memory) -> str:
    """A memory in the second person, as one harmless line."""
    if memory.kind is not MemoryKind.ACT:
        return for_prompt(memory.line)
    verb, _, rest = memory.text.partition(" ")
    if said := spoken(memory):
        act = f'You {verb}{f" to {said.to}" if said.to else ""}, "{said.words}"'
    else:
        act = f"You *{rest}*" if verb in ("emote", "pose") and rest else f"You did: {memory.text}"
    return for_prompt(f"{act} (your reason: {memory.reason})" if memory.reason else act)


@lru_cache(maxsize=256)  # a summary stands in every prompt until the next one is made
def shown(text: str) -> tuple[str, ...]:
    """A summary as harmless lines of a prompt; prose as one line.

    A heading becomes ``Facts:``; one without notes is left out. No line starts like a heading, a
    rule or a cursor.
    """
    lines: list[str] = []
    heading = ""
    for line in lines_of(text):
        if line.startswith(MARK):
            heading = for_prompt(line, limit=80).strip(" :")
            continue
        if heading:
            lines, heading = [*lines, f"{heading}:"], ""
        sign = "- " if line.startswith(_ITEMS) else ""
        lines.append(sign + for_prompt(line[len(sign) :], limit=_LONGEST))
    return tuple(line for line in lines if line.strip("- "))


def plain(text: str) -> tuple[str, ...]:
    """Its lines without headings and list signs; prose as one line."""
    return tuple(
        line.removeprefix("- ").removeprefix("* ")
        for line in lines_of(text)
        if not line.startswith(MARK)
    )


def lines_of(text: str) -> list[str]:
    """Each line of a list or of notes, with its sign; prose, with all its line ends, as one."""
    lines = [folded for line in text.splitlines() if (folded := " ".join(line.split()))]
    if any(line.startswith((*_ITEMS, MARK)) for line in lines):
        return lines
    return [" ".join(lines)] if lines else []
