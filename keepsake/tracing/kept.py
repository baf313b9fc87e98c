"""How much of a text another text has: the one measure for people and for compactions."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from keepsake.language.perception import sentences, words
from keepsake.language.when import CLOCK_TIME, clock_times_in
from keepsake.tracing.content import Content, parts_of


class Kept(StrEnum):
    """How much is left of what somebody said."""

    VERBATIM = "verbatim"
    """All its words, in their order: a single word of it is not enough."""
    SHORTER = "shorter"
    """It is told in other words, or in part."""
    WHISPERED = "whispered"
    """It was private. By design no summary ever says it; the archive has it."""
    GONE = "gone"
    """Nothing, or single words in sentences about something else."""


_LIKELIER = 2.0
"""Bits by which words must be more than chance in a summary. They may be fewer than between two
sayings: to call a memory lost would be as wrong as to call it told."""


class Summarised:
    """A text that was made from memories, or from an older summary.

    Args:
        text: The text.
        among: How many memories it was made from.
    """

    def __init__(self, text: str, among: int) -> None:
        self.text = text
        self._among = among
        self._sentences = [*summary_sentences(text)]

    def kept(self, content: Content) -> Kept:
        """Return how much it has of what a memory, or a sentence, says."""
        return self.found(content)[0]

    def found(self, content: Content) -> tuple[Kept, str]:
        """Return how much it has of what is said, and its sentence that says most of it."""
        said = [
            each
            for each in self._sentences
            if content.is_said_in(each, self._among, sure=_LIKELIER)
        ]
        best = max(said, key=lambda each: content.bits(content.shared(each)), default="")
        if content.is_verbatim_in(self.text):
            return Kept.VERBATIM, best or content.text
        return (Kept.SHORTER, best) if best else (Kept.GONE, "")


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


def summary_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a summary that have words, without the marks of its lists."""
    for line in text.splitlines():
        for sentence in sentences(line):
            shown = sentence.strip().lstrip("-*# ").strip()
            if words(shown):
                yield shown
