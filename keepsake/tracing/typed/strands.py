"""Which of the lines about something typed belong together, and which of them are likely meant.

Lines belong together if one rests on the other or goes on with its talk, or if they say the same.
So a line that only has the words by chance stands by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.tool_verbs import TOOL_VERBS
from keepsake.happening import Speech
from keepsake.language.perception import telling
from keepsake.tracing.content import told_in
from keepsake.tracing.typed.gathering import Found
from keepsake.tracing.typed.meant import Match

_ALSO = 2
"""The telling words that two lines that say the same have in common besides those that were typed:
a single one is in lines about other things."""

MOST_COMPARED = 500
"""The most lines that are compared with each other: of more, the words are everyday words."""


@dataclass(frozen=True, slots=True)
class Strand:
    """Lines that belong together.

    Attributes:
        memories: By key of an agent: its memories of them, in order.
        likely: Whether one of them has all words, with the talk that it goes on with.
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
        return len({_id_of(key, each) for key, of in self.memories.items() for each in of})


def strands(found: Mapping[str, Sequence[Found]], typed: Collection[str]) -> list[Strand]:
    """Return the lines that were found as strands, the likeliest first.

    Args:
        found: By key of an agent: its memories about what was typed.
        typed: The words that were typed, as compared.
    """
    lines: dict[str, list[tuple[str, Found]]] = defaultdict(list)
    for key, of in found.items():
        for each in of:
            if _tells(each.memory):
                lines[_id_of(key, each.memory)].append((key, each))
    if len(lines) > MOST_COMPARED:
        return [*_everyday(lines)]
    joined = _Joined(lines)
    for key, of in found.items():
        by_number = {each.memory.number: each.memory for each in of}
        for each in of:
            for number in {*each.memory.rests_on, *each.answers} & by_number.keys():
                joined.join(_id_of(key, each.memory), _id_of(key, by_number[number]))
    for one, other in _alike(lines, typed):
        joined.join(one, other)
    made = [_strand([lines[each] for each in ids]) for ids in joined.sets()]
    return sorted(made, key=_order)


def _everyday(lines: Mapping[str, Sequence[tuple[str, Found]]]) -> Iterator[Strand]:
    """Yield the lines of everyday words: those that have all of them, and the others."""
    part = {id for id, of in lines.items() if all(each.match is Match.PART for _, each in of)}
    for ids in (lines.keys() - part, part):
        if ids:
            yield _strand([lines[each] for each in ids])


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
            or (each.match is Match.WHOLE and not _tells(each.memory))
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


def _strand(lines: Sequence[Sequence[tuple[str, Found]]]) -> Strand:
    memories: dict[str, list[Memory]] = defaultdict(list)
    for key, found in (each for line in lines for each in line):
        memories[key].append(found.memory)
    best = [
        min(line, key=lambda each: (_level(each[1]), not each[1].memory.is_own)) for line in lines
    ]
    key, lead = min(best, key=lambda each: (_level(each[1]), *_said_plainly(each[1].memory)))
    return Strand(
        memories={each: sorted(of, key=lambda m: m.number) for each, of in memories.items()},
        likely=lead.match is not Match.PART,
        lead=(key, lead.memory),
    )


def _order(strand: Strand) -> tuple[object, ...]:
    _, lead = strand.lead
    return (not strand.likely, *_said_plainly(lead))


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


def _tells(memory: Memory) -> bool:
    """Whether somebody else may have perceived it: a tool of the memory tells nobody anything."""
    if memory.is_own:
        return isinstance(memory.what, Speech)
    return memory.kind is not MemoryKind.RESULT or memory.verb not in TOOL_VERBS


def _id_of(key: str, memory: Memory) -> str:
    return memory.happening or f"{key} {memory.number}"
