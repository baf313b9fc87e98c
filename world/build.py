"""Puts the world of :mod:`world.atlas` into the game, as often as one likes.

Everything made here carries a tag of category ``keepsake`` with a stable id
(``room:kettle``, ``exit:kettle:north``, ``thing:blue_cup``, ``agent:mira``), and keeps what the
files said of it then (``built``). What is missing is made. What the files say otherwise since is
changed, unless somebody, or a deed, has changed it in the game meanwhile: that stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from evennia.objects.models import ObjectDB
from evennia.utils import create
from evennia.utils.dbserialize import deserialize
from evennia.utils.utils import class_from_module

from keepsake.contrib.evennia.creation import create_agent
from world.atlas import SHORT, Atlas, Person, Place, Thing, Way, read_atlas
from world.deed.effects import unlock
from world.deed.progress import WorldDeed, install
from world.deed_files import read_deeds
from world.tags import TAG_CATEGORY, find

_GARMENT = "typeclasses.goods.Garment"
_CONTAINER = "evennia.contrib.game_systems.containers.containers.ContribContainer"
_LIMBO = 2  # Evennia's own first room, where START_LOCATION points
_BUILT = "built"
_AREA = "area"


@dataclass(slots=True)
class Built:
    """What one run did, as ids such as ``room:kettle``; empty when all was as the files say."""

    made: list[str] = field(default_factory=list)  # what was missing
    # what the files say otherwise now, as ``room:kettle desc``
    changed: list[str] = field(default_factory=list)
    # what the files say otherwise, and was changed in the game
    kept: list[str] = field(default_factory=list)


def build_world(atlas: Atlas | None = None, deeds: Mapping[str, WorldDeed] | None = None) -> Built:
    """Make every room, way, agent and thing that is missing, and bring the others up to date.

    Args:
        atlas: The world to build; the one in this folder if not given.
        deeds: What can be done in it; for the world in this folder, those of this folder.

    Raises:
        ConfigError: A data file is wrong; nothing has been made then.
    """
    if atlas is None:
        atlas = read_atlas()
        deeds = read_deeds(atlas) if deeds is None else deeds
    built = Built()
    for place in atlas.places.values():
        _build_place(place, built, is_start=place.id == atlas.start)
    _name_area(atlas)
    for way in atlas.ways:
        _build_way(way, atlas, built)
    for person in atlas.people.values():
        _build_person(person, built)
    for thing in atlas.things.values():
        _build_thing(thing, atlas, built)
    install(deeds or {})
    return built


def open_world() -> None:
    """What a server needs of the files when it starts: nothing is made, and nothing changed.

    The deeds are there, and rooms and agents of a world that an earlier version built get what
    that did not know of. What a builder has set stays, false as well.

    Raises:
        ConfigError: A data file is wrong.
    """
    atlas = read_atlas()
    for place in atlas.places.values():
        _add_missing(find("room", place.id), _of_place(place))
    _name_area(atlas)
    for person in atlas.people.values():
        _add_missing(find("agent", person.id), _of_person(person))
    install(read_deeds(atlas))


def _add_missing(obj: ObjectDB | None, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if obj is not None and not obj.attributes.has(name):
            obj.attributes.add(name, value)


def _put(
    kind: str,
    key: str,
    values: dict[str, Any],
    built: Built,
    make: Callable[[], ObjectDB],
) -> ObjectDB:
    """The object of that id with these attributes, made if it is missing."""
    obj = find(kind, key)
    if obj is None:
        obj = make()
        obj.tags.add(f"{kind}:{key}", category=TAG_CATEGORY)
        built.made.append(f"{kind}:{key}")
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
            built.changed.append(f"{kind}:{key} {name}")
        else:
            built.kept.append(f"{kind}:{key} {name}")
    if before != obj.attributes.get(_BUILT):
        obj.attributes.add(_BUILT, before)
    return obj


def _of_place(place: Place) -> dict[str, Any]:
    return {
        "desc": place.desc,
        "details": dict(place.details),
        "outdoors": place.outdoors,
        "looks": dict(place.looks),
    }


def _build_place(place: Place, built: Built, *, is_start: bool) -> None:
    def make() -> ObjectDB:
        room = (_limbo() if is_start else None) or create.create_object(
            settings.BASE_ROOM_TYPECLASS, key=place.name
        )
        room.key = place.name
        room.aliases.add(place.alias)
        return room

    _put("room", place.id, _of_place(place), built, make)


def _name_area(atlas: Atlas) -> None:
    """Tag the rooms with the world's name, but for those that a builder has put elsewhere."""
    for place in atlas.places if atlas.area else ():
        room = find("room", place)
        if room is not None and not room.tags.get(category=_AREA):
            room.tags.add(atlas.area, category=_AREA, data=atlas.area)  # a tag's own key is lower


def _limbo() -> ObjectDB | None:
    """Evennia's first room while it is still unused; newcomers already start there."""
    limbo = ObjectDB.objects.filter(id=_LIMBO).first()
    room_class = class_from_module(settings.BASE_ROOM_TYPECLASS)
    unused = isinstance(limbo, room_class) and not limbo.tags.get(category=TAG_CATEGORY)
    return limbo if unused else None


def _build_way(way: Way, atlas: Atlas, built: Built) -> None:
    if find("exit", way.id):
        return
    exit_ = create.create_object(
        settings.BASE_EXIT_TYPECLASS,
        key=way.direction,
        aliases=[SHORT[way.direction], atlas.places[way.target].alias],
        location=find("room", way.source),
        destination=find("room", way.target),
    )
    exit_.tags.add(f"exit:{way.id}", category=TAG_CATEGORY)
    built.made.append(f"exit:{way.id}")
    if way.closed:
        unlock(way.id, opened=False)


def _of_person(person: Person) -> dict[str, Any]:
    return {
        "profile": person.whole_profile,
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


def _build_person(person: Person, built: Built) -> None:
    def make() -> ObjectDB:
        home = find("room", person.home)
        return create_agent(person.name, location=home, home=home, profile=person.whole_profile)

    _put("agent", person.id, _of_person(person), built, make)


def _build_thing(thing: Thing, atlas: Atlas, built: Built) -> None:
    owner = atlas.people.get(thing.at)
    typeclass = _GARMENT if thing.wear else _CONTAINER if thing.holds else None

    def make() -> ObjectDB:
        home = find("room", owner.home if owner else thing.at)
        return create.create_object(
            typeclass or settings.BASE_OBJECT_TYPECLASS,
            key=thing.name,
            aliases=list(thing.aliases),
            location=find("agent", thing.at) if owner else home,
            home=home,
        )

    loved_by = [p.name for p in atlas.people.values() if thing.id in p.loves]
    uses = {"eat": thing.eat, "drink": thing.drink, "clothing_type": thing.wear}
    values = {"desc": thing.desc, "loved_by": loved_by, **{k: v for k, v in uses.items() if v}}
    if thing.holds:
        values["capacity"] = thing.holds
    _put("thing", thing.id, values, built, make)
