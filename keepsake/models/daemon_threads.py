"""Threads that nobody waits for when the process ends, each kept a while for the next call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

IDLE_SECONDS = 10.0
"""How long a thread without work waits for more of it before it ends."""

type Work = Callable[[], None]


class DaemonThreads:
    """Runs what may hang, which a thread of a pool may not: Python waits for those at its end.

    To make a thread, and to let it end, takes ten times as long as to wake one that is there.

    Args:
        name: What the threads are called.
    """

    def __init__(self, name: str) -> None:
        self._name, self._lock = name, threading.Lock()
        self._idle: list[SimpleQueue[Work]] = []

    @property
    def idle(self) -> int:
        """How many threads wait for work."""
        return len(self._idle)

    def run(self, work: Work) -> None:
        """Have ``work``, which must not raise, done in a thread that has nothing else to do."""
        with self._lock:
            waiting = self._idle.pop() if self._idle else None
        if waiting is not None:
            waiting.put(work)
            return
        own: SimpleQueue[Work] = SimpleQueue()
        own.put(work)
        threading.Thread(target=self._serve, args=(own,), name=self._name, daemon=True).start()

    def _serve(self, own: SimpleQueue[Work]) -> None:
        while (work := self._next(own)) is not None:
            work()
            del work  # it holds a prompt
            with self._lock:
                self._idle.append(own)

    def _next(self, own: SimpleQueue[Work]) -> Work | None:
        """What comes next; None if nothing has come for so long that the thread may end."""
        try:
            return own.get(timeout=IDLE_SECONDS)
        except Empty:
            with self._lock:
                if own in self._idle:
                    self._idle.remove(own)
                    return None
            return own.get()  # it was given some just now
