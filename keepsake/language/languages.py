"""The language of a text, and the words of that language that say nothing.

A text is in the language that most of its words are stop words of. So "die" says nothing in a
German line, and is a word to search for in an English question.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from keepsake.language.perception import COMMON_WORDS, words

ENGLISH = "en"
"""The language of a text without stop words of another language."""
_LIST = Path(__file__).with_name("stop_words.txt")


@cache
def stop_words() -> Mapping[str, frozenset[str]]:
    """Return the stop words of each language in lower case; English comes first."""
    found = {ENGLISH: COMMON_WORDS}
    for line in _LIST.read_text(encoding="utf-8").splitlines():
        language, colon, listed = line.partition(": ")
        if colon and not line.startswith("#"):
            found[language] = found.get(language, frozenset()).union(listed.split())
    return found


@lru_cache(maxsize=8192)  # searches see the same lines again
def language_of(text: str) -> str:
    """Return the language whose stop words are most frequent in a text; English among equals."""
    said = [word.casefold() for word in words(text)]
    lists = stop_words()
    # The first of equal languages is returned.
    return max(lists, key=lambda language: sum(word in lists[language] for word in said))


@cache
def foreign_stop_words() -> frozenset[str]:
    """Return the words that are stop words of any language but English."""
    return frozenset().union(*(some for name, some in stop_words().items() if name != ENGLISH))
