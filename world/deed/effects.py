"""The effects of the steps of deeds, and how they are undone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from evennia.objects.models import ObjectDB
from evennia.utils import create
from evennia.utils.dbserialize import deserialize
from evennia.utils.utils import iter_to_str

from keepsake.agent.runtime import now
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.archive.message_types import MessageType
from keepsake.contrib.evennia.creation import WRITTEN
from keepsake.contrib.evennia.hearing import happens, person_of, persons_of
from keepsake.contrib.evennia.minds import mind_of
from keepsake.happening import Deed, KnownVerb, Person
from keepsake.logs import Subsystem, get_logger
from world.almanac import Almanac
from world.deed.files import NOWHERE, YOU, DeedStep, WorldDeed
from world.deed.progress import DEEDS, doers, forget_progress, progress, records, update_record
from world.source import TAG_CATEGORY, find, id_of

log = get_logger(Subsystem.WORLD)

ONLOOKER_DISCOUNT = 2
"""How much less important a deed is to those who only saw it."""

SOMEBODY = "somebody"
"""Replaces the name of a player who was forgotten."""
RETURN_AFTER = timedelta(days=1)
"""The time after which a thing that no player carries returns to its place."""


@dataclass
class DeedScene:
    """A player's action, and the situation around it."""

    player: Any  # who did it
    said: str  # the words that they spoke; empty if they did not
    to: Any  # the addressee; None for all in the room
    how: str  # ``say``, ``whisper`` if only the addressee heard it, ``pose`` if it was a gesture
    now: Almanac  # the moment
    place: str  # the id of the room; empty if no file describes it
    people: dict[str, Any]  # the agents here that are awake, by id
    others: list[Any]  # the other players here
    # the player, and the other players that a condition found to take part
    party: list[Any] = field(default_factory=list)
    last: datetime | None = None  # when the player took the previous step
    seen: str = ""  # the id of what bystanders see of the present step; empty before that

    def named(self, text: str) -> str:
        """Return ``text`` with the names of all who take part."""
        return text.replace("{who}", iter_to_str([each.key for each in self.party]))

    def beside(self, player: Any) -> str:
        """Return the names of the others who take part with that player."""
        return iter_to_str([each.key for each in self.party if each is not player])


def tell(reader: Any, text: str) -> None:
    """Show a text of the file to somebody, unless it is empty."""
    if text:
        reader.msg((text, {"type": MessageType.DEED}))


def carried(holder: Any, thing: str) -> list[Any]:
    """Return the things of that id that somebody carries."""
    return [each for each in holder.contents if id_of(each) == thing]


def _show_you(scene: DeedScene, step: DeedStep, _: WorldDeed) -> None:
    for player in scene.party:
        tell(player, step.you.replace("{other}", scene.beside(player)))


def _show_others(scene: DeedScene, step: DeedStep, _: WorldDeed) -> None:
    """Show it to the bystanders, except agents to whom the step gives a memory of their own."""
    importance = max(step.importance - ONLOOKER_DISCOUNT, 1)
    own = [find("agent", each) for each in step.memory]
    took_part = persons_of(each for each in own if each is not None)
    what = Deed(actor=person_of(scene.player), verb="deed", to=took_part)
    with happens(what, importance=importance) as scene.seen:
        for reader in scene.player.location.contents_get(content_type="character"):
            if reader not in scene.party and reader not in own:
                line = scene.named(step.others)
                reader.msg((line, {"type": MessageType.DEED}), from_obj=scene.player)


def _given_by(step: DeedStep, deed: WorldDeed) -> tuple[str, ...]:
    """Return the names of the things that a step gives to the player."""
    made = [deed.things[thing].name for thing in step.make]
    moved = [find("thing", thing) for thing, where in step.move.items() if where == YOU]
    return (*made, *(str(each.key) for each in moved if each is not None))


