"""Coroutines over call-backs: what waits for a thread, a timer or a model reads from top to bottom.

All of it runs on one thread, with no event loop of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import Any


class Once[T]:
    """A result that is there, or comes later: called with it, awaited for it.

    Only the first result counts.
    """

    def __init__(self) -> None:
        self._results: list[T] = []
        self._then: Callable[[T], None] | None = None

    def __call__(self, result: T) -> None:
        """It has come."""
        if not self._results:
            self._results.append(result)
            if self._then is not None:
                self._then(result)

    def then(self, call: Callable[[T], None]) -> None:
        """Have ``call`` called with it, now or later."""
        self._then = call
        if self._results:
            call(self._results[0])

    def __await__(self) -> Generator[Once[Any], None, T]:
        if not self._results:
            yield self
        return self._results[0]


class Alarm:
    """One call that is due later, or none."""

    def __init__(self, timer: Any) -> None:
        self._timer = timer
        self._call: Any = None

    @property
    def waits(self) -> bool:
        """Whether it is set, and has not rung yet."""
        return self._call is not None and bool(self._call.active())

    def set(self, seconds: float, call: Callable[..., object], *args: object) -> None:
        """Call that so many seconds from now, and nothing that was set before."""
        self.cancel()
        self._call = self._timer.callLater(seconds, call, *args)

    def cancel(self) -> None:
        """Call nothing any more."""
        if self.waits:
            self._call.cancel()
        self._call = None


class Routine[T]:
    """Drives one coroutine, which awaits nothing but :class:`Once`, from one result to the next.

    ``over`` is called with what it returns, ``failed`` with what it raises, and the error is raised
    on; neither once it was cancelled.
    """

    def __init__(
        self,
        coroutine: Coroutine[Once[Any], None, T],
        over: Callable[[T], None],
        failed: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        self._coroutine, self._over, self._failed = coroutine, over, failed
        self._running = self._cancelled = False

    def run(self, _: object = None) -> None:
        """Go on to where it has to wait, or to its end."""
        if self._cancelled:
            return
        self._running = True
        try:
            waiting = self._coroutine.send(None)
        except StopIteration as end:
            if not self._cancelled:
                self._over(end.value)
            return
        except Exception as error:
            if not self._cancelled:
                self._failed(error)
            raise
        finally:
            self._running = False
        if self._cancelled:
            self._coroutine.close()
        else:
            waiting.then(self.run)

    def cancel(self) -> None:
        """End it where it waits; if it is what calls this, where it would wait next."""
        self._cancelled = True
        if not self._running:
            self._coroutine.close()


class Inbox[T]:
    """What comes one by one, awaited in the order in which it came."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._waiting: Once[T] | None = None

    def put(self, item: T) -> None:
        """One more has come."""
        if self._waiting is None:
            self._items.append(item)
        else:
            waiting, self._waiting = self._waiting, None
            waiting(item)

    def next(self) -> Once[T]:
        """The next one, now or later."""
        found: Once[T] = Once()
        if self._items:
            found(self._items.popleft())
        else:
            self._waiting = found
        return found
