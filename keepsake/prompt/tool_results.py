"""How the results of private verbs begin, so that they can be told from what was lived."""

from __future__ import annotations

from keepsake.archive.records import Memory, MemoryKind
from keepsake.prompt.verbs import PRIVATE

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


def is_private_act(command: str) -> bool:
    """Whether a command line, such as ``note garden: …``, is of a private verb."""
    return command.partition(" ")[0].casefold() in PRIVATE


def is_private_result(text: str) -> bool:
    """Whether a tool result, or a line of a prompt, tells of a private verb."""
    verb = text.removeprefix(_TRIED).split(" ")[0].rstrip(":,.")
    return text.startswith(RESULTS) or (text.startswith(_TRIED) and verb in PRIVATE)


def about_memory(memory: Memory) -> bool:
    """Whether a memory is only a use of the memory itself: a note, a search, what it brought.

    Such a line repeats what stands elsewhere, and would be found in its place: an index
    leaves it out. So it does with a stock phrase, which tells nothing at all.
    """
    only = {MemoryKind.RESULT: is_private_result, MemoryKind.ACT: is_private_act}.get(memory.kind)
    return memory.is_stock or (only is not None and only(memory.text))
