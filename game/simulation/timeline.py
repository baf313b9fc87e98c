"""Simulated time: it stands still while anything is at work, and then jumps to what is next.

The game runs in one thread. What it hands to worker threads is queued and runs when its turn comes.
Only calls to models have threads, and their answers are taken in the order in which the calls were
begun. So what happens depends on what was asked for, and not on the machine.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from queue import SimpleQueue
from random import Random
from typing import Any

from twisted.internet.task import Clock as Timer

from keepsake.agent import runtime
from keepsake.agent.agent_log import log
from keepsake.errors import ModelUnavailable
from keepsake.events.log import Subscribers
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import AGENT, NO_MODEL, SCRIPTED, Profiles
from keepsake.paths import Places
from keepsake.recall.service import IndexService

type _Call = Callable[[], Any]

_log = logging.getLogger("keepsake.lab")
_MOST_CALLS = 64


class Timeline:
    """The time of a simulation, and all that goes on in it.

    Args:
        start: Its first moment, with time zone.

    Attributes:
        timer: Seconds since the start; has ``callLater`` as the reactor has.
        between: Called between two moments; False ends the run.
        workers: An executor for everything that blocks; its work runs one piece at a time.
        models: An executor for calls to models, which run beside each other.
    """

    def __init__(self, start: datetime) -> None:
        self.timer = Timer()
        self.between: Callable[[], bool] = lambda: True
        self.workers = _Queue(lambda future, call: self._work.append((future, call)))
        self.models = _Queue(self._ask)
        self._start = start
        self._posts = SimpleQueue[_Call]()
        self._work = deque[tuple[Future[Any], _Call]]()
        self._asked = deque[tuple[Future[Any], Future[Any]]]()  # who is told; how the call ends
        self._threads = ThreadPoolExecutor(_MOST_CALLS, thread_name_prefix="model")

    def now(self) -> datetime:
        """The present time."""
        return self._start + timedelta(seconds=self.timer.seconds())

    def post(self, function: _Call) -> None:
        """Have ``function`` run soon; from any thread."""
        self._posts.put(function)

    def run_until(self, seconds: float) -> None:
        """Let everything happen up to that second of the timer."""
        self.settle()
        while (due := self._due()) is not None and due <= seconds:
            # Set and not added up: what falls due at one moment must find that very moment.
            self.timer.rightNow = max(due, self.timer.rightNow)
            self._guarded(lambda: self.timer.advance(0))
            self.settle()
            if not self.between():
                return
        self.timer.rightNow = max(seconds, self.timer.rightNow)

    def _due(self) -> float | None:
        ahead: Sequence[Any] = self.timer.getDelayedCalls()  # in the order of their times
        return float(ahead[0].getTime()) if ahead else None

    def settle(self) -> None:
        """Let all that is at work come to its end; no time passes."""
        while self.step():
            pass

    def step(self, *, work: bool = True) -> bool:
        """Do one thing; without ``work`` only what the answer to a model's call depends on.

        Returns:
            False if there is nothing to do until time goes on.
        """
        if not self._posts.empty():
            self._guarded(self._posts.get())
        elif work and self._work:
            _settle(*self._work.popleft())
        elif self._asked and self._asked[0][1].done():
            told, ended = self._asked.popleft()
            self._guarded(lambda: _settle(told, ended.result))
        elif self._asked:
            self._guarded(self._posts.get())  # comes at the end of a call at the latest
        else:
            return False
        return True

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ask(self, told: Future[Any], call: _Call) -> None:
        ended = self._threads.submit(call)
        self._asked.append((told, ended))
        ended.add_done_callback(lambda _: self.post(lambda: None))

    def _guarded(self, function: _Call) -> None:
        try:
            function()
        except Exception as error:
            # As on the reactor: what one of them does wrong must not end all the others.
            _log.error("[Error] The simulation: something broke off: %r", error, exc_info=error)


class _Queue(Executor):
    """An executor that only hands work over."""

    def __init__(self, take: Callable[[Future[Any], _Call], None]) -> None:
        self._take = take

    def submit[**P, T](self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Take a piece of work; see :class:`concurrent.futures.Executor`."""
        future = Future[T]()
        self._take(future, partial(fn, *args, **kwargs))
        return future


def _settle(future: Future[Any], call: _Call) -> None:
    """Have the future get what a call returns or raises."""
    if future.set_running_or_notify_cancel():
        try:
            result = call()
        except BaseException as error:  # the future has it, as in any executor
            future.set_exception(error)
        else:
            future.set_result(result)


# -- what agents run on


def start_on(
    timeline: Timeline, seed: str, places: Places, subscribers: Subscribers
) -> runtime.Runtime:
    """Start what the agents of a simulation run on."""
    return runtime.start(
        places,
        timeline.timer,
        timeline.post,
        subscribers,
        clock=timeline,
        random=Random(seed),
        workers=timeline.workers,
        compactions=timeline.workers,
        nights=timeline.workers,
        gateway=lambda *what: TimelineGateway(timeline, *what),
        indexes=lambda places, chroma, embedder: TimelineIndexes(places, chroma, embedder, log),
    )


class TimelineGateway(Gateway):
    """The way to the models, on a timeline: whoever waits for an answer lets the others on."""

    def __init__(
        self, timeline: Timeline, profiles: Profiles, places: Places, changed: runtime.Changed
    ) -> None:
        super().__init__(
            profiles,
            places,
            timeline.post,
            changed=changed,
            executor=timeline.models,
            clock=timeline.timer.seconds,
        )
        self._timeline = timeline

    def start(self) -> None:
        """Start what has to run; where no server is asked, nobody looks after one."""
        used = {profile.provider for profile in self.profiles.current.values()}
        if self.profiles.get(AGENT).provider != SCRIPTED or not used <= {SCRIPTED, NO_MODEL}:
            super().start()
            # Here, and not when the watcher comes to it: prompts depend on what a server takes.
            self.look()
        self._owner = 0  # there is but one thread, which may wait

    def _came(self, future: Future[Any]) -> bool:
        """Whether the result is there; meanwhile the calls to models go on."""
        if not (future.done() or self._closed or self._timeline.step(work=False)):
            raise ModelUnavailable("No model is at work on the call", "Ask again")
        return future.done()


class TimelineIndexes(IndexService):
    """The recall indexes on a timeline: words are indexed by who searches, in its turn."""

    def start(self) -> None:
        """Nothing runs beside the timeline."""
