"""Threads that are kept for the next call, and that end when none comes."""

from __future__ import annotations

import threading
from queue import SimpleQueue

import pytest

from keepsake.models import daemon_threads
from keepsake.models.daemon_threads import DaemonThreads
from tests.llm.conftest import until


def named(name: str) -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == name]


def ran(threads: DaemonThreads) -> threading.Thread:
    """Have something done, and give the thread that did it."""
    found: SimpleQueue[threading.Thread] = SimpleQueue()
    threads.run(lambda: found.put(threading.current_thread()))
    return found.get(timeout=60)


def test_a_thread_that_has_nothing_to_do_takes_the_next_call(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(daemon_threads, "IDLE_SECONDS", 600.0)
    threads = DaemonThreads("kept-for-more")
    first = ran(threads)
    until(lambda: threads.idle == 1)
    assert ran(threads) is first
    assert len(named("kept-for-more")) == 1


def test_nobody_waits_behind_a_call_that_hangs():
    threads, release, done = DaemonThreads("hangs"), threading.Event(), threading.Event()
    threads.run(lambda: release.wait(60) and None)
    threads.run(done.set)
    assert done.wait(60)
    assert all(each.daemon for each in named("hangs")), "no end of the process waits for them"
    release.set()


def test_it_ends_when_nothing_comes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(daemon_threads, "IDLE_SECONDS", 0.05)
    threads = DaemonThreads("ends-soon")
    first = ran(threads)
    first.join(60)
    assert not first.is_alive()
    assert threads.idle == 0
    assert ran(threads) is not first, "and another one takes what comes then"
