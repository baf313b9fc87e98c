"""What lives as long as the world does is not looked through at each full garbage collection.

Python stops all threads for a full one: 0.4 to 0.8 s where a thousand agents are open, once in half
a minute as they begin to think. So what has survived one is frozen (:func:`gc.freeze`): the next
looks through what is newer. What becomes garbage later and holds itself waits for a sweep.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

SWEEP_SECONDS = 24 * 3600.0
"""How often all is looked through, once nobody is there to wait for it."""
AT_LATEST_SECONDS = 7 * SWEEP_SECONDS
"""… and although somebody is."""


class FrozenHeap:
    """Freezes what has survived a full collection; on the reactor thread, now and then.

    Args:
        clock: Monotonic seconds.
        alone: Tells whether nobody would have to wait for a sweep.
    """

    def __init__(self, clock: Callable[[], float], alone: Callable[[], bool]) -> None:
        self._clock, self._alone = clock, alone
        self._swept, self._seen = clock(), _full_collections()

    def look(self) -> None:
        """Freeze what has survived since, and sweep if it is time; quick but for that."""
        since = self._clock() - self._swept
        if since >= AT_LATEST_SECONDS or (since >= SWEEP_SECONDS and self._alone()):
            self.sweep()
        elif _full_collections() != self._seen:
            self._freeze()

    def sweep(self) -> None:
        """Look through all there is, as Python would have done."""
        gc.unfreeze()
        gc.collect()
        self._swept = self._clock()
        self._freeze()

    def _freeze(self) -> None:
        gc.freeze()
        self._seen = _full_collections()


def _full_collections() -> int:
    return int(gc.get_stats()[-1]["collections"])
