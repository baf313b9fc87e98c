"""The almanac: what any moment is like, from the moment alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise

import pytest

from keepsake.agent.almanac import SEASONS, STATES, TIDES, WEATHERS, Hours, almanac

START = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)


def run(days: float, minutes: int = 10, start: datetime = START):
    """What every tenth minute of so many days is like."""
    steps = int(days * 1440 / minutes)
    return [almanac(start + timedelta(minutes=minutes * step)) for step in range(steps)]


def test_the_parts_of_a_day():
    at = [almanac(START.replace(hour=hour)).part for hour in (3, 6, 11, 12, 17, 18, 21, 22, 0)]
    wanted = "night morning morning afternoon afternoon evening evening night night"
    assert at == wanted.split()


def test_the_seasons_of_a_year():
    seasons = [almanac(START.replace(month=month)).season for month in range(1, 13)]
    assert [key for key, _ in groupby(seasons)] == [*SEASONS[3:], *SEASONS]
    assert seasons.count("winter") == seasons.count("summer") == 3


def test_two_high_tides_a_lunar_day_each_with_a_low_one_between():
    tides = [key for key, _ in groupby(run(29.5), key=lambda each: each.tide)]
    assert tides.count("high") in (57, 58)
    assert set(pairwise(tides)) == set(pairwise([*TIDES, TIDES[0]]))


def test_the_tide_comes_later_each_day_by_nearly_an_hour():
    highs = [
        next(group).moment for key, group in groupby(run(10), lambda a: a.tide) if key == "high"
    ]
    later = [(b - a) - timedelta(days=1) for a, b in zip(highs[1:], highs[3:], strict=False)]
    assert all(timedelta(minutes=40) <= each <= timedelta(minutes=60) for each in later)


def test_weather_lasts_for_hours_and_is_the_same_whenever_it_is_asked():
    year = run(365, 60)
    assert [each.weather for each in year] == [each.weather for each in run(365, 60)]
    spells = [len(list(group)) for _, group in groupby(year, key=lambda each: each.weather)]
    assert min(spells[1:-1]) >= 4
    assert {each.weather for each in year} == set(WEATHERS)


def test_it_snows_in_winter_alone_and_is_clear_most_often_in_summer():
    year = run(365, 240)
    assert {each.season for each in year if each.weather == "snow"} == {"winter"}
    clear = [each.season for each in year if each.weather == "clear"]
    assert max(set(clear), key=clear.count) == "summer"


def test_market_is_on_saturdays():
    week = [almanac(START + timedelta(days=day)) for day in range(7)]
    assert [f"{each.moment:%A}" for each in week if each.market] == ["Saturday"]


def test_every_state_is_one_that_data_may_name():
    for each in run(365, 240):
        assert each.states <= STATES
        assert {each.part, each.season, each.weather} < each.states


@pytest.mark.parametrize(
    ("hour", "minute", "said"),
    [
        (9, 31, "It is Monday, about half past nine in the morning."),
        (11, 47, "It is Monday, about a quarter to noon."),
        (0, 0, "It is Monday, about midnight."),
        (23, 55, "It is Monday, about midnight."),
        (18, 58, "It is Monday, about seven in the evening."),
        (2, 14, "It is Monday, about a quarter past two at night."),
    ],
)
def test_the_hour_in_words(hour, minute, said):
    assert almanac(START.replace(hour=hour, minute=minute)).clock == said


def test_market_day_is_told_with_the_hour():
    assert almanac(START + timedelta(days=5)).clock.startswith("It is Saturday, market day, about")


def test_the_sky_and_the_tide_in_words():
    assert {len(each.sky.split(". ")) for each in run(60, 240)} == {2}


def test_hours_go_over_midnight_and_end_before_their_last_moment():
    evening = Hours.parse("18:30-2")
    inside = [START.replace(hour=h, minute=m) for h, m in ((18, 30), (23, 59), (0, 0), (1, 59))]
    outside = [START.replace(hour=h, minute=m) for h, m in ((18, 29), (2, 0), (12, 0))]
    assert all(moment in evening for moment in inside)
    assert not any(moment in evening for moment in outside)
    assert START in Hours.parse("8-12")
    assert START.replace(hour=23) in Hours.parse("20-24")


@pytest.mark.parametrize("wrong", ["9", "9-25", "nine-ten", "9-12:61", ""])
def test_hours_that_are_none_are_refused_with_the_form_they_want(wrong):
    with pytest.raises(ValueError, match=r"such as 9"):
        Hours.parse(wrong)
