"""Which of the lines about something typed belong together.

Lines belong together if one rests on the other, or if they say the same. So a line that only has
the words by chance stands by itself, and can be left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from keepsake.archive.records import Memory
from keepsake.language.perception import telling
from keepsake.tracing.content import told_in
from keepsake.tracing.typed.gathering import Line, id_of, tells

_ALSO = 2
"""The telling words that two lines that say the same have in common besides those that were typed:
a single one is in lines about other things."""

MOST_COMPARED = 500
"""The most lines that are compared with each other: of more, the words are everyday words."""

type _Remembered = Sequence[tuple[str, Memory]]
"""Who remembers a happening, by key, and the memories."""


@dataclass(frozen=True, slots=True)
class Strand:
    """Lines that belong together.

    Attributes:
        memories: By key of an agent: its memories of them, in order.
        likely: Whether they count as telling what was typed: they have its words, or were chosen.
        lead: The key of an agent and the memory that tells most directly what it is about.
        refused: Whether somebody who read it said that it is about something else.
    """

    memories: Mapping[str, Sequence[Memory]]
    likely: bool
    lead: tuple[str, Memory]
    refused: bool = False

    @property
    def size(self) -> int:
        """How many happenings it has."""
        return len({id_of(key, each) for key, of in self.memories.items() for each in of})

    def has_any(self, lines: Iterable[Line]) -> bool:
        """Return whether one of some lines is of it."""
        return any(
            number == each.number for key, number in lines for each in self.memories.get(key, ())
        )


def strands(found: Mapping[str, Sequence[Memory]], typed: Collection[str]) -> list[Strand]:
    """Return the lines that were found as strands: what tells something before what asks.

    Args:
        found: By key of an agent: its memories about what was typed.
        typed: The words that were typed, as compared.
    """
    lines = _told_lines(found)
    if not lines:
        return []
    if len(lines) > MOST_COMPARED:
        return [strand_of([*lines.values()], likely=True)]
    joined = _Joined(lines)
    for one, other in (*_linked(found), *_alike(lines, typed)):
        joined.join(one, other)
    made = (strand_of([lines[each] for each in ids], likely=True) for ids in joined.sets())
    return sorted(made, key=lambda each: _said_plainly(each.lead[1]))


def _told_lines(found: Mapping[str, Sequence[Memory]]) -> Mapping[str, _Remembered]:
    """Return what was told to anybody, by happening."""
    lines: dict[str, list[tuple[str, Memory]]] = defaultdict(list)
    for key, of in found.items():
        for each in of:
            if tells(each):
                lines[id_of(key, each)].append((key, each))
    return lines


def _linked(found: Mapping[str, Sequence[Memory]]) -> Iterator[tuple[str, str]]:
    """Yield the happenings of which one rests on the other."""
    for key, of in found.items():
        by_number = {each.number: each for each in of}
        for each in of:
            for number in {*each.rests_on} & by_number.keys():
                yield id_of(key, each), id_of(key, by_number[number])


def _alike(lines: Mapping[str, _Remembered], typed: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the happenings of which both say the same."""
    said = {each: telling(_words_of(of[0][1])) - {*typed} for each, of in lines.items()}
    for one, other in combinations(lines, 2):
        if len(said[one] & said[other]) >= _ALSO:
            yield one, other


def likely(
    found: Mapping[str, Sequence[Memory]], about: Sequence[Strand]
) -> Mapping[str, Sequence[Memory]]:
    """Return the memories that are likely about what was typed, by key of the agent, in order.

    Besides those of likely strands, these are what tells nobody anything, such as a plan.
    """
    meant: dict[str, set[int]] = defaultdict(set)
    for strand in about:
        for key, of in strand.memories.items() if strand.likely else ():
            meant[key].update(each.number for each in of)
    return {
        key: [each for each in of if each.number in meant[key] or not tells(each)]
        for key, of in found.items()
    }


class _Joined:
    """Happenings, of which some belong together."""

    def __init__(self, ids: Collection[str]) -> None:
        self._first = {each: each for each in ids}

    def join(self, one: str, other: str) -> None:
        """Let two belong together, if both are known."""
        if one in self._first and other in self._first:
            self._first[self._of(one)] = self._of(other)

    def _of(self, each: str) -> str:
        while self._first[each] != each:
            self._first[each] = self._first[self._first[each]]
            each = self._first[each]
        return each

    def sets(self) -> Iterator[Sequence[str]]:
        """Yield those that belong together."""
        together: dict[str, list[str]] = defaultdict(list)
        for each in self._first:
            together[self._of(each)].append(each)
        yield from together.values()


def strand_of(lines: Sequence[_Remembered], *, likely: bool) -> Strand:
    """Return lines that belong together; at least one, each remembered by somebody."""
    memories: dict[str, list[Memory]] = defaultdict(list)
    for key, memory in (each for line in lines for each in line):
        memories[key].append(memory)
    best = [min(line, key=lambda each: not each[1].is_own) for line in lines]
    return Strand(
        memories={each: sorted(of, key=lambda m: m.number) for each, of in memories.items()},
        likely=likely,
        lead=min(best, key=lambda each: _said_plainly(each[1])),
    )


def _said_plainly(memory: Memory) -> tuple[bool, bool, object]:
    """Return what comes first: what tells something before what asks, words before the rest."""
    return not told_in(_words_of(memory)), not memory.words, memory.time


def _words_of(memory: Memory) -> str:
    return memory.words or memory.text
