"""What languages call today, tomorrow and the days of the week, by the data of dateparser."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Collection
from datetime import date, timedelta
from functools import cache
from importlib import import_module

from keepsake.language.languages import language_of
from keepsake.language.perception import UNSPACED, words
from keepsake.language.when import PARTS_OF_DAY

_DATA = "dateparser.data.date_translation_data"
_RELATIVE = {0: "0 day ago", 1: "in 1 day"}
"""What dateparser calls a day that is so many days ahead."""
_UNSPACED = ("ja", "zh")
"""Languages without spaces between words, which stop words do not tell apart."""


def tomorrow_in(language: str) -> frozenset[str]:
    """Return the words of a language for tomorrow, in small letters; none if it is unknown."""
    return _relative_in(language, "in 1 day")


@cache
def _relative_in(language: str, day: str) -> frozenset[str]:
    """Return the words of a language for a day as dateparser has it: ``0 day ago`` is today."""
    try:
        data = import_module(f"{_DATA}.{language}")
    except ModuleNotFoundError:
        return frozenset()
    return frozenset(each.casefold() for each in data.info["relative-type"].get(day, ()))


@cache
def weekday_in(language: str, weekday: int) -> frozenset[str]:
    """Return the name of a day of the week, in small letters; short forms mean other things, too.

    ``weekday``: 0 for Monday, as :meth:`datetime.date.weekday` counts.
    """
    try:
        data = import_module(f"{_DATA}.{language}")
    except ModuleNotFoundError:
        return frozenset()
    found = data.info.get(calendar.day_name[weekday].casefold(), ())
    return frozenset({max(found, key=len).casefold()} if found else ())


def names_day(text: str, said: date, day: date) -> bool:
    """Return whether a text names a day: as today or tomorrow of its own day, or by its name.

    The name of a day of the week means the next one.

    Args:
        text: In any language that dateparser knows.
        said: The date on which it was said.
        day: The date that may be named.
    """
    far = (day - said).days
    languages = _UNSPACED if UNSPACED.search(text) else (language_of(text),)
    wanted = set[str]()
    for language in languages:
        wanted |= _relative_in(language, _RELATIVE[far]) if far in _RELATIVE else frozenset()
        wanted |= (
            weekday_in(language, day.weekday()) if 0 < far <= len(calendar.day_name) else set()
        )
    return _has(text, wanted)


def with_dates(text: str, said: date, write: Callable[[date], str]) -> str:
    """Return a text in which each word for today or tomorrow is followed by its date.

    A part of the day that follows the word stays beside it: ``tomorrow morning (Tue 1 Dec)``.
    Languages without spaces between words are left as they are.

    Args:
        text: In any language that dateparser knows.
        said: The date on which it was said.
        write: Returns a date as it is shown.
    """
    if UNSPACED.search(text):
        return text
    language = language_of(text)
    for far, named in _RELATIVE.items():
        for word in _relative_in(language, named):
            day = write(said + timedelta(days=far))
            whole = rf"\b{re.escape(word)}(?:,? (?:{'|'.join(PARTS_OF_DAY)}))?\b"
            text = re.sub(f"({whole})", rf"\1 ({day})", text, flags=re.I)
    return text


def _has(text: str, wanted: Collection[str]) -> bool:
    if UNSPACED.search(text):
        return any(each in text for each in wanted)
    return not {each.casefold() for each in words(text)}.isdisjoint(wanted)
