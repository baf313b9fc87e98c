"""Runs the agents' work on the reactor thread in slices of a few milliseconds."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from keepsake.logs import Subsystem, get_logger, logged

SLICE_SECONDS = 0.004
log = get_logger(Subsystem.AGENTS)


class Slices:
    """Runs functions on the reactor thread, in order; may be called from any thread.

    Twisted runs everything passed to ``callFromThread`` before it reads players' input. This class
    yields to the reactor after :data:`SLICE_SECONDS`; 60 prompts would block it for 0.2 seconds.
    """

    def __init__(self, timer: Any) -> None:
        self._timer = timer
        self._waiting = deque[Callable[[], None]]()
        self._lock = threading.Lock()
        self._awake = False

    def __call__(self, function: Callable[[], None]) -> None:
        """Queue the function. It runs soon, never during this call."""
        with self._lock:
            self._waiting.append(function)
            asleep = not self._awake
            self._awake = True
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
            with logged(log, "A step of an agent failed"):
                function()
        self._timer.callLater(0, self._run)
