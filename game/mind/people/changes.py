"""What a new fact does to those that were known: both versions stay, the newer one counts."""

from __future__ import annotations

from dataclasses import replace

from game.mind.people.profile import Fact, Profile
from game.mind.words import telling

SINGLE = frozenset(
    """
    work home spouse name age origin birthday father mother whereabouts plan health feeling
    """.split()
)
"""Attributes that have one value at a time: a new one takes the place of the old one."""
MOST_NUMBERS = 8
"""Memories that one fact keeps as its evidence: the first and the newest."""


def with_fact(profile: Profile, fact: Fact) -> Profile:
    """The profile with ``fact`` in it.

    What is known already only gains the memories that say so again. A fact whose ``until`` is
    set ends the one that holds with that value (any value if its own is empty). A new value of
    an attribute in :data:`SINGLE` ends the one that held; of any other it stands beside it.
    A fact that is older than the one that holds becomes a past one.
    """
    if not fact.holds:
        return _ended(profile, fact)
    facts = list(profile.facts)
    for place, known in enumerate(facts):
        if known.holds and known.attribute == fact.attribute and same(known.value, fact.value):
            facts[place] = _again(known, fact)
            return replace(profile, facts=tuple(facts))
    if fact.attribute in SINGLE:
        return _superseding(profile, fact)
    return replace(profile, facts=_by_time((*facts, fact)))


def same(one: str, other: str) -> bool:
    """Whether two values mean the same: ``the mill`` and ``mill``, in any case."""
    return one.casefold() == other.casefold() or (telling(one) == telling(other) != set())


def _again(known: Fact, fact: Fact) -> Fact:
    numbers = sorted({*known.numbers, *fact.numbers})
    kept = (*numbers[:1], *numbers[1:][-(MOST_NUMBERS - 1) :])
    return replace(known, since=min(known.since, fact.since), numbers=kept)


def _superseding(profile: Profile, fact: Fact) -> Profile:
    """One value at a time: whichever was told later holds."""
    facts = list(profile.facts)
    newer = [f for f in facts if f.attribute == fact.attribute and f.since > fact.since]
    if newer:
        fact = replace(fact, until=min(f.since for f in newer))
    for place, known in enumerate(facts):
        if known.attribute == fact.attribute and known.holds and known.since <= fact.since:
            facts[place] = replace(known, until=fact.since)
    return replace(profile, facts=_by_time((*facts, fact)))


def _ended(profile: Profile, fact: Fact) -> Profile:
    """What held holds no more; what was never known is kept as a past fact, if it says what."""
    facts, found = list(profile.facts), False
    for place, known in enumerate(facts):
        if known.attribute != fact.attribute:
            continue
        if not fact.value or same(known.value, fact.value):
            found = True
            if known.holds:
                over = replace(known, until=fact.until)
                facts[place] = replace(over, numbers=_again(known, fact).numbers)
    if found or not fact.value:
        return replace(profile, facts=tuple(facts))
    return replace(profile, facts=_by_time((*facts, fact)))


def _by_time(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    return tuple(sorted(facts, key=lambda fact: fact.since))
