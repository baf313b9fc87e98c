"""Everyday words: words that are nobody's own, and that no player may have as a name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from keepsake.language.perception import COMMON_WORDS, words

_LIST = Path(__file__).with_name("everyday_words.txt")


@cache
def everyday_words() -> frozenset[str]:
    """Return some twenty thousand common English words in lower case, with common inflections.

    The first call reads a file of 170 kB, which takes a few milliseconds.
    """
    lines = _LIST.read_text(encoding="utf-8").splitlines()
    listed = (word for line in lines if not line.startswith("#") for word in line.split())
    return COMMON_WORDS.union(listed)


def is_everyday(name: str) -> bool:
    """Return whether all words of a name are everyday words: ``Kettle``, ``Old Mother``."""
    found = [word.casefold() for word in words(name)]
    return bool(found) and everyday_words().issuperset(found)
