"""Work in a thread that somebody waits for, but not for ever."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from typeclasses.services import Services, log


def in_time[T](
    services: Services, work: Callable[[], T], seconds: float, done: Callable[[T | None], None]
) -> None:
    """Run ``work`` in a worker thread and hand its result over on the reactor thread.

    Args:
        services: Where the threads and the clock are.
        work: Blocks; must not touch anything of Evennia.
        seconds: After these, ``done`` is called with None and the result is dropped.
        done: Called once, never before this returns.
    """
    waiting = _Waiting(done)
    waiting.alarm = services.timer.callLater(seconds, waiting.give_up)

    def finished(future: Future[T]) -> None:
        if future.cancelled():
            return
        if (error := future.exception()) is not None:
            # Nobody else would hear of it: the thread's caller is long gone.
            log(f"[Error] A worker thread failed: {error!r}")
        result = None if error else future.result()
        services.post(lambda: waiting.finish(result))

    waiting.future = services.searchers.submit(work)
    waiting.future.add_done_callback(finished)


class _Waiting[T]:
    """Sees to it that one answer comes, and only one."""

    def __init__(self, done: Callable[[T | None], None]) -> None:
        self._done: Callable[[T | None], None] | None = done
        self.alarm = self.future = None

    def finish(self, result: T | None) -> None:
        if self.alarm is not None and self.alarm.active():
            self.alarm.cancel()
        if (done := self._done) is not None:
            self._done = None
            done(result)

    def give_up(self) -> None:
        if self.future is not None:
            self.future.cancel()
        self.finish(None)
