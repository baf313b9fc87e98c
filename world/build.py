"""Puts the world of :mod:`world.atlas` into the game, as often as one likes.

Everything made here carries a tag of category ``keepsake`` with a stable id
(``room:kettle``, ``exit:kettle:north``, ``thing:blue_cup``, ``agent:mira``). What
already exists is left alone, wherever it went and however it was changed; only
what is missing is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from django.conf import settings
from evennia.objects.models import ObjectDB
from evennia.utils import create
from evennia.utils.utils import class_from_module

from typeclasses.agents import create_agent
from world.atlas import SHORT, Atlas, Person, Place, Thing, Way, read_atlas

TAG_CATEGORY = "keepsake"
_LIMBO = 2  # Evennia's own first room, where START_LOCATION points


@dataclass(slots=True)
class Built:
    """What one run made, as ids such as ``room:kettle``; empty when all was there."""

    made: list[str] = field(default_factory=list)


def find(kind: str, key: str) -> ObjectDB | None:
    """The object of ``kind`` (room, exit, thing, agent) with this stable id, if it exists."""
    return ObjectDB.objects.get_by_tag(f"{kind}:{key}", category=TAG_CATEGORY).first()


def build_world(atlas: Atlas | None = None) -> Built:
    """Make every room, way, agent and thing that is missing.

    Args:
        atlas: The world to build; the one in this folder if not given.

    Raises:
        ConfigError: A data file is wrong; nothing has been made then.
    """
    atlas, built = atlas or read_atlas(), Built()
    for place in atlas.places.values():
        _build_place(place, built, is_start=place.id == atlas.start)
    for way in atlas.ways:
        _build_way(way, atlas, built)
    for person in atlas.people.values():
        _build_person(person, built)
    for thing in atlas.things.values():
        _build_thing(thing, atlas, built)
    return built


def add_new_attributes(atlas: Atlas | None = None) -> None:
    """Give agents of a world that an earlier version built what that did not know of.

    What a builder has set stays, false as well.

    Raises:
        ConfigError: A data file is wrong.
    """
    for person in (atlas or read_atlas()).people.values():
        agent = find("agent", person.id)
        if agent is None:
            continue
        for name, value in (("keeps", person.keeps), ("shrugs", list(person.shrugs))):
            if not agent.attributes.has(name):
                agent.attributes.add(name, value)


def _mark(obj: ObjectDB, kind: str, key: str, built: Built) -> None:
    obj.tags.add(f"{kind}:{key}", category=TAG_CATEGORY)
    built.made.append(f"{kind}:{key}")


def _build_place(place: Place, built: Built, *, is_start: bool) -> None:
    if find("room", place.id):
        return
    room = (_limbo() if is_start else None) or create.create_object(
        settings.BASE_ROOM_TYPECLASS, key=place.name
    )
    room.key = place.name
    room.aliases.add(place.alias)
    room.db.desc = place.desc
    room.db.details = dict(place.details)
    _mark(room, "room", place.id, built)


def _limbo() -> ObjectDB | None:
    """Evennia's first room while it is still unused; newcomers already start there."""
    limbo = ObjectDB.objects.filter(id=_LIMBO).first()
    room_class = class_from_module(settings.BASE_ROOM_TYPECLASS)
    unused = isinstance(limbo, room_class) and not limbo.tags.get(category=TAG_CATEGORY)
    return limbo if unused else None


def _build_way(way: Way, atlas: Atlas, built: Built) -> None:
    key = f"{way.source}:{way.direction}"
    if find("exit", key):
        return
    exit_ = create.create_object(
        settings.BASE_EXIT_TYPECLASS,
        key=way.direction,
        aliases=[SHORT[way.direction], atlas.places[way.target].alias],
        location=find("room", way.source),
        destination=find("room", way.target),
    )
    _mark(exit_, "exit", key, built)


def _build_person(person: Person, built: Built) -> None:
    if find("agent", person.id):
        return
    home = find("room", person.home)
    agent = create_agent(
        person.name,
        location=home,
        home=home,
        profile=person.whole_profile,
        examples=person.examples,
        talkativeness=person.talkativeness,
    )
    agent.db.desc, agent.db.keeps = person.look, person.keeps
    agent.db.shrugs = list(person.shrugs)
    _mark(agent, "agent", person.id, built)


def _build_thing(thing: Thing, atlas: Atlas, built: Built) -> None:
    if find("thing", thing.id):
        return
    owner = atlas.people.get(thing.at)
    home = find("room", owner.home if owner else thing.at)
    obj = create.create_object(
        settings.BASE_OBJECT_TYPECLASS,
        key=thing.name,
        aliases=list(thing.aliases),
        location=find("agent", thing.at) if owner else home,
        home=home,
        attributes=[("desc", thing.desc)],
    )
    obj.db.loved_by = [p.name for p in atlas.people.values() if thing.id in p.loves]
    _mark(obj, "thing", thing.id, built)
