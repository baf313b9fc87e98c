"""Which of the lines about something typed belong together, and which of them are likely meant.

Lines belong together if one rests on the other or goes on with its talk, or if they say the same.
So a line that only has the words by chance stands by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from keepsake.archive.records import Memory
from keepsake.language.perception import telling
from keepsake.tracing.content import told_in
from keepsake.tracing.typed.gathering import Found, id_of, tells
from keepsake.tracing.typed.judging import LIKELY, PERHAPS
from keepsake.tracing.typed.meant import Match

_ALSO = 2
"""The telling words that two lines that say the same have in common besides those that were typed:
a single one is in lines about other things."""

_OTHER = (Match.SOME, Match.NEAR)
"""How lines are found that need not be about what was typed: only if they probably are."""

MOST_COMPARED = 500
"""The most lines that are compared with each other: of more, the words are everyday words."""


@dataclass(frozen=True, slots=True)
class Strand:
    """Lines that belong together.

    Attributes:
        memories: By key of an agent: its memories of them, in order.
        likely: Whether they tell what was typed, as far as is known: by :attr:`chance`, or else
            because one of them has all words, with the talk that it goes on with.
        lead: The key of an agent and the memory that tells most directly what it is about.
        refused: Whether somebody who read it said that it is about something else.
        chance: How probable it is that the surest of them tells it; None if that is not known.
    """

    memories: Mapping[str, Sequence[Memory]]
    likely: bool
    lead: tuple[str, Memory]
    refused: bool = False
    chance: float | None = None

    @property
    def size(self) -> int:
        """How many happenings it has."""
        return len({id_of(key, each) for key, of in self.memories.items() for each in of})


def strands(
    found: Mapping[str, Sequence[Found]],
    typed: Collection[str],
    chances: Mapping[str, float] = {},
) -> list[Strand]:
    """Return the lines that were found as strands, the likeliest first.

    Lines that probably tell what was typed are in no strand with others.

    Args:
        found: By key of an agent: its memories about what was typed.
        typed: The words that were typed, as compared.
        chances: How probable it is that a line tells it, by its happening, as far as is known.
    """
    lines = _told_lines(found, chances)
    if len(lines) > MOST_COMPARED:
        return [*_everyday(lines)]
    sure = {id for id in lines if chances.get(id, 0.0) >= LIKELY}
    joined = _Joined(lines)
    for one, other in (*_linked(found), *_alike(lines, typed)):
        if (one in sure) == (other in sure) and (one in chances) == (other in chances):
            joined.join(one, other)
    made = [
        _strand([lines[each] for each in ids], [chances[each] for each in ids if each in chances])
        for ids in joined.sets()
    ]
    return sorted(made, key=_order)


def _told_lines(
    found: Mapping[str, Sequence[Found]], chances: Mapping[str, float]
) -> Mapping[str, Sequence[tuple[str, Found]]]:
    """Return what was told to anybody, by happening, without what is near only by chance."""
    lines: dict[str, list[tuple[str, Found]]] = defaultdict(list)
    for key, of in found.items():
        for each in of:
            id = id_of(key, each.memory)
            by_chance = each.match in _OTHER and chances.get(id, 0.0) < PERHAPS
            if tells(each.memory) and not by_chance:
                lines[id].append((key, each))
    return lines


def _linked(found: Mapping[str, Sequence[Found]]) -> Iterator[tuple[str, str]]:
    """Yield the happenings of which one rests on the other, or goes on with its talk."""
    for key, of in found.items():
        by_number = {each.memory.number: each.memory for each in of}
        for each in of:
            for number in {*each.memory.rests_on, *each.answers} & by_number.keys():
                yield id_of(key, each.memory), id_of(key, by_number[number])


def _everyday(lines: Mapping[str, Sequence[tuple[str, Found]]]) -> Iterator[Strand]:
    """Yield the lines of everyday words: those that have all of them, and the others."""
    part = {id for id, of in lines.items() if all(each.match is Match.PART for _, each in of)}
    for ids in (lines.keys() - part, part):
        if ids:
            yield _strand([lines[each] for each in ids], ())


def _alike(
    lines: Mapping[str, Sequence[tuple[str, Found]]], typed: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the happenings of which both say the same."""
    said = {each: telling(_words_of(of[0][1].memory)) - {*typed} for each, of in lines.items()}
    for one, other in combinations(lines, 2):
        if len(said[one] & said[other]) >= _ALSO:
            yield one, other


def likely(
    found: Mapping[str, Sequence[Found]], about: Sequence[Strand]
) -> Mapping[str, Sequence[Memory]]:
    """Return the memories that are likely about what was typed, by key of the agent, in order.

    Besides those of likely strands, these are what tells nobody anything, such as a plan.
    """
    meant: dict[str, set[int]] = defaultdict(set)
    for strand in about:
        for key, of in strand.memories.items() if strand.likely else ():
            meant[key].update(each.number for each in of)
    return {
        key: [
            each.memory
            for each in of
            if each.memory.number in meant[key]
            or (each.match is Match.WHOLE and not tells(each.memory))
        ]
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


def _strand(lines: Sequence[Sequence[tuple[str, Found]]], chances: Sequence[float]) -> Strand:
    """Return lines that belong together. ``chances``: Those that are known of them."""
    memories: dict[str, list[Memory]] = defaultdict(list)
    for key, found in (each for line in lines for each in line):
        memories[key].append(found.memory)
    best = [
        min(line, key=lambda each: (_level(each[1]), not each[1].memory.is_own)) for line in lines
    ]
    key, lead = min(best, key=lambda each: (_level(each[1]), *_said_plainly(each[1].memory)))
    chance = max(chances, default=None)
    by_words = lead.match in (Match.WHOLE, Match.TALK)
    return Strand(
        memories={each: sorted(of, key=lambda m: m.number) for each, of in memories.items()},
        likely=by_words if chance is None else chance >= LIKELY,
        lead=(key, lead.memory),
        chance=chance,
    )


def _order(strand: Strand) -> tuple[object, ...]:
    _, lead = strand.lead
    return (not strand.likely, -(strand.chance or 0.0), *_said_plainly(lead))


def _said_plainly(memory: Memory) -> tuple[bool, bool, object]:
    """Return what comes first: what tells something before what asks, words before the rest."""
    return asks(memory), not memory.words, memory.time


def asks(memory: Memory) -> bool:
    """Return whether a memory tells nothing, but only asks."""
    return not told_in(_words_of(memory))


def _level(found: Found) -> int:
    return [*Match].index(found.match)


def _words_of(memory: Memory) -> str:
    return memory.words or memory.text
