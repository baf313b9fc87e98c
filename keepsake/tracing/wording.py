"""The ways of saying something, as a person types them: ``bell | drowned sister``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from keepsake.errors import KeepsakeError
from keepsake.language.perception import UNSPACED, stem, telling, words

_TELLING = 5
"""The letters from which on the beginning of a word tells it from others. Of ``gre``, only what is
left of *grey* without its ending is that word: *green* and *great* are not."""
MOST_WAYS = 10
MOST_WORDS = 12
"""The most ways, and the most words of a way: each is looked for in every line."""


@dataclass(frozen=True)
class Wording:
    """Ways of saying something. A text says it if it has all words of one way, in any order.

    Words are compared without common endings: ``drowned`` finds ``drowning``. A word of five or
    more letters is also found where another word begins with it. Languages that put no spaces
    between words have no such beginnings: there, any place counts.

    Attributes:
        ways: The words of each way.
        whole: Those of them that were typed without an ending.
    """

    ways: tuple[tuple[str, ...], ...]
    whole: frozenset[str] = frozenset()

    @classmethod
    def of(cls, typed: str) -> Self:
        """Read what a person typed: words, and ``|`` between two ways.

        Raises:
            KeepsakeError: There is no word, or there are too many.
        """
        found = (tuple(dict.fromkeys(map(stem, words(way)))) for way in typed.split("|"))
        ways = tuple(dict.fromkeys(filter(None, found)))
        if not ways:
            raise KeepsakeError(f"There is no word in {typed[:40]!r}", "Give letters or digits")
        if len(ways) > MOST_WAYS or max(map(len, ways)) > MOST_WORDS:
            most = f"Give at most {MOST_WAYS} ways of at most {MOST_WORDS} words"
            raise KeepsakeError("These are too many words to follow", most)
        whole = {word for word in words(typed) if stem(word) == word}
        return cls(ways, frozenset(whole))

    def is_said_in(self, text: str) -> bool:
        """Return whether a text says it in one of its ways."""
        said = text.casefold()
        return any(all(self._is_word_of(each, said) for each in way) for way in self.ways)

    def _is_word_of(self, word: str, text: str) -> bool:
        return _begins_word(word, text, is_whole=word in self.whole)

    @cached_property
    def _needles(self) -> tuple[tuple[bytes, ...], ...]:
        """What a line must have for each way."""
        return tuple(tuple(map(_needle, way)) for way in self.ways)

    def places_in(self, lines: bytes) -> Iterator[int]:
        """Yield places in lines of an archive: each line that may say it has one of them; quick.

        ``lines``: In lower case. They are searched as a whole, and for one word of each way.
        """
        for way in self._needles:
            if all(needle in lines for needle in way):
                # Without ASCII letters there is nothing to look for: any line may say it.
                longest = re.escape(max(way, key=len)) or rb"^."
                yield from (each.start() for each in re.finditer(longest, lines, re.MULTILINE))


def counted(text: str, lines: Sequence[bytes]) -> list[tuple[str, int]]:
    """Return the telling words of a text, the rarest first, each with how many lines have it.

    ``lines``: Lines of archives, in lower case.
    """
    needles = [(word, _needle(word)) for word in sorted(telling(text))]
    found = [(word, sum(needle in line for line in lines)) for word, needle in needles]
    return sorted(found, key=lambda each: each[1])


def _needle(word: str) -> bytes:
    """Return what any line with the word has: other letters than ASCII may be in either case."""
    return max(re.split(r"[^\x00-\x7f]", word), key=len).encode()


def _begins_word(word: str, text: str, *, is_whole: bool) -> bool:
    if UNSPACED.match(word):
        return word in text
    if word not in text:  # many times quicker than to look where words begin
        return False
    begun = re.finditer(rf"(?<![^\W_]){re.escape(word)}\w*", text)
    # The stem of *hives* is ``hiv``, and that of *hive* is not. But *hat* is not *hate*.
    stems = {word} if is_whole else {word, f"{word}e"}
    return any(len(word) >= _TELLING or stem(each[0]) in stems for each in begun)
