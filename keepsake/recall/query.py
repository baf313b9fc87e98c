"""Parses a query: the words, people, places and times that a text asks for.

Times are dates, months, years, and words relative to the clock.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from keepsake.happening import Person
from keepsake.language.languages import (
    CAPITALISED_NOUNS,
    ENGLISH,
    foreign_stop_words,
    language_of,
    stem,
    stems_in,
    stop_words,
)
from keepsake.language.perception import (
    COMMON_WORDS,
    MONTHS,
    UNSPACED,
    WORD,
    is_question,
    pattern,
    sentences,
    words,
    writable,
)
from keepsake.language.questions import asks_of_oneself, asks_when, names_a_day

_MOST_TERMS = 24
"""The most terms of a query. Each costs time, and only the rarest words of a long scene count."""
_ASKING_WORDS = """
    what when where which who whom whose why how did does do is are was were has have had will
    would could should can many much long often kind type sort name named call called tell told
    remember say said mention mentioned talk talked discuss discussed year month week day time
    date recent recently currently happen happened ever ago someone something anything anybody
"""
_ASKING = frozenset(_ASKING_WORDS.split())
"""Words of questions that an answer need not contain."""
_POSSESSIVE = re.compile(r"'s?\b")
_UNKNOWN = re.compile(r"(?<=\s)(?<![.!?:]\s)(?!I\b)[A-Z][\w-]+(?:['’]s?\b)?")
"""A capitalised word that does not begin a sentence."""

type Span = tuple[datetime, datetime]
"""A period of time, from its start (included) to its end (excluded)."""


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A parsed query.

    ``terms`` are its significant words in lower case, ``names`` the known names in it. ``meaning``
    has the texts to embed: each line as the person named would say it, because a name would
    attract every line in which somebody is addressed. If such a text has capitalised words that are
    no known names, ``nameless`` repeats it without them: the answer mostly says "he" or "she". A
    language in which every noun has a capital has no such text.
    """

    text: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    times: tuple[Span, ...]
    meaning: tuple[str, ...]
    nameless: tuple[str, ...] = ()
    when: bool = False
    asks: bool = False  # whether it has a question
    asker: Person | None = None  # who asks, if about themselves: "What is my trade?"
    language: str = ENGLISH  # of the text
    asking: tuple[str, ...] = ()  # words of the text that no answer need contain: "kind", "year"


def query_of(
    text: str,
    names: Collection[str],
    now: datetime,
    asker: Person | None = None,
    *,
    unprompted: bool = False,
) -> RecallQuery:
    """Parse ``text`` at the time ``now`` (with time zone).

    A date without a year is the latest such date that is not after ``now``.

    Days begin and end by the machine's own clock.

    Args:
        asker: Who asks; None if unknown.
        unprompted: Whether ``text`` is a scene, as nobody asked. Then lines without a speaker are
            what the agent sees, worded as in its memories.
    """
    text = _plain(text)
    known = _known(text, names)
    lines = list[tuple[str, list[str]]]()
    meaning = list[str]()
    for line in text.splitlines():
        # Drop the speaker, and skip lines that are only a name.
        who, colon, said = line.partition(": ")
        is_said = colon and who.casefold() in known
        told = said if is_said else line
        if told.strip() and told.strip().casefold() not in known:
            lines.append((told, [] if unprompted and not is_said else known))
    # Word each line as the person named would say it: "Tom's cup" becomes "my cup".
    for line, people in lines or [(text, known)]:
        told = line
        for name in (_whole(each).pattern for each in people):
            told = pattern(rf"{name}['’]s?(?!\w)", re.I).sub("my", told)
            told = pattern(name, re.I).sub("I", told)
        meaning.append(" ".join(told.split()) or line)
    language = language_of(text)
    nameless = list[str]()
    if language not in CAPITALISED_NOUNS:
        nameless = [" ".join(_UNKNOWN.sub("", each).split()) for each in meaning]
    return RecallQuery(
        text=text,
        terms=terms_of(text, names),
        names=tuple(known),
        times=tuple(span for each in _times(text) if (span := _span(each, now))),
        meaning=tuple(meaning),
        nameless=tuple(each for each in nameless if each and each not in meaning),
        when=asks_when(text),
        asks=not unprompted and any(map(is_question, sentences(text))),
        asker=asker if asks_of_oneself(text) else None,
        language=language,
        asking=asking_words(text, language),
    )


