"""Reads and checks the world's data files: places, exits, things and people.

``map.yaml`` has the rooms and the links between them, ``things.yaml`` the things that can be
carried, ``agents/<name>.md`` the people. :mod:`world.layers` says which folders have them. This
module does not use Evennia, so a world can be checked without a server. :mod:`world.build` builds
it in the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    RootModel,
    StrictBool,
    ValidationInfo,
    field_validator,
    model_validator,
)

from keepsake.errors import ConfigError
from keepsake.prompt.verbs import COMPASS
from world.almanac import STATES, Hours
from world.layers import Layers, checked_layers, pages_in, table_in
from world.source import DataFile, Entry, Text, by_id, known, listed, refused

OPPOSITE = {
    **{"north": "south", "east": "west", "northeast": "southwest", "northwest": "southeast"},
    "up": "down",
}
"""Every direction with its opposite."""
OPPOSITE |= {back: way for way, back in OPPOSITE.items()}
SHORT = {way: short for short, way in COMPASS.items()}
"""The short names of directions, which mappers of game clients know."""


def _states(raw: Any) -> Any:
    """Split words of the almanac at commas."""
    found = raw if isinstance(raw, list) else str(raw or "").split(",")
    return [word.strip() for word in found if word.strip()]


def _check_states(words: list[str]) -> list[str]:
    for word in words:
        if word not in STATES:
            reason = f"it names the time or weather {word!r}, which does not exist"
            raise refused(reason, f"Use one of: {', '.join(sorted(STATES))}")
    return words


def _check_hours(text: str) -> str:
    if text:
        Hours.parse(text)
    return text


def _details(raw: Any) -> dict[str, str]:
    """Return the details that can be looked at: each word with its text."""
    return {
        word.strip().lower(): " ".join(str(text).split())
        for words, text in (raw or {}).items()
        for word in str(words).split(",")
    }


def _check_times(looks: dict[str, str]) -> dict[str, str]:
    _check_states([word for words in looks for word in _states(words)])
    return looks


States = Annotated[list[str], BeforeValidator(_states), AfterValidator(_check_states)]
HoursText = Annotated[str, BeforeValidator(str), AfterValidator(_check_hours)]
"""A stretch of the day, such as ``9-12``."""


class Place(Entry):
    """A room."""

    id: str  # stable short id, never shown
    name: Text  # the title over its description
    alias: Text  # one word for it, as in ``go kettle``
    where: Text = ""  # the place after a verb: ``on the Gorse Path``
    desc: Text  # what a visitor sees
    # details that can be looked at: each word with its text
    details: Annotated[dict[str, str], BeforeValidator(_details)] = Field(default_factory=dict)
    outdoors: StrictBool = False  # whether sky and tide are seen from it
    # additions to the description: words of the almanac such as ``low tide, night``, which must
    # all hold, with a sentence
    looks: Annotated[dict[str, Text], AfterValidator(_check_times)] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Way:
    """One direction of a link, from the room ``source`` to the room ``target``.

    ``closed``: Whether it is hidden until a deed opens it.
    """

    source: str
    direction: str
    target: str
    closed: bool = False

    @property
    def id(self) -> str:
        """Its stable id, such as ``quay:south``."""
        return f"{self.source}:{self.direction}"


class Thing(Entry):
    """Something to carry."""

    id: str  # stable short id, never shown
    name: Text  # without an article
    aliases: tuple[str, ...] = ()  # other words for it
    desc: Text  # its description
    at: known("room or person")  # the room where it is, or the person who has it
    eat: Text = ""  # how it tastes; empty if it cannot be eaten
    drink: Text = ""


class Hour(Entry):
    """An hour of somebody's day: in a room, or with a person."""

    at: HoursText
    place: known("room") = Field("", alias="in")
    person: known("person") = Field("", alias="with")
    when: States = Field(default_factory=list)
    does: Annotated[list[Text], BeforeValidator(listed), Field(min_length=1)]

    @model_validator(mode="after")
    def _is_somewhere(self) -> Hour:
        if bool(self.place) == bool(self.person):
            cure = "Write {at: 9-12, in: quay, does: mends nets}, or 'with: Mira' instead of in"
            raise refused("it must have either 'in' or 'with'", cure)
        return self


