"""Reads when something is to happen: ``tomorrow 12:00``, ``Saturday evening``, ``in 3 minutes``.

Dates are read by `dateparser`. It blocks for some milliseconds, and for a third of a second at its
first use, so call :func:`read_when` in a worker thread.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

PARTS_OF_DAY = {
    "dawn": "6:00",
    "morning": "9:00",
    "noon": "12:00",
    "midday": "12:00",
    "afternoon": "15:00",
    "dusk": "18:00",
    "evening": "19:00",
    "tonight": "21:00",
    "night": "21:00",
    "midnight": "23:59",
}
"""The hour that a word means, if no clock time stands beside it. It is only a reading: a person
who meant another hour writes it."""
_CLOCK = re.compile(r"\d{1,2}:\d{2}|\d{1,2} ?[ap]\.?m\b", re.I)
_SPAN = re.compile(
    r"in (?P<half>half an?|a quarter of an|an?|\d+) (?P<unit>minute|hour|day)s?", re.I
)
_MEETING = re.compile(
    r"(?:when|once|as soon as|the next time) (?:I )?(?:next )?"
    r"(?:see |meet |am with )?(?P<who>.+?)(?: comes| arrives| is here| is back| comes in)?",
    re.I,
)
_SEEN = re.compile(r"\b(?:see|meet|am with|comes|arrives|is here|is back)\b", re.I)
_WORDS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class When:
    """When something is to happen: at a time, when somebody is met, or after something else.

    Attributes:
        at: The time, with time zone; None if no time is given.
        meeting: The name of the person at whose next meeting it happens; empty if it is nobody's.
        after: What it waits for, in words: ``when the bell rings``; empty if it waits for nothing.
    """

    at: datetime | None = None
    meeting: str = ""
    after: str = ""


def read_when(text: str, now: datetime) -> When | None:
    """Return what a phrase says about time; None if it says nothing.

    Args:
        text: The phrase, in English, or a date with digits.
        now: The present time, with time zone. Times without a date are in the future.
    """
    text = " ".join(text.split()).strip(" .")
    if not text:
        return None
    if re.match(r"(?:when|once|as soon as|after|the next time)\b", text, re.I):
        met = _MEETING.fullmatch(text)
        if met and _SEEN.search(text):
            return When(meeting=met["who"].strip())
        return When(after=text)
    at = read_time(text, now)
    return None if at is None else When(at=at)


def read_time(text: str, now: datetime) -> datetime | None:
    """Return the time that a phrase names, in the zone of ``now``; None if it names none."""
    if span := _SPAN.fullmatch(text):
        return now + _length(span["half"].casefold(), span["unit"].casefold())
    words = [word.casefold() for word in _WORDS.findall(text)]
    named = next((word for word in words if word in PARTS_OF_DAY), "")
    bare = text
    if named:
        hour = "" if _CLOCK.search(text) else PARTS_OF_DAY[named]
        day = "today" if named == "tonight" else ""
        bare = re.sub(rf"\b(?:in the |at |this )?{named}\b", f" {day} {hour} ", text, flags=re.I)
    if not (named or any(char.isdigit() for char in text) or _names_a_day(words)):
        return None  # a name such as May is no time
    import dateparser  # noqa: PLC0415 - a third of a second, which a start need not pay

    settings = {"RELATIVE_BASE": now.replace(tzinfo=None), "PREFER_DATES_FROM": "future"}
    found = dateparser.parse(" ".join(bare.split()), languages=["en"], settings=settings)
    return None if found is None else found.replace(tzinfo=now.tzinfo)


_DAYS = frozenset(
    {
        "today",
        "tomorrow",
        "now",
        *(name.casefold() for name in (*calendar.day_name, *calendar.day_abbr)),
    }
)


def _names_a_day(words: list[str]) -> bool:
    return any(word in _DAYS for word in words)


def _length(count: str, unit: str) -> timedelta:
    one = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
    if count.startswith("half"):
        return one[unit] / 2
    if count.startswith("a quarter"):
        return one[unit] / 4
    return one[unit] * (int(count) if count.isdigit() else 1)