def asking_words(text: str, language: str) -> tuple[str, ...]:
    """Return the words of a text, in lower case, that ask and that its answer need not contain."""
    found = words(_POSSESSIVE.sub("", text).casefold()) if language == ENGLISH else ()
    return tuple(dict.fromkeys(word for word in found if word in _ASKING))


def terms_of(text: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the significant words of ``text`` in lower case, without known names and times.

    Text without spaces between words gives pairs of characters.
    """
    text = _plain(text)
    for name in _known(text, names):
        text = pattern(rf"{_whole(name).pattern}(?:['’]s)?", re.I).sub(" ", text)
    for each in reversed(_times(text)):
        text = f"{text[: each.start()]} {text[each.end() :]}"
    terms = list[str]()
    language = language_of(text)
    says_nothing = COMMON_WORDS | _ASKING if language == ENGLISH else stop_words()[language]
    for word in words(_POSSESSIVE.sub("", text).casefold()):
        if UNSPACED.match(word):  # pairs of characters, because no space ends a word
            terms += map("".join, pairwise(word) if word[1:] else [word])
        elif word not in says_nothing and len(word) > 1:
            terms.append(word)
    return tuple(dict.fromkeys(terms))[:_MOST_TERMS]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", writable(text)).replace("’", "'")


def _known(text: str, names: Collection[str]) -> list[str]:
    lower = text.casefold()
    every_name = _longest_first(frozenset(names))
    return [name for name in every_name if name in lower and _whole(name).search(lower)]


def terms_in(text: str, roots: Mapping[str, str], language: str = "") -> list[str]:
    """Return the terms that ``text`` has in any form.

    Args:
        roots: The English stem of each term.
        language: That of the text; found by its words if empty.
    """
    return terms_in_searched(searched(text), roots, language or language_of(text))


@lru_cache(maxsize=8192)  # searches see the same lines again
def searched(text: str) -> str:
    """Return a text in the form in which :func:`terms_in_searched` looks for terms."""
    return _POSSESSIVE.sub("", text.replace("’", "'")).casefold()


def terms_in_searched(plain: str, roots: Mapping[str, str], language: str) -> list[str]:
    """Return the terms that a text has in any form.

    Args:
        plain: The text, as :func:`searched` returns it.
        roots: The English stem of each term.
        language: That of the text.
    """
    if language == ENGLISH:
        return [
            term
            for term, root in roots.items()
            if (root in plain and _has(plain, root)) or (term in plain and UNSPACED.match(term))
        ]
    known = stems_in(plain, language)
    return [
        term
        for term in roots
        if (term in plain and UNSPACED.match(term)) or stem(term, language) in known
    ]


def saying(terms: Sequence[str], text: str) -> list[str]:
    """Return the terms that are no stop words of the language of ``text``, which has them all."""
    if foreign_stop_words().isdisjoint(terms):  # mostly
        return [*terms]
    silent = stop_words()[language_of(text)]
    return [term for term in terms if term not in silent]


def _has(text: str, root: str) -> bool:
    """Whether a word of ``text`` has that stem. A word always begins with its stem."""
    at = text.find(root)
    while at >= 0:
        before = text[at - 1] if at else " "
        begins = not before.isalnum() and unicodedata.category(before)[0] != "M"
        if begins and (word := WORD.match(text, at)) and stem(word[0], ENGLISH) == root:
            return True
        at = text.find(root, at + 1)
    return False


@lru_cache(maxsize=8)  # a world's names change rarely, and all agents share them
def _longest_first(names: frozenset[str]) -> list[str]:
    return sorted({name.casefold() for name in names if name}, key=lambda n: (-len(n), n))


def _whole(name: str) -> re.Pattern[str]:
    """Return a pattern that finds a name as a whole word."""
    return pattern(rf"(?<!\w){re.escape(name)}(?!\w)")


# -- times


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


def _times(text: str) -> list[re.Match[str]]:
    lower = text.casefold()
    return [*_TIME.finditer(text)] if any(sign in lower for sign in _TIME_MARKS) else []


@lru_cache(maxsize=8192)  # searches see the same lines again
def mentions_time(text: str) -> bool:
    """Whether ``text`` names a time, even one that cannot be dated: "on the twelfth"."""
    return _TOLD.search(text.lower()) is not None or names_a_day(text)


def _span(match: re.Match[str], now: datetime) -> Span | None:
    """Return the period that a match of ``_TIME`` names; None for a date that does not exist."""
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