class Villager(Entry):
    """An agent, as its file describes it."""

    id: str  # the file's name without its ending
    name: Text  # the agent's name
    home: known("room")
    look: Text  # its description
    aliases: tuple[Text, ...] = ()  # other names that it answers to
    # how often it acts unprompted, 0 to 1
    talkativeness: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(0.5, alias="idle")
    profile: Text  # who it is, in the second person
    known_as: str = ""  # what everybody knows about it
    examples: tuple[str, ...] = ()  # script lines that show its voice
    # its relations to others, by name
    ties: dict[known("person"), str] = Field(default_factory=dict)
    keeps: StrictBool = False  # whether it keeps its home open for guests, as an innkeeper does
    # its activities by hour; the first entry that fits is used
    day: tuple[Hour, ...] = ()

    @field_validator("examples")
    @classmethod
    def _end_in_an_act(cls, examples: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        found = [[line.rstrip() for line in each.strip().splitlines()] for each in examples]
        act = f"~{info.data.get('name', '')}> "
        if info.context and not all(len(e) > 1 and e[-1].startswith(act) for e in found):
            reason = f"an example does not end in the line '{act}…'"
            raise refused(reason, "Write what the agent perceives first, then its own act")
        return tuple("\n".join(each) for each in found)

    def whole_profile(self, people: Iterable[Villager], common: str) -> str:
        """Return the profile with the common knowledge and what the agent knows about others."""
        others = []
        for each in people:
            tie = self.ties.get(each.name, "")
            # A secret is a sentence of its own.
            known = (". " if tie.startswith("(") else "; ").join(filter(None, (each.known_as, tie)))
            others += [f"{each.name}: {known}."] if known and each is not self else []
        relations = [" ".join(["Others you know.", *others])] if others else []
        return "\n".join([self.profile, *filter(None, [common]), *relations])


@dataclass(frozen=True, slots=True)
class Atlas:
    """The whole world, checked.

    ``start`` is the id of the newcomers' room.
    """

    start: str
    places: Mapping[str, Place]
    ways: tuple[Way, ...]
    things: Mapping[str, Thing]
    people: Mapping[str, Villager]


def _link(raw: Any) -> Any:
    if not isinstance(raw, list) or len(raw) != 3:
        raise refused(f"{raw!r} is not [room, direction, room]", "Write [kettle, south, quay]")
    if raw[1] not in OPPOSITE:
        raise refused(f"{raw[1]!r} is not a direction", f"Use one of: {', '.join(OPPOSITE)}")
    return raw


_Link = Annotated[tuple[known("room"), str, known("room")], BeforeValidator(_link)]


class _Map(Entry):
    """The file ``map.yaml``."""

    start: known("room")
    common: str = ""
    rooms: by_id(Place)
    links: tuple[_Link, ...]
    closed: tuple[_Link, ...] = ()

    @property
    def ways(self) -> Iterable[Way]:
        """Both directions of each link."""
        for room, direction, other in (*self.links, *self.closed):
            link = (room, direction, other)
            yield Way(room, direction, other, closed=link in self.closed)
            yield Way(other, OPPOSITE[direction], room)

    @model_validator(mode="after")
    def _has_unique_exits(self) -> _Map:
        """Check that no room has two exits in one direction."""
        by_room: dict[str, dict[str, str]] = {room: {} for room in self.rooms}
        for way in self.ways:
            if by_room[way.source].setdefault(way.direction, way.target) != way.target:
                raise refused(f"{way.source!r} has two exits {way.direction}", "", "links")
        return self


class _Things(RootModel[by_id(Thing)]):
    """The file ``things.yaml``."""


def _ends(link: Any) -> tuple[tuple[str, str], ...]:
    """Return both exits of a link, as a room and a direction each; none if it is no link."""
    match link:
        case [str(room), str(direction), str(other)]:
            return (room, direction), (other, OPPOSITE.get(direction, direction))
    return ()


def read_atlas(layers: Layers | None = None) -> Atlas:
    """Read and check the world.

    Args:
        layers: The folders to read; by default the shipped world, and the own world over it.

    Raises:
        ConfigError: A file is missing, is not YAML, lacks a field, or names something that does
            not exist; with file, line and reason.
    """
    if layers is None:
        layers = checked_layers()
    chart = table_in("map.yaml", layers, tables=("rooms",), replaces=_ends)
    drawn = chart.read(_Map, {"room": chart.data.get("rooms") or ()})
    pages = [DataFile(path) for path in pages_in("agents", layers)]
    if not pages:
        raise ConfigError(layers[0] / "agents", 1, "it has no agents", "Put a <name>.md there")
    names = {
        "room": drawn.rooms,
        "room or person": (*drawn.rooms, *(page.path.stem for page in pages)),
        "person": {page.data.get("name") for page in pages},
    }
    things = table_in("things.yaml", layers).read(_Things, names).root
    people: dict[str, Villager] = {}
    for page in pages:
        about = {"id": page.path.stem, "profile": page.body}
        person = page.read(Villager, names | {"thing": things}, **about)
        if any(other.name.casefold() == person.name.casefold() for other in people.values()):
            raise page.error(["name"], f"a second agent is called {person.name!r}", "Rename one")
        people[person.id] = person
    for person in people.values():
        profile = person.whole_profile(people.values(), drawn.common)
        people[person.id] = person.model_copy(update={"profile": profile})
    return Atlas(drawn.start, drawn.rooms, tuple(drawn.ways), things, people)
