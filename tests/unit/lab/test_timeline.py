"""Simulated time: the order of things follows from what was asked for, and from nothing else."""

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.lab.simulations.timeline import Timeline

START = datetime(2026, 5, 4, 8, tzinfo=UTC)


@pytest.fixture
def broken():
    return []


@pytest.fixture
def timeline(broken):
    made = Timeline(START, broken.append)
    yield made
    made.close()


def test_time_jumps_to_what_is_next_and_stands_still_meanwhile(timeline):
    seen, workers = [], timeline.workers()

    def note(what):
        seen.append((what, timeline.now() - START))

    def slow():
        time.sleep(0.05)
        note("worked")

    timeline.timer.callLater(3600, lambda: workers.submit(slow))
    timeline.timer.callLater(3600.5, note, "later")
    timeline.run_until(7200)
    assert seen == [("worked", timedelta(hours=1)), ("later", timedelta(hours=1, seconds=0.5))]
    assert timeline.now() == START + timedelta(hours=2)


def test_model_calls_run_beside_each_other_and_are_told_in_the_order_of_asking(timeline):
    models, told, together = timeline.models(), [], threading.Barrier(3, timeout=20)

    def call(number):
        together.wait()  # passes only when all three are under way
        time.sleep(0.02 * (3 - number))
        return number

    for number in range(3):
        models.submit(call, number).add_done_callback(lambda done: told.append(done.result()))
    timeline.settle()
    assert told == [0, 1, 2]


def test_who_asks_a_model_lets_the_others_on_and_comes_back_with_its_answer(timeline):
    order, workers, models = [], timeline.workers(), timeline.models()

    def asks():
        order.append("asks")
        with timeline.asking() as asker:
            answer = threading.Event()

            def answered(_):
                answer.set()
                asker.answered()

            timeline.post(lambda: models.submit(time.sleep, 0.05).add_done_callback(answered))
            answer.wait(20)
        order.append("has its answer")

    workers.submit(asks)
    workers.submit(order.append, "another")
    timeline.settle()
    assert order == ["asks", "another", "has its answer"]
    assert timeline.timer.seconds() == 0


def test_what_breaks_is_told_and_the_others_go_on(timeline, broken):
    seen = []
    timeline.post(lambda: 1 / 0)
    timeline.timer.callLater(1, [].index, 1)
    timeline.timer.callLater(2, seen.append, "goes on")
    failed = timeline.workers().submit(lambda: {}["nothing"])
    timeline.run_until(5)
    assert [type(error) for error in broken] == [ZeroDivisionError, ValueError]
    assert isinstance(failed.exception(), KeyError)
    assert seen == ["goes on"]
