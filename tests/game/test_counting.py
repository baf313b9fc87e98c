"""Uncounted texts go to a worker thread, at most once a second, whatever the counter does."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest
from twisted.internet.task import Clock

from keepsake.agent.counting import BATCH, LONGEST_WAIT, SMALLEST_BATCH, Counting
from keepsake.errors import ConfigError
from keepsake.prompt.tokens import HEURISTIC, MODEL_SERVER, Heuristic, TokenLedger


class Worker(Executor):
    """A thread that works when it is told to."""

    def __init__(self) -> None:
        self.jobs: list[Callable[[], None]] = []
        self.ended = False

    def submit(self, work, /, *arguments):
        if self.ended:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future = Future()

        def run() -> None:
            try:
                future.set_result(work(*arguments))
            except BaseException as error:  # as a real executor hands it over
                future.set_exception(error)

        self.jobs.append(run)
        return future

    def run(self) -> int:
        """Do all that waits; how many jobs it was."""
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            job()
        return len(jobs)


class Counter:
    """Counts letters, if it can."""

    def __init__(self) -> None:
        self.model: str = "first"
        self.source: str | None = MODEL_SERVER
        self.fails = False
        self.seen: list[list[str]] = []

    def count(self, texts: Sequence[str]) -> tuple[list[int], str] | None:
        self.seen.append(list(texts))
        if self.fails:
            raise ZeroDivisionError("it broke")
        return ([len(text) for text in texts], self.source) if self.source else None


class Scene:
    def __init__(self) -> None:
        self.ledger, self.counter = TokenLedger(Heuristic()), Counter()
        self.worker, self.clock = Worker(), Clock()
        self.counting = Counting(self.ledger, self.counter, self.worker, self.clock)
        self.counting.start()

    def second(self, seconds: int = 1) -> int:
        """Let time pass with a worker that keeps up; how many jobs there were."""
        done = 0
        for _ in range(seconds):
            self.clock.advance(1)
            done += self.worker.run()
        return done


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_text_is_counted_with_its_line_end_and_only_once(scene: Scene):
    scene.ledger.of("Good day")
    assert scene.second(5) == 1
    assert scene.counter.seen == [["Good day\n"]]
    assert scene.ledger.of("Good day") == 9
    assert scene.ledger.source == MODEL_SERVER


def test_one_job_at_a_time_and_none_when_all_is_counted(scene: Scene):
    assert scene.second(10) == 0
    scene.ledger.of("one")
    scene.clock.advance(1)
    scene.ledger.of("two")
    scene.clock.advance(1)
    scene.clock.advance(1)
    assert len(scene.worker.jobs) == 1
    scene.worker.run()
    assert scene.ledger.waiting == 0


def test_many_texts_go_in_batches_the_newest_first(scene: Scene):
    for number in range(BATCH + 10):
        scene.ledger.of(f"line {number}")
    assert scene.second() == 1
    assert scene.ledger.waiting == 10
    assert scene.counter.seen[0][0] == f"line {BATCH + 9}\n"
    assert scene.second() == 1
    assert scene.ledger.waiting == 0


def test_a_counter_that_cannot_is_asked_less_and_less_often(scene: Scene):
    scene.counter.source = None
    scene.ledger.of("Good day")
    assert scene.second(1000) < 25
    assert scene.ledger.source == HEURISTIC
    scene.counter.source = "another"
    assert scene.second(LONGEST_WAIT + 1) == 1
    assert scene.ledger.source == "another"
    scene.ledger.of("Good night")
    assert scene.second() == 1, "once it can, it is asked every second again"


def test_a_batch_that_is_too_much_for_the_server_shrinks_and_grows_again(scene: Scene):
    for number in range(3 * BATCH):
        scene.ledger.of(f"line {number}")
    scene.counter.source = None
    scene.second(40)
    sizes = [len(texts) for texts in scene.counter.seen]
    assert sizes[:3] == [BATCH, BATCH // 2, BATCH // 4]
    assert min(sizes) == SMALLEST_BATCH
    scene.counter.source = MODEL_SERVER
    scene.second(LONGEST_WAIT + 60)
    assert scene.ledger.waiting == 0
    assert BATCH in [len(texts) for texts in scene.counter.seen[len(sizes) :]]


def test_a_counter_that_breaks_is_logged_and_asked_again(scene: Scene, caplog):
    logging.getLogger("keepsake").propagate = True
    scene.counter.fails = True
    scene.ledger.of("Good day")
    with caplog.at_level(logging.INFO, "keepsake.agents"):
        assert scene.second() == 1
    assert "it broke" in caplog.text
    scene.counter.fails = False
    scene.second(3)
    assert scene.ledger.of("Good day") == 9


def test_another_model_makes_the_counts_worthless_and_they_are_made_anew(scene: Scene):
    scene.ledger.of("Good day")
    scene.second()
    scene.counter.model = "second"
    scene.clock.advance(1)
    assert scene.ledger.source == HEURISTIC
    scene.counter.model = "third"  # while they are made: they come too late
    scene.clock.advance(1)
    scene.worker.run()
    assert scene.ledger.source == HEURISTIC
    scene.counter.source = None
    scene.second(200)
    scene.counter.model, scene.counter.source = "fourth", MODEL_SERVER
    assert scene.second() == 1, "another one is asked at once"
    assert scene.ledger.of("Good day") == 9


def test_a_profile_that_is_gone_ends_nothing(scene: Scene, monkeypatch):
    def gone(_):
        raise ConfigError(Path("llm.md"), 0, "there is no profile 'agent'")

    with monkeypatch.context() as patched:
        patched.setattr(Counter, "model", property(gone), raising=False)
        del scene.counter.__dict__["model"]
        scene.second(3)
    scene.counter.model = "first"
    scene.ledger.of("Good day")
    assert scene.second() == 1


def test_it_ends_with_the_world(scene: Scene):
    scene.ledger.of("Good day")
    scene.worker.ended = True
    scene.clock.advance(1)
    assert scene.clock.getDelayedCalls() == []
    other = Scene()
    other.counting.stop()
    other.counting.stop()
    assert other.clock.getDelayedCalls() == []
