"""What a memory adds to the profiles of the place where it was and of things in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from game.mind.archive.records import Memory, MemoryKind
from game.mind.books.journal.entries import EntryOrigin
from game.mind.books.profiles.changes import MOST_NUMBERS, with_fact
from game.mind.books.profiles.observing import as_told, begun, met, with_seen
from game.mind.books.profiles.profile import (
    MEETING,
    PLACE,
    THING,
    Company,
    Fact,
    Observation,
    Profile,
    ProfileKind,
)
from game.mind.language import deeds
from game.mind.language.fit import line
from game.mind.language.fit import name as fit_name
from game.mind.names import folder_name

WHEREABOUTS = "whereabouts"
"""The fact that says where a thing is, and was."""
MINE = "with you"
MOST_COMPANY = 24
"""People of whom a place is known to be where they are met."""
NOTEWORTHY = 6
"""How much something must matter to be kept with the place where it was."""

_ARTICLE = re.compile(r"^(?:an?|the|some|your|my|one)\s+", re.I)
_GOT = re.compile(r"You (?:pick up|take) (?P<what>.+?)\.?$")
_DROPPED = re.compile(r"You (?:put down|drop) (?P<what>.+?)\.?$")


@dataclass(frozen=True, slots=True)
class Handled:
    """A thing that changed hands."""

    name: str
    whereabouts: str
    to: str = ""

    @property
    def key(self) -> str:
        """The key of its profile."""
        return thing_key(self.name)


def place_key(name: str) -> str:
    """The key of a place by its name."""
    return f"{PLACE}{folder_name(name)}"


def thing_key(name: str) -> str:
    """The key of a thing by its name: ``a Blue Cup`` is ``the blue cup``."""
    return f"{THING}{folder_name(_ARTICLE.sub('', name.strip()).casefold())}"


def handled(memory: Memory) -> Handled | None:
    """The thing that a memory tells of; only what the game itself said counts."""
    if what := deeds.given_to_me(memory):
        return _handled(what, MINE)
    what, whom = deeds.given_by_me(memory)
    if what:
        return _handled(what, f"with {fit_name(whom)}", whom)
    if memory.kind is not MemoryKind.RESULT:
        return None
    if deeds.was(memory, deeds.GET) and (got := _GOT.match(memory.text)):
        return _handled(got["what"], MINE)
    if deeds.was(memory, deeds.DROP) and (left := _DROPPED.match(memory.text)):
        return _handled(left["what"], f"in {fit_name(memory.place)}" if memory.place else "left")
    return None


def _handled(what: str, where: str, to: str = "") -> Handled | None:
    name = fit_name(_ARTICLE.sub("", what))
    if len(what) > deeds.LONGEST_THING or not any(c.isalnum() for c in what):
        return None
    return Handled(name, where, to)


def been_at(profile: Profile | None, memory: Memory, importance: int, person: str) -> Profile:
    """The profile of the place of ``memory``, with it worked in, and whom the agent met there."""
    if profile is None:
        profile = begun(place_key(memory.place), ProfileKind.PLACE, memory.place, memory)
    seen = _worth_keeping(profile, memory, importance)
    profile = with_seen(met(profile, memory), *seen)
    return _with_company(profile, person, memory) if person else profile


def _with_company(profile: Profile, key: str, memory: Memory) -> Profile:
    """The profile of a place at which somebody was met: counted by who they are, not by names."""
    known = next((each for each in profile.company if each.key == key), None)
    met = _again(known, memory) if known else Company(key, 1, 1, memory.time, (memory.number,))
    others = tuple(each for each in profile.company if each.key != key)
    if len(others) >= MOST_COMPANY:  # whoever is there now stays, or nobody new could ever count
        least = min(others, key=lambda each: (each.meetings, each.last))
        others = tuple(each for each in others if each is not least)
    return replace(profile, company=(*others, met))


def _again(known: Company, memory: Memory) -> Company:
    last = max(known.last, memory.time)
    if memory.time - known.last < MEETING:
        return replace(known, last=last)
    numbers = (*known.numbers[:1], *known.numbers[1:][-(MOST_NUMBERS - 2) :], memory.number)
    another_day = memory.time.astimezone().date() != known.last.astimezone().date()
    days = known.days + another_day
    return replace(known, meetings=known.meetings + 1, days=days, last=last, numbers=numbers)


def had(profile: Profile | None, memory: Memory, thing: Handled, importance: int) -> Profile:
    """The profile of a thing, with ``memory`` worked in: where it is now, and where it was."""
    profile = profile or begun(thing.key, ProfileKind.THING, thing.name, memory)
    numbers, by = (memory.number,), fit_name(memory.source) if memory.source else ""
    fact = Fact(WHEREABOUTS, thing.whereabouts, memory.time, None, numbers, by, EntryOrigin.SEEN)
    seen = Observation(memory.number, memory.time, line(memory.told), importance)
    return with_seen(with_fact(met(profile, memory), fact), seen)


def examined(profile: Profile, memory: Memory) -> Profile:
    """The profile of a known thing at which the agent has looked: what it saw."""
    text = line(memory.text)
    known = any(each.text == text for each in profile.observations)
    seen = () if known else (Observation(memory.number, memory.time, text),)
    return with_seen(met(profile, memory), *seen)


def _worth_keeping(profile: Profile, memory: Memory, importance: int) -> tuple[Observation, ...]:
    looked = memory.kind is MemoryKind.RESULT and memory.text.startswith(memory.place)
    if looked and any(o.text.startswith(profile.name) for o in profile.observations):
        looked = False  # what it looks like is told once
    if not looked and importance < NOTEWORTHY:
        return ()
    text = line(f"You: {memory.text}") if memory.kind is MemoryKind.ACT else as_told(memory)
    return (Observation(memory.number, memory.time, text, max(importance, 3)),)
