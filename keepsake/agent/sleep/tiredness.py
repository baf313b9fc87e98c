"""When an agent is tired, when it wakes, and what is loud enough to wake it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from keepsake.language.heard import names
from keepsake.language.perception import pattern
from keepsake.markdown_config import FileSettings, between, fixed

LEAST_SLEEP = timedelta(hours=1)
"""Whoever falls asleep just before its hour sleeps this long all the same."""
BY_DAY = 0.75
"""The share of its hours that an agent sleeps by day. So bedtime moves until it lies in the night
again; else whoever was once put to bed at noon would sleep through every day from then on."""
_HALF_A_DAY = timedelta(hours=12)
_HOUR = 3600.0
_SHARE_OF_CAPITALS, _LEAST_LETTERS = 0.8, 5
_LONGEST = 1200


@dataclass(frozen=True, slots=True)
class SleepConfig(FileSettings):
    """When agents sleep, and what a night may cost, from ``vault/config/sleep.md``."""

    sleep: bool = True
    awake_hours: float = between(16.0, low=0.1, high=1000.0)
    awake_tokens: int = 400_000
    quiet_minutes: float = fixed(3.0)  # how long nobody may have spoken to it before it goes to bed
    sleep_hours: float = between(8.0, low=1.0, high=24.0)
    wake_hour: int = between(7, high=23)
    profile: str = "summarizer"
    calls: int = between(24, high=1000)
    reflect_after: int = fixed(60)  # importance that has to gather before it reflects
    insights: int = fixed(3)  # the most that one reflection brings


@dataclass(frozen=True, slots=True)
class Tiredness:
    """What has tired an agent since it woke."""

    awake_seconds: float = 0.0  # seconds awake; those in which the server was down do not count
    tokens: int = 0  # tokens that its thoughts have read and written


def tired(config: SleepConfig, tiredness: Tiredness) -> str:
    """Why an agent is tired: ``16 hours awake``; empty if it is not."""
    if not config.sleep:
        return ""
    if tiredness.awake_seconds >= config.awake_hours * _HOUR:
        hours = tiredness.awake_seconds / _HOUR
        return f"{hours:.0f} hours awake" if hours >= 2 else f"{hours * 60:.0f} minutes awake"
    if 0 < config.awake_tokens <= tiredness.tokens:
        return f"{tiredness.tokens:,} tokens of thinking"
    return ""


def wakes_at(fell_asleep: datetime, config: SleepConfig) -> datetime:
    """When a sleep ends by itself.

    After ``sleep_hours``, at the latest at ``wake_hour`` of the machine's own clock, but
    never before :data:`LEAST_SLEEP`. A sleep that begins in the twelve hours after the
    ``wake_hour`` is one by day, and shorter (:data:`BY_DAY`).

    Returns:
        A time in the zone of ``fell_asleep``.
    """
    hour = _next(config.wake_hour, fell_asleep)
    by_day = hour - fell_asleep > _HALF_A_DAY
    hours = timedelta(hours=config.sleep_hours) * (BY_DAY if by_day else 1.0)
    return max(min(fell_asleep + hours, hour), fell_asleep + LEAST_SLEEP)


def _next(hour: int, after: datetime) -> datetime:
    """The first time after ``after`` at which the machine's clock shows that hour."""
    day = after.astimezone().date()
    # A time without a zone is of the machine's, by the rules of that very day.
    today = datetime.combine(day, time(hour)).astimezone()
    if today <= after:
        today = datetime.combine(day + timedelta(days=1), time(hour)).astimezone()
    return today.astimezone(after.tzinfo)


def is_loud(words: str, own_name: str) -> bool:
    """Whether what is said wakes a sleeper: mostly in capitals, or its name called out (``Mira!``).

    Whether it was said to the sleeper at all is for the caller to know.
    """
    words = words[:_LONGEST]
    letters = [char for char in words if char.lower() != char.upper()]
    shouted = sum(map(str.isupper, letters)) >= _SHARE_OF_CAPITALS * max(len(letters), 1)
    if shouted and (len(letters) >= _LEAST_LETTERS or names(words, own_name)):
        return True
    called = rf"\b{re.escape(own_name)}\b\s*(?:,[^.?…!]*)?!"
    return pattern(called, re.I).search(words) is not None
