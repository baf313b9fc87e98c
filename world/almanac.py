"""The part of the day, season, tide, weather and market day at any moment.

The world's time is real time. Everything is computed from the moment alone: there is no state,
all callers agree, and a simulation with one seed stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from pathlib import Path
from random import Random

import yaml

PARTS = ("night", "morning", "afternoon", "evening")
"""Parts of the day."""
SEASONS = ("spring", "summer", "autumn", "winter")
"""Seasons: March to May is spring."""
TIDES = ("high", "falling", "low", "rising")
"""States of the tide, in order."""
MARKET_WEEKDAY = 5
"""Saturday, as :meth:`datetime.date.weekday` counts."""

LUNAR_DAY = timedelta(hours=24, minutes=50, seconds=28)
"""The time in which there are two high tides."""
_A_HIGH_TIDE = datetime(2026, 1, 1, 3, 0, tzinfo=UTC)
_SLACK = 0.15
"""The share of a tide that counts as high or low, before and after the highest or lowest moment."""
_BLOCK_HOURS = 4
"""Hours in which the weather does not change."""
_DATA = yaml.safe_load(Path(__file__).with_name("almanac.yaml").read_text("utf-8"))
WEATHERS = tuple(_DATA["weather"])
"""Kinds of weather."""


@dataclass(frozen=True, slots=True)
class Almanac:
    """The state of the world at a moment."""

    moment: datetime  # the moment, in the world's time zone
    part: str  # one of :data:`PARTS`
    season: str  # one of :data:`SEASONS`
    tide: str  # one of :data:`TIDES`
    weather: str  # one of :data:`WEATHERS`
    market: bool  # whether it is market day

    @property
    def states(self) -> frozenset[str]:
        """The state as words for data files, such as ``morning``, ``spring``, ``low tide``."""
        day = {"market day"} if self.market else set()
        return frozenset({self.part, self.season, f"{self.tide} tide", self.weather, *day})

    @property
    def clock(self) -> str:
        """Day and hour: ``It is Saturday, market day, 9:30 in the morning.``."""
        market = ", market day" if self.market else ""
        when = "at night" if self.part == "night" else f"in the {self.part}"
        return f"It is {self.moment:%A}{market}, {self.moment.hour}:{self.moment:%M} {when}."

    @property
    def sky(self) -> str:
        """Weather and tide: ``The sky is clear. The tide is coming in.``."""
        return f"{_DATA['weather'][self.weather]} {_DATA['water'][self.tide]}"


STATES = frozenset({*PARTS, *SEASONS, *WEATHERS, *(f"{tide} tide" for tide in TIDES), "market day"})
"""Every word that :attr:`Almanac.states` may hold."""


@dataclass(frozen=True, slots=True)
class Hours:
    """A part of the day, from ``since`` up to but not including ``until``; may cross midnight."""

    since: time
    until: time

    @classmethod
    @lru_cache(maxsize=512)  # the entries of a village's schedules; each is read once a minute
    def parse(cls, text: str) -> Hours:
        """Read a text such as ``9-12`` or ``18:30-2``.

        Raises:
            ValueError: The text has another form.
        """
        since, dash, until = text.partition("-")
        if not dash:
            raise ValueError(f"{text!r} is not a time span such as 9-12 or 18:30-2")
        return cls(_time(since), _time(until))

    def __contains__(self, moment: datetime) -> bool:
        now = moment.time()
        if self.since < self.until:
            return self.since <= now < self.until
        return now >= self.since or now < self.until


def almanac(moment: datetime) -> Almanac:
    """Return the state of the world at a moment, which must have the world's time zone."""
    night = moment.hour < 6 or moment.hour >= 22
    day = "evening"
    if moment.hour < 18:
        day = "morning" if moment.hour < 12 else "afternoon"
    season = SEASONS[(moment.month - 3) % 12 // 3]
    # High twice a lunar day, and low between.
    share = (moment - _A_HIGH_TIDE) / (LUNAR_DAY / 2) % 1.0
    tide = "falling" if share < 0.5 else "rising"
    if share < _SLACK or share >= 1 - _SLACK:
        tide = "high"
    elif abs(share - 0.5) <= _SLACK:
        tide = "low"
    return Almanac(
        moment=moment,
        part="night" if night else day,
        season=season,
        tide=tide,
        weather=_weather(moment.date(), moment.hour // _BLOCK_HOURS, season),
        market=moment.weekday() == MARKET_WEEKDAY,
    )


@lru_cache(maxsize=8)
def changes_on(day: date) -> tuple[datetime, ...]:
    """Return the minutes of a date at which the state of the world changes; its first one too.

    ``day``: In the world's time zone, as are the moments.
    """
    found: list[datetime] = []
    before: frozenset[str] | None = None
    for moment in minutes_of(day):
        states = almanac(moment).states
        if states != before:
            found.append(moment)
        before = states
    return tuple(found)


def minutes_of(day: date) -> Iterator[datetime]:
    """Yield the minutes of a date: 1,440 but on those days on which clocks are changed."""
    moment = datetime.combine(day, time.min).astimezone()
    end = datetime.combine(day + timedelta(days=1), time.min).astimezone()
    while moment < end:
        yield moment
        moment = (moment.astimezone(UTC) + timedelta(minutes=1)).astimezone()


@lru_cache(maxsize=64)
def _weather(day: date, block: int, season: str) -> str:
    """Choose the weather of a block of four hours; half of the blocks have the day's weather."""
    dice = Random(f"weather {day} {block}")
    if dice.random() < 0.5:  # half of the time it is what the day is
        dice = Random(f"weather {day}")
    return dice.choices(WEATHERS, _DATA["chances"][season])[0]


def _time(text: str) -> time:
    hour, _, minute = text.strip().partition(":")
    try:
        return time(0 if int(hour) == 24 else int(hour), int(minute or 0))
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not a time of day such as 9 or 18:30") from None
