"""What a question says about itself, by the words of its language.

``questions.txt`` has the words: whether it is about the one who asks, and whether it asks for a
time; and the words of an answer that say when. A question is read by the words of the language that
it is in, because "i" is a word of Italian, too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

from keepsake.language.languages import ENGLISH, language_of
from keepsake.language.perception import UNSPACED

_LIST = Path(__file__).with_name("questions.txt")
_WITHOUT_SPACES = "ja"
"""The language whose words are found in every text: its script tells it."""


class _About(StrEnum):
    """What the words of a line of ``questions.txt`` say."""

    OWN = "own"
    WHEN = "when"
    TIME = "time"
    USUAL = "usual"


def asks_of_oneself(text: str) -> bool:
    """Return whether a text speaks of the one who says it: "What is my trade?"."""
    return _found(_About.OWN, text)


def asks_when(text: str) -> bool:
    """Return whether a question asks for a time."""
    return _found(_About.WHEN, text)


def names_a_day(text: str) -> bool:
    """Return whether a text that is not English has a word for a day or a month."""
    return _found(_About.TIME, text)


def usual_questions(text: str) -> Sequence[str]:
    """Return questions about many things in the language of a text; English if it is unknown."""
    return _phrases()[_About.USUAL][_language(text)]


def _found(about: _About, text: str) -> bool:
    text = text.replace("’", "'")
    pattern = _patterns()[about].get(_language(text))
    return pattern is not None and pattern.search(text) is not None


def _language(text: str) -> str:
    language = language_of(text)
    return _WITHOUT_SPACES if language == ENGLISH and UNSPACED.search(text) else language


@cache
def _patterns() -> Mapping[_About, Mapping[str, re.Pattern[str]]]:
    """Return a pattern that finds the words of each kind, by language."""
    return {
        about: {language: _pattern(language, some) for language, some in found.items()}
        for about, found in _phrases().items()
        if about != _About.USUAL
    }


@cache
def _phrases() -> Mapping[_About, Mapping[str, Sequence[str]]]:
    """Return the words, phrases or questions of each kind, by language."""
    phrases: dict[_About, dict[str, list[str]]] = {each: defaultdict(list) for each in _About}
    for line in _LIST.read_text(encoding="utf-8").splitlines():
        kind, colon, listed = line.partition(": ")
        if colon and not line.startswith("#"):
            about, _, language = kind.partition(" ")
            apart = "|" if about in (_About.WHEN, _About.USUAL) else None
            phrases[_About(about)][language] += listed.split(apart)
    return phrases


def _pattern(language: str, phrases: Iterable[str]) -> re.Pattern[str]:
    any_of = "|".join(map(re.escape, phrases))
    whole = any_of if language == _WITHOUT_SPACES else rf"(?<!\w)(?:{any_of})(?!\w)"
    return re.compile(whole, re.I)
