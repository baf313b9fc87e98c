"""The facts of one person as a prompt tells them, the most telling first."""

from __future__ import annotations

from datetime import datetime

from game.mind.books.profiles.acquaintance import BROKEN, KEPT
from game.mind.books.profiles.changes import same
from game.mind.books.profiles.profile import Fact, Profile
from game.mind.language.facts import SAID
from game.mind.language.fit import line, quoted

MOST_FACTS = 10
"""Facts of one person that a prompt shows."""
_ORDER = (
    *("promise", BROKEN, KEPT, "name", "work", "home", "spouse", "betrothed", "plan", "birthday"),
    *("children", "son", "daughter", "brother", "sister", "mother", "father"),
)
PROMISES = {"promise": "promised", BROKEN: "broke a promise", KEPT: "kept a promise"}
_DATED = frozenset({"plan", "birthday"})
"""What may be told by "tomorrow" or "next Tuesday", of whatever day it was told on."""
_SORT = {attribute: place for place, attribute in enumerate(_ORDER)}


def told_facts(profile: Profile, now: datetime) -> list[tuple[Fact, str]]:
    """Facts as they are told, the most telling first; what is over beside what took its place."""
    holding = [fact for fact in profile.facts if fact.holds and not _is_known(fact, profile)]
    order = sorted(
        holding, key=lambda f: (_SORT.get(f.attribute, len(_SORT)), -f.since.timestamp())
    )
    told = [(fact, _fact(fact, _previous(profile, fact), now)) for fact in order]
    attributes = {fact.attribute for fact in holding}
    over = [
        fact
        for fact in profile.facts
        if not fact.holds and fact.attribute not in attributes and fact.attribute != "promise"
    ]
    latest = {fact.attribute: fact for fact in over}
    told += [
        (fact, f"no longer {fact.attribute}: {fact.value} (until {_day(fact.until, now)})")
        for fact in latest.values()
    ]
    return told[:MOST_FACTS]


def _fact(fact: Fact, before: Fact | None, now: datetime) -> str:
    value = line(fact.value)
    if fact.attribute == SAID:
        return f"{quoted(fact.value)} (said on {_day(fact.since, now)})"
    if fact.attribute in PROMISES:
        return f"{PROMISES[fact.attribute]}: {quoted(fact.value)} ({_day(fact.since, now)})"
    if fact.attribute in _DATED:
        value = f"{value} (said on {_day(fact.since, now)})"
    if before is None:
        return f"{fact.attribute}: {value}"
    return (
        f"{fact.attribute}: {value} (before: {line(before.value)}, until {_day(before.until, now)})"
    )


def _is_known(fact: Fact, profile: Profile) -> bool:
    """Whether a fact only says what the line begins with: what they are called."""
    return fact.attribute == "name" and fact.value.casefold() == profile.name.casefold()


def _previous(profile: Profile, fact: Fact) -> Fact | None:
    """What held before a fact of which there is one at a time."""
    over = [
        each
        for each in profile.facts
        if each.attribute == fact.attribute
        and not same(each.value, fact.value)
        and each.until is not None
        and each.until <= fact.since
    ]
    return max(over, key=lambda each: each.until or each.since, default=None)


def _day(time: datetime | None, now: datetime) -> str:
    """``12 Nov``, with the year if it is another."""
    if time is None:
        return "now"
    here = time.astimezone(now.tzinfo)
    return f"{here.day} {here:%b}" if here.year == now.year else f"{here.day} {here:%b %Y}"
