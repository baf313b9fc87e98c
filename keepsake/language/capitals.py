"""Words with a capital letter within a sentence: in most languages that have capitals, names."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W\d_]+")
_WITHIN = frozenset(",'’-")
"""Signs after which a sentence goes on, besides blanks. After any other one a word may have a
capital because a sentence, a quotation or a line of a list begins."""


def capitalised(text: str) -> list[str]:
    """Return the words that have a capital within a sentence, in order, as often as they occur.

    A word in capitals alone is loud and no name, and so is one letter: ``I``, ``I've``. In a script
    without capitals there are none. Headings have capitals of their own and are left out.
    """
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [word for line in lines for word in _of_line(line)]


def _of_line(line: str) -> list[str]:
    found = []
    end = -1  # the first word of a line begins a sentence
    for match in _WORD.finditer(line):
        gap = line[end : match.start()] if end >= 0 else "."
        end = match.end()
        word = match[0]
        goes_on = all(sign.isspace() or sign in _WITHIN for sign in gap)
        if goes_on and len(word) > 1 and word[0].isupper() and not word.isupper():
            found.append(word)
    return found


def folded(text: str) -> str:
    """Return a text for comparison: without case and accents."""
    letters = unicodedata.normalize("NFD", text.casefold())
    return "".join(each for each in letters if not unicodedata.combining(each))
