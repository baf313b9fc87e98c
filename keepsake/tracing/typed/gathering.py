"""The memories of an archive that are about what somebody typed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.tool_verbs import TOOL_VERBS
from keepsake.happening import PersonId, Speech
from keepsake.tracing.past import Archived
from keepsake.tracing.texts import NO_HAPPENING, SegmentTexts, key_of, lines_with
from keepsake.tracing.typed.meant import (
    Match,
    Meant,
    MeantWay,
    Named,
    People,
    partners_in,
    speaker_in,
)

type Line = tuple[str, int]
"""The key of an agent, and the number of its memory."""

MOST_NEAR = 20
"""The most happenings that are looked at because they are near in meaning: the weights of
:mod:`keepsake.tracing.typed.judging` were learned from as many."""
_BACK = 8
"""The memories before a line among which the talk is looked for that it goes on with."""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory about what was typed.

    Attributes:
        match: How it has the words.
        answers: The memories of the talk that have what it lacks.
    """

    memory: Memory
    match: Match
    answers: tuple[int, ...] = ()


def gathered(
    archives: Mapping[str, Archived],
    meant: Meant,
    people: People,
    happening: str,
    most: int,
    *,
    near: Sequence[Callable[[], Sequence[Line]]] | None = None,
) -> tuple[Mapping[str, Sequence[Found]], bool]:
    """Return what agents remember of what was typed, by key, oldest first; blocks.

    What one of them has by the talk, all who heard it have.

    Args:
        happening: The happening that is the fact itself; empty if it is none.
        most: The most memories of each agent, the newest.
        near: What waits for memories that are near it in meaning; None if nobody judges whether
            what has a few of the words means them.

    Returns:
        Their memories, and whether these are all.
    """
    found: dict[str, dict[int, Found]] = {}
    complete = True
    for key, archived in archives.items():
        segments = archived.texts.of(archived.folder)
        newest = memories_of(segments, meant, happening, people.agents.get(key, ""))
        found_by = newest if near is not None else filter(_is_by_words, newest)
        some = [*islice(found_by, most + 1)]
        complete = complete and len(some) <= most
        found[key] = {each.memory.number: each for each in some[:most]}
    by_talk = {
        each.memory.happening: each
        for of in found.values()
        for each in of.values()
        if each.match is Match.TALK and each.memory.happening
    }
    for key, archived in archives.items():
        for segment in archived.texts.of(archived.folder) if by_talk else ():
            places = (at for each in by_talk for at in segment.places_of(key_of(each)))
            for memory in segment.memories(sorted(places)):
                known = found[key].get(memory.number)
                if known is None or known.match not in (Match.WHOLE, Match.TALK):
                    found[key][memory.number] = Found(memory, Match.TALK)
    for each in near or ():
        _add_near(found, archives, each())
    return {key: [of[number] for number in sorted(of)] for key, of in found.items()}, complete


def has_near(found: Mapping[str, Sequence[Found]]) -> bool:
    """Return whether anything was found by its meaning."""
    return any(each.match is Match.NEAR for of in found.values() for each in of)


def _is_by_words(found: Found) -> bool:
    """Whether it is by the words alone that a memory is about what was typed."""
    return found.match is not Match.SOME


def _add_near(
    found: Mapping[str, dict[int, Found]], archives: Mapping[str, Archived], near: Sequence[Line]
) -> None:
    """Add what is near in meaning, of all who remember it. ``near``: The best first."""
    segments = {key: each.texts.of(each.folder) for key, each in archives.items() if near}
    happened = dict[int, None]()
    for key, number in near:
        for segment in segments.get(key, ()):
            place = segment.place_of(number)
            if place is not None and segment.happenings[place] != NO_HAPPENING:
                happened[segment.happenings[place]] = None
        if len(happened) == MOST_NEAR:
            break
    for key, of in segments.items():
        for segment in of:
            places = sorted(at for each in happened for at in segment.places_of(each))
            new = (at for at in places if segment.numbers[at] not in found[key])
            for memory in segment.memories(new):
                found[key][memory.number] = Found(memory, Match.NEAR)


def memories_of(
    segments: Sequence[SegmentTexts], meant: Meant, happening: str = "", own: PersonId = ""
) -> Iterator[Found]:
    """Yield the memories of an archive that may bear on a fact, newest first; reads as needed.

    Args:
        segments: What the memories of the archive say.
        meant: What was typed.
        happening: The happening that is the fact itself; empty if it is none.
        own: The identity of the agent.
    """
    for segment in reversed(segments):
        reader = _Reader(segment, meant, own)
        here = {*segment.places_of(key_of(happening))} if happening else set[int]()
        places = here | {place for way in meant.ways for place in reader.candidates(way)}
        for place in sorted(places, reverse=True):
            found = reader.found(place, happening)
            if found is not None:
                yield found


