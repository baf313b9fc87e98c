"""Times that a text speaks of: dates, months, years, and words relative to the clock."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from keepsake.language.words import MONTHS

_MONTHS = [month.casefold() for month in MONTHS]
_SHORT_MONTHS = [month[:3] for month in _MONTHS]
_DAYS = [name.casefold() for name in calendar.day_name]
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS = {word: n for n, word in enumerate(_NUMBERS, 1)} | {"a couple of": 2, "a few": 3}
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_DAY = "|".join(_DAYS)
_COUNT = rf"\d{{1,3}}|an?|{'|'.join(_COUNTS)}"
_PATTERNS = (
    r"\b(?P<y0>\d{4})-(?P<m0>\d\d)-(?P<d0>\d\d)\b",
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})\b\.?,?(?: (?P<y1>\d{{4}}))?",
    rf"\b(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:),?(?: (?P<y2>\d{{4}}))?",
    rf"\b(?P<m3>{_MONTH})\b,?(?: of)? (?P<y3>\d{{4}})\b",
    rf"\b(?:in|since|during|last|this|early|late|mid|until|by|of|before|after) (?P<m4>{_MONTH})\b",
    r"\b(?:in|since|during|of) (?P<y5>(?:19|20)\d\d)\b",
    rf"\b(?P<ago>{_COUNT}) (?P<unit>day|week|month|year)s? ago\b",
    r"\b(?P<which>last|this|past) (?P<span>night|week|weekend|month|year)\b",
    r"\b(?P<word>the day before yesterday|yesterday|today|tonight|this morning)\b",
    rf"\b(?:last|on|this) (?P<weekday>{_DAY})\b",
)
"""A group's number tells whose day, month and year it is."""
_TIME = re.compile("|".join(_PATTERNS), re.I)
_ORDINALS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth
"""
_TO_NINTH = "|".join(_ORDINALS.split()[:9])
_ORDINAL = (
    rf"\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(_ORDINALS.split())}|(?:twenty|thirty)-(?:{_TO_NINTH})"
)
_SEASON = "spring|summer|autumn|fall|winter|christmas|easter"
_TOLD = re.compile(
    "|".join(
        (
            _TIME.pattern,
            rf"\b(?:{_DAY})s?\b",
            rf"\b(?:for|from|till|next|mid|late|early) (?:{_MONTH})\b",
            rf"\b(?:on|by|until|till|since) the (?:{_ORDINAL})\b",
            rf"\b(?:{_ORDINAL}) of (?:{_MONTH})\b",
            rf"\b(?:last|this|next|past|at|before|after|since) (?:{_SEASON})\b",
            r"\b(?:next|coming|following) (?:\w+ )?(?:day|week|weekend|month|year)s?\b",
            r"\b(?:day|week|weekend|month|year)s? (?:before|after|later|ago|back)\b",
            r"\b(?:tomorrow|this (?:afternoon|evening)|the other (?:day|night|week))\b",
        )
    )
)
"""What people say when they tell when something was or will be; not all of it can be dated."""
_HINT = re.compile(
    rf"\d|day|week|month|year|night|morning|afternoon|evening|tomorrow|{_SEASON}|{_MONTH}|"
    rf"{'|'.join(_ORDINALS.split())}"
)
"""Something of this stands wherever a time does; to look for it alone is ten times as fast.

It and :data:`_TOLD` are for texts in lower case: to look in any case takes four times as long.
"""
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*(am|pm)\b|\b(\d{1,2}):(\d\d)(?::\d\d)?\b", re.I)
_UNITS = {"day": (1, 0), "week": (7, 3), "month": (30, 12), "year": (365, 60)}
"""How many days each has, and how many "two weeks ago" and the like may be off, to either side."""
_LONGEST_AGO = 36_500


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, from ``start`` (included) to ``end`` (not included)."""

    start: datetime
    end: datetime
    words: str

    def holds(self, time: datetime) -> bool:
        """Whether ``time`` lies in it; both with time zone."""
        return self.start <= time < self.end


def spans(text: str, now: datetime) -> tuple[Span, ...]:
    """The times that ``text`` names, read at the time ``now`` (with time zone).

    A date without a year is the latest such date that is not after ``now``.
    """
    if not _HINT.search(text.lower()):
        return ()
    return tuple(span for match in _TIME.finditer(text) if (span := _span(match, now)))


