"""Simulated time: it stands still while anything is at work, and then jumps to what is next.

Everything that the game hands to threads is run one piece at a time, in the order in which it
was handed over; only calls to models run beside each other, and their answers are taken in the
order in which the calls were begun. So what happens depends on nothing but what was asked for:
not on the machine, nor on how its threads are scheduled.

The owner, the thread that runs the timeline (:meth:`Timeline.run_until`), replaces the reactor
thread. A piece of work has a thread of its own, but the owner waits for it, until it is done or
waits for a model (:meth:`Timeline.asking`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from twisted.internet.task import Clock as Timer

_MOST_CALLS = 64


class Timeline:
    """The time of a simulation, from a moment with time zone, and all that goes on in it.

    ``broken`` is told of an exception that nobody else hears of.

    Attributes:
        timer: Seconds since the start; has ``callLater`` as the reactor has.
        between: Called by the owner between two moments; what it raises ends the run.
    """

    def __init__(self, start: datetime, broken: Callable[[Exception], None]) -> None:
        self.timer = Timer()
        self.between: Callable[[], None] = lambda: None
        self._start, self._broken = start, broken
        self._changed = threading.Condition()
        self._posts: deque[Callable[[], None]] = deque()
        self._work: deque[_Work | Asker] = deque()
        self._calls: deque[tuple[Future[Any], Future[Any]]] = deque()  # how one ends; who is told
        self._askers: list[Asker] = []
        self._present: _Work | None = None
        self._models = ThreadPoolExecutor(_MOST_CALLS, thread_name_prefix="model")

    # -- what the game sees of it

    def now(self) -> datetime:
        """The present time."""
        return self._start + timedelta(seconds=self.timer.seconds())

    def post(self, function: Callable[[], None]) -> None:
        """Have the owner run ``function`` soon; from any thread."""
        with self._changed:
            self._posts.append(function)
            self._changed.notify_all()

    def workers(self) -> Executor:
        """Threads of which one is at work at a time, with all others of this timeline."""
        return _Workers(self._take_work)

    def models(self) -> Executor:
        """Threads for calls to models, which go on beside each other."""
        return _Workers(self._take_call)

    @contextmanager
    def asking(self) -> Iterator[Asker]:
        """In a worker thread: let the others go on while a model is waited for.

        What is handed out is to be told once there is an answer (:meth:`Asker.answered`).
        """
        asker = Asker(self._present)
        with self._changed:
            self._askers.append(asker)
            if asker.work is not None:
                asker.work.askers += 1
            self._changed.notify_all()
        try:
            yield asker
        finally:
            self._come_back(asker)

    # -- for the owner

    def run_until(self, seconds: float) -> None:
        """Let everything happen up to that second of the timer."""
        self.settle()
        while (at := self._next_at()) is not None and at <= seconds:
            # Set and not added up: what falls due at one moment must find that very moment.
            self.timer.rightNow = max(at, self.timer.rightNow)
            self._guarded(lambda: self.timer.advance(0))
            self.settle()
            self.between()
        self.timer.rightNow = max(seconds, self.timer.rightNow)

    def settle(self) -> None:
        """Let all that is at work come to its end; no time passes."""
        while self._step():
            pass

    def _next_at(self) -> float | None:
        ahead: Sequence[Any] = self.timer.getDelayedCalls()  # in the order of their times
        return float(ahead[0].getTime()) if ahead else None

    def close(self) -> None:
        """Let go of the threads."""
        self._models.shutdown(wait=False, cancel_futures=True)

    def _step(self) -> bool:
        """Do one thing; False if there is nothing to do until time goes on."""
        if (asker := self._answered()) is not None:
            self._let_on(asker)
        elif self._posts:
            self._guarded(self._posts.popleft())
        elif self._work:
            self._let_on(self._work.popleft())
        elif self._calls:
            self._take_answer()
        elif self._askers:
            with self._changed:  # nobody has taken up what they ask for yet, or it goes on
                self._changed.wait_for(lambda: self._posts or self._work or self._answered())
        else:
            return False
        return True

    def _answered(self) -> Asker | None:
        return next((each for each in self._askers if each.has_answer), None)

    def _take_answer(self) -> None:
        """Wait for the call that was begun first, unless something else comes up before."""
        ended, told = self._calls[0]
        with self._changed:
            self._changed.wait_for(lambda: ended.done() or self._posts or self._work)
        if ended.done() and not self._posts and not self._work:
            self._calls.popleft()
            self._guarded(lambda: _tell(ended, told))

    def _let_on(self, what: _Work | Asker) -> None:
        """Give a piece of work its turn, and wait until it gives it back."""
        work = what if isinstance(what, _Work) else what.work
        if isinstance(what, Asker):
            with self._changed:
                self._changed.wait_for(lambda: what.back)
                self._askers.remove(what)
                if work is not None:
                    work.askers -= 1
        if work is None:
            what.turn.set()  # a thread that nobody here has started
            return
        self._present = work
        what.turn.set()
        with self._changed:
            self._changed.wait_for(lambda: work.done or work.askers)
        self._present = None

    def _guarded(self, function: Callable[[], Any]) -> None:
        try:
            function()
        except Exception as error:
            # As on the reactor: what one of them does wrong must not end all the others.
            self._broken(error)

    # -- from all threads

    def _take_work(self, work: _Work) -> None:
        threading.Thread(target=work.run, args=(self._notify,), name="work", daemon=True).start()
        with self._changed:
            self._work.append(work)
            self._changed.notify_all()

    def _take_call(self, work: _Work) -> None:
        ended = self._models.submit(work.function)
        with self._changed:
            self._calls.append((ended, work.future))
            self._changed.notify_all()
        ended.add_done_callback(lambda _: self._notify())

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _come_back(self, asker: Asker) -> None:
        with self._changed:
            asker.back = asker.has_answer = True
            self._changed.notify_all()
        asker.turn.wait()


class _Work:
    """A piece of work, and whether its turn has come."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.future: Future[Any] = Future()
        self.turn = threading.Event()
        self.done = False
        self.askers = 0

    def run(self, over: Callable[[], None]) -> None:
        """In its own thread: do it once its turn has come."""
        self.turn.wait()
        if self.future.set_running_or_notify_cancel():
            try:
                result = self.function()
            except BaseException as error:  # the future has it, as in any executor
                self.future.set_exception(error)
            else:
                self.future.set_result(result)
        self.done = True
        over()


class Asker:
    """A thread that waits for a model."""

    def __init__(self, work: _Work | None) -> None:
        self.work = work
        self.turn = threading.Event()
        self.has_answer = self.back = False

    def answered(self) -> None:
        """On the owner's thread: the answer is there, so nothing else happens before it goes on."""
        self.has_answer = True


def _tell(ended: Future[Any], told: Future[Any]) -> None:
    """Pass on how a call to a model ended; the waiting side is called back."""
    if not told.set_running_or_notify_cancel():
        return
    if (error := ended.exception()) is not None:
        told.set_exception(error)
    else:
        told.set_result(ended.result())


class _Workers(Executor):
    """An executor whose work is done by a timeline."""

    def __init__(self, take: Callable[[_Work], None]) -> None:
        self._take = take
        self._closed = False

    def submit[**P, T](self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Take a piece of work; see :class:`concurrent.futures.Executor`."""
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        work = _Work(lambda: fn(*args, **kwargs))
        self._take(work)
        return work.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more."""
        self._closed = True
