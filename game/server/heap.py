"""What lives as long as the world does is not looked through at each full garbage collection.

Python stops all threads for a full one: 0.4 to 0.8 s where a thousand agents are open, once or
twice a minute as long as they think. So what has survived one is frozen (:func:`gc.freeze`) and
the next looks through what is newer. What becomes garbage later and holds itself waits for a
sweep, which comes when so much more is frozen that it may be that.

While agents are opened none is looked for at all, as what is made then stays.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

FREEZE_SECONDS = 60.0
"""Between two times; the thoughts that are under way are frozen as well, and soon garbage."""
OPENING_SECONDS = 120.0
"""So long nothing is looked for, if some agents are never open."""
GROWN = 1.5
"""So many times as much as after the last sweep is swept."""


class FrozenHeap:
    """Freezes what has survived a full collection; on the reactor thread, now and then.

    Args:
        clock: Seconds, by a clock that is never set back.
        is_open: Tells whether all is there that comes with the world's start.
    """

    def __init__(self, clock: Callable[[], float], is_open: Callable[[], bool]) -> None:
        self._clock, self._is_open = clock, is_open
        self._frozen_at, self._seen, self._swept = clock(), _full_collections(), 0

    def hold(self) -> None:
        """Look for no garbage until all is open."""
        gc.disable()

    def look(self) -> None:
        """Freeze what has survived since, and sweep if that was much; nearly always quick."""
        since = self._clock() - self._frozen_at
        if not self._swept and (self._is_open() or since >= OPENING_SECONDS):
            self._freeze()
            self._swept = gc.get_freeze_count()
            gc.enable()
        early = since < FREEZE_SECONDS
        if not self._swept or early or _full_collections() == self._seen:
            return
        self._freeze()
        if gc.get_freeze_count() > GROWN * self._swept:
            self.sweep()

    def sweep(self) -> None:
        """Look through all there is, as Python would have done, and freeze what is in use."""
        gc.unfreeze()
        gc.collect()
        self._freeze()
        self._swept = gc.get_freeze_count()

    def _freeze(self) -> None:
        gc.freeze()
        self._frozen_at, self._seen = self._clock(), _full_collections()


def _full_collections() -> int:
    return int(gc.get_stats()[-1]["collections"])
