"""The effects of a deed's step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evennia.objects.models import ObjectDB
from evennia.utils import create
from evennia.utils.dbserialize import deserialize
from evennia.utils.utils import iter_to_str

from keepsake.agent.agent_log import log
from keepsake.contrib.evennia.minds import mind_of
from keepsake.language.heard import DEED, KINDNESS, WRONG
from world.deed.conditions import DeedScene
from world.deed.progress import DeedStep, WorldDeed, keep_record, records
from world.tags import TAG_CATEGORY, find

NOWHERE, YOU = "nowhere", "you"
"""Where an effect may put a thing, beside places and people: out of the world, to the player."""
SEEN_LESS = 2
"""How much less a deed matters to those who only saw it."""

type Effect = Callable[[WorldDeed, DeedStep, DeedScene, list[Any]], None]


def _named(text: str, name: str) -> str:
    return text.replace("{who}", name)


def tell(reader: Any, text: str) -> None:
    """Show somebody what the file says; nothing if it says nothing."""
    if text:
        reader.msg((text, {"type": DEED}))


def _show_you(_deed: WorldDeed, step: DeedStep, scene: DeedScene, party: list[Any]) -> None:
    for player in party:
        others = [each.key for each in party if each is not player]
        tell(player, step.then["you"].replace("{other}", iter_to_str(others)))


def _show_others(_deed: WorldDeed, step: DeedStep, scene: DeedScene, party: list[Any]) -> None:
    """Those who stand by see it; agents keep it, but for those who keep a memory of their own."""
    text = _named(step.then["others"], iter_to_str([each.key for each in party]))
    matters = max(step.then["importance"] - SEEN_LESS, 1)
    own = [find("agent", each) for each in step.then.get("memory", ())]
    for reader in scene.player.location.contents_get(content_type="character"):
        if reader not in party and reader not in own:
            reader.msg((text, {"type": DEED, "importance": matters}), from_obj=scene.player)


def _remember(_deed: WorldDeed, step: DeedStep, _scene: DeedScene, party: list[Any]) -> None:
    """A memory of who did it; once of each, as it goes into what is known of them."""
    for person, text in step.then["memory"].items():
        if (agent := find("agent", person)) is None:
            continue
        weight = step.then.get("standing", {}).get(person, 0)
        kind = KINDNESS if weight > 0 else WRONG if weight < 0 else DEED
        facts = {"type": kind, "importance": step.then["importance"], "to": agent.id}
        for player in party:
            others = iter_to_str([each.key for each in party if each is not player])
            name = f"{player.key}, together with {others}," if others else player.key
            agent.msg((_named(text, name), facts), from_obj=player)


def _say(_deed: WorldDeed, step: DeedStep, scene: DeedScene, _party: list[Any]) -> None:
    """Somebody says it of their own accord, and keeps it as their own words."""
    for person, words in step.then["says"].items():
        if (agent := scene.people.get(person)) is None:
            continue
        said = _named(words, scene.player.key)
        if (mind := mind_of(agent)) is not None:
            mind.actor.speak(agent, said, scene.player.key)
        else:
            agent.execute_cmd(f"talk {scene.player.key} = {said}")


def _make(deed: WorldDeed, step: DeedStep, scene: DeedScene, _party: list[Any]) -> None:
    for thing in step.then["make"]:
        made = deed.made[thing]
        for former in ObjectDB.objects.get_by_tag(f"thing:{thing}", category=TAG_CATEGORY):
            if former.db.made_for == scene.player.id:
                former.delete()
        obj = create.create_object(
            "typeclasses.objects.Object",
            key=made["name"],
            aliases=list(made["aliases"]),
            location=scene.player,
            home=scene.player.location,
            attributes=[("desc", made["desc"]), ("made_for", scene.player.id)],
        )
        obj.tags.add(f"thing:{thing}", category=TAG_CATEGORY)


def _use_up(_deed: WorldDeed, step: DeedStep, scene: DeedScene, _party: list[Any]) -> None:
    for thing in step.then["take"]:
        for holder in (scene.player, *scene.people.values()):
            if found := scene.has(holder, thing):
                found[0].delete()
                break


def _move(_deed: WorldDeed, step: DeedStep, scene: DeedScene, _party: list[Any]) -> None:
    for thing, where in step.then["move"].items():
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


def _open(_deed: WorldDeed, step: DeedStep, _scene: DeedScene, _party: list[Any]) -> None:
    for way in step.then["open"]:
        unlock(way, opened=True)


def unlock(way: str, *, opened: bool) -> None:
    """Open or close a way such as ``quay:down``."""
    if (exit_ := find("exit", way)) is not None:
        who = "all()" if opened else "false()"
        exit_.locks.add(f"view:{who};traverse:{who}")


def _change(deed: WorldDeed, step: DeedStep, _scene: DeedScene, party: list[Any]) -> None:
    _change_back(deed)
    names, changes = iter_to_str([each.key for each in party]), []
    for target, words in step.then["change"].items():
        for old, new in words.items():
            named = _named(new, names)
            if replace_words(target, old, named):
                changes.append((target, old, named))
    keep_record(deed.id, changes=[*records().get(deed.id, {}).get("changes", ()), *changes])


def _change_back(deed: WorldDeed) -> None:
    """Of a deed that each can do only the newest shows."""
    if not deed.once:
        for target, old, new in reversed(keep_record(deed.id)["changes"]):
            replace_words(target, new, old)
        keep_record(deed.id, changes=[])


def replace_words(target: str, old: str, new: str) -> bool:
    """Put ``new`` in place of ``old`` wherever the object of that id says it; whether it did."""
    obj = find("room", target) or find("thing", target) or find("agent", target)
    changed = False
    for name in _TEXTS if obj is not None else ():
        text = deserialize(obj.attributes.get(name))
        if text and (other := _replaced(text, old, new)) != text:
            obj.attributes.add(name, other)
            changed = True
    return changed  # not if somebody has written it anew by hand


_TEXTS = ("desc", "details", "profile", "examples")
"""Attributes whose words a deed may change."""


def _replaced(text: Any, old: str, new: str) -> Any:
    if isinstance(text, dict):
        return {key: _replaced(each, old, new) for key, each in text.items()}
    if isinstance(text, list):
        return [_replaced(each, old, new) for each in text]
    return str(text).replace(old, new)


EFFECTS: dict[str, Effect] = {
    "take": _use_up,
    "make": _make,
    "move": _move,
    "change": _change,
    "open": _open,
    "you": _show_you,
    "others": _show_others,
    "memory": _remember,
    "says": _say,
}
"""By the name that a file gives it, what an effect does; done in the file's order."""
