"""The world's clock on pages: the time zones that it lived by, each with its end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils.timezone import get_default_timezone_name

from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.world_clock import WorldClock
from keepsake.language.past_times import read_past_time
from keepsake.language.when import CLOCK_TIME
from keepsake.web.access import BadRequest

_DATED = re.compile(r"^(\d{4}-\d\d-\d\d) (\d\d:\d\d)")
"""How a plan's line begins that has a time."""


@dataclass(frozen=True, slots=True)
class EarlierZones:
    """The time zones that the world lived by before.

    Attributes:
        data: For scripts: until when, in seconds since 1970, and the name: ``1764460800=UTC``.
        words: For people; empty for none.
    """

    data: str
    words: str


def world_clock() -> Mapping[str, object]:
    """Return what each page needs to know of the world's clock."""
    return {"zone": get_default_timezone_name(), "zones": zones}


def zones() -> EarlierZones:
    """Return the earlier zones as a page names them; quick."""
    found = WorldClock.of_world().earlier
    told = (f"until {each.astimezone(ZoneInfo(name)):%-d %b %H:%M} {name}" for name, each in found)
    data = " ".join(f"{int(end.timestamp())}={name}" for name, end in found)
    return EarlierZones(data, ", ".join(told))


def by_the_clock(line: str) -> str:
    """Return a plan's line with its time as people say it, as ``byTheClock`` of ``clock.js``.

    ``29 Nov, 19:35, at Pump Square: …``
    """

    def told(found: re.Match[str]) -> str:
        day, hour = found.groups()
        try:
            return f"{date.fromisoformat(day):%-d %b}, {hour}"
        except ValueError:  # a day that there is not: a person wrote it
            return found[0]

    return _DATED.sub(told, line)


def moment_of(shown: datetime) -> datetime:
    """Return the moment at which the world's clock showed a time; ``shown`` has no zone."""
    return WorldClock.of_world().moment_of(shown)


def meant_by(phrase: str, now: datetime, span: tuple[float, float] | None) -> datetime:
    """Return the moment that a person means by a phrase, by the world's clock.

    Args:
        phrase: Such as ``19:34``, ``yesterday`` or ``Thursday evening``.
        now: With time zone.
        span: The times of an agent's first and newest memory, in seconds since 1970: a clock time
            without a day is the last one before the newest.

    Raises:
        BadRequest: It names no time in the past.
    """
    newest = as_shown(datetime.fromtimestamp(span[1] + 1, UTC)) if span else None
    language = runtime().places.language
    found = read_past_time(phrase, as_shown(now), newest, language=language)
    if found is None:
        cure = "Try 19:34, yesterday, Thursday evening, or 29 Nov 19:34"
        raise BadRequest(f"{phrase[:60]!r} is no time in the past", cure)
    if span and CLOCK_TIME.fullmatch(phrase.strip()):
        # Its newest memory may be older than that time of its first evening.
        later = moment_of(found + timedelta(days=1))
        if moment_of(found).timestamp() < span[0] and later <= now:
            return later
    return moment_of(found)


def as_shown(moment: datetime) -> datetime:
    """Return what the world's clock showed at a moment, without a zone, as templates show it."""
    return WorldClock.of_world().shown(moment)
