"""The settings of agents: ``thinking.md``, ``sleep.md`` and ``recall.md`` in ``vault/config``.

Each setting is explained in its file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

from keepsake.markdown_config import ConfigSection, FileSettings, between, fixed
from keepsake.recall.stores import CHILD, NONE

LEAST_SLEEP = timedelta(hours=1)
"""The shortest sleep, also for an agent that falls asleep just before its hour to wake."""
BY_DAY = 0.75
"""A sleep by day lasts this share of ``sleep_hours``, so that bedtime moves back to the night.
Otherwise an agent that was once put to bed at noon would sleep through every day."""
_DAY = 86_400.0
"""Seconds of a day: the most that a time in seconds may be set to."""
_CHROMA = "Write child, none, or an address such as http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class ThinkingConfig(FileSettings):
    """When agents think; all times in seconds."""

    gather: float = between(0.6, high=30.0)
    cooldown: float = between(4.0, high=_DAY)
    idle_interval: float = between(270.0, low=5.0, high=_DAY)
    idle_away_factor: float = between(10.0, low=1.0)
    chatter_turns: int = between(4, high=1000)
    plan_thoughts: int = between(30, low=0, high=1000)  # an hour; 0: nothing wakes it for a plan
    plans: bool = True  # whether agents plan at all
    memory: bool = True  # whether prompts show more than the present talk
    pause_notice: float = fixed(2.0)


@dataclass(frozen=True, slots=True)
class SleepConfig(FileSettings):
    """When agents sleep, and what a night may cost."""

    sleep: bool = True
    awake_hours: float = between(16.0, low=0.1, high=1000.0)
    quiet_minutes: float = fixed(3.0)  # without a word from a player before it goes to bed
    sleep_hours: float = between(8.0, low=1.0, high=24.0)
    wake_hour: int = between(7, high=23)
    profile: str = "summarizer"
    calls: int = between(24, high=1000)
    reflect: bool = True  # whether agents draw conclusions at night
    reflect_after: int = fixed(60)  # the sum of importance that triggers a reflection
    insights: int = fixed(3)  # the most that one reflection writes

    def tired(self, seconds: float) -> str:
        """Return why the agent is tired: ``16 hours awake``; empty if it is not tired."""
        if not self.sleep or (hours := seconds / 3600.0) < self.awake_hours:
            return ""
        return f"{hours:.0f} hours awake" if hours >= 2 else f"{hours * 60:.0f} minutes awake"

    def is_night(self, moment: datetime) -> bool:
        """Return whether an agent mostly sleeps at that time: the hours before ``wake_hour``."""
        if not self.sleep:
            return False
        here = moment.astimezone()
        since = (here.hour + here.minute / 60.0 - self.wake_hour) % 24.0  # hours since it woke
        return since >= 24.0 - self.sleep_hours

    def evening_before(self, moment: datetime) -> datetime:
        """Return the moment, or the last minute of the day before if it is after midnight.

        A sleeper whose night began after midnight still calls the day that is coming *tomorrow*.
        """
        if moment.hour >= self.wake_hour:
            return moment
        return datetime.combine(moment.date(), time(), moment.tzinfo) - timedelta(minutes=1)

    def is_missed_night(self, before: datetime, now: datetime) -> bool:
        """Return whether an agent that was awake before this time would have slept in it.

        That is a time of half a sleep or more, because the server was down or the clock was put
        forward: the checks are a minute apart.
        """
        return self.sleep and now - before >= timedelta(hours=self.sleep_hours / 2)

    def wakes_at(self, fell_asleep: datetime) -> datetime:
        """Return when a sleep ends by itself, in the time zone of ``fell_asleep``.

        It ends after ``sleep_hours``, at the latest at ``wake_hour`` of the machine's clock, but
        never before :data:`LEAST_SLEEP`. A sleep that begins in the twelve hours after
        ``wake_hour`` is a sleep by day, which is shorter (:data:`BY_DAY`).
        """
        # A time without a zone is the machine's local time, with that day's daylight saving.
        day = fell_asleep.astimezone().date()
        at = time(self.wake_hour)
        days = (datetime.combine(day + timedelta(days=n), at).astimezone() for n in (0, 1))
        hour = next(each for each in days if each > fell_asleep).astimezone(fell_asleep.tzinfo)
        by_day = hour - fell_asleep > timedelta(hours=12)
        hours = timedelta(hours=self.sleep_hours) * (BY_DAY if by_day else 1.0)
        return max(min(fell_asleep + hours, hour), fell_asleep + LEAST_SLEEP)


@dataclass(frozen=True, slots=True)
class RecallConfig(FileSettings):
    """Which stores are searched, and how much of the results a prompt shows."""

    chroma: str = CHILD
    budget: int = between(600, high=100_000)
    notes: int = fixed(3)
    summaries: int = fixed(2)
    memories: int = between(30, high=200)
    patience: float = between(0.5, low=0.05, high=60.0)
    reread: float = between(4.0, high=60.0)  # seconds; 0: no model reads what was found

    def fitted(self, tokens: int) -> RecallConfig:
        """Return the settings with a larger budget if the prompt of the model has room for it.

        ``tokens``: What recalled memories may use of its prompts; 0 if the settings decide.
        """
        if not self.budget or tokens <= self.budget:
            return self
        return replace(self, budget=tokens)

    def checked(self, read: ConfigSection) -> RecallConfig:
        """Return these settings, with ``chroma`` as one of its two words or an address."""
        if "chroma" not in read.entries:
            return self
        return replace(self, chroma=read.address("chroma", _CHROMA, (CHILD, NONE)))
