"""The threads in which model servers are called."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any


class DaemonThreads(Executor):
    """A pool of daemon threads: Python does not wait for them when it exits."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = 0
        self._free = threading.Semaphore(0)

    def submit[T](self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call ``fn`` in a thread and return the future; may be used from one thread only."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # passed on through the future
                future.set_exception(error)

        self._calls.put(run)
        if not self._free.acquire(blocking=False):
            self._threads += 1
            threading.Thread(target=self._serve, name="model-call", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End each thread after its current call; does not wait."""
        for _ in range(self._threads):
            self._calls.put(None)

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            self._free.release()
