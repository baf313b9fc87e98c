"""The effects of a deed's step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evennia.objects.models import ObjectDB
from evennia.utils import create
from evennia.utils.dbserialize import deserialize
from evennia.utils.utils import iter_to_str

from keepsake.agent.agent_log import log
from keepsake.contrib.evennia.minds import mind_of
from keepsake.language.heard import DEED, KINDNESS, WRONG
from world.deed.files import NOWHERE, YOU, DeedStep, WorldDeed
from world.deed.progress import keep_record, records
from world.source import TAG_CATEGORY, find, id_of

SEEN_LESS = 2
"""How much less a deed matters to those who only saw it."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that has just been taken."""

    deed: WorldDeed
    step: DeedStep
    player: Any  # who took it
    party: list[Any]  # they, and whoever took it with them
    people: dict[str, Any]  # the agents here that are awake, by id

    def named(self, text: str) -> str:
        """``text`` with the names of all who took it."""
        return text.replace("{who}", iter_to_str([each.key for each in self.party]))

    def others(self, player: Any) -> str:
        """The names of those with whom that player took it."""
        return iter_to_str([each.key for each in self.party if each is not player])


def tell(reader: Any, text: str) -> None:
    """Show somebody what the file says; nothing if it says nothing."""
    if text:
        reader.msg((text, {"type": DEED}))


def carried(holder: Any, thing: str) -> list[Any]:
    """The things of that id that somebody carries."""
    return [each for each in holder.contents if id_of(each) == thing]


def _show_you(taken: Taken) -> None:
    for player in taken.party:
        tell(player, taken.step.you.replace("{other}", taken.others(player)))


def _show_others(taken: Taken) -> None:
    """Those who stand by see it; agents keep it, but for those who keep a memory of their own."""
    facts = {"type": DEED, "importance": max(taken.step.importance - SEEN_LESS, 1)}
    own = [find("agent", each) for each in taken.step.memory]
    for reader in taken.player.location.contents_get(content_type="character"):
        if reader not in taken.party and reader not in own:
            reader.msg((taken.named(taken.step.others), dict(facts)), from_obj=taken.player)


def _remember(taken: Taken) -> None:
    """A memory of who did it; once of each, as it goes into what is known of them."""
    for person, text in taken.step.memory.items():
        if (agent := find("agent", person)) is None:
            continue
        weight = taken.step.standing.get(person, 0)
        kind = KINDNESS if weight > 0 else WRONG if weight < 0 else DEED
        facts = {"type": kind, "importance": taken.step.importance, "to": agent.id}
        for player in taken.party:
            others = taken.others(player)
            name = f"{player.key}, together with {others}," if others else player.key
            agent.msg((text.replace("{who}", name), facts), from_obj=player)


def _say(taken: Taken) -> None:
    """Somebody says it of their own accord, and keeps it as their own words."""
    name = taken.player.key
    for person, words in taken.step.says.items():
        agent = taken.people.get(person)
        if agent is not None and (mind := mind_of(agent)) is not None:
            mind.actor.speak(agent, words.replace("{who}", name), name, event=DEED)


def make(taken: Taken) -> None:
    """Put what the step makes into the player's hands; what it made for them before goes."""
    player = taken.player
    for thing in taken.step.make:
        made = taken.deed.things[thing]
        for former in ObjectDB.objects.get_by_tag(f"thing:{thing}", category=TAG_CATEGORY):
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


def _use_up(taken: Taken) -> None:
    for thing in taken.step.take:
        for holder in (taken.player, *taken.people.values()):
            if found := carried(holder, thing):
                found[0].delete()
                break


def _move(taken: Taken) -> None:
    for thing, where in taken.step.move.items():
        if (obj := find("thing", thing)) is not None:
            to = taken.player if where == YOU else find("room", where) or find("agent", where)
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


def _open(taken: Taken) -> None:
    for way in taken.step.open:
        unlock(way, opened=True)


def unlock(way: str, *, opened: bool) -> None:
    """Open or close a way such as ``quay:down``."""
    if (exit_ := find("exit", way)) is not None:
        who = "all()" if opened else "false()"
        exit_.locks.add(f"view:{who};traverse:{who}")


def _change(taken: Taken) -> None:
    changes = [tuple(each) for each in records().get(taken.deed.id, {}).get("changes", ())]
    if not taken.deed.once:  # of a deed that each can do only the newest shows
        for target, old, new in reversed(changes):
            replace_words(target, new, old)
        changes = []
    for target, words in taken.step.change.items():
        for old, new in words.items():
            if replace_words(target, old, named := taken.named(new)):
                changes.append((target, old, named))
    keep_record(taken.deed.id, changes=changes)


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


EFFECTS: dict[str, Callable[[Taken], None]] = {
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
