"""Simulated time: it stands still while anything is at work, and then jumps to what is next.

Everything runs in one thread, calls to models too, and what is handed to worker threads waits for
its turn. So what happens depends on what was asked for, and not on the machine.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from datetime import datetime, timedelta
from typing import Any, override

from twisted.internet.task import Clock as Timer

from keepsake.agent.runtime import Changed
from keepsake.errors import ModelUnavailable
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import NO_MODEL, SCRIPTED, Profiles
from keepsake.paths import Places

_log = logging.getLogger("keepsake.lab")


class Timeline:
    """The time of a simulation, and all that goes on in it.

    Args:
        start: Its first moment, with time zone.

    Attributes:
        timer: Seconds since the start; has ``callLater`` as the reactor has.
        workers: An executor for everything that blocks.
        models: An executor for calls to models; they wait until the workers are done.
    """

    def __init__(self, start: datetime) -> None:
        self.timer: Any = Timer()
        self.workers, self.models = WorkQueue(), WorkQueue()
        self._start = start
        self._posts = deque[Callable[[], object]]()
        self.post = self._posts.append
        """Have a function run soon; from any thread."""

    def now(self) -> datetime:
        """The present time."""
        return self._start + timedelta(seconds=self.timer.seconds())

    def run_until(self, seconds: float, between: Callable[[], bool]) -> None:
        """Let everything happen up to that second of the timer.

        Args:
            between: Called between two moments; False ends the run.
        """
        self.settle()
        while (ahead := self.timer.getDelayedCalls()) and (due := ahead[0].getTime()) <= seconds:
            # Set and not added up: what falls due at one moment must find that very moment.
            self.timer.rightNow = max(due, self.timer.rightNow)
            _guarded(lambda: self.timer.advance(0))
            self.settle()
            if not between():
                return
        self.timer.rightNow = max(seconds, self.timer.rightNow)

    def settle(self) -> None:
        """Let all that is at work come to its end; no time passes."""
        while self.step():
            pass

    def step(self, *, work: bool = True) -> bool:
        """Do one thing; without ``work`` only what the answer to a model's call depends on.

        Returns:
            False if there is nothing to do until time goes on.
        """
        queue = self._posts or (work and self.workers.calls) or self.models.calls
        if queue:
            _guarded(queue.popleft())
            return True
        return False


class WorkQueue(Executor):
    """An executor that keeps what it is given, for :meth:`Timeline.step` to call.

    Attributes:
        calls: What waits, the oldest first.
    """

    def __init__(self) -> None:
        self.calls = deque[Callable[[], object]]()

    def submit[**P, T](self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Take a piece of work; see :class:`concurrent.futures.Executor`."""
        future = Future[T]()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:  # the future has it, as in any executor
                    future.set_exception(error)

        self.calls.append(run)
        return future


def _guarded(function: Callable[[], object]) -> None:
    try:
        function()
    except Exception as error:
        # As on the reactor: what one of them does wrong must not end all the others.
        _log.error("[Error] The simulation: something broke off: %r", error, exc_info=error)


class TimelineGateway(Gateway):
    """The gateway to the models in a simulation: a call for an answer lets other events run."""

    def __init__(
        self, timeline: Timeline, profiles: Profiles, places: Places, changed: Changed
    ) -> None:
        post, clock = timeline.post, timeline.timer.seconds
        super().__init__(
            profiles, places, post, changed=changed, executor=timeline.models, clock=clock
        )
        self._timeline = timeline

    def start(self) -> None:
        """Start what has to run; where no server is asked, nobody looks after one."""
        used = {profile.provider for profile in self.profiles.current.values()}
        if not used <= {SCRIPTED, NO_MODEL}:
            super().start()
            # Here, and not when the watcher comes to it: prompts depend on what a server takes.
            self.check_health()
        self._owner = 0  # there is but one thread, which may wait

    @override
    def _has_come(self, future: Future[Any]) -> bool:
        """Return whether the result is there; meanwhile let calls to models run."""
        if not (future.done() or self._closed or self._timeline.step(work=False)):
            raise ModelUnavailable("No model is at work on the call", "Ask again")
        return future.done()
