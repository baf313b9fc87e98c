"""What an agent lived through, read from its archive; in a view's thread, never the reactor's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from keepsake.archive import history
from keepsake.archive.history import PastCompaction
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, Summary
from keepsake.archive.tier_lines import SummaryState
from keepsake.prompt.tokens import Heuristic
from keepsake.web.agents import ArchiveAccess, Bounds, summary_view
from keepsake.web.shapes import (
    Compactions,
    CompactionView,
    Memories,
    MemoryView,
    SummaryView,
    iso,
)

_HEURISTIC = Heuristic()
MOST_MEMORIES = 200
MOST_LIVES = 8
"""Lives whose compactions are kept in RAM: about 2 MB for each 10,000 memories."""


def memories(life: ArchiveAccess, first: int, last: int) -> Memories:
    """Memories by number, :data:`MOST_MEMORIES` at most.

    Raises:
        OSError: The archive cannot be read.
    """
    found = life.archive.read(first, min(last, first + MOST_MEMORIES - 1))
    bounds = Bounds.of(life.context, life.archive.last_number)
    return Memories(memories=tuple(memory_view(each, bounds) for each in found))


def memory_view(memory: Memory, bounds: Bounds) -> MemoryView:
    """A memory for people."""
    return MemoryView.of(
        memory,
        n=memory.number,
        at=iso(memory.time),
        kind=memory.kind.value,
        times=memory.repeats,
        tier=bounds.holding(memory.number),
    )


def past_summary(found: Summary, compaction: int, *, undone: bool = False) -> SummaryView:
    """A current or former summary; its tokens are those that were counted then."""
    tokens = found.tokens_after or _HEURISTIC.of(found.text)
    return summary_view(found, compaction, tokens, undone=undone)


@lru_cache(maxsize=MOST_LIVES)
def _past(archive: Archive, _state: tuple[object, ...]) -> Sequence[PastCompaction]:
    """All compactions of an archive in that state, oldest first: reading them takes a while."""
    return history.compactions(archive)


def compactions(life: ArchiveAccess, limit: int, before: int | None = None) -> Compactions:
    """The newest compactions, or those older than ``before``, newest first; undone ones as well.

    Raises:
        OSError: The archive cannot be read.
    """
    past = _past(life.archive, life.state)
    wanted = [each for each in past if before is None or each.number < before]
    undone = {each.number for each in past if each.undone is not None}
    newest = reversed(wanted[-limit:])
    shown = tuple(_compaction(each, undone) for each in newest)
    return Compactions(compactions=shown, total=len(past))


def _compaction(past: PastCompaction, undone: Collection[int]) -> CompactionView:
    first, last = past.covered or (0, 0)
    return CompactionView.of(
        past,
        at=iso(past.time),
        outcome=past.outcome.value,
        first=first,
        last=last,
        undone=past.undone is not None,
        good=past.verdict.good if past.verdict else None,
        verdict=past.verdict.words if past.verdict else "not checked",
        before=tuple(_texts(past.before, undone)),
        after=tuple(_texts(past.after, undone)),
    )


def _texts(texts: SummaryState, undone: Collection[int]) -> Iterator[SummaryView]:
    for each in (texts.longterm, texts.recent):
        if each is not None:
            yield past_summary(each, texts.standing, undone=texts.standing in undone)
