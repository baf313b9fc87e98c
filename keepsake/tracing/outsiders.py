"""Who knows a fact and has no archive, such as players: what agents remember of them tells it.

Whoever says it, or is told it, knows it. Who stands by and hears it is known from what those who
hear it with them perceive of them before and after: they acted there last, and had not gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from keepsake.archive.records import Memory
from keepsake.happening import (
    Manner,
    Person,
    PersonId,
    Result,
    Sight,
    Speech,
    What,
    addressees_of,
    is_me,
)
from keepsake.language.addressing import addresses
from keepsake.tracing.facts import Telling, Way
from keepsake.tracing.past import Archived
from keepsake.tracing.tellings import did, is_gift
from keepsake.tracing.texts import SegmentTexts, key_of, memories_at
from keepsake.tracing.typed.meant import People

_NEAR = 200
"""The memories before and after a line among which is looked for who else was there."""
_LAST = 6
"""The memories of somebody by which is known whether they are there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outsider:
    """Somebody without an archive who knows a fact, and how they came to know it first.

    Attributes:
        source: Who told it; empty if they said it themselves.
        happening: The telling.
        private: Whether they were told it, or told it, in private.
    """

    key: PersonId
    name: str
    way: Way
    source: str
    time: datetime
    happening: str
    private: bool


def outsiders(
    archives: Mapping[str, Archived], tellings: Sequence[Telling], people: People
) -> list[Outsider]:
    """Return who knows a fact and is no agent, by when they came to know it; blocks.

    Args:
        archives: The agents' archives, by key.
        tellings: Those of the fact, oldest first.
        people: Everybody whom agents know.
    """
    agents = {*people.agents.values()}
    names = {key: each.name for key, each in archives.items()}
    known = {key_of(key): Person(of[0], key) for key, of in people.names.items() if of}
    strangers = {stands: each for stands, each in known.items() if each.id not in agents}
    found: dict[PersonId, Outsider] = {}
    for telling in tellings:
        remembered = _remembered(telling, archives)
        if remembered is None:
            continue
        memory, segments = remembered
        source = names.get(telling.agent, telling.speaker)
        # Who stood by is read from the archive: only of those who are not known to know it yet.
        unknown = {stands: each for stands, each in strangers.items() if each.id not in found}
        for person, way in _parties(memory, telling, segments, unknown):
            if person.id and person.id not in agents and person.id not in found:
                found[person.id] = Outsider(
                    key=person.id,
                    name=person.name,
                    way=way,
                    source="" if way.is_own else source,
                    time=telling.time,
                    happening=telling.happening,
                    private=telling.private,
                )
    return [*found.values()]


def _remembered(
    telling: Telling, archives: Mapping[str, Archived]
) -> tuple[Memory, Sequence[SegmentTexts]] | None:
    """Return a memory that tells most of who took part in a telling, and where it is kept.

    What came of an own act says nothing of that: others saw the act, or the act itself has it.
    """
    found: tuple[Memory, Sequence[SegmentTexts]] | None = None
    for hearing in telling.hearings:
        archived = archives[hearing.agent]
        segments = archived.texts.of(archived.folder)
        memory = next(memories_at(segments, [hearing.memory]), None)
        if memory is None:
            continue
        if not isinstance(memory.what, Result):
            return memory, segments
        act = next(memories_at(segments, [memory.what.act]), memory) if did(memory) else memory
        found = found or (act, segments)
    return found


def _parties(
    memory: Memory,
    telling: Telling,
    segments: Sequence[SegmentTexts],
    strangers: Mapping[int, Person],
) -> Iterator[tuple[Person, Way]]:
    """Yield who took part in a telling, without who remembers it, each with how they know of it."""
    what = memory.what
    if not memory.is_own and memory.source:
        by = Person(memory.source, memory.source_id)
        yield by, Way.SAID if isinstance(what, Speech) else Way.DID
    hidden = telling.private or memory.manner == Manner.WHISPER
    for each in addressees_of(what):
        if not is_me(each):
            yield each, _way_of_addressee(what, hidden=hidden)
    if isinstance(what, Speech) and memory.manner == Manner.SAY and not hidden:
        for stands in _bystanders(memory, segments, strangers.keys()):
            called = not what.to or addresses(what.words, strangers[stands].name)
            yield strangers[stands], Way.TOLD if called else Way.OVERHEARD
    elif not isinstance(what, Speech | Result):  # what somebody looks at, only they see
        for stands in _bystanders(memory, segments, strangers.keys()):
            yield strangers[stands], Way.SAW


def _way_of_addressee(what: What, *, hidden: bool) -> Way:
    """Return how somebody knows of what is said or done to them."""
    if not isinstance(what, Speech):
        return Way.GOT if is_gift(what) else Way.SAW
    return Way.WHISPERED if hidden else Way.TOLD


def _bystanders(
    memory: Memory, segments: Sequence[SegmentTexts], strangers: Set[int]
) -> Iterator[int]:
    """Yield what stands for those who were there too, by what was perceived of them."""
    segment, place = next(
        (each, at) for each in segments if (at := each.place_of(memory.number)) is not None
    )
    before = segment.people_between(max(place - _NEAR, 0), place)
    after = segment.people_between(place + 1, place + _NEAR)
    there: dict[int, int] = {}
    for stands in dict.fromkeys(person for person, _ in before if person in strangers):
        seen = [at for person, at in before if person == stands][-_LAST:]
        later = (at for person, at in after if person == stands)
        if _is_there(segment.memories(seen), segment.memories(islice(later, 1)), memory.place):
            there[stands] = seen[-1]
    # Whoever remembers it may have been elsewhere meanwhile, and not have seen them go.
    since = segment.read(range(place - 1, min(there.values(), default=place), -1))
    elsewhere = (at for at, each in since if each.place not in (memory.place, ""))
    came = next(elsewhere, -1)
    yield from (stands for stands, last_seen in there.items() if last_seen >= came)


def _is_there(before: Iterable[Memory], after: Iterator[Memory], place: str) -> bool:
    """Whether somebody is in a room, by what was perceived of them before and right after.

    What is seen of somebody who was there may be that they go. Of somebody else it may be that they
    come, or that they had come and go: what they do next tells it.
    """
    there = moves = False
    for each in before:
        moves = isinstance(each.what, Sight)
        there = each.place == place and not (there and moves)
    if there and moves:
        acts = next(after, None)
        return acts is not None and acts.place == place and not isinstance(acts.what, Sight)
    return there
