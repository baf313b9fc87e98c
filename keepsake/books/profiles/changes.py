"""What a new fact does to those that were known: both versions stay, the newer one counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from keepsake.books.profiles.profile import Fact, Profile
from keepsake.language.words import telling

SINGLE = frozenset(
    [
        *("work", "home", "spouse", "betrothed", "name", "age", "origin", "birthday", "plan"),
        *("father", "mother", "children", "whereabouts"),
    ]
)
"""Attributes that have one value at a time: a new one takes the place of the old one."""
_ROOT = 4
"""Letters that a trade and its place share at the least: mill, miller."""
MOST_NUMBERS = 8
"""Memories that one fact keeps as its evidence: the first and the newest."""


def with_fact(profile: Profile, fact: Fact) -> Profile:
    """The profile with ``fact`` in it; doing it twice changes nothing.

    What is known already only gains the memories that say so again. A fact whose ``until`` is
    set ends the one that holds with that value (any value if its own is empty). A new value of
    an attribute in :data:`SINGLE` ends the one that held; of any other it stands beside it. A
    fact that is older than the one that holds becomes a past one.
    """
    if not fact.holds:
        return _ended(profile, fact)
    facts = list(profile.facts)
    for place, known in enumerate(facts):
        if known.holds and known.attribute == fact.attribute and same(known.value, fact.value):
            since = min(known.since, fact.since)
            facts[place] = replace(known, since=since, numbers=_both(known, fact))
            return replace(profile, facts=by_time(facts))
    if fact.attribute in SINGLE:
        return _superseding(profile, facts, fact)
    return replace(profile, facts=by_time((*facts, fact)))


def same(one: str, other: str) -> bool:
    """Whether two values mean the same: ``the mill`` and ``mill``, in any case."""
    return one.casefold() == other.casefold() or (telling(one) == telling(other) != set())


def meant(known: str, ended: str) -> bool:
    """Whether what is over is this value: who leaves ``the mill`` is ``miller`` no more."""
    one, other = telling(known), telling(ended)
    if same(known, ended) or (one and other and (one <= other or other <= one)):
        return True
    return any(a[:_ROOT] == b[:_ROOT] for a in one for b in other if min(len(a), len(b)) >= _ROOT)


def _both(known: Fact, fact: Fact) -> tuple[int, ...]:
    numbers = sorted({*known.numbers, *fact.numbers})
    return (*numbers[:1], *numbers[1:][-(MOST_NUMBERS - 1) :])


def _superseding(profile: Profile, facts: list[Fact], fact: Fact) -> Profile:
    """One value at a time: whichever was told later holds."""
    newer = [f.since for f in facts if f.attribute == fact.attribute and f.since > fact.since]
    kept = [
        replace(known, until=fact.since)
        if known.attribute == fact.attribute and known.holds and known.since <= fact.since
        else known
        for known in facts
    ]
    new = replace(fact, until=min(newer)) if newer else fact
    if new in kept:
        return profile
    return replace(profile, facts=by_time((*kept, new)))


def _ended(profile: Profile, fact: Fact) -> Profile:
    """What held holds no more; what was never known is a past fact, if it says what it was."""
    facts, found = list(profile.facts), False
    for place, known in enumerate(facts):
        if known.attribute == fact.attribute and (not fact.value or meant(known.value, fact.value)):
            found = True
            if known.holds and fact.until is not None and known.since <= fact.until:
                facts[place] = replace(known, until=fact.until, numbers=_both(known, fact))
    if found or not fact.value:
        return replace(profile, facts=by_time(facts))
    return replace(profile, facts=by_time((*facts, fact)))


def by_time(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Oldest first, and always in the same order."""
    return tuple(sorted(facts, key=lambda f: (f.since, f.attribute, f.value, f.holds)))
