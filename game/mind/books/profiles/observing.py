"""What one memory adds to the profile of a person."""

from __future__ import annotations

import re
from dataclasses import replace

from game.mind.archive.privacy import is_private
from game.mind.archive.records import Memory, MemoryKind
from game.mind.books.profiles.changes import SINGLE, with_fact
from game.mind.books.profiles.config import PeopleConfig
from game.mind.books.profiles.feelings import settled, warmed_by
from game.mind.books.profiles.profile import (
    MEETING,
    Fact,
    Name,
    Observation,
    Profile,
    ProfileKind,
)
from game.mind.language import deeds
from game.mind.language.facts import key_of, told
from game.mind.language.fit import LONGEST_TEXT, is_fit, line, quoted
from game.mind.language.fit import name as fit_name
from game.mind.language.greetings import is_greeting
from game.mind.language.heard import Utterance, heard, own_words
from game.mind.language.perception import shorten

MOST_NAMES = 12
"""Names that a profile keeps: the first and the newest."""
SHARED_FROM = 5
"""How much something must matter to be what they last shared."""
ASKED_FROM = 7
"""And how much, if it only asks."""
OBSERVED_FROM = 2
HEARSAY = "(hearsay) "
"""Begins what others said of somebody; what they did themselves begins with their name."""

_ASKED = re.compile(r"^[^.!…]*\?\W*$")
_COMES_GOES = re.compile(
    r"^ (?:arrives|leaves|comes|goes|enters|has (?:left|gone|come|entered|arrived))\b", re.I
)


def observe(profile: Profile | None, memory: Memory, own_name: str, importance: int) -> Profile:
    """The profile of the person who caused ``memory``, with it worked in."""
    if profile is None:
        said = heard(memory)
        name = memory.source or (said.who if said else "")
        profile = begun(key_of(memory), ProfileKind.PERSON, name, memory)
    again = memory.time - profile.last_met >= MEETING
    profile = _named(met(profile, memory), memory)
    profile = replace(profile, warmed=0.0) if again else profile
    if memory.kind is MemoryKind.PERCEPTION:
        return _caused(profile, memory, own_name, importance, again=again)
    return _addressed(profile, memory, importance)


def begun(key: str, kind: ProfileKind, name: str, memory: Memory) -> Profile:
    """A profile of whom or what is met for the first time."""
    return Profile(key, kind, (Name(fit_name(name), memory.time),), memory.time, memory.time)


def met(profile: Profile, memory: Memory) -> Profile:
    """The profile with this memory as part of a meeting, or a new one, and worked in."""
    again = memory.time - profile.last_met >= MEETING
    return replace(
        profile,
        first_met=min(profile.first_met, memory.time),
        last_met=max(profile.last_met, memory.time),
        before=profile.last_met if again else profile.before,
        meetings=profile.meetings + again,
        through=memory.number,
    )


def spoken_of(profile: Profile, memory: Memory, importance: int) -> Profile:
    """The profile of somebody whom another has named: that it was said, and no word of truth."""
    said = heard(memory)
    if said is None:
        return profile
    how = "whispered" if is_private(memory) else "said"
    text = f"{HEARSAY}{line(said.who, 48)} {how}: {line(said.words)}"
    seen = Observation(memory.number, memory.time, shorten(text, LONGEST_TEXT), importance)
    return replace(with_seen(profile, seen), through=memory.number)


def as_told(memory: Memory) -> str:
    """What somebody said or did as a profile keeps it: who said or played it comes first."""
    said = heard(memory)
    if said is None and deeds.is_pose(memory):
        return shorten(f"{fit_name(memory.source)} posed: {line(_rest(memory))}", LONGEST_TEXT)
    if said is None:
        return line(memory.text)
    to = "" if said.to in ("", "you") else f" to {line(said.to, 48)}"
    how = "whispered" if is_private(memory) else f"said{to}"
    return shorten(f"{fit_name(said.who)} {how}: {line(said.words)}", LONGEST_TEXT)


def with_seen(profile: Profile, *seen: Observation) -> Profile:
    """The profile with more observations; of those that say the same only the newest stays."""
    new = {each.text for each in seen}
    others = (each for each in profile.observations if each.text not in new)
    return replace(profile, observations=(*others, *seen))


