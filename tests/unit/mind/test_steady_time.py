"""A clock that is put forward and back delays no call."""

from __future__ import annotations

import time

import pytest
from twisted.internet.selectreactor import SelectReactor
from twisted.internet.task import LoopingCall

from game.server.steady_time import use_steady_time

TWO_YEARS = 2 * 365 * 86400.0


def test_calls_come_after_a_wrong_clock_was_put_back(monkeypatch: pytest.MonkeyPatch):
    reactor = SelectReactor()
    came: list[str] = []
    reactor.callLater(0.01, came.append, "planned before")
    use_steady_time(reactor)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + TWO_YEARS)
    reactor.callLater(0.01, came.append, "planned while the clock was ahead")
    ticking = LoopingCall(came.append, "tick")
    ticking.clock = reactor
    ticking.start(0.01)
    monkeypatch.setattr(time, "time", lambda: now)
    deadline = time.monotonic() + 30
    while len(set(came)) < 3 or came.count("tick") < 3:
        assert time.monotonic() < deadline, came
        reactor.runUntilCurrent()
        time.sleep(0.01)
    ticking.stop()
