"""The event log: events reach its files also after a torn line or a full disk."""

import errno
import json
import os
from datetime import UTC, datetime, timedelta

import pytest

from keepsake import json_lines
from keepsake.erasure.logs import mask
from keepsake.erasure.person import ForgottenPerson
from keepsake.erasure.traces import Traces
from keepsake.events.files import events, files_of
from keepsake.events.log import EventLog
from keepsake.events.prompts import prompt_text
from keepsake.events.types import MemoryChange, Thought
from keepsake.events.values import MemoryOp, ThoughtOutcome
from keepsake.ports import FixedClock
from tests.unit.llm.conftest import until

BEGAN = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def thought(prompt, **others):
    of = {"agent": "Mira", "trigger": "idle", "priority": "idle", "outcome": ThoughtOutcome.ACTED}
    return Thought(**of, prompt=prompt, **others)


@pytest.fixture
def logs():
    """Makes logs, and closes them after the test."""
    made = []

    def make(*args, **kwargs):
        made.append(EventLog(*args, **{"retry": 0.02, **kwargs}))
        return made[-1]

    yield make
    for each in made:
        each.close()


# -- writing


def test_a_restart_continues_the_log_and_cuts_a_torn_last_line(tmp_path, logs):
    clock = FixedClock(datetime.fromisoformat("2026-05-02T01:30:00+02:00"))
    for n in (1, 2, 3):
        log = logs(tmp_path, clock=clock)
        log.emit(thought("the very same" if n < 3 else "another", memory=n))
        log.close()
        for stem in ("events", "prompts"):
            (file,) = files_of(tmp_path, stem)
            assert file.day == "2026-05-01", "UTC"
            with file.path.open("ab") as torn:
                torn.write(b'{"v":1,"seq":3,"hash":"')
    found = list(events(tmp_path))
    assert [(each["seq"], each["memory"]) for each in found] == [(1, 1), (2, 2), (3, 3)]
    prompts = [prompt_text(tmp_path, each["prompt"], each["seq"]) for each in found]
    assert prompts == ["the very same", "the very same", "another"]


# -- rotating


@pytest.fixture
def two_days(tmp_path, logs):
    """The folder of a log of 40 events on two days, in files of at most 1,000 bytes."""
    clock = FixedClock(BEGAN)
    log = logs(tmp_path, clock=clock, file_bytes=1_000)
    for n in range(1, 41):
        if n == 21:
            clock.time += timedelta(days=1)
        log.emit(MemoryChange(agent="Mira", op=MemoryOp.APPEND, n=n, of="act", size=7))
    assert log.flush()
    log.close()
    return tmp_path


def test_only_their_owner_may_read_the_files(two_days):
    paths = (two_days, *two_days.iterdir())
    assert [path for path in paths if path.stat().st_mode & 0o077] == []


def test_a_new_file_begins_when_the_old_one_is_full_and_each_day(two_days):
    files = files_of(two_days, "events")
    assert len(files) > 2
    assert {file.day for file in files} == {"2026-05-01", "2026-05-02"}
    for file in files:
        lines = [json.loads(line) for line in file.lines()]
        assert lines[0]["seq"] == file.first
        assert {line["t"][:10] for line in lines} == {file.day}
        assert file.path.stat().st_size <= 1_000


def test_events_are_read_back_in_order_whatever_their_file(two_days):
    found = list(events(two_days))
    assert [(each["seq"], each["n"]) for each in found] == [(n, n) for n in range(1, 41)]
    assert found[0].items() >= {"v": 1, "kind": "memory", "agent": "Mira", "of": "act"}.items()
    assert found[0]["t"] == "2026-05-01T12:00:00.000000+00:00"


def test_events_are_read_from_a_number_on(two_days):
    assert [each["seq"] for each in events(two_days, 33)] == list(range(34, 41))
    assert list(events(two_days, 40)) == []


# -- a full disk


class FullDisk:
    """Accepts ``room`` more bytes, cuts the write that exceeds them, and then fails."""

    def __init__(self, monkeypatch, room):
        self.room = room
        self.write = os.write
        monkeypatch.setattr(json_lines.os, "write", self)

    def __call__(self, fd, data):
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self.write(fd, data[: self.room])
        self.room -= written
        return written


@pytest.fixture
def full(tmp_path, logs, logged, monkeypatch):
    """A full disk, and a log to which more events were written than it can keep waiting."""
    disk = FullDisk(monkeypatch, room=700)
    log = logs(tmp_path, buffer=20)
    for n in range(1, 11):
        log.emit(thought(f"prompt {n}"))
    until(lambda: logged.lines)
    assert not log.flush(0.1)
    for n in range(11, 101):
        log.emit(thought(f"prompt {n}"))
    return disk, log


def test_a_full_disk_is_reported_once(full, logged):
    _, log = full
    (reported,) = logged.lines
    assert reported.startswith("ERROR events The event log in")
    assert "No space left" in reported
    assert "OSError" in reported.partition("\n")[2], "its traceback"
    assert log.problem


def test_a_log_goes_on_when_the_disk_has_room_again(full, logged):
    disk, log = full
    disk.room = 10_000_000
    assert log.flush(60)
    until(lambda: logged.having("INFO events ", "can be written again"))
    assert not log.problem


def test_events_that_had_no_room_are_counted(full, logged, tmp_path):
    disk, log = full
    disk.room = 10_000_000
    until(lambda: logged.having("INFO events ", "can be written again"))  # then it counts them
    assert log.flush(60)
    found = list(events(tmp_path))
    assert [each["seq"] for each in found] == list(range(1, len(found) + 1))
    kept = [each for each in found if each["kind"] == "thought"]
    lost = [each["n"] for each in found if each["kind"] == "world"]
    assert len(kept) + sum(lost) == 100
    prompts = [prompt_text(tmp_path, each["prompt"], each["seq"]) for each in kept]
    assert prompts == [f"prompt {n}" for n in range(1, len(kept) + 1)]


# -- prompts


def test_forgotten_words_are_masked_and_the_rest_can_be_read(tmp_path, logs):
    log = logs(tmp_path)
    traces = Traces(ForgottenPerson("9-1", "Otto"))
    traces.rare = {"füsse", "日本語です", "keep", "prompt", "thought"}  # keys, too
    head = "Who she is. " * 9 + "Otto says:\nFüße 日本語です, and soup."
    for text in (head, f"{head} And now?"):
        log.emit(thought(text))
    assert log.flush()
    for path in tmp_path.glob("*.jsonl"):
        mask(path, traces)
    first, second = (
        prompt_text(tmp_path, each["prompt"], each["seq"]) for each in events(tmp_path)
    )
    assert not {*"üß日"} & {*first}
    assert first.endswith(", and soup.")
    assert second == f"{first} And now?"
    assert {each["kind"] for each in events(tmp_path)} == {"thought"}
