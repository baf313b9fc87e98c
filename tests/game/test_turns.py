"""What worker threads hand back runs in order, one function a turn of the reactor."""

from __future__ import annotations

import pytest

from game.agent.services import Turns


class SlowReactor:
    """Twisted's reactor as far as it matters here: each turn runs what was due before it."""

    def __init__(self) -> None:
        self._due = []

    def callFromThread(self, function, *arguments):  # noqa: N802 - Twisted's name
        self._due.append(lambda: function(*arguments))

    def callLater(self, seconds, function):  # noqa: N802 - Twisted's name
        assert seconds == 0
        self._due.append(function)

    def turn(self) -> None:
        due, self._due = self._due, []
        for function in due:
            function()


def test_a_player_comes_in_between_two_functions():
    reactor, done = SlowReactor(), []
    turns = Turns(reactor)
    for number in range(3):
        turns.post(lambda number=number: done.append(number))
    reactor.turn()  # they arrive
    seen = []
    for _ in range(4):
        reactor.turn()
        seen.append(list(done))
    assert seen == [[0], [0, 1], [0, 1, 2], [0, 1, 2]]


def test_a_function_may_post_another():
    reactor, done = SlowReactor(), []
    turns = Turns(reactor)
    turns.post(lambda: (done.append("first"), turns.post(lambda: done.append("second"))))
    for _ in range(5):
        reactor.turn()
    assert done == ["first", "second"]


def test_one_that_fails_does_not_stop_the_rest():
    reactor, done = SlowReactor(), []
    turns = Turns(reactor)
    turns.post(lambda: 1 / 0)
    turns.post(lambda: done.append("still here"))
    reactor.turn()
    with pytest.raises(ZeroDivisionError):
        reactor.turn()
    reactor.turn()
    assert done == ["still here"]
