"""The day that a promise is for, and its hour or part of the day if one was named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from keepsake.language.day_names import names_day
from keepsake.language.when import (
    PARTS_OF_DAY,
    hours_in,
    names_a_date,
    names_a_minute,
    names_an_hour,
    part_of_day_in,
    read_time,
    span_in,
)

DUE = rf"\d{{4}}-\d\d-\d\d(?: (?:\d\d:\d\d|{'|'.join(PARTS_OF_DAY)}))?"
"""The part of a pattern for what :attr:`DueDay.line` writes."""
_WEEK = 7
"""The days among which a name of a day means one: the name of today's day is in a week."""
_NIGHT = "night"
_TONIGHT = f"to{_NIGHT}"
"""The part of the day that names its day, too."""


@dataclass(frozen=True, slots=True)
class DueDay:
    """A day, and an hour or a part of the day if one was named, by the world's clock.

    Attributes:
        hour: None if none was named.
        part: A word of :data:`keepsake.language.when.PARTS_OF_DAY`; empty for none, and beside an
            hour.
    """

    day: date
    hour: time | None = None
    part: str = ""

    @property
    def line(self) -> str:
        """It as files and prompts have it: ``2026-12-01``, ``… 09:00``, ``… morning``."""
        hour = f"{self.hour:%H:%M}" if self.hour else self.part
        return f"{self.day.isoformat()} {hour}".rstrip()

    @property
    def clock(self) -> time | None:
        """The hour, or that which is meant by the part of the day; None if neither was named."""
        if self.hour is not None or not self.part:
            return self.hour
        hour, _, minute = PARTS_OF_DAY[self.part].partition(":")
        return time(int(hour), int(minute))

    @property
    def begins(self) -> datetime:
        """What the clock shows then, or as the day begins; without a zone."""
        return datetime.combine(self.day, self.clock or time.min)


def read_due(line: str) -> DueDay | None:
    """Return what :attr:`DueDay.line` wrote; None if it is no date."""
    if re.fullmatch(DUE, line) is None:
        return None
    day, _, rest = line.partition(" ")
    part = rest if rest in PARTS_OF_DAY else ""
    try:
        hour = time.fromisoformat(rest) if rest and not part else None
        return DueDay(date.fromisoformat(day), hour, part)
    except ValueError:  # 2026-13-01
        return None


def due_by(phrase: str, now: datetime) -> DueDay | None:
    """Return when a phrase says: ``tomorrow 9:00``, ``Friday evening``.

    None if it says no time, or one of an earlier day.

    An hour without a day is the next one: ``from six``. Blocks, as
    :func:`keepsake.language.when.read_when` does.

    Args:
        phrase: A time and nothing else.
        now: The present time, with the world's time zone.
    """
    phrase = phrase.strip(" .")
    says = names_a_date(phrase) or names_an_hour(phrase)  # not "in 3 pieces"
    at = read_time(phrase, now) if says else None
    if at is None:
        return due_in(phrase, now)
    if at.date() < now.date():
        return None
    hour = at.time().replace(second=0, microsecond=0) if names_a_minute(phrase) else None
    return DueDay(at.date(), hour, _part(phrase, hour))


def due_in(text: str, said: datetime) -> DueDay | None:
    """Return the day that a text names, of the week that follows; None for none, and for several.

    Its hour, or its part of the day, is that which the text names, if it is one. Without a day it
    is the next such hour, or a span from when it was said; a part of the day alone, besides
    "tonight", may be that of any day.

    Args:
        text: In any language that dateparser knows; an hour is read in figures and in English.
        said: When it was said, by the world's clock: tomorrow is the day after that.
    """
    days = [said.date() + timedelta(days=far) for far in range(_WEEK + 1)]
    named = [each for each in days if names_day(text, said.date(), each)]
    hours = hours_in(text)
    hour = next(iter(hours)) if len(hours) == 1 else None
    if len(named) == 1:
        return DueDay(named[0], hour, _part(text, hour))
    if named or names_a_date(text):
        return None
    if hour is not None:
        return DueDay(days[0] if hour > said.time() else days[1], hour)
    if (span := span_in(text)) is not None:
        at = said + span
        minute = at.time().replace(second=0, microsecond=0) if names_a_minute(text) else None
        return DueDay(at.date(), minute)
    is_tonight = part_of_day_in(text) == _TONIGHT
    return DueDay(days[0], part=_part(text, None)) if is_tonight else None


def _part(text: str, hour: time | None) -> str:
    """Return the part of the day that a text names beside no hour, as of any day."""
    part = "" if hour is not None else part_of_day_in(text)
    return _NIGHT if part == _TONIGHT else part
