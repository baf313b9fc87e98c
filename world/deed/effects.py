"""What comes of the steps of deeds, and how it is put back and taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from evennia.objects.models import ObjectDB
from evennia.utils import create
from evennia.utils.dbserialize import deserialize
from evennia.utils.utils import iter_to_str

from keepsake.agent.agent_log import log
from keepsake.agent.runtime import now
from keepsake.agent.surroundings import identity_of, is_agent
from keepsake.contrib.evennia.minds import mind_of
from keepsake.language.heard import DEED, KINDNESS, WRONG
from world.almanac import Almanac
from world.deed.files import NOWHERE, YOU, DeedStep, WorldDeed
from world.deed.progress import DEEDS, doers, forget_progress, keep_record, progress, records
from world.source import TAG_CATEGORY, find, id_of

SEEN_LESS = 2
"""How much less a deed matters to those who only saw it."""


SOMEBODY = "somebody"
"""Who did it, where whoever did it has been forgotten."""
LEFT_LYING = timedelta(days=1)
"""After which a thing that nobody who plays has with them lies where it belongs again."""


@dataclass
class DeedScene:
    """What a player has done just now, and what is around them."""

    player: Any  # who did it
    said: str  # the words that they spoke; empty if they did not
    to: Any  # to whom; None for all in the room
    how: str  # ``say``, ``whisper`` where nobody else heard it, ``pose`` where it was only played
    now: Almanac  # the moment
    place: str  # the id of the room; empty for one of no file
    people: dict[str, Any]  # the agents here that are awake, by id
    others: list[Any]  # the other players here
    # the player, and other players who have a part in it, which a condition found
    party: list[Any] = field(default_factory=list)
    last: datetime | None = None  # when the player did the step before

    def named(self, text: str) -> str:
        """``text`` with the names of all who have a part in it."""
        return text.replace("{who}", iter_to_str([each.key for each in self.party]))

    def beside(self, player: Any) -> str:
        """The names of those who have a part in it with that player."""
        return iter_to_str([each.key for each in self.party if each is not player])


def tell(reader: Any, text: str) -> None:
    """Show somebody what the file says; nothing if it says nothing."""
    if text:
        reader.msg((text, {"type": DEED}))


def carried(holder: Any, thing: str) -> list[Any]:
    """The things of that id that somebody carries."""
    return [each for each in holder.contents if id_of(each) == thing]


def _show_you(scene: DeedScene, step: DeedStep, _: WorldDeed) -> None:
    for player in scene.party:
        tell(player, step.you.replace("{other}", scene.beside(player)))


def _show_others(scene: DeedScene, step: DeedStep, _: WorldDeed) -> None:
    """Those who stand by see it; agents keep it, but for those who keep a memory of their own."""
    facts = {"type": DEED, "importance": max(step.importance - SEEN_LESS, 1)}
    own = [find("agent", each) for each in step.memory]
    for reader in scene.player.location.contents_get(content_type="character"):
        if reader not in scene.party and reader not in own:
            reader.msg((scene.named(step.others), dict(facts)), from_obj=scene.player)


def _remember(scene: DeedScene, step: DeedStep, _: WorldDeed) -> None:
    """A memory of who did it; once of each, as it goes into what is known of them."""
    for person, text in step.memory.items():
        if (agent := find("agent", person)) is None:
            continue
        weight = step.standing.get(person, 0)
        kind = KINDNESS if weight > 0 else WRONG if weight < 0 else DEED
        # It tells of the agent itself, as "you": for nobody else's ears.
        about = identity_of(agent)
        facts = {"type": kind, "importance": step.importance, "to": agent.id, "about": about}
        for player in scene.party:
            others = scene.beside(player)
            name = f"{player.key}, together with {others}," if others else player.key
            agent.msg((text.replace("{who}", name), facts), from_obj=player)


def _say(scene: DeedScene, step: DeedStep, _: WorldDeed) -> None:
    """Somebody says it of their own accord, and keeps it as their own words."""
    name = scene.player.key
    for person, words in step.says.items():
        agent = scene.people.get(person)
        if agent is not None and (mind := mind_of(agent)) is not None:
            mind.actor.speak(agent, words.replace("{who}", name), name, event=DEED)


def make(scene: DeedScene, step: DeedStep, deed: WorldDeed) -> None:
    """Put what the step makes into the player's hands; what it made for them before goes."""
    player = scene.player
    for thing in step.make:
        made = deed.things[thing]
        for former in made_things(thing):
            if former.db.made_for == player.id:
                former.delete()
        create.create_object(
            "typeclasses.objects.Object",
            key=made.name,
            aliases=list(made.aliases),
            location=player,
            home=player.location,
            attributes=[("desc", made.desc), ("made_for", player.id)],
            tags=[(f"thing:{thing}", TAG_CATEGORY)],
        )


