"""Compactions, nights and insights as one list, the newest first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keepsake.archive.history import compactions
from keepsake.books.journal.book import Journal
from keepsake.books.journal.entries import EntryOrigin, Importance, Judge
from keepsake.memory import CompactReason
from keepsake.sleep.history import COMPACTION, INSIGHT, SLEEP, events
from keepsake.sleep.log import SleepLog
from keepsake.sleep.steps import Step, StepDone
from tests.mind.lives import Life, live

NIGHT = datetime(2026, 11, 21, 23, 0, tzinfo=UTC)


@pytest.fixture
def log(tmp_path: Path) -> SleepLog:
    log = SleepLog(tmp_path)
    log.begin("16 hours awake", NIGHT)
    for minutes, step in enumerate((Step.CONSOLIDATE, Step.PROFILES), start=1):
        log.done(StepDone(step, NIGHT + timedelta(minutes=minutes), minutes, {"merged": 3}))
    problem = StepDone(Step.REFLECT, NIGHT + timedelta(minutes=9), 1, {}, "nobody answers")
    log.done(problem)
    log.woke("Tom", NIGHT + timedelta(hours=2))
    return log


def test_an_agent_that_never_slept_has_no_history(tmp_path: Path):
    assert events(SleepLog(tmp_path), (), None) == ()


def test_a_night_with_its_steps_the_newest_first(log: SleepLog):
    found = events(log, (), None)
    assert [each.kind for each in found] == ["reflect", "profiles", "consolidate", SLEEP]
    sleep = found[-1]
    assert sleep.title == (
        "Sleep 1: 16 hours awake; woken by Tom; left for the next: compact, tidy"
    )
    assert sleep.figures == {"steps": "3 of 5", "calls": 4, "hours": 2.0, "problems": 1}
    assert found[0].title == "In sleep 1, reflection: nobody answers"
    assert found[1].figures == {"merged": 3, "calls": 2}


def test_a_night_that_goes_on(tmp_path: Path):
    log = SleepLog(tmp_path)
    log.begin("tired", NIGHT)
    assert events(log, (), None)[0].title == "Sleep 1: tired; not woken yet"
    for step in Step:
        log.done(StepDone(step, NIGHT))
    assert events(log, (), None)[-1].title == "Sleep 1: tired; sleeps on"


def test_compactions_and_insights_stand_between_the_nights(tmp_path: Path, log: SleepLog):
    life = Life(tmp_path / "Mira")
    memory = life.open()
    life.clock.time = NIGHT - timedelta(hours=1)
    live(memory, 6)
    memory.compact(CompactReason.MANUAL)
    past = compactions(memory.archive)
    journal = Journal(tmp_path / "journal")
    journal.write(
        "Tom mends what he promises.",
        importance=Importance(7, Judge.MODEL),
        origin=EntryOrigin.INFERRED,
        memories=(17, 41),
        now=NIGHT + timedelta(minutes=5),
    )
    journal.write("A heron.", importance=Importance(7), origin=EntryOrigin.SEEN, now=NIGHT)
    found = events(log, past, journal)
    assert [each.kind for each in found] == [
        *("reflect", INSIGHT, "profiles", "consolidate", SLEEP),
        *[COMPACTION] * len(past),
    ]
    assert past
    insight = found[1]
    assert insight.title == "Tom mends what he promises."
    assert insight.figures == {"importance": 7, "memories": "17, 41"}
    compaction = found[-1]
    assert compaction.title.startswith("Compaction 1: memories 1-")
    assert compaction.figures["tokens before"] == past[0].tokens_before
    memory.archive.close()
