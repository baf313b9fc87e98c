"""What bears on an act among the memories that stood word for word in its prompt.

A prompt holds a hundred of them, and the model does not say which it went by. So those are found
that an answer is known to rest on, and those that share most with the act and with its cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import nlargest

from keepsake.agent.why import Why, matter_of
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.language.perception import telling

MOST = 8
"""The most memories that are found: as many as a screen shows."""
BEFORE = 6
"""The last memories before an act that are shown: what the agent had just perceived."""


def just_before(archive: Archive, why: Why) -> Sequence[Memory]:
    """Return the newest memories of the window, oldest first, without what set the act off; blocks.

    What set it off is one of several things that the act may answer.
    """
    if why.window is None:
        return ()
    first, last = why.window
    found = archive.read(max(first, last - BEFORE + 1), last)
    return [each for each in found if each.number != _cause(why)]


def _cause(why: Why) -> int:
    return why.cause.number if why.cause else 0


def bearing_on(archive: Archive, why: Why) -> Sequence[Memory]:
    """Return memories of the window that bear on an act, oldest first; blocks.

    First those that the act rests on. The others share words with the act, its reason or what set
    it off; a word counts the more, the fewer memories of the window have it. What set it off, what
    came just before it and what was recalled for it are not among them.
    """
    if why.window is None:
        return ()
    first, last = why.window
    told = {_cause(why), *(each.number for each in just_before(archive, why))}
    told |= {each.memory.number for each in why.recalled if each.memory is not None}
    window = [each for each in archive.read(first, last) if each.number not in told]
    about = telling(f"{matter_of(why.act)} {why.reason} {why.cause.text if why.cause else ''}")
    shared = {each.number: about & telling(each.line) for each in window}
    rarity = Counter(stem for stems in shared.values() for stem in stems)

    def weight(memory: Memory) -> tuple[bool, float, int]:
        rests = memory.number in why.act.rests_on
        return rests, sum(1 / rarity[stem] for stem in shared[memory.number]), memory.number

    found = nlargest(MOST, (each for each in window if any(weight(each)[:2])), key=weight)
    return sorted(found, key=lambda each: each.number)
