"""Of what sort a lost memory is: that somebody came in is no loss beside what somebody told."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import Deed, KnownVerb, Pose, Result, Sight

_LOOKS = frozenset({KnownVerb.LOOK, KnownVerb.EXAMINE})
_STEPS = frozenset({KnownVerb.GO, KnownVerb.WALK, KnownVerb.FOLLOW, KnownVerb.STAY, KnownVerb.WAIT})


class LossSort(StrEnum):
    """What a memory is of, what tells most first."""

    OTHERS = "others"
    """Something that others told or gave."""
    ERRANDS = "errands"
    """Something that asked for a deed, and was answered by a plan or a promise."""
    OWN = "own"
    """Own words and deeds, and what came of them."""
    PASSING = "passing"
    """Who came or went, a gesture, a sight."""


def sort_of(memory: Memory, errands: Collection[str]) -> LossSort:
    """Return of what sort a memory is.

    Args:
        errands: The ids of what happened that asked for something to be done.
    """
    what = memory.what
    if isinstance(what, Pose | Sight) or (isinstance(what, Deed) and what.verb in _STEPS):
        return LossSort.PASSING
    if isinstance(what, Result):
        passing = not what.verb or what.verb in _LOOKS | _STEPS
        return LossSort.PASSING if passing else LossSort.OWN
    if memory.kind is MemoryKind.ACT:
        return LossSort.OWN
    return LossSort.ERRANDS if memory.happening in errands else LossSort.OTHERS
