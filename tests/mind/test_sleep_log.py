"""The nights as the file has them: appended, on the disk, and read again after anything."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.agent.sleep.log import NAME, SleepLog, Step, StepDone

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
