"""Things that deeds need, where they lie, and what is taken back of a deed."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from keepsake.agent.runtime import now
from keepsake.agent.surroundings import identity_of, is_agent
from world.deed.effects import made_things, put, replace_words, unlock
from world.deed.files import WorldDeed
from world.deed.progress import DEEDS, doers, forget_progress, keep_record, progress, records
from world.source import find, id_of

SOMEBODY = "somebody"
"""Who did it, where whoever did it has been forgotten."""
LEFT_LYING = timedelta(days=1)
"""After which a thing that nobody who plays has with them lies where it belongs again."""


def put_in_order(place: Any) -> None:
    """Have what belongs in that place lie there again, if nobody who plays has had it for a day."""
    home = f"room:{id_of(place)}"
    for key in {key for deed in DEEDS.values() for key in deed.homes if deed.homes[key] == home}:
        thing = find("thing", key)
        holder = thing.location if thing is not None else None
        if holder in (None, place) or (holder.has_account and not is_agent(holder)):
            continue
        since = thing.db.moved
        if since and now() - datetime.fromisoformat(since) > LEFT_LYING:
            put(thing, place)


def reset(deed: WorldDeed, player: Any = None) -> list[str]:
    """Take a deed back: what ``player`` did of it, or what anybody did and came of it.

    What people remember of it stays with them.

    Returns:
        The names of those who have it to do again.
    """
    record = records().get(deed.id, {})
    whose = doers(deed) if player is None else [player]
    names = [each.key for each in whose if forget_progress(each, deed.id)]
    if record and (player is None or (deed.once and identity_of(player) in record.get("keys", ()))):
        for target, old, new in reversed(record["changes"]):
            replace_words(target, new, old)
        for way in (way for step in deed.steps.values() for way in step.open):
            unlock(way, opened=False)
        keep_record(deed.id)
    if player is None or deed.once:
        for thing, home in deed.homes.items():
            if (obj := find("thing", thing)) is not None:
                put(obj, find(*home.split(":", 1)))
        for thing in deed.things:
            for obj in made_things(thing):
                obj.delete()
    return names


def forget_player(player: Any) -> None:
    """Take away what a player has done, and their name from what the world keeps of it."""
    for deed in progress(player):
        forget_progress(player, deed)
    key = identity_of(player)
    for deed, record in records().items():
        if key not in record.get("keys", ()):
            continue
        changes = []
        for target, old, new in record["changes"]:
            unnamed = re.sub(rf"\b{re.escape(player.key)}\b", SOMEBODY, new)
            changes.append((target, old, unnamed if replace_words(target, new, unnamed) else new))
        names = [SOMEBODY if name == player.key else name for name in record["who"]]
        keys = [each for each in record["keys"] if each != key]
        keep_record(deed, changes=changes, who=names, keys=keys)
