"""The language of a text, and what it makes of words: which say nothing, and what their stems are.

A text is in the language that most of its words are stop words of. So "die" says nothing in a
German line, and is a word to search for in an English question. Stems are Snowball's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

import snowballstemmer

from keepsake.language.perception import COMMON_WORDS, UNSPACED, telling, words
from keepsake.language.perception import stem as english_stem

ENGLISH = "en"
"""The language of a text without stop words of another language."""
CAPITALISED_NOUNS = frozenset({"de"})
"""Languages that write every noun with a capital, so that a capital tells no name."""
_STEMMERS = {
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
}
"""Snowball's stemmers, for the languages that have a list of stop words."""
_LIST = Path(__file__).with_name("stop_words.txt")


def is_english(code: str) -> bool:
    """Return whether a language code, as in Django's ``LANGUAGE_CODE``, is English: ``en-us``."""
    return code.replace("_", "-").partition("-")[0].casefold() == ENGLISH


def language_name(code: str) -> str:
    """Return the English name of a language that :func:`language_of` knows: ``dutch``."""
    return _STEMMERS.get(code, "english")


@cache
def stop_words() -> Mapping[str, frozenset[str]]:
    """Return the stop words of each language in lower case; English comes first."""
    found = {ENGLISH: COMMON_WORDS}
    for line in _LIST.read_text(encoding="utf-8").splitlines():
        language, colon, listed = line.partition(": ")
        if colon and not line.startswith("#"):
            found[language] = found.get(language, frozenset()).union(listed.split())
    return found


@lru_cache(maxsize=16_384)  # searches see the same lines again
def language_of(text: str) -> str:
    """Return the language whose stop words are most frequent in a text; English among equals."""
    found = dict.fromkeys(stop_words(), 0)
    known = _languages_of_stop_words()
    folded = map(str.casefold, words(text))
    # A line has few different sets of languages, so most of the work is the counting, in C.
    for languages, number in Counter(map(known.get, folded)).items():
        for language in languages or ():
            found[language] += number
    # The first of equal languages is returned.
    return max(found, key=found.__getitem__)


@cache
def _languages_of_stop_words() -> Mapping[str, tuple[str, ...]]:
    """Return the languages of each stop word."""
    found = defaultdict[str, list[str]](list)
    for language, some in stop_words().items():
        for word in some:
            found[word].append(language)
    return {word: tuple(some) for word, some in found.items()}


@cache
def foreign_stop_words() -> frozenset[str]:
    """Return the words that are stop words of any language but English."""
    return frozenset().union(*(some for name, some in stop_words().items() if name != ENGLISH))


@lru_cache(maxsize=32_768)  # a stem takes 20 to 50 microseconds
def stem(word: str, language: str) -> str:
    """Return the stem of a word in a language, in lower case: Haus for Häuser, as ``haus``."""
    if language == ENGLISH:
        return english_stem(word)
    return str(_stemmer(language).stemWord(word.casefold()))


@cache
def _stemmer(language: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(_STEMMERS[language])


@lru_cache(maxsize=8192)  # searches see the same lines again
def stems_in(text: str, language: str) -> frozenset[str]:
    """Return the stems of the words of a text, all in one language."""
    return frozenset(stem(word, language) for word in words(text))


@lru_cache(maxsize=8192)  # a line is indexed with its neighbours
def forms_to_index(text: str, language: str) -> str:
    """Return what finds a text besides its words as written; empty if these are enough.

    The characters of a script without spaces between words stand apart, so that any two of them are
    a phrase. Words of other languages are followed by their stems. English stems are not needed:
    the index has its own.
    """
    forms = [" ".join(text)] if UNSPACED.search(text) else []
    if language != ENGLISH:
        forms += [stem(word, language) for word in words(text)]
    return " ".join(forms)


def telling_in(text: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the stems of the words of a text that are stop words of no language.

    Text without spaces between words gives pairs of characters. Pairs that begin with hiragana are
    mostly grammar and left out.

    ``language``: Whose stems; the same for all texts that are compared.
    """
    found = set[str]()
    for word in words(text.casefold()):
        if UNSPACED.match(word):
            pairs = map("".join, pairwise(word) if word[1:] else [word])
            found.update(pair for pair in pairs if not "\u3041" <= pair[0] <= "\u309f")
        elif word not in COMMON_WORDS and word not in foreign_stop_words():
            found.add(stem(word, language))
    return frozenset(found)


@lru_cache(maxsize=8192)  # searches see the same lines again
def telling_terms(text: str) -> frozenset[str]:
    """Return the telling words of a text, as :func:`telling` does, also of scripts without spaces.

    Of these, any two characters that stand together are one.
    """
    found = set(telling(text))
    for word in words(text):
        if UNSPACED.match(word):
            found.discard(word.casefold())
            found.update(map("".join, pairwise(word)))
    return frozenset(found)


def number_of_words(terms: Iterable[str]) -> float:
    """Return how many words some terms are.

    Pairs of characters of a script without spaces overlap: two of them are one word.
    """
    return sum(0.5 if UNSPACED.match(term) else 1.0 for term in terms)


def length_in_words(text: str) -> float:
    """Return the blanks of a text, with one for each two characters of a script without blanks."""
    blanks = text.count(" ")
    return blanks if text.isascii() else blanks + len(UNSPACED.findall(text)) / 2