def without_times(text: str) -> str:
    """``text`` with a blank in place of each time that it names."""
    return _TIME.sub(" ", text) if _HINT.search(text.lower()) else text


@lru_cache(maxsize=8192)  # searches meet the same lines again
def tells_when(text: str) -> bool:
    """Whether ``text`` names a time, be it one that cannot be dated: "next Friday"."""
    lower = text.lower()
    return _HINT.search(lower) is not None and _TOLD.search(lower) is not None


def moment(text: str, zone: datetime) -> datetime | None:
    """The date, with its clock time if there is one, that ``text`` is; None if it is none."""
    try:
        time = datetime.fromisoformat(text.strip())
        return time if time.tzinfo else time.replace(tzinfo=zone.tzinfo)
    except ValueError:
        found = next(iter(spans(text, zone)), None)
    if found is None:
        return None
    match = _CLOCK.search(text)
    return found.start + (_hours(match) if match else timedelta())


def _hours(match: re.Match[str]) -> timedelta:
    hour, minute = int(match[1] or match[4]), int(match[2] or match[5] or 0)
    if match[3]:
        hour = hour % 12 + (12 if match[3].casefold() == "pm" else 0)
    return timedelta(hours=hour % 24, minutes=minute % 60)


def _span(match: re.Match[str], now: datetime) -> Span | None:
    """The time that a match of ``_TIME`` names; None for a date that does not exist."""
    named = {name: value.casefold() for name, value in match.groupdict().items() if value}
    got = {name.rstrip("012345"): value for name, value in named.items()}
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        start, end = _dated(got, today) if got.keys() & {"m", "y"} else _relative(got, today)
    except (ValueError, OverflowError):
        return None
    return Span(start, end, " ".join(match[0].split()))


def _dated(got: dict[str, str], today: datetime) -> tuple[datetime, datetime]:
    """A day, a month or a year; without a year the latest that is not after today."""
    day, name = int(got.get("d", 1)), got.get("m", "1")
    month = int(name) if name.isdigit() else _SHORT_MONTHS.index(name[:3]) + 1
    start = today.replace(year=int(got.get("y", today.year)), month=month, day=day)
    if "y" not in got and start > today:
        start = start.replace(year=start.year - 1)
    if "d" in got:
        return _days(start)
    return _whole_month(start) if "m" in got else _whole_year(start)


def _relative(got: dict[str, str], today: datetime) -> tuple[datetime, datetime]:
    """A time that is told from today."""
    if "unit" in got:
        return _ago(today, got["ago"], got["unit"])
    if "span" in got:
        return _recent(today, got["span"], this=got["which"] == "this")
    if "word" in got:
        back = {"yesterday": 1, "the day before yesterday": 2}.get(got["word"], 0)
        return _days(today - timedelta(days=back))
    back = (today.weekday() - _DAYS.index(got["weekday"])) % 7
    return _days(today - timedelta(days=back or 7))


def _days(start: datetime, count: int = 1) -> tuple[datetime, datetime]:
    return start, start + timedelta(days=count)


def _whole_month(first: datetime) -> tuple[datetime, datetime]:
    return _days(first, calendar.monthrange(first.year, first.month)[1])


def _whole_year(first: datetime) -> tuple[datetime, datetime]:
    return first, first.replace(year=first.year + 1)


def _ago(today: datetime, word: str, unit: str) -> tuple[datetime, datetime]:
    count = int(word) if word.isdigit() else _COUNTS.get(word, 1)
    days, off = _UNITS[unit]
    middle, rough = today - timedelta(days=min(count * days, _LONGEST_AGO)), timedelta(days=off)
    return middle - rough, middle + rough + timedelta(days=1)


def _recent(today: datetime, unit: str, *, this: bool) -> tuple[datetime, datetime]:
    monday, first = today - timedelta(days=today.weekday()), today.replace(day=1)
    match unit:
        case "night":
            return _days(today - timedelta(days=1))
        case "week":
            return _days(monday - timedelta(days=0 if this else 7), 7)
        case "weekend":
            return _days(monday + timedelta(days=5 if this else -2), 2)
        case "month":
            return _whole_month(first if this else (first - timedelta(days=1)).replace(day=1))
    return _whole_year(first.replace(year=first.year - (not this), month=1))
