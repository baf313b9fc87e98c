"""The day that a promise is for, and its hour if one was named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from keepsake.language.day_names import names_day
from keepsake.language.when import names_a_date, names_a_minute, names_an_hour, read_time

DUE = r"\d{4}-\d\d-\d\d(?: \d\d:\d\d)?"
"""The part of a pattern for what :attr:`DueDay.line` writes."""
_WEEK = 7
"""The days among which a name of a day means one: the name of today's day is in a week."""


@dataclass(frozen=True, slots=True)
class DueDay:
    """A day, and an hour if one was named, by the world's clock."""

    day: date
    hour: time | None = None

    @property
    def line(self) -> str:
        """It as files and prompts have it: ``2026-12-01``, ``2026-12-01 09:00``."""
        return f"{self.day.isoformat()} {self.hour:%H:%M}" if self.hour else self.day.isoformat()

    @property
    def begins(self) -> datetime:
        """What the clock shows then, or as the day begins; without a zone."""
        return datetime.combine(self.day, self.hour or time.min)


def read_due(line: str) -> DueDay | None:
    """Return what :attr:`DueDay.line` wrote; None if it is no date."""
    if re.fullmatch(DUE, line) is None:
        return None
    day, _, hour = line.partition(" ")
    try:
        return DueDay(date.fromisoformat(day), time.fromisoformat(hour) if hour else None)
    except ValueError:  # 2026-13-01
        return None


def due_by(phrase: str, now: datetime) -> DueDay | None:
    """Return the day that a phrase says: ``tomorrow 9:00``, ``Friday``; None if it says none.

    A part of the day gives no hour: "tomorrow morning" may be before anybody is up. Blocks, as
    :func:`keepsake.language.when.read_when` does.

    Args:
        phrase: A time and nothing else.
        now: The present time, with the world's time zone.
    """
    phrase = phrase.strip(" .")
    says = names_a_date(phrase) or names_an_hour(phrase)  # not "from six", which may be any day
    at = read_time(phrase, now) if says else None
    if at is None or at.date() < now.date():
        return due_in(phrase, now.date())
    hour = at.time().replace(second=0, microsecond=0) if names_a_minute(phrase) else None
    return DueDay(at.date(), hour)


def due_in(text: str, said: date) -> DueDay | None:
    """Return the day that a text names, of the week that follows; None for none, and for several.

    Args:
        text: In any language that dateparser knows.
        said: The date on which it was said: tomorrow is the day after that.
    """
    days = (said + timedelta(days=far) for far in range(_WEEK + 1))
    named = [each for each in days if names_day(text, said, each)]
    return DueDay(named[0]) if len(named) == 1 else None
