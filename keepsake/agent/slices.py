"""What agents do on the reactor thread, some milliseconds at a time."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from twisted.logger import Logger

SLICE_SECONDS = 0.004
_log = Logger()


class Slices:
    """Runs functions on the reactor thread, in the order in which they came, from any thread.

    Twisted runs all that was handed to ``callFromThread`` before it reads what players typed. After
    :data:`SLICE_SECONDS` this lets players have their turn: sixty prompts that are to be built at
    one time take a fifth of a second.
    """

    def __init__(self, timer: Any) -> None:
        self._timer = timer
        self._waiting: deque[Callable[[], None]] = deque()
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
                if not self._waiting:
                    self._awake = False
                    return
                function = self._waiting.popleft()
            with _log.failureHandler("An agent's work broke off"):
                function()
        self._timer.callLater(0, self._run)
