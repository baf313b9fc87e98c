"""What a text says, by the words that tell it from other texts, and whether another text says it.

Words alone never prove where something comes from; see :mod:`keepsake.tracing.paths`. They decide
whether words that may come from a memory do: the more memories they may come from, the rarer the
words must be that both have.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import comb, inf, log2

from keepsake.language.languages import ENGLISH, language_of, stem, stop_words
from keepsake.language.numbers import numerals
from keepsake.language.perception import SENTENCE_GAP, UNSPACED, WORD, is_question, words

_PRIOR = 200
"""Before anything is counted, a telling word is in about one of so many memories. It keeps a word
from being rare because hardly any memories were counted."""
SURE = 3.0
"""Bits by which shared words must be rarer than chance if a text is to say another: they are by
chance once in eight times. Who is said to know what nobody told them is the worse error."""
_TOGETHER = 2
"""How many words both have at least, if nothing but words joins them: a single word, however rare,
is in sentences about other things."""
_SHORT_FORM = 2
"""The letters of a short form such as ``'ll``."""
_PREFIX = 5
"""The letters from which on a stem is found in any word that begins with it, as in a compound."""


_COMPOUND = re.compile(rf"{WORD.pattern}(?:-{WORD.pattern})*")
"""A word, or several with hyphens between them, which say one thing: map-maker."""


def joined(text: str) -> str:
    """Return a text in which words with hyphens between them are one."""
    return text.replace("-", "")