def within(profile: Profile, config: PeopleConfig) -> Profile:
    """The profile within its limits: the least goes, and of that the oldest."""
    return replace(
        profile,
        observations=_observations(profile.observations, config.observations),
        facts=_facts(profile.facts, config.facts),
        conclusions=profile.conclusions[-config.conclusions :] if config.conclusions else (),
    )


def _named(profile: Profile, memory: Memory) -> Profile:
    who = fit_name(memory.source) if memory.source else ""
    if memory.kind is not MemoryKind.PERCEPTION or who in ("", profile.name):
        return profile
    names = (*profile.names, Name(who, memory.time))
    return replace(profile, names=(*names[:1], *names[1:][-(MOST_NAMES - 1) :]))


def _caused(
    profile: Profile, memory: Memory, own_name: str, importance: int, *, again: bool
) -> Profile:
    said = heard(memory)
    profile = settled(profile, memory, new_meeting=again)
    profile = warmed_by(profile, memory, own_name)
    if said is not None:
        for fact in told(said, memory, own_name):
            profile = with_fact(profile, fact)
    mine = said is not None and said.to in ("", "you")
    if mine or deeds.given_to_me(memory):
        profile = replace(profile, exchanges=profile.exchanges + 1)
    return _kept(profile, memory, said, importance, mine=mine or said is None)


def _kept(
    profile: Profile, memory: Memory, said: Utterance | None, importance: int, *, mine: bool
) -> Profile:
    """The profile with what was said or done among its observations, if it is worth that."""
    rest = _rest(memory) if said is None else said.words
    if importance < OBSERVED_FROM or _COMES_GOES.match(rest) or is_greeting(rest):
        return profile
    seen = Observation(memory.number, memory.time, as_told(memory), importance)
    profile = with_seen(profile, seen)
    least = ASKED_FROM if said is not None and _ASKED.search(rest) else SHARED_FROM
    if mine and importance >= least and is_fit(rest):
        text = f"{profile.name} {_shared(memory, rest, said)}"
        profile = replace(profile, shared=replace(seen, text=text))
    return profile


def _shared(memory: Memory, rest: str, said: Utterance | None) -> str:
    """What somebody said or did, after their name; of their own words only in quotes."""
    if said is not None:
        return f"{'whispered to' if is_private(memory) else 'told'} you: {quoted(rest)}"
    return line(rest) if deeds.given_to_me(memory) else f"posed: {quoted(rest)}"


def _addressed(profile: Profile, memory: Memory, importance: int) -> Profile:
    """What the agent did or said to them."""
    said = own_words(memory)
    profile = replace(profile, exchanges=profile.exchanges + 1)
    if said is None or importance < SHARED_FROM or not is_fit(said.words):
        return profile
    if is_greeting(said.words):
        return profile
    text = f"You told {profile.name}: {quoted(said.words)}"
    return replace(profile, shared=Observation(memory.number, memory.time, text, importance))


def _rest(memory: Memory) -> str:
    """What somebody did, without the name before it."""
    return memory.text.removeprefix(memory.source)


def _observations(seen: tuple[Observation, ...], most: int) -> tuple[Observation, ...]:
    """At most ``most``, of which at most a quarter is hearsay: it crowds out nothing."""
    rumours = [each for each in seen if each.text.startswith(HEARSAY)]
    surplus = set(_least(rumours, max(most // 4, 1)))
    kept = [each for each in seen if each not in surplus]
    gone = set(_least(kept, most))
    return tuple(each for each in kept if each not in gone)


def _least(seen: list[Observation], most: int) -> list[Observation]:
    """Those that have to go: hearsay, then what matters least, then what is oldest."""
    order = sorted(seen, key=lambda o: (not o.text.startswith(HEARSAY), o.weight, o.number))
    return order[: max(len(seen) - most, 0)]


def _facts(facts: tuple[Fact, ...], most: int) -> tuple[Fact, ...]:
    """At most ``most``: first the oldest past ones go, then the oldest that gather."""
    if len(facts) <= most:
        return facts
    order = sorted(facts, key=lambda f: (f.holds, f.holds and f.attribute in SINGLE, f.since))
    gone = {id(fact) for fact in order[: len(facts) - most]}
    return tuple(fact for fact in facts if id(fact) not in gone)
