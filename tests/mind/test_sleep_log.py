"""The nights as the file has them: appended, on the disk, and read again after anything."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake import json_lines
from keepsake.errors import ArchiveUnwritable
from keepsake.sleep.log import AFRESH, MOST_NIGHTS, NAME, SleepLog
from keepsake.sleep.steps import Step, StepDone

NIGHT = datetime(2026, 11, 21, 23, 0, tzinfo=UTC)
ALL = tuple(Step)


def done(step: Step, minutes: int = 1, **figures: int) -> StepDone:
    return StepDone(step, NIGHT + timedelta(minutes=minutes), 1, figures)


def test_a_night_is_read_as_it_was_written(tmp_path: Path):
    log = SleepLog(tmp_path)
    assert log.nights() == ()
    assert log.last is None
    begun = log.begin("16 hours awake", NIGHT)
    assert (begun.number, begun.plan, begun.next_step) == (1, ALL, Step.CONSOLIDATE)
    log.done(StepDone(Step.CONSOLIDATE, NIGHT, 2, {"merged": 3, "by": "a model"}))
    log.done(StepDone(Step.PROFILES, NIGHT, 0, {}, "nobody answers"))
    log.woke("Tom", NIGHT + timedelta(hours=1))
    (night,) = SleepLog(tmp_path).nights()
    assert night == log.last
    assert (night.why, night.woken_by, night.woke) == (
        "16 hours awake",
        "Tom",
        NIGHT + timedelta(hours=1),
    )
    assert [each.step for each in night.steps] == [Step.CONSOLIDATE, Step.PROFILES]
    assert night.steps[0].figures == {"merged": 3, "by": "a model"}
    assert night.steps[1].problem == "nobody answers"
    assert (night.next_step, night.calls) == (Step.REFLECT, 2)


@pytest.mark.parametrize(
    ("did", "later", "plan"),
    [
        (2, timedelta(minutes=20), ALL[2:]),
        (3, timedelta(minutes=40), ALL[3:]),
        (4, AFRESH, (*ALL[4:], *ALL)),
        (5, timedelta(minutes=1), ALL),
        (0, AFRESH, ALL),
    ],
)
def test_what_is_left_of_a_sleep_comes_first(
    tmp_path: Path, did: int, later: timedelta, plan: tuple[Step, ...]
):
    log, other = SleepLog(tmp_path), SleepLog(tmp_path)
    first = log.begin("tired", NIGHT)
    for step in ALL[:did]:
        log.done(done(step))
    log.woke("Tom", NIGHT + timedelta(minutes=5))
    assert other.last is not None
    assert other.last.woken_by == "Tom", "what another wrote is seen"
    night = log.begin("tired", NIGHT + later)
    assert night.plan == plan
    log.done(done(Step.CONSOLIDATE), first.number)
    one, two = log.nights()
    assert (len(one.steps), two.steps) == (did + 1, ())
    log.done(done(plan[0]))
    assert log.last is not None
    assert log.last.left == plan[1:]


def test_what_never_ends_does_not_grow(tmp_path: Path):
    """Woken every night at the same step: the plan stays short, and all steps come about."""
    log = SleepLog(tmp_path)
    did: list[Step] = []
    for days in range(12):
        night = log.begin("tired", NIGHT + timedelta(days=days))
        assert len(night.plan) <= 2 * len(ALL)
        for step in night.left[:2]:
            log.done(done(step))
            did.append(step)
        log.woke("Tom", NIGHT + timedelta(days=days, hours=1))
    assert set(did) == set(ALL)


@pytest.mark.parametrize("torn", [b'{"type":"step","ni', b"\xff\xfe", b'{"type":"woke"}', b"[]"])
def test_a_torn_line_is_passed_over_and_never_written_into(tmp_path: Path, torn: bytes):
    log = SleepLog(tmp_path)
    log.begin("tired", NIGHT)
    with (tmp_path / NAME).open("ab") as file:
        file.write(torn)
    again = SleepLog(tmp_path)
    again.done(done(Step.CONSOLIDATE))
    (night,) = SleepLog(tmp_path).nights()
    assert night.next_step is Step.PROFILES
    assert torn in (tmp_path / NAME).read_bytes()


def test_a_line_whose_end_is_lost_counts(tmp_path: Path):
    SleepLog(tmp_path).begin("tired", NIGHT)
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    log = SleepLog(tmp_path)
    log.done(done(Step.CONSOLIDATE))
    assert log.last is not None
    assert log.last.next_step is Step.PROFILES
    with pytest.raises(ArchiveUnwritable, match=NAME):
        SleepLog(path).begin("tired", NIGHT)


def test_a_line_is_on_the_disk_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced: list[int] = []

    def fsync(fd: int) -> None:
        synced.append(os.fstat(fd).st_size)

    monkeypatch.setattr(json_lines, "_datasync", fsync)
    SleepLog(tmp_path).begin("tired", NIGHT)
    assert synced == [(tmp_path / NAME).stat().st_size]


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log = SleepLog(tmp_path)
    log.begin("tired", NIGHT)
    before = (tmp_path / NAME).read_bytes()
    real, calls = os.write, []

    def write(fd: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) == 1:
            return real(fd, data[:10])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(json_lines.os, "write", write)
        with pytest.raises(ArchiveUnwritable, match="Free some disk space"):
            log.done(done(Step.CONSOLIDATE))
    assert (tmp_path / NAME).read_bytes() == before
    log.done(done(Step.CONSOLIDATE))
    assert log.last is not None
    assert log.last.next_step is Step.PROFILES


def test_a_night_of_years_is_read_from_its_end(tmp_path: Path):
    log = SleepLog(tmp_path)
    lines = []
    for number in range(1, 3001):
        time = (NIGHT + timedelta(days=number)).isoformat()
        lines.append({"type": "asleep", "night": number, "t": time, "why": "x" * 300})
        lines.append({"type": "woke", "night": number, "t": time, "by": "its hour"})
    (tmp_path / NAME).write_text("".join(json.dumps(line) + "\n" for line in lines))
    nights = log.nights()
    assert [night.number for night in nights] == list(range(3001 - MOST_NIGHTS, 3001))
    assert log.begin("tired", NIGHT).number == 3001


HOSTILE = 'Tom"}\n{"type":"woke","night":1,"t":"2026-11-21T23:00:00+00:00","by":"me'


def test_no_name_forges_a_line(tmp_path: Path):
    log = SleepLog(tmp_path)
    log.begin(HOSTILE, NIGHT)
    log.done(StepDone(Step.CONSOLIDATE, NIGHT, 0, {HOSTILE: HOSTILE}, HOSTILE * 50))
    (night,) = SleepLog(tmp_path).nights()
    assert night.woke is None
    assert len(night.steps) == 1
    assert len(night.steps[0].problem) <= 300
    assert len((tmp_path / NAME).read_text().splitlines()) == 2


@given(lines=st.lists(st.binary(max_size=120) | st.text(max_size=60).map(str.encode), max_size=12))
def test_whatever_stands_in_the_file_it_can_be_slept(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
):
    folder = tmp_path_factory.mktemp("Mira")
    (folder / NAME).write_bytes(b"\n".join(lines))
    log = SleepLog(folder)
    log.begin("tired", NIGHT)
    log.done(done(Step.CONSOLIDATE))
    last = SleepLog(folder).last
    assert last is not None
    assert last.next_step is Step.PROFILES
