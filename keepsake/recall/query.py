"""What a text asks for: words, people and places, times."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from keepsake.language.words import COMMON_WORDS, pattern, stem, words, writable
from keepsake.recall.times import Span, spans, without_times

_MOST_TERMS = 24
"""A long scene asks for its rarest words anyway; each term costs time."""
_ASKING_WORDS = """
    what when where which who whom whose why how did does do is are was were has have had will
    would could should can many much long often kind type sort name named call called tell told
    remember say said mention mentioned talk talked discuss discussed year month week day time
    date recent recently currently happen happened ever ago someone something anything anybody
"""
_ASKING = frozenset(_ASKING_WORDS.split())
"""Words of questions that no answer need hold."""
_POSSESSIVE = re.compile(r"['’]s?\b")
_BEFORE_OTHERS = "at|in|to|from|of|near|with|for|by|about|on"
"""After one of these a name is a place, or somebody whom the teller would name."""
_UNKNOWN = re.compile(r"(?<=\s)(?<![.!?:]\s)(?!I\b)[A-Z][\w-]+(?:['’]s?\b)?")
"""A capitalised word that does not begin a sentence."""
_OF_ASKER = re.compile(r"\b(?:my|mine|me|myself|i|i['’](?:m|ve|ll|d))\b", re.I)
_WHEN = re.compile(
    r"\bwhen (?:did|does|do|was|were|is|are|will|would|has|have|had|must|should|can|could)\b"
    r"|\b(?:what|which) (?:day|date|week|month|year|time)\b|\bhow long ago\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """What a text asks for.

    ``terms`` are its telling words in lower case, ``names`` the known names in it. ``meaning`` is
    what to embed: each line as the person named would say it, since a name would draw every line
    in which somebody is addressed. ``nameless`` are those of them that have capitalised words which
    are no known names, without these: somebody told of is mostly "he" or "she" in the line that
    answers.
    """

    text: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    times: tuple[Span, ...]
    meaning: tuple[str, ...]
    nameless: tuple[str, ...] = ()
    when: bool = False
    asker: str = ""  # who asks, in lower case, where they ask of themselves: "What is my trade?"


def read(text: str, names: Collection[str], now: datetime, asker: str = "") -> RecallQuery:
    """What ``text`` asks for, of somebody called ``asker`` if that is known."""
    text = writable(text)
    lower = text.casefold()
    known = [n for n in _longest_first(frozenset(names)) if n in lower and _whole(n).search(lower)]
    plain = text
    for name in known:
        plain = pattern(rf"{_whole(name).pattern}(?:['’]s)?", re.I).sub(" ", plain)
    lines = []
    for line in text.splitlines():
        # As the person named would say it, without who says it; not those that only name somebody.
        who, colon, said = line.partition(": ")
        told = said if colon and who.casefold() in known else line
        if told.strip() and told.strip().casefold() not in known:
            lines.append(_as_told(told, known) or told)
    meaning = tuple(lines) or (_as_told(text, known) or text,)
    nameless = [" ".join(_UNKNOWN.sub("", each).split()) for each in meaning]
    every = [w.casefold() for w in words(_POSSESSIVE.sub("", without_times(plain)))]
    telling = [w for w in every if w not in COMMON_WORDS and w not in _ASKING and len(w) > 1]
    return RecallQuery(
        text=text,
        terms=tuple(dict.fromkeys(telling))[:_MOST_TERMS],
        names=tuple(known),
        times=spans(text, now),
        meaning=meaning,
        nameless=tuple(each for each in nameless if each and each not in meaning),
        when=_WHEN.search(text) is not None,
        asker=asker.casefold() if _OF_ASKER.search(text) else "",
    )


def stems(text: str) -> frozenset[str]:
    """The stems of all words of ``text``, as terms and texts are compared."""
    return frozenset().union(*map(_stems, text.split()))


def stemmed(text: str, title: str = "") -> str:
    """The stems of text and title as :attr:`Document.stemmed` holds them: each between blanks."""
    return f" {' '.join(sorted(stems(f'{text} {title}')))} "


@lru_cache(maxsize=32_768)
def _stems(piece: str) -> frozenset[str]:
    """Of what stands between two blanks; the same few thousand pieces come again and again."""
    return frozenset(map(stem, words(_POSSESSIVE.sub("", piece))))


@lru_cache(maxsize=8)  # a world's names are the same for a while, and all agents know them
def _longest_first(names: frozenset[str]) -> list[str]:
    return sorted({name.casefold() for name in names if name}, key=lambda n: (-len(n), n))


def _whole(name: str) -> re.Pattern[str]:
    """Finds a name as a whole word."""
    return pattern(rf"(?<!\w){re.escape(name)}(?!\w)")


def _as_told(text: str, names: Collection[str]) -> str:
    """``text`` in the first person: "Tom's cup" is "my cup", and "at the Kettle" is "at"."""
    for name in names:
        whole = _whole(name).pattern
        text = pattern(rf"{whole}['’]s?(?!\w)", re.I).sub("my", text)
        text = pattern(rf"\b({_BEFORE_OTHERS}) {whole}", re.I).sub(r"\1", text)
        text = pattern(whole, re.I).sub("I", text)
    return " ".join(text.split())
