"""What mattered, found again in the words of a summary.

A summary is a text: its sentences do not say which memories they were made of. But which
memories it was made of that mattered is known by number, and a sentence that shares their
words is theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from keepsake.language.perception import shorten
from keepsake.language.words import telling
from keepsake.summaries import sections
from keepsake.summaries.retelling import ToldSentence, join, retell

MATTERS = 6
"""From here on a line counts for more than its words."""
MOST_COUNTING = 4
"""Sentences of one speaker that count for more; nobody fills a summary with their own."""
MOST_NAMED, MOST_NAMED_OF_ONE, LONGEST_NAMED = 6, 2, 200
"""Lines that a model is told to look at: of all, of one speaker; and characters of each."""

_EACH = 2.5
"""What each point of importance from :data:`MATTERS` on adds to what a sentence is worth."""
_OF_BOTH, _LEAST = 0.6, 2
"""The share of the longer one's telling words, and how many, that a sentence and a memory have in
common if it is made of it."""


@dataclass(frozen=True, slots=True)
class KeyMemory:
    """A memory that matters, as a line that a summarizer reads."""

    number: int
    line: str  # its text; an own act is ``~Mira> say …``
    importance: int


class SentenceMatcher:
    """Says how much the sentences of a text matter.

    Args:
        weighty: The memories that matter, of those that the text was made of.
    """

    def __init__(self, weighty: Iterable[KeyMemory], own_name: str) -> None:
        self._by_number: dict[int, int] = {}
        self._terms: list[tuple[frozenset[str], KeyMemory]] = []
        for each in weighty:
            self._by_number[each.number] = each.importance
            for told in retell(each.line, own_name):
                if len(terms := _terms(told)) >= _LEAST:
                    self._terms.append((terms, each))

    def importance_of(self, told: ToldSentence, number: int | None = None) -> int:
        """How much a sentence matters; 0 if it is made of nothing that does.

        ``number``: The memory that it says it came from, which settles it if it is known.
        """
        if number is not None and number in self._by_number:
            return self._by_number[number]
        terms = _terms(told)
        found = (each.importance for wanted, each in self._terms if _same(wanted, terms))
        return max(found, default=0)

    def numbers_in(self, text: str, own_name: str) -> tuple[int, ...]:
        """Numbers of the memories that ``text`` still tells, ascending."""
        numbers: set[int] = set()
        for line in sections.plain(text):
            if (noted := sections.number_of(line)) in self._by_number:
                numbers.add(noted)
            for sentence in retell(sections.unnumbered(line), own_name):
                terms = _terms(sentence)
                numbers |= {each.number for wanted, each in self._terms if _same(wanted, terms)}
        return tuple(sorted(numbers))


def counting(told: Sequence[ToldSentence], importance: Sequence[int]) -> list[float]:
    """By what each sentence's worth is multiplied for what it matters; 1 for most.

    Of one speaker only so many count for more, those that matter most.

    ``importance``: How much each of them matters, 0 where that is not known; or none at all.
    """
    factors = [1.0] * len(told)
    if len(importance) != len(told):
        return factors
    count: Counter[str] = Counter()
    for position in sorted(range(len(told)), key=lambda i: -importance[i]):
        speaker = told[position].speaker
        if importance[position] >= MATTERS and count[speaker] < MOST_COUNTING:
            count[speaker] += 1
            factors[position] = 1 + _EACH * (importance[position] - MATTERS + 1)
    return factors


def named(
    lines: Sequence[str], importance: Callable[[int, ToldSentence], int], own_name: str
) -> list[tuple[int, str]]:
    """What of ``lines`` matters most, in their order: the line's position, and words.

    ``lines``: What a model is about to read.
    ``importance``: How much a sentence of the line at that position matters.
    """
    found = [
        (importance(position, told), position, told)
        for position, line in enumerate(lines)
        for told in retell(line, own_name)
    ]
    count: Counter[str] = Counter()
    chosen: dict[int, list[ToldSentence]] = {}
    for score, position, told in sorted(found, key=lambda each: (-each[0], -each[1])):
        if score < MATTERS or (position not in chosen and len(chosen) == MOST_NAMED):
            break
        if position in chosen or count[told.speaker] < MOST_NAMED_OF_ONE:
            count[told.speaker] += position not in chosen
            chosen.setdefault(position, []).append(told)
    return [(at, shorten(join(chosen[at]), LONGEST_NAMED)) for at in sorted(chosen)]


def _terms(told: ToldSentence) -> frozenset[str]:
    return frozenset(telling(f"{told.speaker} {told.words}"))


def _same(memory: frozenset[str], sentence: frozenset[str]) -> bool:
    """Whether a sentence is made of a memory's sentence, by the words they share."""
    return len(memory & sentence) >= max(_OF_BOTH * max(len(memory), len(sentence)), _LEAST)
