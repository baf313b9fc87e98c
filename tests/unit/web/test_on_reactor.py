"""Asking the reactor thread from a view's: with a real reactor, in a process of its own."""

import json
import subprocess
import sys

from keepsake.paths import REPOSITORY

_RUN = """
import json, threading, time
from twisted.internet import reactor
from twisted.python.threadable import isInIOThread
from keepsake.web.on_reactor import WorldBusy, on_reactor

def raised():
    try:
        on_reactor(lambda: 1 / 0)
    except ZeroDivisionError:
        return True

def busy():
    gate, done = threading.Event(), []
    reactor.callFromThread(gate.wait)
    try:
        on_reactor(lambda: done.append(1), seconds=0.2)
    except WorldBusy:
        gate.set()
        on_reactor(lambda: None)
        return len(done)

def slow():
    begun = threading.Event()
    def slowly():
        begun.set()
        time.sleep(1)
        return "done"
    return on_reactor(slowly, seconds=0.5)

def ask():
    try:
        print(json.dumps({
            "here": isInIOThread(),
            "there": on_reactor(isInIOThread),
            "answer": on_reactor(lambda: 7),
            "nested": on_reactor(lambda: on_reactor(lambda: 5)),
            "raised": raised(),
            "busy": busy(),
            "slow": slow(),
        }))
    finally:
        reactor.callFromThread(reactor.stop)

reactor.callWhenRunning(lambda: threading.Thread(target=ask).start())
reactor.run(installSignalHandlers=False)
"""


def test_it_is_run_there_and_its_answer_comes_back():
    ran = subprocess.run(
        [sys.executable, "-c", _RUN], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout) == {
        "here": False,
        "there": True,
        "answer": 7,
        "nested": 5,  # asked from the reactor itself it is run at once
        "raised": True,
        "busy": 0,  # given up, and then never done
        "slow": "done",  # what has begun is waited for
    }
