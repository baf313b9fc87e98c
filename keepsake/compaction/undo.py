"""Taking the newest compaction back: one more line in the archive.

The archive still has everything, so the summaries of before are read from it and the
memories stand word for word again. The line is the commit point, as for a compaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.archive.history import PastCompaction
from keepsake.compaction.dependencies import MemoryParts
from keepsake.errors import CompactionError
from keepsake.memory.types import Undone
from keepsake.summaries.copies import VaultCopies


def take_back(parts: MemoryParts, copies: VaultCopies, past: Sequence[PastCompaction]) -> Undone:
    """Take the last of ``past`` back, which are those that stand; none must be under way.

    Raises:
        CompactionError: There is none.
        ArchiveUnwritable: It could not be archived; nothing was changed.
    """
    tiers = parts.tiers
    if not past:
        if tiers.compactions and tiers.state.summarised and not tiers.state.standing:
            raise CompactionError(
                "what the compactions made was cleared from the prompt, so none can be taken back",
                "The archive still has every memory",
            )
        raise CompactionError("there is no compaction to take back")
    number, summarised, now = past[-1].number, past[-1].before.summarised, tiers.state.summarised
    window = parts.archive.read(summarised + 1, now) if summarised < now else []
    with copies.in_step:
        with parts.lock:
            tokens_before = _weight(parts)
            before, step, total = past[-1].before, tiers.step + 1, tiers.last_number
            made, time = tiers.compactions, parts.outside.clock.now()
            line = before.undo_line(number, step, compactions=made, total=total, time=time)
            position = parts.archive.append(line)
            tiers.undone(before, step, total, window)
            tokens_after = _weight(parts)
        parts.sync()
        copies.write_both(position)
    restored = (window[0].number, window[-1].number) if window else None
    detail = "the summaries of before stand again"
    if restored:
        detail = f"memories {restored[0]}-{restored[1]} stand word for word again"
    parts.log(f"Compaction {number} was taken back: {detail}")
    left = len(past) - 1
    return Undone(number, detail, restored, tokens_before, tokens_after, left, position)


def _weight(parts: MemoryParts) -> int:
    tiers, counter = parts.tiers, parts.counter
    summaries = counter.summaries(tiers.state.longterm, tiers.state.recent)
    return summaries + counter.memories(tiers.window)
