"""Calls that are due later, on the reactor thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Alarm:
    """One call that is due later, or none; ``clock`` is Twisted's reactor, or stands in for it."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock
        self._call: Any = None

    @property
    def waits(self) -> bool:
        """Whether a call is due."""
        return self._call is not None and bool(self._call.active())

    def set(self, seconds: float, call: Callable[..., object], *args: object) -> None:
        """Call that in this many seconds, in place of what was due before."""
        self.cancel()
        self._call = self._clock.callLater(seconds, call, *args)

    def cancel(self) -> None:
        """Call nothing any more."""
        if self._call is not None and self._call.active():
            self._call.cancel()
        self._call = None
