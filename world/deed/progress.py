"""The deeds of the world, and the progress in them.

A player's progress is an attribute of the character (``deeds``). The records of the world are in
Evennia's ``ServerConfig``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from evennia.objects.models import ObjectDB
from evennia.server.models import ServerConfig
from evennia.utils.dbserialize import deserialize

from world.deed.files import DeedStep, WorldDeed

_ATTRIBUTE = "deeds"
_CONF = "deeds"
DEEDS: dict[str, WorldDeed] = {}
"""Every deed by its id, in the order of the files."""
THING_NAMES: dict[str, str] = {}
"""The names of things of the world that deeds name by their id. Words in a room are compared with
them, so they are not asked of the database again."""
_records: dict[str, dict[str, dict[str, Any]]] = {}
"""Cache of :func:`records`, which every spoken line needs; by its name in the configuration."""


def install(deeds: Mapping[str, WorldDeed]) -> None:
    """Replace all deeds by these."""
    DEEDS.clear()
    _records.clear()
    THING_NAMES.clear()
    DEEDS.update(deeds)


def progress(player: Any) -> dict[str, dict[str, Any]]:
    """Return, by deed, a player's ``steps`` (their times in ISO format) and the ``end`` reached."""
    return dict(deserialize(player.attributes.get(_ATTRIBUTE)) or {})


def records() -> dict[str, dict[str, Any]]:
    """Return the world's record of each deed, by deed.

    It has the ``end`` that was reached last, ``who`` (names) and ``keys`` (identities) of those
    who reached it, and ``changes`` (object, earlier words, present words).
    """
    if _CONF not in _records:
        _records[_CONF] = dict(deserialize(ServerConfig.objects.conf(_CONF)) or {})
    return {**_records[_CONF]}


def doers(deed: WorldDeed) -> list[Any]:
    """Return the players who have begun or completed the deed."""
    found = ObjectDB.objects.filter(db_attributes__db_key=_ATTRIBUTE).distinct()
    return sorted((each for each in found if deed.id in progress(each)), key=lambda who: who.key)


def standing(player: Any, person: str) -> int:
    """Return a player's reputation with a person, the sum over their steps; 0 for neutral."""
    mine = progress(player)
    return sum(
        step.standing.get(person, 0)
        for deed in DEEDS.values()
        for step in deed.steps.values()
        if is_done(step, mine.get(deed.id, {}))
    )


def is_over(deed: WorldDeed, mine: Mapping[str, Any], world: Mapping[str, Any]) -> bool:
    """Return whether the deed is over: for this player, or for the whole world."""
    return bool(mine.get("end") or (deed.once and world.get("end")))


def is_done(step: DeedStep, mine: Mapping[str, Any]) -> bool:
    """Return whether the player has taken that step on as many days as it needs."""
    return len(days_of(step, mine)) >= step.days


def days_of(step: DeedStep, mine: Mapping[str, Any]) -> set[str]:
    """Return the days on which the player took it, such as ``2026-05-04``."""
    times = mine.get("steps", {}).get(step.id, ())
    return {f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d}" for time in times}


def record_step(deed: WorldDeed, step: DeedStep, player: Any, moment: datetime) -> None:
    """Record that a player took a step, and the end if it is one."""
    mine = progress(player)
    own = mine.setdefault(deed.id, {"steps": {}, "end": ""})
    own["steps"].setdefault(step.id, []).append(moment.isoformat())
    if step.end and is_done(step, own):
        own["end"] = step.id
    player.attributes.add(_ATTRIBUTE, mine)


def update_record(deed_id: str, **facts: Any) -> None:
    """Update the world's record of a deed; without facts, delete it."""
    world = records()
    former = world.pop(deed_id, {})
    if facts:
        world[deed_id] = {"changes": []} | former | facts
    _records.clear()
    ServerConfig.objects.conf(_CONF, world)


def forget_progress(player: Any, deed_id: str) -> bool:
    """Delete a player's progress in a deed; return whether there was any."""
    mine = progress(player)
    had = mine.pop(deed_id, None) is not None
    player.attributes.add(_ATTRIBUTE, mine)
    return had
