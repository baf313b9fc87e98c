"""Sentences and words, as the summaries and their checks count them."""

from __future__ import annotations

import calendar
import re
from datetime import date
from functools import lru_cache

_COMMON = """
    a about after again all also am an and any are as at away back be because been before being
    but by came can come could did do does doing done down each even every for from get go goes
    going gone good got had has have having he hello her here hers hey hi him his how i if in into
    is it its just know like look looks made make many may me might mine more most much must my
    never no not now of off oh ok okay on one only or other our out over own please put quite
    really right said say says see seem she should so some something still such take tell than
    thank thanks that the their them then there these they thing things this those though to too
    try under until up us very want was way we well went were what when where which while who why
    will with would yes yet you your yours
"""
COMMON_WORDS = frozenset(_COMMON.split())
"""Words that say nothing about what happened."""

MONTHS = tuple(calendar.month_name)[1:]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ENDINGS = ("ing", "ied", "ies", "'s", "’s", "ed", "es", "s", "y")
_END = re.compile(r"[.!?…]+[\"”’')\]]*(?=\s|$)")
_ABBREVIATIONS = frozenset({"mr", "mrs", "ms", "dr", "st", "no", "vs", "etc"})
SENTENCE_GAP = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
"""Where one sentence ends and the next begins, in any language."""


def short_day(day: date) -> str:
    """``4 May``."""
    return f"{day.day} {MONTHS[day.month - 1][:3]}"


def words(text: str) -> list[str]:
    """The words of ``text`` in order, as written."""
    return _WORD.findall(text)


def writable(text: str) -> str:
    """``text`` without halves of characters (lone surrogates), which no file or model takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """``word`` in lower case without its commonest endings: walks, walked, walking."""
    word = word.casefold()
    short = word[: -next((len(each) for each in _ENDINGS if word.endswith(each)), -len(word))]
    return short if len(short) > 2 else word


def telling(text: str) -> set[str]:
    """The stems of the words of ``text`` that say something about what happened."""
    return {stem(word) for word in words(text) if word.casefold() not in COMMON_WORDS}


def stems(text: str) -> set[str]:
    """The stems of all words of ``text``."""
    return set(map(stem, words(text)))


def sentences(text: str) -> list[str]:
    """The sentences of ``text``; what stands in one pair of quotes stays together."""
    balanced = text.count('"') % 2 == 0 and text.count("“") == text.count("”")
    found, start = [], 0
    for match in _END.finditer(text):
        head = text[start : match.end()]
        if balanced and (head.count('"') % 2 or head.count("“") != head.count("”")):
            continue
        last = "".join(words(head)[-1:]).casefold()
        short = len(last) == 1 or last in _ABBREVIATIONS
        if short and head.casefold().endswith(f"{last}.") and match.end() < len(text):
            continue
        found.append(head.strip())
        start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def closed(text: str) -> str:
    """``text`` with a full stop, if it ends with nothing of the kind."""
    return text if text.rstrip("\"”’')]")[-1:] in {*".!?…"} else f"{text.rstrip(',;: ')}."


@lru_cache(maxsize=8192)  # Python keeps a few hundred; these hold names, and a world has many
def pattern(source: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """``re.compile`` with a longer memory."""
    return re.compile(source, flags)