def _remember(scene: DeedScene, step: DeedStep, deed: WorldDeed) -> None:
    """Give agents a memory of the deed: one for each player, as it goes into the player's page."""
    for person, text in step.memory.items():
        if (agent := find("agent", person)) is None:
            continue
        weight = step.standing.get(person, 0)
        kind = MessageType.DEED
        if weight > 0:
            kind = MessageType.KINDNESS
        elif weight < 0:
            kind = MessageType.WRONG
        # It addresses the agent as "you", so nobody else gets it.
        about = identity_of(agent)
        for player in scene.party:
            others = scene.beside(player)
            name = f"{player.key}, together with {others}," if others else player.key
            # Who only came did nothing: the agent itself greets them, and says so in its memory.
            came = person in step.says and step.when.is_met_by_coming
            verb = KnownVerb.GO if came and kind is MessageType.DEED else kind
            things = _given_by(step, deed)
            what = Deed(actor=person_of(player), verb=verb, objects=things, to=(person_of(agent),))
            # What the others saw is no news to those who took part in it.
            same = scene.seen if player is scene.player else ""
            with happens(what, happening=same, importance=step.importance, about=about):
                agent.msg((text.replace("{who}", name), {"type": kind}), from_obj=player)


def _say(scene: DeedScene, step: DeedStep, deed: WorldDeed) -> None:
    """Have agents say something, which they remember as their own words.

    Of several texts, each player who takes the step hears the next one.
    """
    has_choice = any(len(texts) > 1 for texts in step.says.values())
    taken = (
        [x for x in doers(deed) if step.id in progress(x)[deed.id]["steps"]] if has_choice else ()
    )
    name = scene.player.key
    to = Person(name, identity_of(scene.player))
    for person, texts in step.says.items():
        words = texts[(len(taken) - 1) % len(texts)]
        agent = scene.people.get(person)
        if agent is not None and (mind := mind_of(agent)) is not None:
            mind.actor.speak(agent, words.replace("{who}", name), to, event=MessageType.DEED)


def make(scene: DeedScene, step: DeedStep, deed: WorldDeed) -> None:
    """Give the player the things that the step makes, in place of earlier copies."""
    player = scene.player
    for thing in step.make:
        made = deed.things[thing]
        for former in made_things(thing):
            if former.db.made_for == player.id:
                take_away(former)
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
    """Return all things of that id that a deed has made."""
    return list(ObjectDB.objects.get_by_tag(f"thing:{thing}", category=TAG_CATEGORY))


def _use_up(scene: DeedScene, step: DeedStep, _: WorldDeed) -> None:
    for thing in step.take:
        holders = (scene.player, *scene.people.values())
        if found := [each for holder in holders for each in carried(holder, thing)]:
            take_away(found[0])
            found[0].delete()


def _move(scene: DeedScene, step: DeedStep, _: WorldDeed) -> None:
    for thing, where in step.move.items():
        if (obj := find("thing", thing)) is not None:
            to = scene.player if where == YOU else find("room", where) or find("agent", where)
            put(obj, to, gone=where == NOWHERE)


def put(thing: Any, where: Any, *, gone: bool = False) -> None:
    """Move a thing, or with ``gone`` out of the world. It stays if its destination is None."""
    if gone:
        take_away(thing)
    elif where is None:
        told = f"{thing.key} stays where it is: the place where it belongs has been deleted"
        log.warning(told)
    else:
        thing.move_to(where, quiet=True, move_type="deed")
    thing.attributes.remove("given_by")


def take_away(thing: Any) -> None:
    """Move a thing out of the world; an agent that carries it is told so."""
    if thing.location is not None and is_agent(thing.location):
        thing.location.loses(thing)
    thing.location = None


def _open(_: DeedScene, step: DeedStep, __: WorldDeed) -> None:
    for way in step.open:
        set_open(way, opened=True)


def set_open(way: str, *, opened: bool) -> None:
    """Open or close an exit such as ``quay:down``."""
    if (exit_ := find("exit", way)) is not None:
        who = "all()" if opened else "false()"
        exit_.locks.add(f"view:{who};traverse:{who}")