def made_things(thing: str) -> list[Any]:
    """All things of that id that a deed has made."""
    return list(ObjectDB.objects.get_by_tag(f"thing:{thing}", category=TAG_CATEGORY))


def _use_up(scene: DeedScene, step: DeedStep, _: WorldDeed) -> None:
    for thing in step.take:
        holders = (scene.player, *scene.people.values())
        if found := [each for holder in holders for each in carried(holder, thing)]:
            found[0].delete()


def _move(scene: DeedScene, step: DeedStep, _: WorldDeed) -> None:
    for thing, where in step.move.items():
        if (obj := find("thing", thing)) is not None:
            to = scene.player if where == YOU else find("room", where) or find("agent", where)
            put(obj, to, gone=where == NOWHERE)


def put(thing: Any, where: Any, *, gone: bool = False) -> None:
    """Put a thing there; ``gone``: out of the world. It stays where it is if there is no there."""
    if gone:
        thing.location = None
    elif where is None:
        log(f"[Deed] {thing.key} stays where it is: the place where it belongs has been deleted")
    else:
        thing.move_to(where, quiet=True, move_type="deed")
    thing.attributes.remove("given_by")


def _open(_: DeedScene, step: DeedStep, __: WorldDeed) -> None:
    for way in step.open:
        unlock(way, opened=True)


def unlock(way: str, *, opened: bool) -> None:
    """Open or close a way such as ``quay:down``."""
    if (exit_ := find("exit", way)) is not None:
        who = "all()" if opened else "false()"
        exit_.locks.add(f"view:{who};traverse:{who}")


def _change(scene: DeedScene, step: DeedStep, deed: WorldDeed) -> None:
    changes = [tuple(each) for each in records().get(deed.id, {}).get("changes", ())]
    if not deed.once:  # of a deed that each can do only the newest shows
        for target, old, new in reversed(changes):
            replace_words(target, new, old)
        changes = []
    for target, words in step.change.items():
        for old, new in words.items():
            if replace_words(target, old, named := scene.named(new)):
                changes.append((target, old, named))
    keep_record(deed.id, changes=changes)


_TEXTS = ("desc", "details", "profile", "examples")
"""Attributes whose words a deed may change."""


def replace_words(target: str, old: str, new: str) -> bool:
    """Put ``new`` in place of ``old`` wherever the object of that id says it; whether it did.

    It does not if somebody has written it anew by hand.
    """
    obj = find("room", target) or find("thing", target) or find("agent", target)
    changed = False
    for name in _TEXTS if obj is not None else ():
        text = deserialize(obj.attributes.get(name))
        if text and (other := _replaced(text, old, new)) != text:
            obj.attributes.add(name, other)
            changed = True
    return changed


def _replaced(text: Any, old: str, new: str) -> Any:
    if isinstance(text, dict):
        return {key: _replaced(each, old, new) for key, each in text.items()}
    if isinstance(text, list):
        return [_replaced(each, old, new) for each in text]
    return str(text).replace(old, new)


EFFECTS: dict[str, Callable[[DeedScene, DeedStep, WorldDeed], None]] = {
    "take": _use_up,
    "make": make,
    "move": _move,
    "change": _change,
    "open": _open,
    "says": _say,
    "you": _show_you,
    "others": _show_others,
    "memory": _remember,
}
"""By the name that a file gives it, what an effect does; done in this order."""


# -- what is put back, and what is taken back


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
