"""A night: its steps in order, its limit on calls, its faults."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from keepsake.agent.sleep.log import Figures, SleepLog, Step
from keepsake.agent.sleep.night import NightAsk, NightTask, work_through
from keepsake.errors import KeepsakeError, ModelTimeout, NoteRefused
from tests.mind.lives import ManualClock
from tests.mind.sleepers import Script, says


def asking(step: Step, times: int) -> NightTask:
    """A task that asks the model again and again."""

    def task(ask: NightAsk) -> Figures:
        for number in range(times):
            ask(says(f"{step.value} {number}"))
        return {"asked": times}

    return task


@pytest.fixture
def log(tmp_path: Path) -> SleepLog:
    log = SleepLog(tmp_path)
    log.begin("tired", ManualClock().now())
    return log


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ModelTimeout("no answer within 60 s", "Raise time_limit"), "no answer within 60 s"),
        (NoteRefused("the file is broken", "Mend it"), "Mend it"),
        (ZeroDivisionError("division by zero"), "a fault of this program"),
    ],
)
def test_a_step_that_fails_is_told_and_the_next_is_done(
    log: SleepLog, error: Exception, said: str, caplog: pytest.LogCaptureFixture
):
    def fails(_: NightAsk) -> Figures:
        raise error

    tasks = {step: asking(step, 0) for step in Step} | {Step.REFLECT: fails}
    with caplog.at_level(logging.ERROR):
        night = work_through(tasks, log, NightAsk(None, 0), ManualClock())
    assert night is not None
    assert night.left == ()
    assert [said in each.problem for each in night.steps] == [False, True, False, False, False]
    assert bool(caplog.records) is not isinstance(error, KeepsakeError)


def test_no_step_spends_more_than_is_left_and_that_is_no_fault(log: SleepLog):
    script = Script()
    tasks = {Step.CONSOLIDATE: asking(Step.CONSOLIDATE, 2), Step.PROFILES: asking(Step.PROFILES, 9)}
    night = work_through(tasks, log, NightAsk(script, 5), ManualClock())
    assert night is not None
    assert night.calls == len(script.prompts) == 5
    assert not any(each.problem for each in night.steps)
    assert night.steps[2].figures == {"calls spent": 1}
    assert night.left == ()


def test_whatever_is_closed_under_a_sleeper_that_wakes_is_no_fault(log: SleepLog):
    def wakes(ask: NightAsk) -> Figures:
        ask.woken.set()
        raise NoteRefused("closed")

    with pytest.raises(KeepsakeError, match="has woken"):
        work_through({Step.CONSOLIDATE: wakes}, log, NightAsk(None, 0), ManualClock())
    assert log.last is not None
    assert log.last.steps == ()