def _change(scene: DeedScene, step: DeedStep, deed: WorldDeed) -> None:
    changes = [tuple(each) for each in records().get(deed.id, {}).get("changes", ())]
    if not deed.once:  # if each player can do it, only the newest change shows
        for target, old, new in reversed(changes):
            replace_words(target, new, old)
        changes = []
    for target, words in step.change.items():
        for old, new in words.items():
            named = scene.named(new)
            if replace_words(target, old, named):
                changes.append((target, old, named))
    update_record(deed.id, changes=changes)


_TEXTS = ("desc", "details", "profile", "examples")
"""Attributes whose texts a deed may change."""


def replace_words(target: str, old: str, new: str, texts: Sequence[str] = _TEXTS) -> bool:
    """Replace ``old`` by ``new`` in the texts of the object with that id; whether it was found.

    It is not found if a builder has rewritten the text by hand.

    Args:
        texts: The names of the attributes with the texts.
    """
    obj = find("room", target) or find("thing", target) or find("agent", target)
    changed = False
    for name in texts if obj is not None else ():
        text = deserialize(obj.attributes.get(name))
        if text and (other := _replaced(text, old, new)) != text:
            _set_text(obj, name, other)
            changed = True
    return changed


def _set_text(obj: Any, name: str, text: Any) -> None:
    """Set an attribute; a profile stays as it was written where prompts begin with it."""
    if name == "profile" and is_agent(obj):
        obj.update_profile(text)
    else:
        obj.attributes.add(name, text)


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
    "you": _show_you,
    "others": _show_others,
    "memory": _remember,
    "says": _say,
}
"""The effects by their names in the files, in the order in which they are applied.

What people see comes before what an agent says about it.
"""


# -- undoing


def return_things(place: Any) -> None:
    """Return things to the place where they belong, if no player has carried them for a day."""
    home = f"room:{id_of(place)}"
    for key in {key for deed in DEEDS.values() for key in deed.homes if deed.homes[key] == home}:
        thing = find("thing", key)
        holder = thing.location if thing is not None else None
        if holder in (None, place) or (holder.has_account and not is_agent(holder)):
            continue
        since = thing.db.moved
        if since and now() - datetime.fromisoformat(since) > RETURN_AFTER:
            put(thing, place)


def reset(deed: WorldDeed, player: Any = None) -> list[str]:
    """Undo a deed: one player's steps, or with None all players' steps and all its effects.

    The memories of it stay.

    Returns:
        The names of the players who can do it again.
    """
    record = records().get(deed.id, {})
    whose = doers(deed) if player is None else [player]
    names = [each.key for each in whose if forget_progress(each, deed.id)]
    if record and (player is None or (deed.once and identity_of(player) in record.get("keys", ()))):
        for target, old, new in reversed(record["changes"]):
            replace_words(target, new, old)
        for way in (way for step in deed.steps.values() for way in step.open):
            set_open(way, opened=False)
        update_record(deed.id)
    if player is None or deed.once:
        for thing, home in deed.homes.items():
            if (obj := find("thing", thing)) is not None:
                put(obj, find(*home.split(":", 1)))
        for thing in deed.things:
            for obj in made_things(thing):
                obj.delete()
    return names


def forget_player(player: Any) -> None:
    """Delete a player's progress, and their name from the world's records."""
    for deed in progress(player):
        forget_progress(player, deed)
    key = identity_of(player)
    for deed, record in records().items():
        if key not in record.get("keys", ()):
            continue
        changes = []
        for target, old, new in record["changes"]:
            unnamed = re.sub(rf"\b{re.escape(player.key)}\b", SOMEBODY, new)
            # The written profile has the name if a builder has edited the profile since.
            found = replace_words(target, new, unnamed, (*_TEXTS, WRITTEN))
            changes.append((target, old, unnamed if found else new))
        names = [SOMEBODY if name == player.key else name for name in record["who"]]
        keys = [each for each in record["keys"] if each != key]
        update_record(deed, changes=changes, who=names, keys=keys)
