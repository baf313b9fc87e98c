"""What deeds there are, and what has been done of them.

What a player has done is an attribute of theirs (``deeds``); what the world lives with is in
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

_ATTRIBUTE = _CONF = "deeds"
DEEDS: dict[str, WorldDeed] = {}
"""Every deed by its id, in the order of their files."""
_records: dict[str, dict[str, dict[str, Any]]] = {}
"""What :func:`records` has read, by its name in the configuration: each line spoken asks for it."""


def install(deeds: Mapping[str, WorldDeed]) -> None:
    """Have these deeds from now on, in place of those before."""
    DEEDS.clear()
    _records.clear()
    DEEDS.update(deeds)


def progress(player: Any) -> dict[str, dict[str, Any]]:
    """By deed, a player's ``steps`` (their times, in ISO format) and the ``end`` they reached."""
    return dict(deserialize(player.attributes.get(_ATTRIBUTE)) or {})


def records() -> dict[str, dict[str, Any]]:
    """By deed, what the world lives with.

    ``end``, ``who`` (names) and ``keys`` (identities) of whoever came to an end last, ``changes``
    (which object, the former words, the present ones).
    """
    if _CONF not in _records:
        _records[_CONF] = dict(deserialize(ServerConfig.objects.conf(_CONF)) or {})
    return {**_records[_CONF]}


def doers(deed: WorldDeed) -> list[Any]:
    """The players who have begun or done it."""
    found = ObjectDB.objects.filter(db_attributes__db_key=_ATTRIBUTE).distinct()
    return sorted((each for each in found if deed.id in progress(each)), key=lambda who: who.key)


def standing(player: Any, person: str) -> int:
    """What a player is to the person of that id, by what they have done; 0 for nothing."""
    mine = progress(player)
    return sum(
        step.standing.get(person, 0)
        for deed in DEEDS.values()
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


def keep_record(deed_id: str, **facts: Any) -> None:
    """Keep facts of what the world lives with of that deed; without any, nothing of it."""
    world = records()
    former = world.pop(deed_id, {})
    if facts:
        world[deed_id] = {"changes": []} | former | facts
    _records.clear()
    ServerConfig.objects.conf(_CONF, world)


def forget_progress(player: Any, deed_id: str) -> bool:
    """Have a player not have done that deed; whether they had begun it."""
    mine = progress(player)
    had = mine.pop(deed_id, None) is not None
    player.attributes.add(_ATTRIBUTE, mine)
    return had
