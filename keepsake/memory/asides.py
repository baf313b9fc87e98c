"""Asides: what others say to each other near the agent, and what they act out.

In a room full of people most lines of an agent's window are asides. A prompt that is almost full
leaves out the older ones before a summary is made: the agent's own talk stays word for word, and no
model is asked. Nothing is lost. The lines stay in the window, recall searches them, and the next
compaction summarises them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import ME, Pose
from keepsake.language.perception import names

ALMOST_FULL = 0.90
"""The share of the budget from which a prompt leaves out asides."""
ALWAYS_SHOWN = 32
"""The number of newest memories of which no aside is left out: some three minutes in a full room.
Somebody may turn to the agent about what was just said beside it."""


def is_aside(memory: Memory, agent: str) -> bool:
    """Return whether a memory is something between others, which does not name the agent."""
    if memory.kind is not MemoryKind.PERCEPTION:
        return False
    if (said := memory.heard) is not None:
        return bool(said.to) and ME not in said.to and not names(said.words, agent)
    return isinstance(memory.what, Pose) and not names(memory.text, agent)


def without_asides(
    shown: Iterable[Memory], through: int, agent: str, matters: Callable[[Memory], bool]
) -> tuple[Memory, ...]:
    """Return the lines of a window without the asides up to a memory.

    Args:
        through: The number of the last memory that may be left out.
        agent: The agent's name.
        matters: Whether a memory is too important to be left out.
    """
    return tuple(
        memory
        for memory in shown
        if memory.number > through or not is_aside(memory, agent) or matters(memory)
    )
