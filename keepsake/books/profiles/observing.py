"""What one memory adds to the profiles of a person, of the place where it was, of things in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from keepsake.archive.privacy import is_private
from keepsake.archive.records import BY_RULE, Memory, MemoryKind
from keepsake.books.journal.entries import EntryOrigin
from keepsake.books.profiles.changes import MOST_NUMBERS, SINGLE, with_fact
from keepsake.books.profiles.config import PeopleConfig
from keepsake.books.profiles.feelings import settled, warmed_by
from keepsake.books.profiles.profile import (
    MEETING,
    PLACE,
    THING,
    Company,
    Fact,
    Name,
    Observation,
    Profile,
    ProfileKind,
)
from keepsake.language import deeds
from keepsake.language.facts import key_of, told
from keepsake.language.fit import LONGEST_TEXT, is_fit, line, quoted
from keepsake.language.fit import name as fit_name
from keepsake.language.heard import Utterance, heard, is_greeting, own_words
from keepsake.language.perception import shorten
from keepsake.names import folder_name

MOST_NAMES = 12
"""Names that a profile keeps: the first and the newest."""
SHARED_FROM = 5
"""How much something must matter to be what they last shared."""
ASKED_FROM = 7
"""And how much, if it only asks."""
OBSERVED_FROM = 2
HEARSAY = "(hearsay) "
"""Begins what others said of somebody; what they did themselves begins with their name."""

WHEREABOUTS = "whereabouts"
"""The fact that says where a thing is, and was."""
MINE = "with you"
MOST_COMPANY = 24
"""People of whom a place is known to be where they are met."""
NOTEWORTHY = 6
"""How much something must matter to be kept with the place where it was."""

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
    if said is not None and memory.event not in BY_RULE:  # whose life it tells of is not certain
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
    is_told = deeds.given_to_me(memory) or memory.event in deeds.RULED
    return line(rest) if is_told else f"posed: {quoted(rest)}"


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


# -- places and things

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
