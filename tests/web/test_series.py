"""Charts: the event log added up by the minute, from its end, and on while it grows."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from game.web.api.shapes import Series
from game.web.live.series import Charts
from game.web.live.slices import MINUTE, SLOT, Slice, Sums
from keepsake.events.log import EventLog
from keepsake.events.types import Compaction, Event, MemoryChange, Recall, Thought

NOW = datetime(2026, 5, 4, 12, 0, 30, tzinfo=UTC)


class Clock:
    """Moves when a test says so."""

    def __init__(self) -> None:
        self.time = datetime.now(UTC)

    def now(self) -> datetime:
        return self.time

    def ago(self, **delta: float) -> None:
        self.time = datetime.now(UTC) - timedelta(**delta)


def thought(outcome: str = "acted", latency: float = 1.0, **fields: object) -> Thought:
    return Thought(
        agent="Mira",
        trigger="heard",
        priority="event",
        outcome=outcome,
        sections={"window": 900, "who it is": 100},
        prompt_tokens=1100,
        cached_tokens=550,
        completion_tokens=20,
        budget=3840,
        latency=latency,
        model="fake",
        **fields,  # type: ignore[arg-type]  # a test names them
    )


def unanswered(problem: str = "nobody answered within 60 s") -> Thought:
    return Thought(
        agent="Mira",
        trigger="heard",
        priority="event",
        outcome="no answer",
        sections={"window": 900, "who it is": 100},
        budget=3840,
        problem=problem,
    )


class Log:
    """An event log whose clock can be set, and the charts of it."""

    def __init__(self, folder: Path, **options: int) -> None:
        self.clock = Clock()
        self.folder = folder
        self.log = EventLog(folder, clock=self.clock, **options)
        self.charts: list[Charts] = []

    def tell(self, *events: Event, **ago: float) -> None:
        """Events of so long ago."""
        self.clock.ago(**ago)
        for event in events:
            self.log.emit(event)
        assert self.log.flush(60)

    def read(self, **options: int) -> Charts:
        charts = Charts(self.folder, **options)
        self.charts.append(charts)
        charts.start()
        return charts

    def series(self, charts: Charts, hours: int = 1, agent: str = "Mira") -> Series:
        return charts.series(agent, hours, datetime.now(UTC), patience=60)

    def close(self) -> None:
        for charts in self.charts:
            charts.close()
        self.log.close()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path / "events")
    yield made
    made.close()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def thoughts(series: Series) -> int:
    return sum(point.thoughts for point in series.points)


def test_what_the_log_holds_is_added_up(log):
    log.tell(
        thought(latency=1.0),
        thought(latency=3.0),
        thought("refused", latency=2.0),
        thought("dropped"),
        MemoryChange(agent="Mira", op="append", n=17),
        MemoryChange(agent="Mira", op="rate", n=900),
        Recall(agent="Mira", by="thought", question="key", found=2),
        Recall(agent="Mira", by="agent", question="key", found=0),
        Recall(agent="Mira", by="builder", question="key", found=0),
        Compaction(agent="Mira", reason="count", outcome="waterfall", number=3),
        Compaction(agent="Mira", reason="count", outcome="failed"),
        minutes=10,
    )
    points = [p for p in log.series(log.read()).points if p.thoughts]
    (point,) = points
    assert (point.thoughts, point.failed, point.no_answer) == (3, 1, 0)
    assert (point.prompt_tokens, point.completion_tokens) == (1000, 20)
    assert point.budget == 3840
    assert point.cached == 0.5
    assert (point.latency, point.latency_p95) == (2.0, 3.0)
    assert point.memories == 17
    assert (point.recalls, point.recalled) == (2, 0.5)
    assert point.compactions == 1


def test_where_nobody_answered_nothing_is_said_of_answers(log):
    log.tell(unanswered(), unanswered(), minutes=10)
    (point,) = [p for p in log.series(log.read()).points if p.thoughts]
    assert (point.thoughts, point.failed, point.no_answer) == (2, 2, 2)
    assert point.cached is point.latency is point.completion_tokens is None
    assert point.prompt_tokens == 1000


def test_where_nothing_happened_nothing_is_said(log):
    log.tell(thought(), minutes=10)
    still = [p for p in log.series(log.read()).points if not p.thoughts]
    assert len(still) == 59
    for point in still:
        assert point.prompt_tokens is point.cached is point.budget is None


def test_each_agent_has_its_own_whatever_the_case(log):
    log.tell(thought(), minutes=5)
    charts = log.read()
    assert thoughts(log.series(charts, agent="mira")) == 1
    assert thoughts(log.series(charts, agent="Oswin")) == 0


def test_a_world_without_a_log_has_empty_charts(tmp_path):
    charts = Charts(tmp_path / "none")
    charts.start()
    found = charts.series("Mira", 24, datetime.now(UTC), patience=60)
    charts.close()
    assert len(found.points) == 60
    assert found.complete
    assert all(point.memories is None and point.latency is None for point in found.points)


def test_slices_are_in_their_order_and_as_long_as_they_say(log):
    log.tell(thought(), hours=20)
    log.tell(thought(), thought(), minutes=2)
    charts = log.read()
    day, hour = log.series(charts, 24), log.series(charts, 1)
    assert (day.slice, hour.slice) == (1440, 60)
    assert thoughts(day) == 3
    assert thoughts(hour) == 2
    times = [datetime.fromisoformat(point.at) for point in day.points]
    assert times == sorted(times)
    assert times[1] - times[0] == timedelta(seconds=1440)
    assert times[-1] <= datetime.now(UTC) < times[-1] + timedelta(seconds=1440)


def test_a_week_is_kept_with_all_that_happened_in_it(log):
    for hours in range(160, 0, -8):
        log.tell(thought(latency=hours), hours=hours)
    week = log.series(log.read(), 168)
    assert week.slice == 10_080
    assert thoughts(week) == 20
    assert week.complete
    latencies = [point.latency for point in week.points if point.latency is not None]
    assert latencies == sorted(latencies, reverse=True)  # each stands where it belongs
    for point in week.points:
        ago = (datetime.now(UTC) - datetime.fromisoformat(point.at)).total_seconds() / 3600
        assert point.latency is None or ago - 2.8 <= point.latency <= ago, point


def test_what_grows_old_while_it_is_kept_is_kept_by_the_slot_and_then_as_a_number_alone():
    day, sums = 60 * SLOT, Sums()
    line = {"kind": "memory", "op": "append"}
    for minute in range(3 * SLOT // MINUTE):  # of the last three slots of a day
        sums.at(day - 3 * SLOT + minute * MINUTE, 0).take(line | {"n": minute + 1})
    assert (len(sums.minutes), len(sums.slots)) == (72, 0)
    before = sums.spread(0, SLOT, 60)
    sums.settle(day - SLOT, 0)
    assert (len(sums.minutes), len(sums.slots)) == (24, 2)
    assert sums.spread(0, SLOT, 60) == before  # a day's chart does not change by it
    assert sums.spread(0, 7 * SLOT, 60)[0][8].memories == 72
    sums.settle(day - SLOT, day - 2 * SLOT)
    assert len(sums.slots) == 1
    assert sums.memories == 24
    assert sums.spread(day, SLOT, 60)[1] == 72


def test_the_number_of_memories_is_carried_on(log):
    log.tell(MemoryChange(agent="Mira", op="append", n=5), hours=3)
    log.tell(MemoryChange(agent="Mira", op="append", n=9), minutes=10)
    points = log.series(log.read()).points
    assert points[0].memories == 5
    assert points[-1].memories == 9


def test_what_comes_later_is_taken_too(log):
    log.tell(thought(), minutes=5)
    charts = log.read()
    assert thoughts(log.series(charts)) == 1
    log.tell(thought(), thought())
    until(lambda: thoughts(log.series(charts)) == 3)


def test_of_a_huge_log_the_end_is_read_and_that_is_told(tmp_path):
    log = Log(tmp_path / "events", file_bytes=3_000)
    for minutes in range(50, 0, -1):
        log.tell(thought(), minutes=minutes)
    whole, part = log.series(log.read()), log.series(log.read(most_bytes=9_000))
    log.close()
    assert thoughts(whole) == 50
    assert whole.complete
    assert 0 < thoughts(part) < 50
    assert not part.complete
    newest = [point.at for point in whole.points if point.thoughts][-thoughts(part) :]
    assert [point.at for point in part.points if point.thoughts] == newest


def test_lines_that_say_nonsense_count_for_nothing(log):
    log.tell(thought(), minutes=5)
    log.log.close()
    (file,) = log.folder.glob("events-*.jsonl")
    good = json.loads(file.read_text().splitlines()[0])
    bad = [
        good | {"seq": 2, "sections": None},
        good | {"seq": 3, "t": "yesterday"},
        good | {"seq": 4, "agent": None},
        good | {"seq": 5, "latency": "slow"},
        {"seq": 6, "kind": "memory", "agent": "Mira", "t": good["t"], "op": "append"},
        good | {"seq": 7, "kind": "of a later time"},
    ]
    with file.open("a") as end:
        end.writelines(json.dumps(each) + "\n" for each in [*bad, good | {"seq": 8}])
        end.write('{"seq": 9, "torn')
    found = log.series(log.read())
    assert sum(point.latency is not None for point in found.points) == 1
    assert 2 <= thoughts(found) <= 4  # of a line that breaks off, what came before it counts


def test_a_log_that_is_gone_again_breaks_nothing(log):
    log.tell(thought(), minutes=5)
    charts = log.read()
    assert thoughts(log.series(charts)) == 1
    for file in log.folder.glob("events-*"):
        file.unlink()
    assert thoughts(log.series(charts)) == 1


def test_two_slices_together_are_what_both_were():
    one, other = Slice(), Slice()
    line = {
        "kind": "thought",
        "outcome": "acted",
        "sections": {"window": 10},
        "model": "m",
        "prompt_tokens": 12,
        "cached_tokens": 6,
        "completion_tokens": 3,
        "latency": 0.5,
    }
    one.take(line)
    other.take(line | {"latency": 1.5, "outcome": "refused"})
    one.add(other)
    assert (one.thoughts, one.failed, one.prompts, one.prompt_tokens) == (2, 1, 2, 20)
    assert list(one.latencies) == [0.5, 1.5]
