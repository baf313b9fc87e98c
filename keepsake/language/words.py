"""Sentences and words, as the summaries and their checks count them."""

from __future__ import annotations

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

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
"""English, whatever language the machine speaks."""
DAY = rf"\d{{1,2}} (?:{'|'.join(month[:3] for month in MONTHS)})"
"""Pattern of the day that a line of a summary begins with: see :func:`short_day`."""

_IRREGULAR = """
    be:been become:became begin:began bite:bit bitten blow:blew break:broke broken
    bring:brought build:built burn:burnt buy:bought catch:caught choose:chose chosen cut:cut
    deal:dealt dig:dug draw:drew drawn drink:drank drunk drive:drove driven eat:ate eaten
    fall:fell fallen feed:fed feel:felt fight:fought find:found fly:flew flown forget:forgot
    forgotten give:gave given go:went gone grow:grew grown hang:hung hear:heard hide:hid hidden
    hold:held keep:kept lay:laid leave:left lend:lent light:lit lose:lost make:made mean:meant
    meet:met pay:paid ride:rode ridden ring:rang rung rise:rose run:ran see:saw seen sell:sold
    send:sent shake:shook shaken sew:sewn shine:shone show:shown sing:sang sung sink:sank sunk
    sit:sat sleep:slept speak:spoke spoken spend:spent stand:stood steal:stole stolen
    sweep:swept swim:swam swum swear:swore sworn take:took taken teach:taught tear:tore torn
    tell:told think:thought throw:threw thrown understand:understood wake:woke woken wear:wore
    worn weave:wove woven win:won write:wrote written child:children man:men woman:women
    foot:feet tooth:teeth goose:geese wife:wives
"""
FORMS = {
    form: tuple(re.split(r"[:\s]+", entry))
    for entry in re.split(r"\s+(?=\S+:)", _IRREGULAR.strip())
    for form in re.split(r"[:\s]+", entry)
}
"""Each irregular form with all forms of its word, the plain one first; no stemmer knows them."""
_DOUBLED = re.compile(r"([bdgmnprt])\1$")


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ENDINGS = re.compile(r"(?:'s|’s|ing|ied|ies|ed|es|s|y)$")
_ENDED = re.compile(r"[.!?…][\"”’')\]]*$")
_END = re.compile(r"[.!?…]+[\"”’')\]]*(?=\s|$)")
_ABBREVIATION = re.compile(r"\b(?:mr|mrs|ms|dr|st|no|vs|etc|e\.g|i\.e|\d|[a-z])\.$", re.I)


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
    short = _ENDINGS.sub("", word)
    return short if len(short) > 2 else word


def telling(text: str) -> set[str]:
    """The stems of the words of ``text`` that say something about what happened."""
    return {stem(word) for word in words(text) if word.casefold() not in COMMON_WORDS}


def sentences(text: str) -> list[str]:
    """The sentences of ``text``; what stands in one pair of quotes stays together."""
    balanced = text.count('"') % 2 == 0 and text.count("“") == text.count("”")
    found, start = [], 0
    for match in _END.finditer(text):
        head = text[start : match.end()]
        if balanced and (head.count('"') % 2 or head.count("“") != head.count("”")):
            continue
        if _ABBREVIATION.search(head) and match.end() < len(text):
            continue
        found.append(head.strip())
        start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def is_closed(text: str) -> bool:
    """Whether ``text`` ends as a sentence does."""
    return _ENDED.search(text) is not None


def closed(text: str) -> str:
    """``text`` with a full stop, if it ends with nothing of the kind."""
    return text if is_closed(text) else f"{text.rstrip(',;: ')}."


@lru_cache(maxsize=32_768)
def root(word: str) -> str:
    """``word`` without its endings: ``clos`` for closes and closed, ``bring`` for brought."""
    word = word.casefold()
    return bare(FORMS[word][0] if word in FORMS else stem(word))


def bare(word: str) -> str:
    """``word`` as it is, less what an ending changes: ``clos`` for close, ``stop`` for stopp."""
    word = word.casefold()
    short = word.removesuffix("e").removesuffix("y") if len(word) > 3 else word
    return _DOUBLED.sub(r"\1", short)


def roots(text: str) -> set[str]:
    """The words of ``text``, each as :func:`root` has it."""
    return {root(word) for word in words(text)}
