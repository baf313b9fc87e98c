"""The memories of an archive that are about what somebody typed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.tool_verbs import TOOL_VERBS
from keepsake.happening import PersonId, Speech
from keepsake.tracing.past import Archived
from keepsake.tracing.texts import NO_HAPPENING, SegmentTexts, key_of, lines_with, memories_at
from keepsake.tracing.typed.meant import Meant, MeantWay, Named, People

type Line = tuple[str, int]
"""The key of an agent, and the number of its memory."""


def gathered(
    archives: Mapping[str, Archived],
    meant: Meant,
    people: People,
    happening: str,
    most: int,
    *,
    chosen: Collection[Line] = (),
) -> tuple[Mapping[str, Sequence[Memory]], bool]:
    """Return what agents remember of what was typed, by key, oldest first; blocks.

    Args:
        happening: The happening that is the fact itself; empty if it is none.
        most: The most memories of each agent, the newest.
        chosen: Lines that are about it whatever words they have, each with all who heard it.

    Returns:
        Their memories, and whether these are all.
    """
    found: dict[str, dict[int, Memory]] = {}
    complete = True
    for key, archived in archives.items():
        segments = archived.texts.of(archived.folder)
        newest = memories_of(segments, meant, happening, people.agents.get(key, ""))
        some = [*islice(newest, most + 1)]
        complete = complete and len(some) <= most
        found[key] = {each.number: each for each in some[:most]}
    for line in chosen:
        for key, memory in heard(archives, line):
            found[key][memory.number] = memory
    return {key: [of[number] for number in sorted(of)] for key, of in found.items()}, complete


def heard(archives: Mapping[str, Archived], line: Line) -> Iterator[tuple[str, Memory]]:
    """Yield who remembers what a line says, by key, and the memory of each; blocks.

    ``line``: One that is not there is remembered by nobody.
    """
    key, number = line
    own = archives.get(key)
    memory = next(memories_at(own.texts.of(own.folder), [number]), None) if own else None
    if memory is None:
        return
    stands = key_of(memory.happening)
    if stands == NO_HAPPENING:
        yield key, memory
        return
    for each, archived in archives.items():
        for segment in archived.texts.of(archived.folder):
            for one in segment.memories(segment.places_of(stands)):
                yield each, one


def memories_of(
    segments: Sequence[SegmentTexts], meant: Meant, happening: str = "", own: PersonId = ""
) -> Iterator[Memory]:
    """Yield the memories of an archive that say what was typed, newest first; reads as needed.

    Args:
        segments: What the memories of the archive say.
        meant: What was typed.
        happening: The happening that is the fact itself; empty if it is none.
        own: The identity of the agent.
    """
    for segment in reversed(segments):
        here = {*segment.places_of(key_of(happening))} if happening else set[int]()
        said = {place for way in meant.ways for place in _places(segment, meant, way, own)}
        for memory in segment.memories(sorted(here | said, reverse=True)):
            is_it = memory.happening == happening != ""
            if is_it or meant.is_said_in(memory, own):
                yield memory


def _places(segment: SegmentTexts, meant: Meant, way: MeantWay, own: PersonId) -> Iterator[int]:
    """Yield the places of the lines that have all words of a way and name, or are by, its people.

    Of whom it is only said that they are there, they are in no such line: reading tells.
    """
    if not all(word in segment.text for word in way.words):
        return
    of_people = [_places_with(segment, each, own) for each in way.people]
    for at, line in lines_with(segment.text, max(way.words, key=len)):
        people = zip(way.people, of_people, strict=True)
        if all(at in there or meant.names(each, line) for each, there in people) and all(
            meant.has(word, line) for word in way.words
        ):
            yield at


def _places_with(segment: SegmentTexts, somebody: Named, own: PersonId) -> Collection[int]:
    """Return the places in which somebody speaks, acts or is addressed."""
    if own in somebody.ids:
        return range(len(segment.numbers))
    keys = map(key_of, somebody.ids)
    return {at for key in keys for at in segment.places_with(key)}


def tells(memory: Memory) -> bool:
    """Return whether somebody else may have perceived it: a memory's own tool tells nobody."""
    if memory.is_own:
        return isinstance(memory.what, Speech)
    return memory.kind is not MemoryKind.RESULT or memory.verb not in TOOL_VERBS


def id_of(key: str, memory: Memory) -> str:
    """Return the id of the happening that a memory is of; of an old one its own."""
    return memory.happening or f"{key} {memory.number}"
