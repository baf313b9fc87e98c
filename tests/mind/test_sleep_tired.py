"""When an agent tires, when it wakes, what is loud; and the file that says so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.errors import ConfigError
from keepsake.sleep.config import SleepConfig
from keepsake.sleep.tiredness import LEAST_SLEEP, Tiredness, is_loud, tired, wakes_at

HOUR = 3600.0
SHIPPED = Path(__file__).parents[2] / "vault" / "config" / "sleep.md"


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[ZoneInfo]:
    """The machine's clock runs in a zone that has a summer time."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield ZoneInfo("Europe/Berlin")
    monkeypatch.undo()
    time.tzset()


# -- the file


def test_the_shipped_file_says_what_the_defaults_are():
    assert SleepConfig.load(SHIPPED) == SleepConfig()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("**sleep_hours**: 0.5", "not between 1 and 24"),
        ("**wake_hour**: 24", "not between 0 and 23"),
        ("**wake_hour**: half past six", "not a whole number"),
        ("**awake_hours**: 0", "not between 0.1"),
        ("**calls**: -1", "not between 0"),
        ("**wakehour**: 7", "Did you mean wake_hour"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_line(tmp_path: Path, line: str, said: str):
    path = tmp_path / "sleep.md"
    path.write_text(f"# Sleep\n\n{line}\n")
    with pytest.raises(ConfigError, match=said) as refused:
        SleepConfig.load(path)
    assert refused.value.line == 3


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


@pytest.mark.parametrize("bedtime", range(0, 24, 3))
def test_whenever_it_was_put_to_bed_its_bedtime_comes_to_lie_in_the_night(
    in_berlin: ZoneInfo, bedtime: int
):
    config = SleepConfig()
    asleep = datetime(2026, 11, 21, bedtime, 0, tzinfo=in_berlin)
    for _ in range(14):
        woke = wakes_at(asleep, config)
        asleep = woke + timedelta(hours=config.awake_hours)
    assert wakes_at(asleep, config) - asleep >= timedelta(hours=config.sleep_hours) * 0.9
    assert asleep.hour >= 19 or asleep.hour < 1


@pytest.mark.parametrize("month", [3, 10])
def test_the_hour_is_the_clocks_also_when_the_clocks_are_changed(in_berlin: ZoneInfo, month: int):
    day = {3: 29, 10: 25}[month]  # the clocks change in this night
    fell = datetime(2026, month, day - 1, 23, 30, tzinfo=in_berlin)
    wakes = wakes_at(fell.astimezone(UTC), SleepConfig(sleep_hours=12, wake_hour=7))
    assert wakes.astimezone(in_berlin).hour == 7
    assert wakes.tzinfo is UTC


@given(
    fell=st.datetimes(datetime(2026, 1, 1), datetime(2028, 1, 1), timezones=st.just(UTC)),
    hours=st.floats(1, 24),
    hour=st.integers(0, 23),
)
def test_whatever_is_set_it_sleeps_an_hour_at_least_and_never_longer_than_its_hours(
    fell: datetime, hours: float, hour: int
):
    wakes = wakes_at(fell, SleepConfig(sleep_hours=hours, wake_hour=hour))
    assert fell + LEAST_SLEEP <= wakes <= fell + timedelta(hours=hours)


# -- loud


@pytest.mark.parametrize(
    "words",
    [
        "Mira!",
        "MIRA",
        "Hey Mira!",
        "Mira, the house is on fire!",
        "Come quickly, Mira!",
        "wake up",
        "Wake up, Mira.",
        "Mira, wake up please",
        "Please wake up!",
        "Come on, wake up.",
        "FIRE IN THE STABLE",
        "mira!!!",
    ],
)
def test_what_wakes_a_sleeper(words: str):
    assert is_loud(words, "Mira")


@pytest.mark.parametrize(
    "words",
    [
        "Good night, Mira.",
        "Is Mira asleep?",
        "What a lovely evening!",
        "Don't wake up Mira!",
        "Do not wake Mira up, she had a long day.",
        "Never wake her!",
        "When I wake up I shall have the soup.",
        "I always wake up early.",
        "Admira!",
        "What a day! Mira sleeps already.",
        "Ada likes Mira a lot!",
        "OK",
        "I?",
        "",
        "...!",
    ],
)
def test_what_lets_a_sleeper_sleep(words: str):
    assert not is_loud(words, "Mira")


@given(st.text(max_size=300), st.text(min_size=1, max_size=24))
def test_whatever_is_said_is_either_loud_or_not(words: str, name: str):
    assert is_loud(words, name) in (True, False)
