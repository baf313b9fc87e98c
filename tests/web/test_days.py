"""A day of all agents, from archives and a log made for it: days of a zone, nights, visitors."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from game.web.api.lives import Inhabitant
from game.web.world.days import (
    ASLEEP,
    IDLE,
    TALKING,
    THINKING,
    WALKING,
    DaySpan,
    _archived_day,
    first_day,
    lived_day,
)
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.events.log import EventLog
from keepsake.events.types import Thought
from keepsake.records.files import replace_file
from keepsake.sleep.log import SleepLog

ZONE = ZoneInfo("Europe/Berlin")  # two hours before UTC in May
DAY = date(2026, 5, 4)
SPAN = DaySpan.of(DAY, ZONE)
MIDNIGHT = SPAN.begins


def lives(folder: Path, *memories: tuple[float, str, str], to: str = "Tom") -> Inhabitant:
    """An agent with such memories: hours after midnight, place, own act."""
    archive = Archive(folder / "archive")
    for number, (hours, place, text) in enumerate(memories, start=1):
        at = (MIDNIGHT + timedelta(hours=hours)).astimezone(UTC)
        told = to if text.startswith("say") else ""
        archive.append_memory(Memory(number, at, MemoryKind.ACT, text, place=place, to=told))
    archive.close()
    return Inhabitant(7, "Mira", "", folder)


def test_a_day_is_one_of_its_zone(tmp_path: Path) -> None:
    mira = lives(
        tmp_path / "Mira",
        (-30.0, "The Quay", "say Early."),
        (-1.0, "The Kettle", "say Yesterday, and in UTC as well."),
        (0.5, "The Kettle", "say Today, but in UTC not yet."),
        (12.0, "The Quay", "emote walks there."),
        (23.9, "The Quay", "say Late."),
        (24.1, "The Loft", "say Tomorrow."),
    )
    lived = lived_day(tmp_path / "log", [mira], SPAN, SPAN.ends)
    ((_, day),) = lived.agents
    assert lived.talks == ((30, "Mira", "Tom"), (1434, "Mira", "Tom"))
    assert day.places == [(0, "The Kettle"), (720, "The Quay")]
    assert (day.minutes[30], day.minutes[720], day.minutes[31]) == (TALKING, WALKING, IDLE)
    assert first_day([mira], ZONE) == DAY - timedelta(days=2)
    assert first_day([], ZONE) is None


def test_a_night_goes_over_midnight_and_no_farther_than_now(tmp_path: Path) -> None:
    mira = lives(tmp_path / "Mira", (-5.0, "The Loft", "say Good night."))
    nights = SleepLog(mira.folder)
    nights.begin("its hour", MIDNIGHT - timedelta(hours=1))
    nights.woke("its hour", MIDNIGHT + timedelta(hours=6))
    nights.begin("its hour", MIDNIGHT + timedelta(hours=20))
    now = MIDNIGHT + timedelta(hours=21)
    ((_, day),) = lived_day(tmp_path / "log", [mira], SPAN, now).agents
    asleep = [minute for minute, what in enumerate(day.minutes) if what == ASLEEP]
    assert asleep == [*range(361), *range(1200, 1261)]


def test_a_visitor_is_heard_by_the_log(tmp_path: Path) -> None:
    mira = lives(tmp_path / "Mira", (9.0, "The Kettle", "say Well met."))
    log = EventLog(tmp_path / "log")
    log.emit(
        Thought(
            agent="Mira",
            agent_id=7,
            trigger="addressed",
            source="Tom",
            priority="player",
            outcome="acted",
            latency=90.0,
        )
    )
    log.close()
    today = datetime.now(UTC).date()
    span = DaySpan.of(today, UTC)
    lived = lived_day(tmp_path / "log", [mira], span, span.ends)
    ((_, day),) = lived.agents
    ((minute, who, whom),) = lived.talks
    assert (who, whom) == ("Tom", "Mira")
    assert set(day.minutes[max(minute - 1, 0) : minute + 1]) == {THINKING}


def test_what_cannot_be_read_of_an_archive_is_passed_over(tmp_path: Path) -> None:
    mira = lives(tmp_path / "Mira", (9.0, "The Kettle", "say Well met."))
    (segment,) = (mira.folder / "archive").glob("*.jsonl")
    good = segment.read_text()
    bad = {"type": "memory", "n": "x", "t": json.loads(good)["t"]}
    segment.write_text(good + "no line\n" + json.dumps(bad) + "\n")
    ((_, day),) = lived_day(tmp_path / "log", [mira], SPAN, SPAN.ends).agents
    assert day.places == [(540, "The Kettle")]


def test_what_is_added_is_read_and_what_is_taken_out_is_gone(tmp_path: Path) -> None:
    told = ((-1.0, "The Quay", "say Early."), (9.0, "The Kettle", "say Well met."))
    mira = lives(tmp_path / "Mira", *told)
    _archived_day.cache_clear()

    def spoke() -> tuple[tuple[int, str, str], ...]:
        return lived_day(tmp_path / "log", [mira], SPAN, SPAN.ends).talks

    assert spoke() == ((540, "Mira", "Tom"),)
    archive = Archive(mira.folder / "archive")
    for number in (3, 4):
        at = (MIDNIGHT + timedelta(hours=7 + number)).astimezone(UTC)
        archive.append_memory(Memory(number, at, MemoryKind.ACT, "say Hm.", "The Loft", to="Ada"))
        assert spoke()[-1] == (60 * (7 + number), "Mira", "Ada")
    archive.close()
    ((_, day),) = lived_day(tmp_path / "log", [mira], SPAN, SPAN.ends).agents
    assert day.places == [(0, "The Quay"), (540, "The Kettle"), (600, "The Loft")]
    assert _archived_day.cache_info().currsize == 1, (
        "one day of one agent is kept once, however it grows"
    )
    (segment,) = (mira.folder / "archive").glob("*.jsonl")
    replace_file(segment, segment.read_text().replace("Tom", "(forgotten)"))
    assert "Tom" not in str(spoke())


@pytest.mark.parametrize("day", [date(2026, 3, 29), date(2026, 10, 25)])
def test_a_day_may_have_an_hour_less_or_more(day: date) -> None:
    span = DaySpan.of(day, ZONE)
    assert span.minute(span.ends - timedelta(seconds=1)) <= 1439
    assert span.minute(span.begins) == 0
