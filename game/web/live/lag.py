"""How late the reactor is: while it is busy, everybody in the world waits for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

LOOK_SECONDS = 0.5
LATELY_SECONDS = 60.0


class Lag:
    """Asks to be called twice a second, and tells how many seconds later it is."""

    def __init__(self, reactor: Any, told: Callable[[float], None]) -> None:
        self._reactor, self._told = reactor, told
        self._lately: deque[tuple[float, float]] = deque(maxlen=int(LATELY_SECONDS / LOOK_SECONDS))
        self._call: Any = None
        self._due = 0.0

    def start(self) -> None:
        """Begin to look; a second call does nothing."""
        if self._call is None:
            self._again()

    def stop(self) -> None:
        """Look no more."""
        if self._call is not None and self._call.active():
            self._call.cancel()
        self._call = None

    @property
    def worst(self) -> float:
        """Seconds of the worst lateness of the last minute; 0 before the first look."""
        since = self._reactor.seconds() - LATELY_SECONDS
        return max((late for at, late in self._lately if at >= since), default=0.0)

    def _again(self) -> None:
        self._due = self._reactor.seconds() + LOOK_SECONDS
        self._call = self._reactor.callLater(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        now = self._reactor.seconds()
        late = max(now - self._due, 0.0)
        self._lately.append((now, late))
        self._told(late)
        self._again()
