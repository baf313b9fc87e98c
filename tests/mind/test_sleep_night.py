"""A night: its steps in order, its limit on calls, its faults, and its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.errors import (
    ArchiveUnwritable,
    BadAnswer,
    ModelTimeout,
    ModelUnavailable,
    NoteRefused,
)
from keepsake.ports import Generation, TargetModel
from keepsake.sleep.asking import CallsSpent, NightAsk, NightOver, Work
from keepsake.sleep.log import SleepLog
from keepsake.sleep.night import run
from keepsake.sleep.steps import Figures, Night, Step
from keepsake.tasks.task import Question
from tests.mind.lives import ManualClock
from tests.mind.sleepers import Script, Target, generation, says, shown

ALL = list(Step)


class Sleeper:
    """An agent whose steps only ask the model, so often as they are told to."""

    def __init__(self, folder: Path, **works: Callable[[NightAsk], Figures]) -> None:
        self.log = SleepLog(folder)
        self.clock = ManualClock()
        self.did: list[Step] = []
        self.told: list[str] = []
        self.works: dict[Step, Work] = {step: self.does(step) for step in Step}
        self.works |= {Step(name): work for name, work in works.items()}

    def does(self, step: Step, asks: int = 0) -> Work:
        def work(ask: NightAsk) -> Figures:
            self.did.append(step)
            for number in range(asks):
                ask(says(f"{step.value} {number}"))
            return {"asked": asks}

        return work

    def sleep(self, ask: NightAsk | None = None, works: Mapping[Step, Work] | None = None) -> Night:
        chosen = self.works if works is None else works
        asking = ask or NightAsk(None, 0)
        return run("Mira", chosen, self.log, asking, self.clock, self.told.append)


@pytest.fixture
def sleeper(tmp_path: Path) -> Sleeper:
    sleeper = Sleeper(tmp_path)
    sleeper.log.begin("tired", sleeper.clock.now())
    return sleeper


def test_the_steps_are_done_in_their_order(sleeper: Sleeper):
    night = sleeper.sleep()
    assert sleeper.did == ALL
    assert night.next_step is None
    assert [each.step for each in night.steps] == ALL
    assert sleeper.told == []
    assert sleeper.sleep() == night  # all is done: nothing is done twice
    assert sleeper.did == ALL


def test_a_night_that_nobody_wrote_down_begins_by_itself(tmp_path: Path):
    def fails(ask: NightAsk) -> Figures:
        ask(says("once"))
        raise BadAnswer("empty")

    sleeper = Sleeper(tmp_path, consolidate=fails)
    sleeper.works[Step.REFLECT] = sleeper.does(Step.REFLECT, asks=14)
    del sleeper.works[Step.TIDY]
    night = sleeper.sleep(NightAsk(Script(), 24))
    assert (night.number, night.steps[0].calls) == (1, 1)
    assert night.steps[2].figures == {"asked": 14}, "what others leave a step may use"
    assert night.steps[4].figures == {"left out": 1}
    sleeper.log.woke("its hour", sleeper.clock.now())
    assert sleeper.sleep().number == 2


def test_who_woke_before_it_began_has_no_night(tmp_path: Path):
    sleeper = Sleeper(tmp_path)
    ask = NightAsk(None, 0)
    ask.wake()
    sleeper.sleep(ask)
    assert sleeper.log.nights() == ()
    sleeper.log.begin("tired", sleeper.clock.now())
    sleeper.log.woke("Tom", sleeper.clock.now())
    sleeper.sleep(ask)
    assert len(sleeper.log.nights()) == 1
    assert sleeper.did == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ModelTimeout("no answer within 60 s", "Raise time_limit"), "no answer within 60 s"),
        (NoteRefused("the file is broken", "Mend it"), "Mend it"),
        (ZeroDivisionError("division by zero"), "a fault of this program"),
        (KeyError("who"), "a fault of this program"),
    ],
)
def test_a_step_that_fails_is_told_and_the_next_is_done(
    sleeper: Sleeper, error: Exception, said: str, caplog: pytest.LogCaptureFixture
):
    def fails(ask: NightAsk) -> Figures:
        raise error

    sleeper.works[Step.PROFILES] = fails
    with caplog.at_level(logging.ERROR):
        night = sleeper.sleep()
    assert [each for each in ALL if each not in sleeper.did] == [Step.PROFILES]
    assert said in night.steps[1].problem
    assert [bool(each.problem) for each in night.steps].count(True) == 1
    assert said in sleeper.told[0]
    assert night.next_step is None


@pytest.mark.parametrize("error", [BadAnswer("closed"), ValueError("closed")])
def test_a_step_that_fails_because_the_night_is_over_is_done_again(sleeper: Sleeper, error):
    """The server stops, and closes the memory while a step reads it."""
    asking = NightAsk(Script(), 24)

    def closed(_: NightAsk) -> Figures:
        asking.wake()
        raise error

    works, reflect = sleeper.works, sleeper.works[Step.REFLECT]
    works[Step.REFLECT] = closed
    assert sleeper.sleep(asking).next_step is Step.REFLECT
    works[Step.REFLECT] = reflect
    night = sleeper.sleep()
    assert night.next_step is None
    assert not any(each.problem for each in night.steps)


def test_no_step_can_spend_the_calls_of_the_others(sleeper: Sleeper):
    script = Script()
    for step in Step:
        sleeper.works[step] = sleeper.does(step, asks=100)
    night = sleeper.sleep(NightAsk(script, 24))
    calls = {each.step: each.calls for each in night.steps}
    assert sum(calls.values()) == night.calls == len(script.prompts) == 24
    assert min(calls[s] for s in (Step.CONSOLIDATE, Step.PROFILES, Step.REFLECT)) >= 4
    assert calls[Step.COMPACT] >= 1
    assert calls[Step.TIDY] == 0
    assert night.next_step is None
    assert night.steps[0].figures == {"calls spent": 1}
    assert not any(each.problem for each in night.steps)


@given(limit=st.integers(0, 60), wants=st.lists(st.integers(0, 40), min_size=5, max_size=5))
def test_a_night_never_costs_more_than_its_limit(
    tmp_path_factory: pytest.TempPathFactory, limit: int, wants: list[int]
):
    sleeper = Sleeper(tmp_path_factory.mktemp("night"))
    script = Script()
    for step, asks in zip(Step, wants, strict=True):
        sleeper.works[step] = sleeper.does(step, asks)
    night = sleeper.sleep(NightAsk(script, limit))
    assert len(script.prompts) == night.calls <= limit
    assert night.next_step is None


def test_without_a_model_nothing_is_available(sleeper: Sleeper):
    seen: list[bool] = []

    def looks(ask: NightAsk) -> Figures:
        seen.append(ask.available)
        return {}

    sleeper.works = dict.fromkeys(Step, looks)
    sleeper.sleep(NightAsk(None, 24))
    assert seen == [False] * 5
    with pytest.raises(CallsSpent):
        NightAsk(None, 24)(says("x"))


def test_once_the_model_is_gone_the_other_steps_do_without(sleeper: Sleeper):
    asked: list[str] = []

    def gone(build: Callable[[TargetModel], Question]) -> Generation:
        asked.append(shown(build(Target())))
        raise ModelUnavailable("nobody answers", "Start it")

    seen: list[bool] = []

    def looks(ask: NightAsk) -> Figures:
        seen.append(ask.available)
        return {}

    sleeper.works[Step.CONSOLIDATE] = sleeper.does(Step.CONSOLIDATE, asks=3)
    sleeper.works[Step.PROFILES] = looks
    night = sleeper.sleep(NightAsk(gone, 24))
    assert [each.strip() for each in asked] == ["consolidate 0"]
    assert seen == [False]
    assert "nobody answers" in night.steps[0].problem


def test_one_that_was_only_too_slow_is_asked_again(sleeper: Sleeper):
    answers = iter([ModelTimeout("too slow", ""), generation("well")])

    def slow(_: object) -> Generation:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    sleeper.works[Step.CONSOLIDATE] = sleeper.does(Step.CONSOLIDATE, asks=1)
    sleeper.works[Step.PROFILES] = sleeper.does(Step.PROFILES, asks=1)
    night = sleeper.sleep(NightAsk(slow, 24))
    assert [each.problem for each in night.steps[:2]] == ["too slow", ""]


# -- waking


def test_woken_between_two_steps(sleeper: Sleeper):
    ask = NightAsk(None, 0)

    def wakes(_: NightAsk) -> Figures:
        ask.wake()
        return {"done": 1}

    sleeper.works[Step.PROFILES] = wakes
    night = sleeper.sleep(ask)
    assert night.next_step is Step.REFLECT  # what was done counts
    assert sleeper.did == [Step.CONSOLIDATE]
    assert "woke before" in sleeper.told[0]
    sleeper.log.woke("Tom", sleeper.clock.now())
    sleeper.clock.advance(600)
    sleeper.log.begin("tired", sleeper.clock.now())
    assert sleeper.sleep().next_step is None
    assert sleeper.did == [Step.CONSOLIDATE, *ALL[2:]]


def test_woken_while_the_model_writes(sleeper: Sleeper):
    """The answer is not used any more, and the step is done again."""
    writes, used = threading.Event(), list[str]()
    go_on = threading.Event()

    def slow(_: object) -> Generation:
        writes.set()
        assert go_on.wait(60)
        return generation("late")

    def work(ask: NightAsk) -> Figures:
        used.append(ask(says("x")).text)
        return {}

    sleeper.works[Step.PROFILES] = work
    ask = NightAsk(slow, 24)
    thread = threading.Thread(target=lambda: sleeper.sleep(ask))
    thread.start()
    assert writes.wait(60)
    ask.wake()
    go_on.set()
    thread.join(60)
    assert used == []
    assert sleeper.log.last is not None
    assert sleeper.log.last.next_step is Step.PROFILES


def test_a_call_that_was_given_up_since_it_woke_is_no_fault(sleeper: Sleeper):
    def given_up(_: object) -> Generation:
        ask.wake()
        raise ModelUnavailable("The call was given up", "")

    ask = NightAsk(given_up, 24)
    sleeper.works[Step.CONSOLIDATE] = sleeper.does(Step.CONSOLIDATE, asks=1)
    assert sleeper.sleep(ask).next_step is Step.CONSOLIDATE
    with pytest.raises(NightOver):
        ask.check()


def test_two_nights_of_one_agent_never_work_at_once(sleeper: Sleeper):
    inside, most = [0], [0]
    entered, go_on = threading.Event(), threading.Event()

    def work(_: NightAsk) -> Figures:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        entered.set()
        assert go_on.wait(60)
        inside[0] -= 1
        return {}

    sleeper.works[Step.CONSOLIDATE] = work
    first, second = NightAsk(None, 0), NightAsk(None, 0)
    threads = [threading.Thread(target=lambda a=a: sleeper.sleep(a)) for a in (first, second)]
    threads[0].start()
    assert entered.wait(60)
    first.wake()  # woken, and asleep again before the thread has seen it
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert most == [1]
    assert sleeper.log.last is not None
    assert sleeper.log.last.next_step is None
    assert [each.step for each in sleeper.log.last.steps] == ALL


def test_a_disk_that_is_full_ends_the_night_and_nothing_else(
    sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise ArchiveUnwritable("the disk is full", "Free some space")

    with monkeypatch.context() as patched:
        patched.setattr(sleeper.log, "done", full)
        night = sleeper.sleep()
    assert night.next_step is Step.CONSOLIDATE
    assert "the disk is full" in sleeper.told[0]
    assert sleeper.sleep().next_step is None
