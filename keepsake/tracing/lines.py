"""The lines of memories of all archives, in which those that bear on a sentence are found.

Only lines that may bear on it become memories: of 100,000 lines that takes a second less.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from keepsake.archive.records import Memory
from keepsake.language.numbers import numeral_words
from keepsake.language.perception import UNSPACED
from keepsake.tracing.content import Rarity, joined
from keepsake.tracing.texts import NO_HAPPENING, SegmentTexts, key_of, lines_with

_LONG = 5
"""The letters from which on a stem is looked for at any place of a word, as that is quick."""


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a memory.

    Attributes:
        key: The key of the agent.
        segment: Where it is in the agent's archive.
        place: Its place there.
        parts: Those of the words of the sentence that it has.
    """

    key: str
    segment: SegmentTexts
    place: int
    parts: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """The number of the memory."""
        return self.segment.numbers[self.place]

    @property
    def is_own(self) -> bool:
        """Whether the agent itself spoke or acted."""
        return self.segment.is_own(self.place)

    @property
    def is_result(self) -> bool:
        """Whether it is the result of an own act."""
        return self.segment.is_result(self.place)

    @property
    def happening(self) -> int:
        """What stands for what happened; see :func:`keepsake.tracing.texts.key_of`."""
        return self.segment.happenings[self.place]


class Lines:
    """The lines of all memories.

    Args:
        texts: What the memories of each archive say, by key of the agent.
        parts: The words of a sentence, as compared.
        language: Their language.

    Attributes:
        rarity: In how many happenings each of the words is.
        sharing: By key of the agent: the lines that have any of them, in order of its archive.
    """

    def __init__(
        self, texts: Mapping[str, Sequence[SegmentTexts]], parts: Sequence[str], language: str
    ) -> None:
        needles = [_Needle.of(each, language) for each in parts]
        self._texts = texts
        # By word: what stands for the happenings that have it. One without an id is its own.
        self._having: dict[str, set[object]] = {each: set() for each in parts}
        self._places: dict[int, list[Line]] = {}
        self._memories: dict[SegmentTexts, dict[int, Memory | None]] = {}
        self.sharing: dict[str, list[Line]] = {}
        for key, segments in texts.items():
            self.sharing[key] = [
                Line(key, segment, place, having)
                for segment in segments
                for place, having in _places_with(needles, segment)
            ]
            self._count(self.sharing[key])
        lists = [segment.happenings for segments in texts.values() for segment in segments]
        named = set[int]().union(*lists) - {NO_HAPPENING}
        self._total = len(named) + sum(each.count(NO_HAPPENING) for each in lists)
        self.rarity = self.rarity_without(())

    def _count(self, lines: Iterable[Line]) -> None:
        for line in lines:
            happening = line.happening or (line.key, line.number)
            for part in line.parts:
                self._having[part].add(happening)

    def rarity_without(self, happenings: Collection[str]) -> Rarity:
        """Return in how many happenings each of the words is, without some happenings."""
        without = set(map(key_of, happenings))
        counts = {part: len(found - without) for part, found in self._having.items()}
        return Rarity(counts, self._total - len(without))

    def find(self, happenings: Collection[int]) -> None:
        """Look for the lines of many happenings at once, as that is as quick as for one."""
        new = set(happenings) - self._places.keys() - {NO_HAPPENING}
        self._places |= {each: [] for each in new}
        for key, segments in self._texts.items() if new else ():
            for segment in segments:
                for each in new.intersection(segment.happenings):
                    found = (Line(key, segment, place) for place in segment.places_of(each))
                    self._places[each] += found

    def of(self, happening: str) -> Sequence[Line]:
        """Return the lines of a happening, in all archives; none for an empty id."""
        wanted = key_of(happening)
        self.find([wanted])
        return self._places.get(wanted, ())

    def speaker_of(self, happening: str) -> Line | None:
        """Return the line of the agent who spoke or acted; None if it was nobody of these."""
        return next((each for each in self.of(happening) if each.is_own), None)

    def read(self, key: str, numbers: Iterable[int]) -> Iterator[Memory]:
        """Yield some memories of an agent."""
        for number in numbers:
            for segment in self._texts[key]:
                place = segment.place_of(number)
                memory = self.memory(Line(key, segment, place)) if place is not None else None
                if memory is not None:
                    yield memory

    def memory(self, line: Line) -> Memory | None:
        """Return the memory of a line; None if it is damaged: opening it reports that.

        It is read from the disk once.
        """
        self._read([line])
        return self._memories[line.segment].get(line.place)

    def memories_of(self, lines: Iterable[Line]) -> Iterator[tuple[str, Memory]]:
        """Yield the memories of lines, each with the key of its agent."""
        wanted = [*lines]
        self._read(wanted)
        for line in wanted:
            memory = self._memories[line.segment].get(line.place)
            if memory is not None:
                yield line.key, memory

    def _read(self, lines: Iterable[Line]) -> None:
        """Read the memories of lines that were not read before; each file is opened once."""
        new: dict[SegmentTexts, list[int]] = {}
        for line in lines:
            known = self._memories.setdefault(line.segment, {})
            if line.place not in known:
                known[line.place] = None
                new.setdefault(line.segment, []).append(line.place)
        for segment, places in new.items():
            self._memories[segment].update(segment.read(places))


def _places_with(
    needles: Sequence[_Needle], segment: SegmentTexts
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the places of the memories of a segment that have any words, and which, in order."""
    text = joined(segment.text)
    found: dict[int, list[str]] = {}
    for needle in needles:
        lines = (each for form in needle.forms for each in lines_with(text, form))
        for place in dict.fromkeys(place for place, line in lines if needle.is_in(line)):
            found.setdefault(place, []).append(needle.part)
    yield from ((place, tuple(found[place])) for place in sorted(found))


@dataclass(frozen=True, slots=True)
class _Needle:
    """A word that is looked for.

    Attributes:
        part: The word, as compared.
        forms: What a text has at least, if it has the word: one of these.
        begun: What finds the word where a word begins; None if any place counts.
    """

    part: str
    forms: tuple[str, ...]
    begun: re.Pattern[str] | None

    @classmethod
    def of(cls, part: str, language: str) -> _Needle:
        numbers = numeral_words(part, language) if part.isdecimal() else ()
        if numbers:
            forms = (part, *numbers)
            return cls(part, forms, re.compile(rf"(?<![^\W_])(?:{'|'.join(forms)})(?![^\W_])"))
        if len(part) >= _LONG or UNSPACED.match(part):
            return cls(part, (part,), None)
        return cls(part, (part,), re.compile(rf"(?<![^\W_]){re.escape(part)}"))

    def is_in(self, text: str) -> bool:
        """Whether a text in small letters has the word."""
        if not any(form in text for form in self.forms):
            return False
        return self.begun is None or self.begun.search(text) is not None
