"""Reads when something is to happen: ``tomorrow 12:00``, ``Saturday evening``, ``in 3 minutes``.

Phrases are read by `dateparser`. It blocks for some milliseconds, and for a third of a second at
its first use, so call :func:`read_when` in a worker thread.
"""

from __future__ import annotations

import calendar
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from keepsake.language.languages import ENGLISH
from keepsake.language.numbers import numerals

PARTS_OF_DAY = {
    "dawn": "6:00",
    "daybreak": "6:00",
    "sunrise": "6:00",
    "morning": "9:00",
    "noon": "12:00",
    "midday": "12:00",
    "afternoon": "15:00",
    "dusk": "18:00",
    "sunset": "18:00",
    "evening": "19:00",
    "tonight": "21:00",
    "night": "21:00",
    "midnight": "23:59",
}
"""The hour that a word means, if no clock time stands beside it. It is only a reading: a person
who meant another hour writes it."""
_LATE_PARTS = {
    "afternoon": 1,
    "dusk": 4,
    "sunset": 4,
    "evening": 4,
    "tonight": 5,
    "night": 5,
}
"""Parts of the day in its second half, each with the first hour up to eleven that is in it: "one at
night" is early, "six in the evening" is late."""
_NUMBERS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
}
_SPELLED = re.compile(rf"\b({'|'.join(_NUMBERS)})\b", re.I)
_HALF_PAST = re.compile(
    r"\b(?:at )?(half|a quarter|quarter|\d{1,2}(?: minutes)?) (past|to) (\d{1,2})\b", re.I
)
_BARE_HOUR = re.compile(r"\bat (\d{1,2})(?: o'?clock)?(?![\d:./-])(?! ?[ap]\.?m\b)", re.I)
_HOUR_AFTER = re.compile(
    r"\b((?:from|by|before|until|till|about|around|towards?|today|tomorrow|tonight|morning"
    r"|afternoon|evening|night) \d{1,2})(?![\d:./-])"
    r"(?=$|[,.;:!?]| (?:in the|on|today|tomorrow|tonight|sharp|when|with|and|or|to|till|until)\b)",
    re.I,
)
"""An hour after a word that may also stand before a count: "from six", but not "from six cups"."""
_HOUR_FIRST = re.compile(
    r"(?:(?<![^ ])(\d{1,2})(?= in the (?:morning|afternoon|evening)\b)"
    r"|^(\d{1,2})(?= (?:this|today|tomorrow|tonight)\b))",
    re.I,
)
"""An hour before its part of the day, or with which a phrase begins: "six tomorrow", but not "bake
six tomorrow"."""
_OCLOCK = re.compile(r"\b(\d{1,2}) o'?clock\b", re.I)
CLOCK = re.compile(r"\d{1,2}:\d{2}|\d{1,2} ?[ap]\.?m\b", re.I)
"""A time of day in a phrase: 17:20, 5 pm."""
_HALF_OF_DAY = re.compile(r"([ap])\.?m", re.I)
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
"""A time as plans write it. It is read without a parser of phrases, which needs milliseconds: a
file of plans has one in each line, and is read again at each change."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]")
_SPAN = re.compile(
    r"\bin (?P<half>half an?|a quarter of an|an?|\d+) (?P<unit>minute|hour|day)s?\b", re.I
)
_MEETING = re.compile(
    r"(?:when|once|as soon as|the next time) (?:I )?(?:next )?"
    r"(?:see |meet |am with )?(?P<who>.+?)(?:(?: comes| arrives| is here| is back)(?: .*)?)?",
    re.I,
)
_LEAVING = re.compile(
    r"(?:when|once|as soon as|after) (?P<who>\w[^,:]*?)"
    r" (?:leaves|goes|has left|has gone|is gone|is away)(?: .*)?",
    re.I,
)
_SEEN = re.compile(r"\b(?:see|meet|am with|comes|arrives|is here|is back)\b", re.I)
_WORDS = re.compile(r"[^\W\d_]+")
_PIECES = re.compile(r"[^\W\d_]+|.", re.S)
"""Words, and every other character."""
CLOCK_TIME = re.compile(r"(?<![\d:])\d{1,2}:\d{2}(?![\d:])")
"""A time of day in digits: 17:20."""


FARTHEST = timedelta(days=36_525)
"""A hundred years: nobody means a time farther away, and the calendar ends in the year 9999."""


@dataclass(frozen=True, slots=True)
class When:
    """When something is to happen: at a time, when somebody is met or has gone, or after something.

    Attributes:
        at: The time, with time zone; None if no time is given.
        meeting: The name of the person at whose next meeting it happens; empty if it is nobody's.
        leaving: The name of the person who is not to be here any more; empty for nobody.
        after: What it waits for, in words: ``when the bell rings``; empty if it waits for nothing.
    """

    at: datetime | None = None
    meeting: str = ""
    leaving: str = ""
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
        gone = _LEAVING.fullmatch(text)
        if gone:
            return When(leaving=gone["who"].strip())
        met = _MEETING.fullmatch(text)
        if met and _SEEN.search(text):
            return When(meeting=met["who"].strip())
        return When(after=text)
    at = read_time(text, now)
    return None if at is None else When(at=at)


def names_an_hour(text: str) -> bool:
    """Return whether a phrase says an hour, a part of the day or a span: not just ``tomorrow``."""
    text = with_clock_times(text)
    words = [word.casefold() for word in _WORDS.findall(text)]
    named = any(word in PARTS_OF_DAY for word in words)
    return bool(named or CLOCK.search(text) or _SPAN.search(text))


def names_a_minute(text: str) -> bool:
    """Return whether a phrase says a time of day in figures, or a span of minutes or hours."""
    text = with_clock_times(text)
    span = _SPAN.search(text)
    return bool(CLOCK.search(text)) or (span is not None and span["unit"].casefold() != "day")


def names_a_date(text: str) -> bool:
    """Return whether a phrase says a day: by a day's or a month's name, or by a date in figures."""
    words = [word.casefold() for word in _WORDS.findall(text)]
    named = _names_a_day(words) or any(word in _MONTHS for word in words)
    return named or bool(_DATE.search(text))


def clock_times_in(text: str, language: str) -> frozenset[tuple[int, int]]:
    """Return the times of day that a text says, as hours up to eleven and minutes.

    ``17:20`` and, in English, ``twenty past five`` are (5, 20): which half of the day is meant, a
    text leaves to the reader.
    """
    if language == ENGLISH:
        known = numerals(language)
        words = (known.get(each.casefold(), each) for each in _PIECES.findall(text))
        text = _HALF_PAST.sub(_clock_time, "".join(words))
    found = (each.split(":") for each in CLOCK_TIME.findall(text))
    return frozenset((int(hour) % 12, int(minute)) for hour, minute in found)


def with_clock_times(text: str) -> str:
    """Return a phrase with its hours as clock times: ``half past eight`` becomes ``8:30``."""
    text = _SPELLED.sub(lambda found: str(_NUMBERS[found[1].casefold()]), text)
    text = _HALF_PAST.sub(_clock_time, text)
    text = _OCLOCK.sub(r"\1:00", text)
    text = _HOUR_FIRST.sub(r"\g<0>:00", _HOUR_AFTER.sub(r"\1:00", text))
    return _BARE_HOUR.sub(r"\1:00", text)


def part_of_day_in(text: str) -> str:
    """Return the first word of a text that means a part of the day; empty if it has none."""
    words = (word.casefold() for word in _WORDS.findall(text))
    return next((word for word in words if word in PARTS_OF_DAY), "")


def hours_in(text: str, part: str = "") -> frozenset[time]:
    """Return the times of day that a text says in figures or, in English, in words.

    A part of the day beside them says which half of it is meant: ``six in the evening`` is 18:00.

    Args:
        text: The text.
        part: The part of the day that is meant if the text names none; empty if none is known.
    """
    part = part_of_day_in(text) or part
    return frozenset(
        found
        for each in CLOCK.findall(with_clock_times(text))
        if (found := _time_of_day(each, part)) is not None
    )


def span_in(text: str) -> timedelta | None:
    """Return the span that a text says: ``come in ten minutes``; None for none, and for several."""
    spans = [*_SPAN.finditer(with_clock_times(text))]
    if len(spans) != 1:
        return None
    return _length(spans[0]["half"].casefold(), spans[0]["unit"].casefold())


def _time_of_day(written: str, part: str) -> time | None:
    """Return what ``7:30`` or ``7 pm`` means in a part of the day; None for 25:00."""
    digits = re.findall(r"\d+", written)
    hour = int(digits[0])
    minute = int(digits[1]) if len(digits) > 1 else 0
    if half := _HALF_OF_DAY.search(written):
        hour = hour % 12 + (12 if half[1].casefold() == "p" else 0)
    elif part in _LATE_PARTS and _LATE_PARTS[part] <= hour < 12:
        hour += 12
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _clock_time(found: re.Match[str]) -> str:
    part = found[1].casefold()
    if part == "half":
        minutes = 30
    elif "quarter" in part:
        minutes = 15
    else:
        minutes = int(part.split()[0])
    hour = int(found[3])
    if found[2].casefold() == "to":
        hour = (hour - 1) % 24
        minutes = 60 - minutes
    return f"{hour}:{minutes % 60:02d}"


def read_time(text: str, now: datetime) -> datetime | None:
    """Return the time that a phrase names, in the zone of ``now``.

    Returns:
        None if it names none, or one more than :data:`FARTHEST` away.
    """
    try:
        at = _read_time(text, now)
    except (OverflowError, ValueError):  # in 999999999999 minutes
        return None
    return None if at is None or abs(at - now) > FARTHEST else at


def _read_time(text: str, now: datetime) -> datetime | None:
    if _WRITTEN.fullmatch(text):
        with suppress(ValueError):  # 2026-13-01 may be meant otherwise
            return datetime.fromisoformat(text).replace(tzinfo=now.tzinfo)
    said = text
    text = with_clock_times(said)
    if span := _SPAN.fullmatch(text):
        return now + _length(span["half"].casefold(), span["unit"].casefold())
    words = [word.casefold() for word in _WORDS.findall(text)]
    named = part_of_day_in(text)
    hours = hours_in(said)
    bare = CLOCK.sub(f"{min(hours):%H:%M}", text) if len(hours) == 1 else text
    if named:
        hour = "" if CLOCK.search(text) else PARTS_OF_DAY[named]
        day = "today" if named == "tonight" else ""
        bare = re.sub(rf"\b(?:in the |at |this )?{named}\b", f" {day} {hour} ", bare, flags=re.I)
    if not (named or any(char.isdigit() for char in text) or _names_a_day(words)):
        return None  # a name such as May is no time
    import dateparser  # noqa: PLC0415 - a third of a second, which a start need not pay

    settings = {"RELATIVE_BASE": now.replace(tzinfo=None), "PREFER_DATES_FROM": "future"}
    found = dateparser.parse(" ".join(bare.split()), languages=["en"], settings=settings)
    if found is None:
        return None
    at: datetime = found.replace(tzinfo=now.tzinfo)
    tomorrow = now.date() + timedelta(days=1)
    if tomorrow.day == 1 and at.date() == now.date().replace(day=1) and not names_a_date(said):
        at = datetime.combine(tomorrow, at.timetz())  # dateparser leaves the month as it is
    half_day = timedelta(hours=12)
    if text != said and not named and not _names_a_day(words) and at - half_day > now:
        at -= half_day  # "at eight", said in the afternoon, is in the evening
    week = timedelta(days=7)
    # "Sunday evening", said on a Sunday afternoon, is today.
    is_today = f"{now:%A}".casefold() in words and at - week > now
    return at - week if is_today else at


_DAYS = frozenset(
    {
        "today",
        "tomorrow",
        "now",
        *(name.casefold() for name in (*calendar.day_name, *calendar.day_abbr)),
    }
)

_MONTHS = frozenset(
    name.casefold() for name in (*calendar.month_name, *calendar.month_abbr) if name
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
