"""A night: its steps in order, its limit on calls, its faults, its log."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.agent.sleep.log import NAME, Figures, SleepLog, Step, StepDone
from keepsake.agent.sleep.night import NightAsk, NightTask, work_through
from keepsake.errors import KeepsakeError, ModelTimeout, NoteRefused
from tests.unit.mind.lives import ManualClock
from tests.unit.mind.sleepers import Script, says

NIGHT = datetime(2026, 11, 21, 23, 0, tzinfo=UTC)
ALL = tuple(Step)


def done(step: Step, minutes: int = 1, **figures: int) -> StepDone:
    return StepDone(step, NIGHT + timedelta(minutes=minutes), 1, figures)


def test_a_night_is_read_as_it_was_written(tmp_path: Path):
    log = SleepLog(tmp_path)
    assert log.nights() == ()
    assert log.last is None
    begun = log.begin("16 hours awake", NIGHT)
    assert (begun.number, begun.plan, begun.left) == (1, ALL, ALL)
    log.done(StepDone(Step.CONSOLIDATE, NIGHT, 2, {"merged": 3, "by": "a model"}), 1)
    log.done(StepDone(Step.REFLECT, NIGHT, 0, {}, "nobody answers"), 1)
    log.woke("Tom", NIGHT + timedelta(hours=1))
    (night,) = SleepLog(tmp_path).nights()
    assert night == log.last
    assert (night.why, night.woken_by, night.woke) == (
        "16 hours awake",
        "Tom",
        NIGHT + timedelta(hours=1),
    )
    assert [each.step for each in night.steps] == [Step.CONSOLIDATE, Step.REFLECT]
    assert night.steps[0].figures == {"merged": 3, "by": "a model"}
    assert night.steps[1].problem == "nobody answers"
    assert (night.left, night.calls) == (ALL[2:], 2)


@pytest.mark.parametrize("torn", [b'{"type":"step","ni', b"\xff\xfe", b'{"type":"woke"}', b"[]"])
def test_a_torn_line_is_passed_over_and_never_written_into(tmp_path: Path, torn: bytes):
    log = SleepLog(tmp_path)
    log.begin("tired", NIGHT)
    with (tmp_path / NAME).open("ab") as file:
        file.write(torn)
    again = SleepLog(tmp_path)
    again.done(done(Step.CONSOLIDATE), 1)
    (night,) = SleepLog(tmp_path).nights()
    assert night.left == ALL[1:]
    assert torn in (tmp_path / NAME).read_bytes()


@given(lines=st.lists(st.binary(max_size=120) | st.text(max_size=60).map(str.encode), max_size=12))
def test_whatever_stands_in_the_file_it_can_be_slept(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
):
    folder = tmp_path_factory.mktemp("Mira")
    (folder / NAME).write_bytes(b"\n".join(lines))
    log = SleepLog(folder)
    log.done(done(Step.CONSOLIDATE), log.begin("tired", NIGHT).number)
    last = SleepLog(folder).last
    assert last is not None
    assert last.left == ALL[1:]


def test_a_night_that_was_broken_off_leaves_its_rest_to_the_next(tmp_path: Path):
    log = SleepLog(tmp_path)
    log.done(done(Step.CONSOLIDATE), log.begin("tired", NIGHT).number)
    log.woke("Tom", NIGHT + timedelta(hours=1))
    assert log.begin("tired", NIGHT + timedelta(hours=2)).plan == ALL[1:]
    log.woke("Tom", NIGHT + timedelta(hours=3))
    assert log.begin("16 hours awake", NIGHT + timedelta(hours=20)).plan == ALL, "another night"


# -- its work


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
    assert [said in each.problem for each in night.steps] == [False, True, False, False]
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
