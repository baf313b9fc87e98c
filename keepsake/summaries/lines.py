"""Memories as the lines that a model reads: numbered, dated, in the second person.

For example ``12. [4 May, evening] Anneke says to you, "…"``. What the agent did itself reads
``You say to Anneke, "…"``. The date stands where it changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.perception import for_prompt
from keepsake.language.words import short_day

_HOURS = ((5, "night"), (12, "morning"), (18, "afternoon"), (22, "evening"), (24, "night"))


def numbered(memories: Iterable[Memory]) -> list[str]:
    """One line each."""
    lines, before = [], ""
    for memory in memories:
        if (when := _when(memory.time)) == before:
            date = ""
        else:
            date, before = f"[{when}] ", when
        lines.append(f"{memory.number}. {date}{told(memory)}")
    return lines


def told(memory: Memory) -> str:
    """A memory in the second person, as one harmless line."""
    if memory.kind is not MemoryKind.ACT:
        return for_prompt(memory.line)
    reason = f" (your reason: {memory.reason})" if memory.reason else ""
    return for_prompt(_act(memory) + reason)


def spoken(memory: Memory) -> tuple[str, str]:
    """What the agent said itself and to whom; two empty texts if it was no speech."""
    verb, _, words = memory.text.partition(" ")
    if memory.kind is not MemoryKind.ACT or verb not in ("say", "ask", "shout", "whisper"):
        return "", ""
    name, sign, whispered = words.partition("=")
    if verb == "whisper" and sign:
        return whispered.strip(), memory.to or name.strip()
    return words.strip(), memory.to


def _act(memory: Memory) -> str:
    words, to = spoken(memory)
    if words:
        verb = memory.text.partition(" ")[0]
        return f'You {verb}{f" to {to}" if to else ""}, "{words}"'
    verb, _, rest = memory.text.partition(" ")
    return f"You *{rest}*" if verb in ("emote", "pose") and rest else f"You did: {memory.text}"


def _when(time: datetime) -> str:
    hour = next(name for end, name in _HOURS if time.hour < end)
    return f"{short_day(time)}, {hour}"
