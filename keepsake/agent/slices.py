"""What agents do on the reactor thread, some milliseconds at a time."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from keepsake.agent.agent_log import logged

SLICE_SECONDS = 0.004


class Slices:
    """Runs functions on the reactor thread, in the order in which they came, from any thread.

    Twisted runs all that was handed to ``callFromThread`` before it reads what players typed. This
    lets players have their turn after :data:`SLICE_SECONDS`: 60 prompts take a fifth of a second.
    """

    def __init__(self, timer: Any) -> None:
        self._timer, self._waiting = timer, deque[Callable[[], None]]()
        self._lock, self._awake = threading.Lock(), False

    def __call__(self, function: Callable[[], None]) -> None:
        """Run it soon, never inside this call."""
        with self._lock:
            self._waiting.append(function)
            asleep, self._awake = not self._awake, True
        if asleep:
            self._timer.callFromThread(self._run)

    def _run(self) -> None:
        until = time.monotonic() + SLICE_SECONDS
        while time.monotonic() < until:
            with self._lock:
                self._awake = bool(self._waiting)
                if not self._awake:
                    return
                function = self._waiting.popleft()
            with logged("A step of an agent"):
                function()
        self._timer.callLater(0, self._run)
