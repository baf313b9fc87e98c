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


def bearing_on(archive: Archive, why: Why) -> Sequence[Memory]:
    """Return memories of the window that bear on an act, oldest first; blocks.

    First those that the act rests on. The others share words with the act, its reason or what set
    it off; a word counts the more, the fewer memories of the window have it.
    """
    if why.window is None:
        return ()
    first, last = why.window
    set_off = why.cause.number if why.cause else 0
    window = [each for each in archive.read(first, last) if each.number != set_off]
    about = telling(f"{matter_of(why.act)} {why.reason} {why.cause.text if why.cause else ''}")
    shared = {each.number: about & telling(each.line) for each in window}
    rarity = Counter(stem for stems in shared.values() for stem in stems)

    def weight(memory: Memory) -> tuple[bool, float, int]:
        rests = memory.number in why.act.rests_on
        return rests, sum(1 / rarity[stem] for stem in shared[memory.number]), memory.number

    found = nlargest(MOST, (each for each in window if any(weight(each)[:2])), key=weight)
    return sorted(found, key=lambda each: each.number)
