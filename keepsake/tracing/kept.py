"""How much of a text another text has: the one measure for people and for compactions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from math import inf

from keepsake.language.sourced_text import summary_sentences
from keepsake.language.when import CLOCK_TIME, clock_times_in
from keepsake.tracing.content import Content, parts_of


class Kept(StrEnum):
    """How much is left of what somebody said."""

    VERBATIM = "verbatim"
    """All its words, in their order: a single word of it is not enough."""
    SHORTER = "shorter"
    """It is told in other words, or in part."""
    UNSURE = "unsure"
    """Perhaps it is told: a sentence has words of it, but too few to tell, and its writer did not
    say what it tells; or its writer says so, and they have no word in common."""
    WHISPERED = "whispered"
    """It was private. By design no summary ever says it; the archive has it."""
    GONE = "gone"
    """Nothing, or single words in sentences about something else."""


_TOLD = 4.0
"""Bits by which words must be more than chance in a sentence that tells them."""
_LOST = -2.0
"""With no more than so many bits, a sentence has words by chance. What is between the two limits is
said to be unsure. The limits were found with one compaction whose memories a person had read. Of
two others, 9 in 10 and 8 in 10 of those that are then called told or lost are so. A single limit
was wrong more often. See ``tests/data/compactions``."""


class Summarised:
    """A text that was made from memories, or from an older summary.

    Args:
        text: The text.
        among: How many memories it was made from.
        cited: By sentence: the memories that it tells, as its writer said. Sentences of which that
            is not known are compared by their words.
    """

    def __init__(
        self, text: str, among: int, cited: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        self.text = text
        self._among = among
        self._cited = {each: numbers for each, numbers in (cited or {}).items() if numbers}
        self._uncited = [each for each in summary_sentences(text) if each not in self._cited]

    def kept(self, content: Content, numbers: Collection[int] = ()) -> Kept:
        """Return how much it has of what memories, or a sentence, say."""
        return self.found(content, numbers)[0]

    def found(self, content: Content, numbers: Collection[int] = ()) -> tuple[Kept, str]:
        """Return how much it has of what is said, and its sentences that say most of it.

        ``numbers``: Those of the memories that say it, if its writer may have named them.
        """
        told = [each for each, named in self._cited.items() if not {*numbers}.isdisjoint(named)]
        likely = [(content.beyond_chance(each, self._among), each) for each in self._uncited]
        bits, best = max(likely, default=(-inf, ""))
        said = " ".join(told) or (best if bits > _LOST else "")
        if content.is_verbatim_in(self.text):
            return Kept.VERBATIM, said or content.text
        # A small model may name any numbers: what is told has a word in common with the sentence.
        agreed = any(map(content.has_in_common, told))
        # A single word, and the name of who said it, may be there for another reason.
        if agreed or (bits >= _TOLD and len(content.shared(best)) > 1):
            return Kept.SHORTER, said
        return (Kept.UNSURE, said) if said else (Kept.GONE, "")


def missing_in(text: str, content: Content) -> tuple[str, ...]:
    """Return the telling words of what is said that a text does not have, as written, in order.

    The digits of a clock time are there if the text has the time in words.
    """
    language = content.language
    times = clock_times_in(text, language)
    has = content.shared(text)
    digits = {
        part
        for found in CLOCK_TIME.findall(content.text)
        if clock_times_in(found, language) & times
        for part, _ in parts_of(found, language)
    }
    missing = (word for part, word in content.parts.items() if part not in has | digits)
    return tuple(dict.fromkeys(missing))
