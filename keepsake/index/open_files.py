"""Which indexes are open: those used last, so that many agents cost no more than some do."""

from __future__ import annotations

import contextlib
import resource
import threading
from collections import OrderedDict
from typing import Protocol

MOST_OPEN = 1024
"""Opening one again takes a millisecond, and as long as it is open it takes some 250 kB."""
MOST_BYTES = 512 << 20
"""Of vectors in memory. Reading 2,000 of them again takes five milliseconds."""
_HANDLES = 8
"""One in so many handles is a file of these: each needs three, and others need some."""


def room() -> int:
    """How many files may be open; asks the system for handles, and takes what it gives."""
    most, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_OPEN * _HANDLES
    if most != resource.RLIM_INFINITY and most < wanted:
        wanted = wanted if allowed == resource.RLIM_INFINITY else min(wanted, allowed)
        with contextlib.suppress(OSError, ValueError):  # a sandbox may refuse
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, allowed))
            most = wanted
    return MOST_OPEN if most == resource.RLIM_INFINITY else min(MOST_OPEN, most // _HANDLES)


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
        most_open: So many stay open; None for as many as the system allows (:func:`room`).
        most_bytes: What they hold in memory together.
    """

    def __init__(self, most_open: int | None = None, most_bytes: int = MOST_BYTES) -> None:
        self._most_open = room() if most_open is None else most_open
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._used: OrderedDict[Closable, int] = OrderedDict()
        """What each held when it was used last; the newest at the end."""
        self._held = 0

    def uses(self, file: Closable) -> None:
        """It is being used now."""
        with self._lock:
            self._drop(file)
            self._used[file] = held = file.held_bytes
            self._held += held
            if len(self._used) > self._most_open or self._held > self._most_bytes:
                self._make_room()

    def forget(self, file: Closable) -> None:
        """It is closed for good."""
        with self._lock:
            self._drop(file)

    def _make_room(self) -> None:
        for each in list(self._used)[:-1]:
            if len(self._used) <= self._most_open and self._held <= self._most_bytes:
                return
            if each.close_if_idle():
                self._drop(each)

    def _drop(self, file: Closable) -> None:
        self._held -= self._used.pop(file, 0)
