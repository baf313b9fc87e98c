"""What the agents share: one log, and what worker threads hand back, some of it a turn."""

from __future__ import annotations

import logging
import threading

import pytest

from keepsake.agent import agent_log
from keepsake.agent.services import Turns


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


def in_a_worker(work) -> None:
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()


@pytest.mark.parametrize("from_afar", [True, False])
def test_a_player_comes_in_between_two_functions(from_afar: bool):
    reactor, done = SlowReactor(), []
    turns = Turns(reactor, moment=0.0)

    def post() -> None:
        for number in range(3):
            turns.post(lambda number=number: done.append(number))

    if from_afar:
        in_a_worker(post)
        reactor.turn()  # they arrive
    else:
        post()
    assert done == [], "never within the call"
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


def test_short_ones_are_done_in_one_turn():
    reactor, done = SlowReactor(), []
    turns = Turns(reactor, moment=60.0)
    for number in range(3):
        turns.post(lambda number=number: done.append(number))
    reactor.turn()
    assert done == [0, 1, 2]
    turns.post(lambda: done.append("later"))
    reactor.turn()
    assert done == [0, 1, 2, "later"]


@pytest.mark.parametrize("moment", [0.0, 60.0])
def test_one_that_fails_does_not_stop_the_rest(moment: float):
    reactor, done = SlowReactor(), []
    turns = Turns(reactor, moment)
    turns.post(lambda: 1 / 0)
    turns.post(lambda: done.append("still here"))
    with pytest.raises(ZeroDivisionError):
        reactor.turn()
    reactor.turn()
    assert done == ["still here"]


@pytest.fixture
def untouched():
    logger = logging.getLogger("keepsake")
    before = list(logger.handlers), logger.level, logger.propagate
    yield
    for handler in logger.handlers:
        handler.close()
    logger.handlers[:], logger.level, logger.propagate = before


@pytest.mark.usefixtures("untouched")
def test_agents_and_models_write_into_one_log(tmp_path):
    path = tmp_path / "logs" / "agents.log"
    agent_log.open_log(path)
    agent_log.open_log(path)
    agent_log.log("[Memory] Mira: Starting compaction")
    logging.getLogger("keepsake.llm").info("[Model] The embedded model answers")
    lines = path.read_text().splitlines()
    assert [line.partition(" [")[2] for line in lines] == [
        "Memory] Mira: Starting compaction",
        "Model] The embedded model answers",
    ]