class _Reader:
    """Reads the memories of a segment, each once."""

    def __init__(self, segment: SegmentTexts, meant: Meant, own: PersonId) -> None:
        self._segment = segment
        self._meant = meant
        self._own = own
        self._read: dict[int, Memory | None] = {}
        self._lines: list[str] = []

    def candidates(self, way: MeantWay) -> Iterator[int]:
        """Yield the places of the lines that have a word of a way that few have, or all words."""
        for word in way.seeds:
            lines = lines_with(self._segment.text, word)
            yield from (at for at, line in lines if self._meant.has(word, line))
        if not way.seeds and all(word in self._segment.text for word in way.words):
            of_people = [self._places_of(each) for each in way.people]
            for at, line in lines_with(self._segment.text, way.words[0]):
                people = zip(way.people, of_people, strict=True)
                if all(at in there or self._meant.names(each, line) for each, there in people):
                    has = all(self._meant.has(word, line) for word in way.words)
                    yield from (at,) if has else ()

    def _places_of(self, somebody: Named) -> Collection[int]:
        """Return the places in which somebody speaks, acts or is addressed."""
        if self._own in somebody.ids:
            return range(len(self._segment.numbers))
        keys = map(key_of, somebody.ids)
        return {at for key in keys for at in self._segment.places_with(key)}

    def found(self, place: int, happening: str) -> Found | None:
        """Return how the memory of a place is about what was typed; None if it is not."""
        memory = self._memory(place)
        if memory is None:
            return None
        if memory.happening == happening != "":
            return Found(memory, Match.WHOLE)
        line = (memory.words or memory.text).casefold()
        ways = (self._by(way, place, memory, line) for way in self._meant.ways)
        return min(filter(None, ways), key=lambda each: [*Match].index(each.match), default=None)

    def _by(self, way: MeantWay, place: int, memory: Memory, line: str) -> Found | None:
        lacking = [word for word in way.words if not self._meant.has(word, line)]
        speaker = speaker_in(memory, self._own)
        unnamed = [
            each
            for each in way.people
            if speaker not in each.ids and not self._meant.names(each, line)
        ]
        if not lacking and not unnamed:
            return Found(memory, Match.WHOLE)
        if not way.seeds or not isinstance(memory.what, Speech):
            return None
        answers = self._answers(place, memory, way, lacking, unnamed)
        if answers:
            return Found(memory, Match.TALK, answers)
        partners = partners_in(memory, self._own)
        whom = all(not partners.isdisjoint(each.ids) for each in way.people)
        part = whom and way.words[0] not in lacking
        return Found(memory, Match.PART if part else Match.SOME)

    def _answers(
        self,
        place: int,
        memory: Memory,
        way: MeantWay,
        lacking: Sequence[str],
        unnamed: Sequence[Named],
    ) -> tuple[int, ...]:
        """Return the memories of the talk that have all that a line lacks; empty if it has not.

        Who is meant must speak there of the thing, or be named.
        """
        before = [*self._before(place, memory)]
        texts = [self._line(each) for each in before]
        has = self._meant.has
        if not all(any(has(word, text) for text in texts) for word in lacking):
            return ()
        talk = [each for each in before if self._is_of_talk(each, memory)]
        answers = []
        for word in lacking:
            answers.append(next((each for each in talk if has(word, self._line(each))), None))
        for somebody in unnamed:
            about = (
                each for each in talk if any(has(word, self._line(each)) for word in way.words)
            )
            answers.append(next((each for each in about if self._is_of(somebody, each)), None))
        numbers = (self._segment.numbers[each] for each in answers if each is not None)
        return tuple(sorted({*numbers})) if answers and None not in answers else ()

    def _before(self, place: int, memory: Memory) -> Iterator[int]:
        """Yield the places of what a line rests on, and of what came right before it."""
        rested = (self._segment.place_of(number) for number in memory.rests_on)
        near = range(place - 1, max(place - _BACK, 0) - 1, -1)
        yield from dict.fromkeys([*near, *(each for each in rested if each is not None)])

    def _is_of_talk(self, place: int, memory: Memory) -> bool:
        """Whether somebody who takes part in a line said something to another who does."""
        before = self._memory(place)
        if before is None or not isinstance(before.what, Speech):
            return False
        if before.number in memory.rests_on:
            return True
        partners = partners_in(memory, self._own)
        spoke = speaker_in(before, self._own) in partners
        return spoke and len(partners) > 1 and partners_in(before, self._own) <= partners

    def _is_of(self, somebody: Named, place: int) -> bool:
        memory = self._memory(place)
        spoke = memory is not None and speaker_in(memory, self._own) in somebody.ids
        return spoke or self._meant.names(somebody, self._line(place))

    def _memory(self, place: int) -> Memory | None:
        if place not in self._read:
            self._read[place] = next(self._segment.memories([place]), None)
        return self._read[place]

    def _line(self, place: int) -> str:
        if not self._lines:
            self._lines = self._segment.text.split("\n")
        return self._lines[place]


def tells(memory: Memory) -> bool:
    """Return whether somebody else may have perceived it: a memory's own tool tells nobody."""
    if memory.is_own:
        return isinstance(memory.what, Speech)
    return memory.kind is not MemoryKind.RESULT or memory.verb not in TOOL_VERBS


def id_of(key: str, memory: Memory) -> str:
    """Return the id of the happening that a memory is of; of an old one its own."""
    return memory.happening or f"{key} {memory.number}"
