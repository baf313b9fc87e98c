"""Numbers that are written in words: ``seven`` is 7, and so is ``sieben`` in a German line.

The words are those by which dateparser reads dates, so most languages have the small numbers only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module

_DATA = "dateparser.data.date_translation_data"
_WORD = re.compile(r"(?:^|\))([^\W\d_]+)(?:\(\?=|$)")
"""A word that stands for a number, alone or between conditions on what is around it."""


@cache
def numerals(language: str) -> Mapping[str, str]:
    """Return the words of a language for numbers, in lower case, each with the digits.

    ``language``: A code such as ``de``. A language that dateparser does not know has none.
    """
    try:
        data = import_module(f"{_DATA}.{language}")
    except ModuleNotFoundError:
        return {}
    found = {}
    for each in data.info.get("simplifications", ()):
        for pattern, digits in each.items():
            word = _WORD.search(pattern)
            if word and digits.isdecimal():
                found[word[1].casefold()] = digits
    return found


@cache
def numeral_words(digits: str, language: str) -> tuple[str, ...]:
    """Return the words of a language for a number."""
    return tuple(word for word, each in numerals(language).items() if each == digits)
