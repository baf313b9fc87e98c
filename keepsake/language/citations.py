"""Memories that a text cites by number: ``memory 3``, ``memories 3-7``, ``memories 3, 5 and 7``.

Notes, promises and summaries cite memories so. The text is all there is: people and models write
and edit it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_CITED = re.compile(r"\bmemor(?:y|ies) (\d(?:[\d ,–-]|and |to )*)")
_NUMBERS = re.compile(r"(\d{1,9})(?: ?(?:[–-]|to) ?(\d{1,9}))?")
"""A number, or the first and the last one of a range."""


class Citation(NamedTuple):
    """A number in a text, or a range of numbers.

    Attributes:
        start: Where it begins in the text.
        end: Where it ends; not included.
        first: The first memory that is cited.
        last: The last one; the same for a single number.
    """

    start: int
    end: int
    first: int
    last: int


def citations_in(text: str) -> Iterator[Citation]:
    """Yield the citations in a text, in order."""
    for cited in _CITED.finditer(text):
        yield from numbers_in(text, *cited.span(1))


def numbers_in(text: str, start: int, end: int) -> Iterator[Citation]:
    """Yield all numbers and ranges in a part of a text, as citations."""
    for found in _NUMBERS.finditer(text, start, end):
        first = int(found[1])
        yield Citation(*found.span(), first, int(found[2] or first))
