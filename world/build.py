"""Builds the world of :mod:`world.atlas` in the game; may be run again at any time.

Every object made here has a tag of category ``keepsake`` with a stable id (``room:kettle``,
``exit:kettle:north``, ``thing:blue_cup``, ``agent:mira``), and the values of the files at that time
(attribute ``built``). A run makes missing objects and applies changes of the files. It keeps what
a builder or a deed has changed in the game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from evennia.objects.models import ObjectDB
from evennia.utils import create
from evennia.utils.dbserialize import deserialize

from keepsake.contrib.evennia.creation import create_agent
from world.atlas import SHORT, Atlas, Thing, read_atlas
from world.deed.effects import set_open
from world.deed.files import WorldDeed, read_deeds
from world.deed.progress import install
from world.help_entries import read_help
from world.scenes import read_scenes
from world.socials import read_socials
from world.source import TAG_CATEGORY, find

_LIMBO = 2  # Evennia's own first room, where START_LOCATION points
_BUILT = "built"
_LEADS_TO = "built_to"
"""The attribute of an exit with the room to which the files led when it was built or changed."""


type Built = dict[str, list[str]]
"""What a run did, as lists of ids such as ``room:kettle``: ``made`` (was missing), ``changed`` (the
files have changed) and ``kept as it is`` (was changed in the game too)."""


def at_initial_setup() -> None:
    """Build the world. Evennia calls this once, after it has made its first account and room."""
    build_world()
    for admin in ObjectDB.objects.filter(id=1):  # take the unused character out of the room
        admin.db.prelogout_location = admin.location
        admin.location = None


def read_world() -> tuple[Atlas, dict[str, WorldDeed]]:
    """Read and check all of the world's files.

    Raises:
        ConfigError: A data file is wrong.
    """
    atlas = read_atlas()
    read_scenes(atlas)
    read_socials()
    read_help()
    return atlas, read_deeds(atlas)


def open_world() -> None:
    """Load the deeds, which a server needs when it starts; make and change nothing.

    Raises:
        ConfigError: A data file is wrong.
    """
    install(read_world()[1])


def build_world(atlas: Atlas | None = None, deeds: Mapping[str, WorldDeed] | None = None) -> Built:
    """Make every missing room, exit, agent and thing, and update the others.

    Args:
        atlas: The world to build; by default the one in this folder.
        deeds: Its deeds; for the world in this folder by default those of this folder.

    Raises:
        ConfigError: A data file is wrong; nothing was made.
    """
    if atlas is None:
        atlas, read = read_world()
        deeds = read if deeds is None else deeds
    built: Built = {"made": [], "changed": [], "kept as it is": []}
    _build_rooms(atlas, built)
    _build_ways(atlas, built)
    for person in atlas.people.values():
        home = find("room", person.home)
        values = {
            "profile": person.profile,
            "examples": list(person.examples),
            "talkativeness": person.talkativeness,
            "desc": person.look,
            "keeps": person.keeps,
            # with the rooms themselves
            "day": [
                {**each.model_dump(by_alias=True), "in": find("room", each.place)}
                for each in person.day
            ],
        }
        about = {"location": home, "home": home, "profile": person.profile}
        _put("agent", person.id, values, built, lambda p=person, a=about: create_agent(p.name, **a))
        find("agent", person.id).aliases.add(list(person.aliases))
    for thing in atlas.things.values():
        _build_thing(thing, atlas, built)
    install(deeds or {})
    return built


def _put(
    kind: str, key: str, values: dict[str, Any], built: Built, make: Callable[[], ObjectDB]
) -> None:
    """Make the object of that id if it is missing, and update its attributes."""
    obj = find(kind, key)
    if obj is None:
        obj = make()
        obj.tags.add(f"{kind}:{key}", category=TAG_CATEGORY)
        built["made"].append(f"{kind}:{key}")
        for name, value in values.items():
            obj.attributes.add(name, value)
    before = dict(deserialize(obj.attributes.get(_BUILT)) or {})
    for name, value in values.items():
        now = deserialize(obj.attributes.get(name))
        if now == value:
            before[name] = value
        elif before.get(name) == now or not obj.attributes.has(name):
            obj.attributes.add(name, value)
            before[name] = value
            built["changed"].append(f"{kind}:{key} {name}")
        else:
            built["kept as it is"].append(f"{kind}:{key} {name}")
    if before != obj.attributes.get(_BUILT):
        obj.attributes.add(_BUILT, before)


def _build_rooms(atlas: Atlas, built: Built) -> None:
    for place in atlas.places.values():

        def make(name: str = place.name, alias: str = place.alias, key: str = place.id) -> ObjectDB:
            # Use Evennia's first room if it is still unused: new characters start there.
            limbo = ObjectDB.objects.filter(id=_LIMBO).first() if key == atlas.start else None
            unused = limbo and limbo.is_typeclass(settings.BASE_ROOM_TYPECLASS, exact=False)
            if not unused or limbo.tags.get(category=TAG_CATEGORY):
                limbo = create.create_object(settings.BASE_ROOM_TYPECLASS, key=name)
            limbo.key = name
            limbo.aliases.add(alias)
            return limbo

        _put("room", place.id, place.model_dump(exclude={"id", "name", "alias"}), built, make)


def _build_ways(atlas: Atlas, built: Built) -> None:
    for way in atlas.ways:
        short = SHORT[way.direction]
        alias = atlas.places[way.target].alias
        target = find("room", way.target)
        exit_ = find("exit", way.id)
        if exit_ is None:
            exit_ = create.create_object(
                settings.BASE_EXIT_TYPECLASS,
                key=way.direction,
                aliases=[short, alias],
                location=find("room", way.source),
                destination=target,
                tags=[(f"exit:{way.id}", TAG_CATEGORY)],
            )
            built["made"].append(f"exit:{way.id}")
            if way.closed:
                set_open(way.id, opened=False)
        elif exit_.destination != target:
            if exit_.attributes.get(_LEADS_TO) != exit_.destination:  # a builder has changed it
                built["kept as it is"].append(f"exit:{way.id}")
                continue
            exit_.destination = target
            exit_.aliases.clear()
            exit_.aliases.add([short, alias])
            built["changed"].append(f"exit:{way.id}")
        if exit_.attributes.get(_LEADS_TO) != target:
            exit_.attributes.add(_LEADS_TO, target)


def _build_thing(thing: Thing, atlas: Atlas, built: Built) -> None:
    owner = atlas.people.get(thing.at)

    def make() -> ObjectDB:
        home = find("room", owner.home if owner else thing.at)
        return create.create_object(
            settings.BASE_OBJECT_TYPECLASS,
            key=thing.name,
            aliases=list(thing.aliases),
            location=find("agent", thing.at) if owner else home,
            home=home,
        )

    uses = {"eat": thing.eat, "drink": thing.drink}
    values = {"desc": thing.desc, **{k: v for k, v in uses.items() if v}}
    _put("thing", thing.id, values, built, make)
