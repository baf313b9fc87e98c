"""What an agent does, as a happening, and the memories behind it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from keepsake.agent.acting.acts import Basis
from keepsake.agent.body import Body
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.people import find_person
from keepsake.archive.records import Memory, MemoryFacts
from keepsake.happening import (
    ME,
    Deed,
    KnownVerb,
    Manner,
    Person,
    Pose,
    Speech,
    What,
    addressees_of,
)
from keepsake.prompt.verbs import Command


def what_is_done(agent: Body, command: Command, to: Person | None) -> What:
    """Return a command of an agent as a happening.

    ``to``: The addressee of words that name none; None for nobody.
    """
    person = to
    if command.to and (to is None or to.name != command.to):
        person = Person(command.to)
    if person is not None and not person.id:
        met = find_person(agent, person.name)
        # An ambiguous name has no identity.
        person = Person(person.name, identity_of(met) if met is not None else "")
    people = (person,) if person is not None and person.name else ()
    line = command.line
    match command.verb:
        case KnownVerb.WHISPER:
            manner = Manner.WHISPER
        case KnownVerb.SAY | KnownVerb.TALK:
            manner = Manner.SAY
        case KnownVerb.EMOTE:
            return Pose(actor=ME, gesture=command.words, to=people, shown=line)
        case verb:
            things = tuple(filter(None, [command.thing, command.words]))
            return Deed(actor=ME, verb=verb, objects=things, to=people, shown=line)
    return Speech(speaker=ME, words=command.words, to=people, manner=manner, shown=line)


def memories_behind(what: What, basis: Basis, window: Sequence[Memory]) -> tuple[int, ...]:
    """Return the memories on which an act rests: those of its answer, and its addressee's last.

    One answer may speak to two people; what is said to the second rests on that person's words.
    """
    people = {each.id for each in addressees_of(what) if each.id}
    last = (m.number for m in reversed(window) if m.source_id in people and m.number <= basis.seen)
    return tuple(sorted({*basis.rests_on, *islice(last, 1)}))


def facts_for_others(passed: MemoryFacts, basis: Basis) -> MemoryFacts:
    """Return the fields that the memories of those who perceive an act have from it."""
    carried = basis.carried
    if carried is None:
        return passed
    facts = MemoryFacts(**{**passed, "errand": carried.errand})
    if carried.named:
        facts["witnesses"] = carried.named
    return facts
