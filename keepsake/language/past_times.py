"""Reads when something was: ``Thursday evening``, ``19:34``, ``yesterday``, ``an hour ago``.

Phrases are read by `dateparser`, which blocks for some milliseconds, and for a third of a second at
its first use.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from keepsake.language.languages import ENGLISH
from keepsake.language.when import CLOCK, FARTHEST, with_clock_times

_ENDS = {
    "dawn": "7:00",
    "morning": "12:00",
    "noon": "12:59",
    "midday": "12:59",
    "afternoon": "18:00",
    "dusk": "19:00",
    "evening": "23:00",
    "tonight": "23:59",
    "night": "23:59",
    "midnight": "23:59",
}
"""The hour at which a part of the day ends: what was remembered of an evening was so at its end."""
_PART = re.compile(rf"\b(?:in the |at |this )?({'|'.join(_ENDS)})\b", re.I)
_LAST = re.compile(r"\blast (night|evening)\b", re.I)
_CLOCK_ALONE = re.compile(rf"(?:at )?(?:\d{{1,2}}:\d\d:\d\d|{CLOCK.pattern})", re.I)
_TIME = "time"
"""How dateparser calls a phrase that names an hour, and not just a day."""
_HALF_DAY = timedelta(hours=12)
_WEEK = timedelta(days=7)


def read_past_time(
    text: str, now: datetime, newest: datetime | None = None, *, language: str = ENGLISH
) -> datetime | None:
    """Return the time in the past that a phrase names; of a day or a part of it, the end.

    Args:
        text: In English, or in ``language``: to try all that dateparser knows takes seconds.
        now: The present time. The time that is returned has its zone, or none.
        newest: The time that a clock time without a day is before: that of the newest memory, say.

    Returns:
        None if the phrase names no time, or one more than :data:`keepsake.language.when.FARTHEST`
        ago.
    """
    said = " ".join(text.split()).strip(" .")
    bare = with_clock_times(said)
    is_alone = _CLOCK_ALONE.fullmatch(bare) is not None
    base = newest if newest is not None and is_alone else now
    try:
        found = _parsed(_with_hours(bare), base, language)
    except (OverflowError, ValueError):  # in 999999999999 minutes
        return None
    if found is None:
        return None
    if is_alone:  # dateparser names no day of the month before on the first of a month
        found = datetime.combine(base.date(), found.timetz())
        found -= timedelta(days=1) if found > base else timedelta(0)
    if bare != said and is_alone and found + _HALF_DAY <= base:
        found += _HALF_DAY  # "half past seven" is in the morning or in the evening
    today = now if CLOCK.search(bare) else _end_of(now)
    if f"{now:%A}".casefold() in bare.casefold() and found + _WEEK <= today:
        found += _WEEK  # "Sunday at noon", said on a Sunday evening, is today
    found = min(found, base)
    return found if now - found < FARTHEST else None


def _with_hours(text: str) -> str:
    """Return a phrase with parts of the day as the hours at which they end."""
    text = _LAST.sub(r"yesterday \1", text)
    if CLOCK.search(text):
        return " ".join(_PART.sub(" ", text).split())
    hours = " ".join(_PART.sub(lambda found: f" {_ENDS[found[1].casefold()]} ", text).split())
    return f"today {hours}" if CLOCK.fullmatch(hours) else hours


def _parsed(text: str, base: datetime, language: str) -> datetime | None:
    """Return the time that a phrase names, at or before ``base``; of a day its last second."""
    from dateparser.date import DateDataParser  # noqa: PLC0415 - a third of a second

    settings = {
        "RELATIVE_BASE": base.replace(tzinfo=None),
        "PREFER_DATES_FROM": "past",
        "RETURN_TIME_AS_PERIOD": True,
    }
    # As in Django's LANGUAGE_CODE: pt-br. One that dateparser does not know is left out.
    also = {language.replace("_", "-").partition("-")[0]} & _known()
    for each in dict.fromkeys((ENGLISH, *also)):
        read = DateDataParser(languages=[each], settings=settings).get_date_data(text)
        if read.date_obj is None:
            continue
        found: datetime = read.date_obj.replace(tzinfo=base.tzinfo)
        return found if read.period == _TIME else _end_of(found)
    return None


def _known() -> frozenset[str]:
    """Return the codes of the languages that dateparser knows."""
    from dateparser.data import languages_info  # noqa: PLC0415 - with the rest of it

    return frozenset(languages_info.language_order)


def _end_of(day: datetime) -> datetime:
    return day.replace(hour=23, minute=59, second=59)
