"""Asks the reactor thread, which alone may touch the world's objects, and waits for its answer.

Views run in threads of their own. What they run here has to be quick: while it runs nobody in
the world is served.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong
from contextlib import suppress
from typing import Any

from twisted.internet import reactor
from twisted.python.threadable import isInIOThread

from keepsake.errors import KeepsakeError

PATIENCE = 10.0
"""Seconds until a view gives up: a world that stops answers nobody, and must not wait for us."""
_reactor: Any = reactor  # Twisted makes it at import; no type says what it can do


class WorldBusy(KeepsakeError):
    """The world did not answer in time."""


def on_reactor[T](function: Callable[[], T], seconds: float = PATIENCE) -> T:
    """What ``function`` gives, run on the reactor thread; blocks.

    Where no reactor runs, as in tests, it is run at once.

    Raises:
        WorldBusy: It was not run in time.
        Exception: Whatever ``function`` raises.
    """
    if not _reactor.running or isInIOThread():
        return function()
    answer: Future[T] = Future()

    def run() -> None:
        if not answer.set_running_or_notify_cancel():
            return  # nobody waits any more
        try:
            answer.set_result(function())
        except BaseException as error:  # handed to whoever asked, whatever it is
            answer.set_exception(error)

    _reactor.callFromThread(run)
    try:
        return answer.result(seconds)
    except TookTooLong as error:
        if not answer.cancel():  # it has begun, and may have done something by now
            with suppress(TookTooLong):
                return answer.result(PATIENCE)
        raise WorldBusy("The world is too busy to answer", "Try again in a moment") from error
