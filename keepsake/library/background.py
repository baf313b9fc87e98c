"""A thread that works when it is woken, for what nobody waits for."""

from __future__ import annotations

import threading
from collections.abc import Callable

from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.HOUSEKEEPING)

GATHER_SECONDS = 0.2
"""Seconds for which wake-ups are gathered: a talk has several happenings a second."""
LAST_STEP_SECONDS = 10.0
"""Seconds that the current step may take at the end; an embedder that hangs is left behind."""


class Background:
    """Runs ``work`` in a thread of its own each time after it was woken; safe for threads.

    Args:
        name: The thread's name.
        work: What is done. An error is logged and ends nothing.
    """

    def __init__(self, name: str, work: Callable[[], object]) -> None:
        self._name = name
        self._work = work
        self._woken = threading.Event()
        self._ending = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def is_ending(self) -> bool:
        """Whether :meth:`close` was called; a long step may stop then."""
        return self._ending.is_set()

    def wake(self) -> None:
        """Have the work done soon; quick. The thread starts with the first call."""
        self._woken.set()
        if self._thread is None:
            with self._starting:
                if self._thread is None and not self.is_ending:
                    # A daemon: a program that does not close its memory can still end.
                    self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """End the thread after its current step."""
        with self._starting:
            self._ending.set()
            self._woken.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(LAST_STEP_SECONDS)

    def _run(self) -> None:
        failure = ""
        while not self.is_ending:
            self._woken.wait()
            if self._ending.wait(GATHER_SECONDS):
                return
            self._woken.clear()
            try:
                self._work()
                failure = ""
            except Exception as error:  # of any kind: the next round may work
                if self.is_ending:  # the step was interrupted
                    return
                if repr(error) != failure:  # a repeated failure is logged once
                    log.error("Work in the background failed", work=self._name, exc_info=error)
                failure = repr(error)
