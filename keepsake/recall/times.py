"""Finds times in a text: dates, months, years, and words relative to the clock."""

from __future__ import annotations

import calendar
import re
from datetime import datetime, timedelta
from functools import lru_cache

from keepsake.language.perception import MONTHS
from keepsake.language.questions import names_a_day

type Span = tuple[datetime, datetime]
"""A period of time, from its start (included) to its end (excluded)."""


_MONTHS = [month.casefold() for month in MONTHS]
_DAYS = [name.casefold() for name in calendar.day_name]
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS = {word: n for n, word in enumerate(_NUMBERS, 1)} | {"a couple of": 2, "a few": 3}
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_DAY = "|".join(_DAYS)
_DAYS_BACK = {"the day before yesterday": 2, "yesterday": 1, "last night": 1, "past night": 1}
_DAYS_BACK |= dict.fromkeys(("today", "tonight", "this morning", "this night"), 0)
_COUNT = rf"\d{{1,3}}|an?|{'|'.join(_COUNTS)}"
_PATTERNS = (
    r"\b(?P<y0>\d{4})-(?P<m0>\d\d)-(?P<d0>\d\d)\b",
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})\b\.?,?(?: (?P<y1>\d{{4}}))?",
    rf"\b(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:),?(?: (?P<y2>\d{{4}}))?",
    rf"\b(?P<m3>{_MONTH})\b,?(?: of)? (?P<y3>\d{{4}})\b",
    rf"\b(?:in|since|during|last|this|early|late|mid|until|by|of|before|after) (?P<m4>{_MONTH})\b",
    r"\b(?:in|since|during|of) (?P<y5>(?:19|20)\d\d)\b",
    rf"\b(?P<ago>{_COUNT}) (?P<unit>day|week|month|year)s? ago\b",
    r"\b(?P<which>last|this|past) (?P<span>week|weekend|month|year)\b",
    rf"\b(?P<word>{'|'.join(_DAYS_BACK)})\b",
    rf"\b(?:last|on|this) (?P<weekday>{_DAY})\b",
)
"""Group names end in the number of their pattern, since a group name may occur only once."""
_TIME = re.compile("|".join(_PATTERNS), re.I)
_SPANS = ("-", "19", "20", "ago", "day", "night", "morning", "week", "month", "year")
_TIME_MARKS = (*_SPANS, *(name[:3] for name in _MONTHS))
"""Every expression of time contains one of these; to look for them takes a tenth of the time."""
_ORDINAL = r"\d(?:st|nd|rd|th)|first|second|third|(?:four|fif|six|en|eigh|nin|elf|tie)th"
_TOLD = re.compile(
    rf"{_TIME.pattern}|\b(?:{_DAY}|tomorrow|(?:last|next) (?:spring|summer|autumn|winter))\b"
    rf"|\b(?:on|by|until|till|since) the [\w-]*(?:{_ORDINAL})\b"
)
"""Expressions that say when something was or will be; not all of them can be dated. They match
lower case only: ignoring case takes several times as long."""
_UNITS = {"day": (1, 0), "week": (7, 3), "month": (30, 12), "year": (365, 60)}
"""The days of each unit, and the error of "two weeks ago" and the like, in days to either side."""


def times_in(text: str) -> list[re.Match[str]]:
    """Return the expressions of time that a text has, each a match for :func:`span_of`."""
    lower = text.casefold()
    return [*_TIME.finditer(text)] if any(sign in lower for sign in _TIME_MARKS) else []


@lru_cache(maxsize=8192)  # searches see the same lines again
def mentions_time(text: str) -> bool:
    """Whether ``text`` names a time, even one that cannot be dated: "on the twelfth"."""
    return _TOLD.search(text.lower()) is not None or names_a_day(text)


def span_of(match: re.Match[str], now: datetime) -> Span | None:
    """Return the period that an expression of time names; None for a date that does not exist."""
    named = {name: value.casefold() for name, value in match.groupdict().items() if value}
    got = {name.rstrip("012345"): value for name, value in named.items()}
    # Without a zone until the days are added up, because another day may have summer time.
    today = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    try:
        found = _dated(got, today) if got.keys() & {"m", "y"} else _relative(got, today)
        return found[0].astimezone(), found[1].astimezone()
    except (ValueError, OverflowError):
        return None


def _dated(got: dict[str, str], today: datetime) -> tuple[datetime, datetime]:
    """Return a day, a month or a year; without a year, the latest that is not after today."""
    day = int(got.get("d", 1))
    name = got.get("m", "1")
    month = int(name) if name.isdigit() else [each[:3] for each in _MONTHS].index(name[:3]) + 1
    start = today.replace(year=int(got.get("y", today.year)), month=month, day=day)
    if "y" not in got and start > today:
        start = start.replace(year=start.year - 1)
    return _days(start) if "d" in got else _months(start, 1 if "m" in got else 12)


def _relative(got: dict[str, str], today: datetime) -> tuple[datetime, datetime]:
    """Return a period that is given relative to today."""
    if "word" in got:
        return _days(today - timedelta(days=_DAYS_BACK[got["word"]]))
    if "weekday" in got:
        back = (today.weekday() - _DAYS.index(got["weekday"])) % 7
        return _days(today - timedelta(days=back or 7))
    if "unit" in got:
        word = got["ago"]
        days, off = _UNITS[got["unit"]]
        count = int(word) if word.isdigit() else _COUNTS.get(word, 1)
        return _days(today - timedelta(days=count * days + off), 2 * off + 1)
    last = got["which"] != "this"
    monday = today - timedelta(days=today.weekday())
    match got["span"]:
        case "week":
            return _days(monday - timedelta(days=7 * last), 7)
        case "weekend":
            return _days(monday + timedelta(days=5 - 7 * last), 2)
        case "month":
            return _months((today.replace(day=1) - timedelta(days=last)).replace(day=1), 1)
    return _months(today.replace(year=today.year - last, month=1, day=1), 12)


def _days(start: datetime, count: int = 1) -> tuple[datetime, datetime]:
    return start, start + timedelta(days=count)


def _months(first: datetime, count: int) -> tuple[datetime, datetime]:
    """Return ``count`` months (1 or 12) from the first day of a month."""
    days = [calendar.monthrange(first.year, month)[1] for month in range(1, 13)]
    return _days(first, sum(days[first.month - 1 :][:count]))
