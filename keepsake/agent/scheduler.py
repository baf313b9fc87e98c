"""The schedulers: calls on a Twisted clock, and the reactor's, which lets players in between."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, override

from twisted.internet.task import LoopingCall

from keepsake.logs import Subsystem, get_logger, logged
from keepsake.ports import Cancellable, Scheduler

log = get_logger(Subsystem.AGENTS)

SLICE_SECONDS = 0.004
"""How long the agents' work may block the reactor at a time; players notice some 20 ms."""


class ClockScheduler(ABC):
    """A :class:`keepsake.ports.Scheduler` on a Twisted clock; a subclass says how calls get there.

    Args:
        clock: Has ``seconds`` and ``callLater``: the reactor, or a ``Clock`` that is moved by hand.
    """

    def __init__(self, clock: Any) -> None:
        self.clock = clock

    def seconds(self) -> float:
        """Return the seconds of a monotonic clock; from any thread."""
        return float(self.clock.seconds())

    def later(self, delay: float, call: Callable[[], object]) -> Cancellable:
        """Call the function once after ``delay`` seconds; on the reactor thread."""
        return _DelayedCall(self.clock.callLater(delay, call))

    def every(self, interval: float, call: Callable[[], object]) -> Cancellable:
        """Call the function every ``interval`` seconds, even after an error, which is logged."""

        def guarded() -> None:
            with logged(log, "A repeated call failed"):
                call()

        loop = LoopingCall(guarded)
        loop.clock = self.clock
        loop.start(interval, now=False)
        return _RepeatedCall(loop)

    @abstractmethod
    def soon(self, call: Callable[[], object]) -> None:
        """Queue a call for the thread of the game's objects; from any thread."""


class ReactorScheduler(ClockScheduler):
    """Runs the agents' work on the reactor thread, in slices of a few milliseconds.

    Twisted runs everything passed to ``callFromThread`` before it reads players' input. This class
    yields to the reactor after :data:`SLICE_SECONDS`; 60 prompts would block it for 0.2 seconds.

    Args:
        reactor: Twisted's reactor.
    """

    def __init__(self, reactor: Any) -> None:
        super().__init__(reactor)
        self._waiting = deque[Callable[[], object]]()
        self._lock = threading.Lock()
        self._awake = False

    @override
    def soon(self, call: Callable[[], object]) -> None:
        with self._lock:
            self._waiting.append(call)
            asleep = not self._awake
            self._awake = True
        if asleep:
            self.clock.callFromThread(self._run)

    def _run(self) -> None:
        until = time.monotonic() + SLICE_SECONDS
        while time.monotonic() < until:
            with self._lock:
                self._awake = bool(self._waiting)
                if not self._awake:
                    return
                call = self._waiting.popleft()
            with logged(log, "A step of an agent failed"):
                call()
        self.clock.callLater(0, self._run)


class Alarm:
    """At most one call of a scheduler: setting it again replaces the call."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._call: Cancellable | None = None

    def set(self, delay: float, call: Callable[..., object], *args: object) -> None:
        """Call the function after ``delay`` seconds, instead of the call that was set before."""
        self.cancel()
        self._call = self._scheduler.later(delay, lambda: call(*args))

    def cancel(self) -> None:
        """Cancel the call, if there is one."""
        if self._call is not None:
            self._call.cancel()
        self._call = None


class _DelayedCall:
    """A call of Twisted's that may be cancelled at any time."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def cancel(self) -> None:
        if self._call.active():
            self._call.cancel()


class _RepeatedCall:
    """A loop of Twisted's that may be cancelled at any time."""

    def __init__(self, loop: LoopingCall) -> None:
        self._loop = loop

    def cancel(self) -> None:
        if self._loop.running:
            self._loop.stop()
