"""Simulated time: it stands still while work is pending, then jumps to the next scheduled call.

Everything runs in one thread: calls to models, and what a running game hands to worker threads,
wait in queues. So events depend only on the plan and the seed, not on the machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from datetime import datetime, timedelta
from typing import Any, override

from twisted.internet.task import Clock as Timer

from keepsake.agent.runtime import Changed
from keepsake.agent.scheduler import ClockScheduler
from keepsake.errors import ModelUnavailable
from keepsake.logs import Subsystem, get_logger
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import NO_MODEL, SCRIPTED, Profiles
from keepsake.paths import Places

log = get_logger(Subsystem.SIMULATION)


class Timeline(ClockScheduler):
    """The :class:`keepsake.ports.Scheduler` of a simulation: its clock and its queues.

    Args:
        start: The first moment, with time zone.

    Attributes:
        workers: An executor for all other blocking calls.
        models: An executor for calls to models, which run when ``workers`` has none left.
    """

    def __init__(self, start: datetime) -> None:
        super().__init__(Timer())
        self.workers = WorkQueue()
        self.models = WorkQueue()
        self._start = start
        self._posts = deque[Callable[[], object]]()

    def now(self) -> datetime:
        """Return the simulated time."""
        return self._start + timedelta(seconds=self.seconds())

    @override
    def soon(self, call: Callable[[], object]) -> None:
        self._posts.append(call)

    def run_until(self, seconds: float, after_moment: Callable[[], bool]) -> None:
        """Run everything that is scheduled up to a second of the timer.

        Args:
            after_moment: Called after each moment; the run ends if it returns False.
        """
        self.settle()
        while (ahead := self.clock.getDelayedCalls()) and (due := ahead[0].getTime()) <= seconds:
            # Set, not added: calls due at one moment must all see exactly that time.
            self.clock.rightNow = max(due, self.clock.rightNow)
            _guarded(lambda: self.clock.advance(0))
            self.settle()
            if not after_moment():
                return
        self.clock.rightNow = max(seconds, self.clock.rightNow)

    def settle(self) -> None:
        """Run all queued calls; no simulated time passes."""
        while self.step():
            pass

    def step(self, *, work: bool = True) -> bool:
        """Run one queued call; without ``work`` none of ``workers``, which no model's answer needs.

        Returns:
            False if the queues are empty.
        """
        queue = self._posts or (work and self.workers.calls) or self.models.calls
        if queue:
            _guarded(queue.popleft())
            return True
        return False


class WorkQueue(Executor):
    """An executor that queues calls, for :meth:`Timeline.step` to run.

    Attributes:
        calls: The queued calls, the oldest first.
    """

    def __init__(self) -> None:
        self.calls = deque[Callable[[], object]]()

    def submit[**P, T](self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a call; see :class:`concurrent.futures.Executor`."""
        future = Future[T]()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:  # the future holds it, as in any executor
                    future.set_exception(error)

        self.calls.append(run)
        return future


def _guarded(function: Callable[[], object]) -> None:
    try:
        function()
    except Exception as error:
        # As on the reactor: an error in one call must not end the others.
        log.error("A call failed", exc_info=error)


class TimelineGateway(Gateway):
    """The gateway to the models in a simulation. While it waits, it runs queued calls."""

    def __init__(
        self, timeline: Timeline, profiles: Profiles, places: Places, changed: Changed
    ) -> None:
        post = timeline.soon
        clock = timeline.seconds
        super().__init__(
            profiles, places, post, changed=changed, executor=timeline.models, clock=clock
        )
        self._timeline = timeline

    def start(self) -> None:
        """Start the gateway. Servers are monitored only if a profile uses one."""
        used = {profile.provider for profile in self.profiles.current.values()}
        if not used <= {SCRIPTED, NO_MODEL}:
            super().start()
            # At once, not when the monitor gets to it: prompts depend on the server's capabilities.
            self.check_health()
        self._owner = 0  # the only thread may wait

    @override
    def _has_come(self, future: Future[Any]) -> bool:
        """Run one queued call if the result is missing; return whether it is there."""
        if not (future.done() or self._closed or self._timeline.step(work=False)):
            raise ModelUnavailable("No model is working on this call", "Try again")
        return future.done()
