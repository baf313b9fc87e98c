"""How much of a text another text has: the one measure for people and for compactions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
    """It is told in other words, or in part: its writer says so, or who has it heard it so."""
    LIKELY = "likely"
    """Probably it is told: a sentence has several words of it and names all who were there, but its
    writer did not say what it tells."""
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
_SAME = 8.0
"""Bits by which words must be more than chance in a sentence that is from other memories."""
_NEAR = 6
"""So many memories before and after one that a writer named may be of the same talk. In five
compactions that a person had read, 28 of the 184 words and deeds that were called lost are told;
with this, 17 of 171. Of the 157 that are lost, 156 were called so, and now 154."""
_ENOUGH = 3
"""The telling words that both must have. Two words are also in a sentence about the same thing in
another talk: of the memories of those compactions that nobody tells, a third of those with two
words, and none with three and all names, would be called told."""


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
        told = [*summary_sentences(text)]
        # Each with the one before it, which may name whom it speaks of.
        pairs = zip(told, ("", *told), strict=False)
        self._uncited = [(each, before) for each, before in pairs if each not in self._cited]

    def kept(self, content: Content, numbers: Collection[int] = ()) -> Kept:
        """Return how much it has of what memories, or a sentence, say."""
        return self.found(content, numbers)[0]

    def found(
        self, content: Content, numbers: Collection[int] = (), *, made_of_it: bool = True
    ) -> tuple[Kept, str]:
        """Return how much it has of what is said, and its sentences that say most of it.

        Args:
            content: What is said.
            numbers: Those of the memories that say it, if its writer may have named them.
            made_of_it: Whether it was made from one of them. If not, it may tell the same from
                other memories, but few words that both have are no reason to think so.
        """
        told = [each for each, named in self._cited.items() if not {*numbers}.isdisjoint(named)]
        likely = (
            (content.beyond_chance(each, self._among), each, before)
            for each, before in self._uncited
        )
        bits, best, before = max(likely, default=(-inf, "", ""))
        said = " ".join(told) or (best if made_of_it and bits > _LOST else "")
        if content.is_verbatim_in(self.text):
            return Kept.VERBATIM, said or content.text
        # A small model may name any numbers: what is told has a word in common with the sentence.
        if any(map(content.has_in_common, told)):
            return Kept.SHORTER, said
        if bits >= _TOLD and has_enough(content, best) and content.are_named_in(f"{before} {best}"):
            return Kept.LIKELY, said or best
        if not said:
            near = self._told_of_others(content, numbers)
            said = near if made_of_it else self._told_before(content)
        return (Kept.UNSURE, said) if said else (Kept.GONE, "")

    def _told_of_others(self, content: Content, numbers: Collection[int]) -> str:
        """Return the sentence that says it though its writer named other memories; else empty.

        What one said and another repeated is told once, and of a talk a writer names a few lines.
        So next to a line that it named, its sentence may be from fewer memories than all.
        """
        best = self._alike(content, self._cited)
        if best or not numbers:
            return best
        first = min(numbers) - _NEAR
        last = max(numbers) + _NEAR
        near = (
            each
            for each, named in self._cited.items()
            if any(first <= number <= last for number in named)
        )
        return self._alike(content, near, last - first + 1)

    def _told_before(self, content: Content) -> str:
        """Return the sentence that says it though it is older; empty if none does.

        Who says something again may say more besides, so it need not be most of it.
        """
        best = self._alike(content, (*self._cited, *(each for each, _ in self._uncited)))
        return best if has_enough(content, best) else ""

    def _alike(self, content: Content, sentences: Iterable[str], among: int = 0) -> str:
        """Return the sentence with most words of what is said; empty if it has them by chance.

        ``among``: How many memories it may be from; 0 for all.
        """
        among = among or self._among
        likely = ((content.beyond_chance(each, among), each) for each in sentences)
        bits, best = max(likely, default=(-inf, ""))
        return best if bits >= _SAME else ""


def has_enough(content: Content, text: str) -> bool:
    """Return whether a text has enough words of what is said to be more than about the same."""
    most = max(min(_ENOUGH, len(content.parts)), 2)
    return len(content.shared(text)) >= most


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