def parts_of(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield the telling words of a text, each as what is compared and as it is written.

    Where a script has no spaces between words, these are its pairs of characters. A number in words
    is compared by its digits.
    """
    common = stop_words()[language]
    for word in _COMPOUND.findall(text):
        folded = joined(word.casefold())
        if UNSPACED.match(folded):
            pairs = (folded[at : at + 2] for at in range(max(len(folded) - 1, 1)))
            yield from ((pair, pair) for pair in pairs)
        elif not _is_common(folded, common):
            yield numerals(language).get(folded) or stem(folded, language), word


@lru_cache(maxsize=8192)  # the sentences of summaries are compared with each memory
def _stems_of(text: str, language: str) -> frozenset[str]:
    return frozenset(part for part, _ in parts_of(text, language))


@lru_cache(maxsize=8192)
def _beginnings_of(text: str, language: str) -> str:
    """Return the telling words of a text, as compared, with a space before each."""
    return "".join(f" {stem}" for stem in _stems_of(text, language))


@lru_cache(maxsize=8192)
def _run_of(text: str) -> str:
    """Return the words of a text in small letters, with a space around each."""
    return f" {' '.join(words(text)).casefold()} "


def _is_common(word: str, common: frozenset[str]) -> bool:
    """Whether a word says nothing; of ``it's`` and ``you'll``, the first part decides."""
    first, _, rest = word.replace("’", "'").partition("'")
    return word in common or (first in common and 0 < len(rest) <= _SHORT_FORM)


def told_in(text: str) -> str:
    """Return a text without its questions: they ask for something, and do not tell it."""
    return " ".join(each for each in SENTENCE_GAP.split(text) if not is_question(each))


def asked_in(text: str) -> str:
    """Return the questions of a text."""
    return " ".join(filter(is_question, SENTENCE_GAP.split(text)))


@dataclass(frozen=True)
class Rarity:
    """How rare words are among the memories that were counted.

    Attributes:
        counts: How many memories have each word.
        total: How many memories were counted.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    total: int = 0

    @classmethod
    def among(cls, texts: Iterable[str], language: str = ENGLISH) -> Rarity:
        """Count the words of texts."""
        counts: dict[str, int] = {}
        total = 0
        for text in texts:
            total += 1
            for part in {part for part, _ in parts_of(text, language)}:
                counts[part] = counts.get(part, 0) + 1
        return cls(counts, total)

    @classmethod
    def of(cls, parts: Collection[str], texts: Iterable[str], language: str = ENGLISH) -> Rarity:
        """Count only some words of texts; quick for texts that were compared before.

        ``parts``: The words, as compared.
        """
        counts: dict[str, int] = {}
        total = 0
        for text in texts:
            total += 1
            for part in _stems_of(text, language).intersection(parts):
                counts[part] = counts.get(part, 0) + 1
        return cls(counts, total)

    def bits(self, part: str) -> float:
        """Return how much it says that two texts both have a word, in bits."""
        return log2((self.total + _PRIOR) / (self.counts.get(part, 0) + 1))

    def bits_of_name(self, part: str) -> float:
        """Return how much it says that a text names who spoke, in bits; few people speak often."""
        return log2((self.total + 1) / (self.counts.get(part, 0) + 1))


def _beyond_chance(
    unit: frozenset[str], shared: frozenset[str], bits: float, among: int, *, joined_by: int
) -> float:
    """Return by how many bits it is more than chance that a text has words of another.

    Args:
        unit: The telling words of the other.
        shared: Words that both have.
        bits: How rare all is that both have.
        among: How many texts the words may come from.
        joined_by: How many things besides these words join the two, such as who spoke.
    """
    both = len(unit & shared)
    if not both or both + joined_by < min(_TOGETHER, len(unit)):
        return -inf
    # So many words may be any of those that the unit has.
    return bits - log2(max(among, 1) * comb(len(unit), both))


class Content:
    """What a text says.

    Attributes:
        text: The text.
        rarity: How rare its words are.
        language: Its language.
        people: The names of who said or did it, and to whom: another text that says it may name
            them.
    """

    def __init__(
        self, text: str, rarity: Rarity, language: str = "", people: Iterable[str] = ()
    ) -> None:
        self.text = text
        self.people = tuple(people)
        self.language = language or language_of(text)
        self.rarity = rarity

    @cached_property
    def parts(self) -> Mapping[str, str]:
        """Its telling words, as compared, each with the word as written."""
        return dict(parts_of(self.text, self.language))

    def shared(self, text: str) -> frozenset[str]:
        """Return those of its telling words that another text has."""
        found = _stems_of(text, self.language)
        beginnings = _beginnings_of(text, self.language)
        begun = (part for part in self._long if f" {part}" in beginnings)
        return frozenset({*(found & self.parts.keys()), *begun})

    @cached_property
    def _long(self) -> Sequence[str]:
        return tuple(each for each in self.parts if len(each) >= _PREFIX)

    def are_named_in(self, text: str) -> bool:
        """Return whether a text names all of its people, each at least by a part of the name."""
        found = _stems_of(text, self.language)
        names = ({part for part, _ in parts_of(name, self.language)} for name in self.people)
        return not any(name and name.isdisjoint(found) for name in names)

    def bits(self, parts: Iterable[str]) -> float:
        """Return how much it says that a text has these words, in bits."""
        return sum(map(self.rarity.bits, parts))

    def has_in_common(self, text: str) -> bool:
        """Return whether a text has any of its telling words, or names any of its people."""
        return bool(self.shared(text) or self._named & _stems_of(text, self.language))

    def is_said_in(
        self,
        text: str,
        among: int,
        *,
        linked: bool = False,
        besides: str = "",
        sure: float = SURE,
    ) -> bool:
        """Return whether a text says it, or a part of it.

        Args:
            text: Words that may come from this one.
            among: How many texts they may come from, this one included.
            linked: Whether something else than words joins the two, so that one word is enough.
            besides: Words that do not count, because an answer has them from its question.
            sure: By how many bits it must be more than chance.
        """
        shared = self.shared(text)
        if besides:
            shared -= self.shared(besides)
        return self._beyond_chance(shared, frozenset(), among, int(linked)) >= sure

    def beyond_chance(self, text: str, among: int) -> float:
        """Return by how many bits it is more than chance that a text has words and people of it.

        ``among``: As for :meth:`is_said_in`.
        """
        named = self._named & _stems_of(text, self.language)
        return self._beyond_chance(self.shared(text), named, among, len(named))

    def _beyond_chance(
        self, shared: frozenset[str], named: frozenset[str], among: int, joined_by: int
    ) -> float:
        if not shared:
            return -inf
        # A long text tells of several things, each in sentences of its own.
        return max(
            _beyond_chance(
                unit,
                shared,
                self.bits(unit & shared) + sum(map(self.rarity.bits_of_name, named)),
                among * len(self._units),
                joined_by=joined_by,
            )
            for unit in self._units
        )

    @cached_property
    def _named(self) -> frozenset[str]:
        """The parts of the names of :attr:`people` that are no words of it."""
        names = (part for name in self.people for part, _ in parts_of(name, self.language))
        return frozenset(names) - self.parts.keys()

    def is_mostly_in(self, text: str) -> bool:
        """Return whether a text has most of what one of its sentences says."""
        shared = self.shared(text)
        return any(2 * self.bits(unit & shared) >= self.bits(unit) > 0 for unit in self._units)

    def is_repeated_in(self, text: str) -> bool:
        """Return whether a text has most of one of its sentences, or one of the text's is of it."""
        if self.is_mostly_in(text):
            return True
        sentences = (_stems_of(each, self.language) for each in SENTENCE_GAP.split(text))
        return any(2 * len(each & self.parts.keys()) >= len(each) > 0 for each in sentences)

    @cached_property
    def _units(self) -> Sequence[frozenset[str]]:
        """The telling words of all of it, and of each of its sentences."""
        whole = frozenset(self.parts)
        sentences = (parts_of(each, self.language) for each in SENTENCE_GAP.split(self.text))
        found = (frozenset(part for part, _ in each) for each in sentences)
        return (whole, *(each for each in found if each and each != whole))

    def is_verbatim_in(self, text: str) -> bool:
        """Return whether a text has all its words, in their order."""
        own = _run_of(self.text)
        run = _run_of(text)
        # Where a language has no spaces between words, any part of a run may be a word.
        found = own.strip() in run if UNSPACED.search(own) else own in run
        return found and bool(own.strip())

    def is_asked_in(self, text: str, among: int) -> bool:
        """Return whether a text only asks about it; ``among``: as for :meth:`is_said_in`."""
        told = told_in(text)
        return told != text and self.is_said_in(text, among) and not self.is_said_in(told, among)

    def part_said_in(self, text: str) -> str:
        """Return the sentences of a text that have words of this one: they pass it on."""
        each = SENTENCE_GAP.split(text)
        return " ".join(sentence for sentence in each if self.shared(sentence))
