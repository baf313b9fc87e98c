"""What is going on: who waits for an answer, and what was promised a moment ago.

No compaction summarises that; it stays verbatim. It is bounded, so that somebody who goes on and on
cannot keep the whole window open.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.heard import heard, meant_for, names

FARTHEST = 24
"""The most memories, counted from the newest, that are ever held open."""
_ANSWERS = frozenset({"say", "whisper", "give"})
"""Own acts with which somebody who waits may have been answered."""
_WAYS = frozenset({"traverse", "move"})
"""The ``event`` of somebody who comes or goes."""


def open_exchange(
    window: Sequence[Memory], own_name: str, promised: Collection[int] = ()
) -> int | None:
    """The number of the oldest memory of what is going on; None if nothing is.

    Somebody waits from the first thing that they said to the agent, until it speaks or gives
    something to them, or they leave. A promise that is open holds the memory in which it was made.

    Args:
        window: Memories, oldest first, as they are and not masked.
        own_name: The agent's name.
        promised: Numbers of the memories on which open promises rest.
    """
    recent = window[-FARTHEST:]
    alone = len({memory.source for memory in recent if memory.source}) < 2
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for memory in recent:
        if memory.kind is MemoryKind.ACT:
            for who in _answered(memory, last):
                first.pop(who), last.pop(who)
        elif (said := heard(memory)) is not None:
            # Of what one says to nobody by name, alone with the agent, a question waits.
            if meant_for(said, own_name, alone=alone and "?" in said.words):
                first.setdefault(said.who, memory.number)
                last[said.who] = memory.number
        elif memory.event in _WAYS:
            first.pop(memory.source, None), last.pop(memory.source, None)
    held = [memory.number for memory in recent if memory.number in promised]
    return min([*first.values(), *held], default=None)


def _answered(act: Memory, waiting: dict[str, int]) -> list[str]:
    """Who of those that wait is answered by an act of the agent.

    Those to whom it was said or given, or whom it names; else, as speech goes to the one who spoke
    last, that one. A gesture and a stock phrase answer nobody.

    ``waiting``: Who waits, with the number of the last thing that each said.
    """
    verb, _, rest = act.text.partition(" ")
    if not waiting or act.is_shrug or verb not in _ANSWERS:
        return []
    if verb in ("whisper", "give"):
        to = rest.partition(" = ")[0] if verb == "whisper" else rest.rpartition(" to ")[2]
        return [who for who in waiting if who.casefold() == to.strip().casefold()]
    named = [who for who in waiting if who == act.to or names(rest, who)]
    return named or [max(waiting, key=lambda who: waiting[who])]
