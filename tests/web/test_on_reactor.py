"""Asking the reactor thread from a view's: with a real reactor, in a process of its own."""

import subprocess
import sys
import textwrap

from game.paths import REPOSITORY
from game.web.api.on_reactor import on_reactor

_RUN = """
import threading, time
from twisted.internet import reactor
from twisted.python.threadable import isInIOThread
from game.web.api.on_reactor import WorldBusy, on_reactor

def ask():
    try:
        {asked}
    finally:
        reactor.callFromThread(reactor.stop)

reactor.callWhenRunning(lambda: threading.Thread(target=ask).start())
reactor.run(installSignalHandlers=False)
"""


def said(asked: str) -> list[str]:
    """What a thread prints that asks so."""
    code = _RUN.format(asked=textwrap.indent(textwrap.dedent(asked), " " * 8).strip())
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def test_it_is_run_there_and_its_answer_comes_back():
    assert said("print(isInIOThread(), on_reactor(lambda: (isInIOThread(), 7)[1]))") == [
        "False",
        "7",
    ]
    assert said("print(on_reactor(isInIOThread))") == ["True"]


def test_what_it_raises_is_raised():
    asked = """
    try:
        on_reactor(lambda: 1 / 0)
    except ZeroDivisionError:
        print("raised")
    """
    assert said(asked) == ["raised"]


def test_a_reactor_that_is_busy_is_given_up_and_does_it_no_more():
    asked = """
    gate, done = threading.Event(), []
    reactor.callFromThread(gate.wait)
    try:
        on_reactor(lambda: done.append(1), seconds=0.2)
    except WorldBusy as error:
        print("busy")
    gate.set()
    on_reactor(lambda: None)
    print(len(done))
    """
    assert said(asked) == ["busy", "0"]


def test_what_has_begun_is_waited_for():
    asked = """
    begun = threading.Event()
    def slowly():
        begun.set()
        time.sleep(1)
        return "done"
    print(on_reactor(slowly, seconds=0.5))
    """
    assert said(asked) == ["done"]


def test_asked_from_the_reactor_itself_it_is_run_at_once():
    assert said("print(on_reactor(lambda: on_reactor(lambda: 5)))") == ["5"]


def test_without_a_reactor_it_is_run_at_once():
    assert on_reactor(lambda: 3) == 3
