"""When an agent tires, when it wakes, what is loud; and the file that says so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from keepsake.agent.sleep.tiredness import SleepConfig, Tiredness, is_loud, tired, wakes_at
from tests.sentences import table

HOUR = 3600.0


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[ZoneInfo]:
    """The machine's clock runs in a zone that has a summer time."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield ZoneInfo("Europe/Berlin")
    monkeypatch.undo()
    time.tzset()


# -- the file


# -- tired


@pytest.mark.parametrize(
    ("config", "tiredness", "why"),
    [
        (SleepConfig(awake_tokens=1000), Tiredness(15.9 * HOUR, 999), ""),
        (SleepConfig(), Tiredness(16 * HOUR, 0), "16 hours awake"),
        (SleepConfig(awake_tokens=1000), Tiredness(0, 1000), "1,000 tokens of thinking"),
        (SleepConfig(sleep=False), Tiredness(1000 * HOUR, 10**9), ""),
        (SleepConfig(awake_tokens=0), Tiredness(0, 10**9), ""),
        (SleepConfig(awake_hours=0.5), Tiredness(0.5 * HOUR), "30 minutes awake"),
    ],
)
def test_hours_and_tokens_tire_and_nothing_else_does(
    config: SleepConfig, tiredness: Tiredness, why: str
):
    assert tired(config, tiredness) == why


# -- waking


@pytest.mark.parametrize(
    ("day", "fell", "wakes"), [(20, (22, 0), (5, 0)), (21, (3, 0), (7, 0)), (21, (6, 50), (7, 50))]
)
def test_it_sleeps_its_hours_or_until_its_hour_but_an_hour_at_least(
    in_berlin: ZoneInfo, day: int, fell: tuple[int, int], wakes: tuple[int, int]
):
    asleep = datetime(2026, 11, day, *fell, tzinfo=in_berlin)
    woke = wakes_at(asleep, SleepConfig(sleep_hours=7, wake_hour=7))
    assert woke == datetime(2026, 11, 21, *wakes, tzinfo=in_berlin)


# -- loud


@pytest.mark.parametrize("words", table("loud"))
def test_what_wakes_a_sleeper(words: str):
    assert is_loud(words, "Mira")


@pytest.mark.parametrize("words", table("not loud"))
def test_what_lets_a_sleeper_sleep(words: str):
    assert not is_loud(words, "Mira")
