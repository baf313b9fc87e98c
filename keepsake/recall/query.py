"""Parses a query: the words, people, places and times that a text asks for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
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
    UNSPACED,
    WORD,
    is_question,
    pattern,
    sentences,
    words,
    writable,
)
from keepsake.language.questions import asks_of_oneself, asks_when
from keepsake.recall.times import Span, span_of, times_in

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
        times=tuple(span for each in times_in(text) if (span := span_of(each, now))),
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
    for each in reversed(times_in(text)):
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
