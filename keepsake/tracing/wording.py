"""The ways of saying something, as a person types them: ``bell | drowned sister``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from keepsake.errors import KeepsakeError
from keepsake.language.perception import COMMON_WORDS, UNSPACED, stem, words
from keepsake.tracing.texts import lines_with

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
        typed: Each way as it was typed.
        proper: Those of the words that are proper names: a text that has them in small letters
            alone means something else. *Her patience* is not the ship *Patience*.
    """

    ways: tuple[tuple[str, ...], ...]
    whole: frozenset[str] = frozenset()
    typed: tuple[str, ...] = ()
    proper: frozenset[str] = frozenset()
    # What was asked before: each memory is asked about several times.
    _said: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, typed: str) -> Self:
        """Read what a person typed: words, and ``|`` between two ways.

        Raises:
            KeepsakeError: There is no word, or there are too many.
        """
        found = {tuple(dict.fromkeys(map(stem, _telling(way)))): way for way in typed.split("|")}
        found.pop((), None)
        ways = tuple(found)
        if not ways:
            raise KeepsakeError(f"There is no word in {typed[:40]!r}", "Give letters or digits")
        if len(ways) > MOST_WAYS or max(map(len, ways)) > MOST_WORDS:
            most = f"Give at most {MOST_WAYS} ways of at most {MOST_WORDS} words"
            raise KeepsakeError("These are too many words to follow", most)
        whole = {word for word in words(typed) if stem(word) == word}
        return cls(ways, frozenset(whole), tuple(each.strip() for each in found.values()))

    def with_proper(self, proper: frozenset[str]) -> Self:
        """Return the same words, some of them proper names."""
        return type(self)(self.ways, self.whole, self.typed, proper)

    def is_said_in(self, text: str) -> bool:
        """Return whether a text says it in one of its ways; ``text``: As it is written."""
        found = self._said.get(text)
        if found is None:
            said = text.casefold()
            found = any(
                all(self.has_word(each, said) for each in way) and self.has_names(way, text)
                for way in self.ways
            )
            self._said[text] = found
        return found

    def is_written_in(self, text: str, speaker: str = "") -> bool:
        """Return whether a text has the words of one way side by side, in the order of the way.

        So it says the same as what was typed: *Bob pays you to keep watch* says nothing of *Bob's
        watch*.

        Args:
            text: What was said.
            speaker: The name of who said it: they need not name themselves, if at least two other
                words stand side by side. A single word may have another sense.
        """
        said = text.casefold()
        found = [stem(each) for each in _telling(text)]
        own = {stem(each) for each in words(speaker)}

        def has(way: tuple[str, ...]) -> bool:
            if len(way) == 1:
                return self.has_word(way[0], said)
            rest = tuple(each for each in way if each not in own)
            wanted = [way, rest] if len(rest) > 1 else [way]
            return any(
                tuple(found[at : at + len(each)]) == each
                for each in wanted
                for at in range(len(found))
            )

        return any(map(has, self.ways))

    def has_word(self, word: str, text: str) -> bool:
        """Return whether a text has one of the words. ``text``: In small letters."""
        return _begins_word(word, text, is_whole=word in self.whole)

    def has_names(self, way: Iterable[str], text: str) -> bool:
        """Return whether a text has no proper name of a way in small letters alone.

        ``text``: As it is written. It need not have the names.
        """
        proper = self.proper.intersection(way)
        written = words(text) if proper else ()
        for name in proper:
            found = [each for each in written if self.has_word(name, each.casefold())]
            if found and all(each.islower() for each in found):
                return False
        return True

    def lines_in(self, text: str) -> Iterator[int]:
        """Yield the places of the lines of a text that say it, in order; quick.

        ``text``: In small letters. It is searched as a whole, and for one word of each way.
        """
        found = set[int]()
        for way in self.ways:
            if all(word in text for word in way):
                lines = lines_with(text, max(way, key=len))
                found.update(place for place, line in lines if self.is_said_in(line))
        yield from sorted(found)


def _telling(way: str) -> Sequence[str]:
    """Return the words of a way that say something, *bell* of *the bell*; all, if none does."""
    typed = words(way)
    return [word for word in typed if word.casefold() not in COMMON_WORDS] or typed


def _begins_word(word: str, text: str, *, is_whole: bool) -> bool:
    if UNSPACED.match(word):
        return word in text
    if word not in text:  # many times quicker than to look where words begin
        return False
    begun = re.finditer(rf"(?<![^\W_]){re.escape(word)}\w*", text)
    # The stem of *hives* is ``hiv``, and that of *hive* is not. But *hat* is not *hate*.
    stems = {word} if is_whole else {word, f"{word}e"}
    return any(len(word) >= _TELLING or stem(each[0]) in stems for each in begun)
