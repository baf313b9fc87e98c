"""Agents' work on the reactor thread is done in slices, so that players are served meanwhile."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from twisted.internet.defer import TimeoutError
from twisted.internet.task import Clock

from keepsake.agent.runtime import Runtime
from keepsake.agent.scheduler import SLICE_SECONDS, Alarm, ClockScheduler, ReactorScheduler


def test_work_runs_in_order_one_slice_per_turn_despite_errors() -> None:
    due = []
    done = []
    reactor = SimpleNamespace(callFromThread=due.append, callLater=lambda _, f: due.append(f))
    soon = ReactorScheduler(reactor).soon
    for number in range(3):
        soon(lambda: 1 / 0)
        soon(lambda number=number: (time.sleep(SLICE_SECONDS), done.append(number)))
    while due:
        before = len(done)
        due.pop(0)()
        assert len(done) <= before + 1  # the rest waits for the reactor's next turn
    assert done == [0, 1, 2]
    soon(lambda: done.append(3))
    due.pop()()
    assert done[-1] == 3


class Manual(ClockScheduler):
    """A scheduler whose calls a test runs."""

    def __init__(self):
        super().__init__(Clock())
        self.calls = []

    def soon(self, call):
        self.calls.append(call)


def test_a_call_runs_once_at_its_time_and_may_be_cancelled_at_any_time():
    scheduler = Manual()
    done = []
    kept = scheduler.later(2.0, lambda: done.append(scheduler.seconds()))
    scheduler.later(1.0, lambda: done.append("cancelled")).cancel()
    scheduler.clock.pump([1.0] * 3)
    kept.cancel()
    assert done == [2.0]


def test_a_repeated_call_goes_on_after_an_error_which_is_logged(logged):
    scheduler = Manual()
    done = []

    def call():
        done.append(scheduler.seconds())
        if len(done) == 1:
            raise ValueError("odd")

    loop = scheduler.every(2.0, call)
    scheduler.clock.pump([1.0] * 5)
    loop.cancel()
    loop.cancel()
    scheduler.clock.advance(10.0)
    assert done == [2.0, 4.0]
    assert logged.having("ERROR agents A repeated call failed", "ValueError: odd")


def test_an_alarm_replaces_its_call():
    scheduler = Manual()
    done = []
    alarm = Alarm(scheduler)
    alarm.set(1.0, done.append, "first")
    alarm.set(2.0, done.append, "second")
    scheduler.clock.pump([1.0] * 3)
    alarm.cancel()
    assert done == ["second"]


def test_the_result_of_a_thread_comes_in_time_or_not_at_all():
    scheduler = Manual()
    pool = ThreadPoolExecutor(1)
    services = SimpleNamespace(scheduler=scheduler, post=scheduler.soon, workers=pool)
    gate = threading.Event()
    found = []
    slow = Runtime.in_thread(services, gate.wait, 5.0)
    slow.addErrback(lambda failure: found.append(failure.type))
    scheduler.clock.advance(5.0)
    assert found == [TimeoutError]
    gate.set()
    quick = Runtime.in_thread(services, lambda: 7, 5.0)
    quick.addCallback(found.append)
    pool.shutdown()
    for call in scheduler.calls:
        call()
    assert found == [TimeoutError, 7]
    assert scheduler.clock.getDelayedCalls() == []
