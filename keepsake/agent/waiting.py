"""What is waited for on the reactor thread: work in other threads, and calls that are due later."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from twisted.internet.defer import Deferred


def in_thread[T](
    work: Callable[[], T],
    pool: Executor,
    post: Callable[[Callable[[], None]], object],
    clock: Any,
    seconds: float,
) -> Deferred[T]:
    """Run ``work``, which blocks, in a thread of the pool.

    ``post`` brings its result to the reactor thread; ``clock`` measures the seconds.

    Returns:
        Its result. It fails with what ``work`` raises, and with Twisted's ``TimeoutError``
        after that many seconds. It never fires before this function returns.
    """

    def give_up(_: Deferred[T]) -> None:
        future.cancel()

    def came(ended: Future[T]) -> None:
        if result.called:  # too late
            return
        if (error := ended.exception()) is not None:
            result.errback(error)
        else:
            result.callback(ended.result())

    result: Deferred[T] = Deferred(give_up)
    future = pool.submit(work)
    future.add_done_callback(lambda ended: None if ended.cancelled() else post(lambda: came(ended)))
    return result.addTimeout(seconds, clock)


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
        if self.waits:
            self._call.cancel()
        self._call = None
