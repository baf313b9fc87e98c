"""Which indexes are open: those used last, so that many agents cost no more than some do."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol

MOST_OPEN = 128
MOST_BYTES = 256 << 20
"""Of vectors in memory. Opening 2,000 of them again takes some milliseconds."""


class Closable(Protocol):
    """A file with what is held in memory of it."""

    @property
    def held_bytes(self) -> int:
        """Bytes in memory, as far as they count."""
        ...

    def close_if_idle(self) -> bool:
        """Let go of both unless it is just being used; whether it did. Never waits."""
        ...


class OpenFiles:
    """Closes files that were not used for longest. Any thread may say that it uses one.

    Args:
        most_open: So many stay open.
        most_bytes: What they hold in memory together.
    """

    def __init__(self, most_open: int = MOST_OPEN, most_bytes: int = MOST_BYTES) -> None:
        self._most_open, self._most_bytes = most_open, most_bytes
        self._lock = threading.Lock()
        self._used: OrderedDict[int, Closable] = OrderedDict()

    def uses(self, file: Closable) -> None:
        """It is being used now."""
        with self._lock:
            self._used[id(file)] = file
            self._used.move_to_end(id(file))
            held = sum(each.held_bytes for each in self._used.values())
            for each in list(self._used.values())[:-1]:
                if len(self._used) <= self._most_open and held <= self._most_bytes:
                    return
                freed = each.held_bytes
                if each.close_if_idle():
                    del self._used[id(each)]
                    held -= freed

    def forget(self, file: Closable) -> None:
        """It is closed for good."""
        with self._lock:
            self._used.pop(id(file), None)
