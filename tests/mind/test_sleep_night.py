"""A night: its steps in order, its limit on calls, its faults, and its end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from keepsake.errors import (
    ModelTimeout,
    NoteRefused,
)
from keepsake.sleep.asking import NightAsk, Work
from keepsake.sleep.log import SleepLog
from keepsake.sleep.night import run
from keepsake.sleep.steps import Figures, Night, Step
from tests.mind.lives import ManualClock
from tests.mind.sleepers import Script, says

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


# -- waking
