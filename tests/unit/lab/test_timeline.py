"""Simulated time: the order of things follows from what was asked for, and from nothing else."""

from datetime import UTC, datetime, timedelta

import pytest

from keepsake.lab.timeline import Timeline

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
    seen, workers = [], timeline.workers

    def note(what):
        seen.append((what, timeline.now() - START))

    timeline.timer.callLater(3600, lambda: workers.submit(note, "worked"))
    timeline.timer.callLater(3600.5, note, "later")
    timeline.run_until(7200)
    assert seen == [("worked", timedelta(hours=1)), ("later", timedelta(hours=1, seconds=0.5))]
    assert timeline.now() == START + timedelta(hours=2)
