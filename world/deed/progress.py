"""What deeds there are, and what has been done of them.

What a player has done is an attribute of theirs (``deeds``); what the world lives with is in
Evennia's ``ServerConfig``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evennia.objects.models import ObjectDB
from evennia.server.models import ServerConfig
from evennia.utils.dbserialize import deserialize

_ATTRIBUTE = _CONF = "deeds"


@dataclass(frozen=True, slots=True)
class DeedStep:
    """One thing to be done."""

    id: str  # its name in the file
    # conditions, all of which must hold: names of ``CONDITIONS``, and their values
    when: Mapping[str, Any]
    then: Mapping[str, Any]  # what comes of it: names of ``EFFECTS``, and their values
    after: tuple[str, ...] = ()  # steps that come before it
    days: int = 1  # on how many different days it has to be done
    end: bool = False  # whether the deed is done with it; of several ends a player reaches one
    hint: str = ""  # what ``deeds`` shows from then on


@dataclass(frozen=True, slots=True)
class WorldDeed:
    """Something that can be done in the world, and what comes of it."""

    id: str  # the file's name without its ending
    name: str  # as players read it
    hint: str  # what is talked of in the village before it is begun; empty if nothing is
    once: bool  # whether it is done once in the world; else once by each player
    steps: Mapping[str, DeedStep]  # what has to be done, by the steps' names
    # things that come into the world by it: name, aliases, description
    made: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # where those of the world's things that it moves belong, such as ``room:quay``
    homes: Mapping[str, str] = field(default_factory=dict)


_deeds: dict[str, WorldDeed] = {}


def install(deeds: Mapping[str, WorldDeed]) -> None:
    """Have these deeds from now on, in place of those before."""
    _deeds.clear()
    _deeds.update(deeds)


def all_deeds() -> tuple[WorldDeed, ...]:
    """Every deed, in the order of their files."""
    return tuple(_deeds.values())


# -- what has been done


def progress(player: Any) -> dict[str, dict[str, Any]]:
    """By deed, a player's ``steps`` (their times, in ISO format) and the ``end`` they reached."""
    return dict(deserialize(player.attributes.get(_ATTRIBUTE)) or {})


def records() -> dict[str, dict[str, Any]]:
    """By deed, what the world lives with.

    ``end``, ``who`` (names) and ``keys`` (identities) of whoever came to an end last, ``changes``
    (which object, the former words, the present ones).
    """
    return dict(deserialize(ServerConfig.objects.conf(_CONF)) or {})


def doers(deed: WorldDeed) -> list[Any]:
    """The players who have begun or done it."""
    found = ObjectDB.objects.filter(db_attributes__db_key=_ATTRIBUTE).distinct()
    return sorted((each for each in found if deed.id in progress(each)), key=lambda who: who.key)


def standing(player: Any, person: str) -> int:
    """What a player is to the person of that id, by what they have done; 0 for nothing."""
    mine = progress(player)
    return sum(
        step.then.get("standing", {}).get(person, 0)
        for deed in all_deeds()
        for step in deed.steps.values()
        if is_done(step, mine.get(deed.id, {}))
    )


def is_over(deed: WorldDeed, mine: Mapping[str, Any], world: Mapping[str, Any]) -> bool:
    """Whether it is done: by this player, or in all the world."""
    return bool(mine.get("end") or (deed.once and world.get("end")))


def is_done(step: DeedStep, mine: Mapping[str, Any]) -> bool:
    """Whether that step of theirs has been taken, on as many days as it takes."""
    return len(days_of(step, mine)) >= step.days


def days_of(step: DeedStep, mine: Mapping[str, Any]) -> set[str]:
    """The days on which they took it: ``2026-05-04``."""
    times = mine.get("steps", {}).get(step.id, ())
    return {f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d}" for time in times}


def note(deed: WorldDeed, step: DeedStep, player: Any, moment: datetime) -> None:
    """Keep that a player took a step, and the end where it is one."""
    mine = progress(player)
    own = mine.setdefault(deed.id, {"steps": {}, "end": ""})
    own["steps"].setdefault(step.id, []).append(moment.isoformat())
    if step.end and is_done(step, own):
        own["end"] = step.id
    player.attributes.add(_ATTRIBUTE, mine)


def keep_record(deed_id: str, **facts: Any) -> dict[str, Any]:
    """Keep facts of what the world lives with; returns the whole record of that deed."""
    world = records()
    world[deed_id] = {"changes": []} | world.get(deed_id, {}) | facts
    ServerConfig.objects.conf(_CONF, world)
    return world[deed_id]


def drop_record(deed_id: str) -> None:
    """Have the world live with nothing of that deed any more."""
    world = records()
    if world.pop(deed_id, None) is not None:
        ServerConfig.objects.conf(_CONF, world)


def forget_progress(player: Any, deed_id: str = "") -> bool:
    """Have a player not have done that deed, or none at all; whether they had begun it."""
    mine = progress(player) if deed_id else {}
    had = mine.pop(deed_id, None) is not None
    if deed_id:
        player.attributes.add(_ATTRIBUTE, mine)
    else:
        player.attributes.remove(_ATTRIBUTE)
    return had
