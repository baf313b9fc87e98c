"""Work in a thread that somebody waits for, but not for ever."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from game.agent.agent_log import log
from game.agent.services import Services
from game.agent.tasks import Once


def in_time[T](services: Services, work: Callable[[], T], seconds: float) -> Once[T | None]:
    """Run ``work``, which blocks, in a worker thread.

    Returns:
        Its result, on the reactor thread and never before this returns; None if it failed, or
        took longer than ``seconds``.
    """
    came: Once[T | None] = Once()
    alarm = services.timer.callLater(seconds, lambda: give_up())  # noqa: PLW0108 - defined below

    def give_up() -> None:
        future.cancel()
        came(None)

    def finish(result: T | None) -> None:
        if alarm.active():
            alarm.cancel()
        came(result)

    def finished(future: Future[T]) -> None:
        if future.cancelled():
            return
        if (error := future.exception()) is not None:
            # Nobody else would hear of it: the thread's caller is long gone.
            log(f"[Error] A worker thread failed: {error!r}")
        result = None if error else future.result()
        services.post(lambda: finish(result))

    future = services.searchers.submit(work)
    future.add_done_callback(finished)
    return came
