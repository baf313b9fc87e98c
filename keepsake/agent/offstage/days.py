"""What a day has for an agent: where it is at which hour, scenes with others, what it promised."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from keepsake.agent.almanac import Almanac, Hours, part_of

ANYBODY = ("A", "B")
"""What whoever happens to be there is called in a scene."""
_BLOCK_HOURS = 2
"""Hours after which something else of the same work is done."""


@dataclass(frozen=True, slots=True)
class DayEntry:
    """What somebody does at an hour.

    Attributes:
        hours: When.
        when: Words of the almanac that must hold as well.
        room: Where; None for wherever ``company`` is.
        company: With whom, by name; empty for nobody in particular.
        does: What is seen of it, without the name: lines that take turns.
    """

    hours: Hours
    when: frozenset[str]
    room: Any
    company: str
    does: tuple[str, ...]

    def fits(self, now: Almanac) -> bool:
        """Whether this is its hour."""
        return now.moment in self.hours and self.when <= now.states

    def line(self, now: Almanac, number: int) -> str:
        """What is done of it now, by the agent of that number."""
        turn = now.moment.toordinal() * (24 // _BLOCK_HOURS) + now.hour // _BLOCK_HOURS
        return self.does[(turn + number) % len(self.does)]


def entry_now(day: Iterable[Any], now: Almanac) -> DayEntry | None:
    """The first entry of a day, as it is kept with an agent, that fits; None for none.

    One that cannot be read is left out: builders can set an attribute to anything.
    """
    for raw in day:
        entry = _entry(raw)
        if entry is not None and entry.fits(now):
            return entry
    return None


def _entry(raw: Any) -> DayEntry | None:
    try:
        return DayEntry(
            hours=Hours.parse(str(raw["at"])),
            when=frozenset(map(str, raw.get("when") or ())),
            room=raw.get("in"),
            company=str(raw.get("with") or ""),
            does=tuple(map(str, raw["does"])) or ("looks about",),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


@dataclass(frozen=True, slots=True)
class SceneLine:
    """A line of a scene: what the one of that role says, or does if it is not ``spoken``."""

    role: str
    text: str
    spoken: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """A small scene between two.

    Attributes:
        roles: Who plays: names of agents, or those of :data:`ANYBODY`.
        lines: What is said and done, in order.
        places: The names of the rooms where it may be; empty for anywhere.
        hours: At which hours; None for any.
        when: Words of the almanac that must hold as well.
    """

    roles: tuple[str, str]
    lines: tuple[SceneLine, ...]
    places: frozenset[str] = frozenset()
    hours: Hours | None = None
    when: frozenset[str] = frozenset()

    def cast(self, names: tuple[str, str], place: str, now: Almanac) -> Mapping[str, str] | None:
        """Who plays which role, if these two may play it here and now."""
        if self.places and place not in self.places:
            return None
        if (self.hours is not None and now.moment not in self.hours) or not self.when <= now.states:
            return None
        if self.roles == ANYBODY:
            return dict(zip(self.roles, names, strict=True))
        return {each: each for each in self.roles} if {*self.roles} == {*names} else None

    @property
    def is_for_anybody(self) -> bool:
        """Whether any two may play it."""
        return self.roles == ANYBODY


@dataclass(frozen=True, slots=True)
class Played:
    """A line of a scene with its actor: as it is seen, and as the actor's own act."""

    actor: str
    seen: str
    act: str


def played(scene: Scene, cast: Mapping[str, str]) -> list[Played]:
    """The lines of a scene, with names."""
    return [_played(line, cast) for line in scene.lines]


def _played(line: SceneLine, cast: Mapping[str, str]) -> Played:
    actor, text = cast[line.role], _ROLE.sub(lambda role: cast.get(role[0], role[0]), line.text)
    if line.spoken:
        return Played(actor, f'{actor} says, "{text}"', f"say {text}")
    return Played(actor, f"{actor} {text}", f"emote {text}")


_ROLE = re.compile(r"\b[AB]\b(?=[,.!?'’]|$)")
"""The other of two, whoever that is, where they are called by name: "Evening, B.".

At the end of a clause alone, so that the article "A" stays what it is."""


# -- what was promised for an hour

_NUMBERS = "one two three four five six seven eight nine ten eleven noon"
_HOUR = {name: hour for hour, name in enumerate(_NUMBERS.split(), 1)}
_HOUR |= {"twelve": 12, "midnight": 24}
_AT = re.compile(
    rf"\b(?:at|by|around|about) (?P<past>half past |a quarter past |a quarter to )?"
    rf"(?P<hour>\d{{1,2}}(?!\d)|{'|'.join(_HOUR)})(?::(?P<minute>\d\d))?"
    r"(?: ?o['’]clock)?(?: ?(?P<part>am|pm|in the morning|in the afternoon|in the evening"
    r"|at night|tonight|this evening))?\b",
    re.I,
)
_MINUTES = {"half past ": 30, "a quarter past ": 15, "a quarter to ": -15}
_EARLY = timedelta(minutes=15)
_WAITS = timedelta(minutes=30)


@lru_cache(maxsize=1024)
def due_at(promise: str, said: datetime) -> datetime | None:
    """The moment that a promise names, which was given at that time; None if it names none.

    An hour that may be one of two is the next of them at which people are up: "at nine", said at
    noon, is in the evening. "Tomorrow" is the day after.
    """
    found = _AT.search(promise)
    if found is None:
        return None
    named = found["hour"].casefold()
    hour, part = int(_HOUR.get(named, named)), (found["part"] or "").casefold()
    minutes = int(found["minute"] or 0) + _MINUTES.get((found["past"] or "").casefold(), 0)
    if hour > 24 or minutes > 59:
        return None
    hours = [hour] if named in ("noon", "midnight") or hour > 12 else [hour % 12, hour % 12 + 12]
    if part:
        late = part not in ("am", "in the morning")
        hours = [each for each in hours if (each >= 12) == late] or hours
    midnight = said.replace(hour=0, minute=0, second=0, microsecond=0)
    later = re.search(r"\btomorrow\b", promise, re.I) is not None
    days = (1,) if later else (0, 1)
    moments = [midnight + timedelta(days=d, hours=h, minutes=minutes) for d in days for h in hours]
    up = [each for each in moments if part or named == "midnight" or part_of(each.hour) != "night"]
    return next((each for each in sorted(up) if each > said), None)


def is_due(moment: datetime, now: datetime) -> bool:
    """Whether somebody who keeps a promise for that moment is on the way, or waits there."""
    return moment - _EARLY <= now < moment + _WAITS


def is_named(promise: str, names: Sequence[str]) -> bool:
    """Whether a promise names a room that is called so: "at the quay"."""
    low = promise.casefold()
    bare = [name.casefold().removeprefix("the ") for name in names]
    return any(re.search(rf"\b{re.escape(each)}\b", low) for each in bare if len(each) > 2)
