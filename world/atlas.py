"""Reads the world's data files and refuses what does not fit together.

``map.yaml`` holds the rooms and the links between them, ``things.yaml`` what can
be carried, ``agents/<name>.md`` the people. Nothing here touches Evennia, so a
world can be checked without a server; :mod:`world.build` puts it into the game.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    StrictBool,
    ValidationInfo,
    field_validator,
)

from keepsake.errors import ConfigError
from keepsake.prompt.verbs import COMPASS
from world.almanac import STATES, Hours
from world.source import DataFile, Entry, Text, Texts, known, listed, refused

FOLDER = Path(__file__).resolve().parent

_COMPASS = (
    ("north", "south", (0, 1, 0)),
    ("east", "west", (1, 0, 0)),
    ("northeast", "southwest", (1, 1, 0)),
    ("northwest", "southeast", (-1, 1, 0)),
    ("up", "down", (0, 0, 1)),
)
OPPOSITE = {way: back for way, back, _ in _COMPASS}
"""Every direction, and the way back."""
OPPOSITE |= {back: way for way, back in OPPOSITE.items()}
SHORT = {way: short for short, way in COMPASS.items()}
_STEP = {way: step for way, *_, step in _COMPASS}
_STEP |= {OPPOSITE[way]: (-x, -y, -z) for way, (x, y, z) in _STEP.items()}


@dataclass(frozen=True)
class _AtlasNames:
    """What a file may name; the context of the models."""

    rooms: Collection[str]
    people: Collection[str] = ()

    def ids(self, kind: str) -> Collection[str]:
        """All that something of that kind may be called."""
        return {
            "room": self.rooms,
            "room or person": (*self.rooms, *self.people),
            "time or weather": tuple(STATES),
        }[kind]


def _states(raw: Any) -> Any:
    """Words of the almanac, parted by commas."""
    found = raw if isinstance(raw, list) else str(raw or "").split(",")
    return [word.strip() for word in found if word.strip()]


def _hours(raw: Any) -> str:
    """A stretch of the day, such as ``9-12``."""
    Hours.parse(str(raw))
    return str(raw)


def _details(raw: Any) -> dict[str, str]:
    """What can be looked at: each word, with its text."""
    return {
        word.strip().lower(): " ".join(str(text).split())
        for words, text in (raw or {}).items()
        for word in str(words).split(",")
    }


States = Annotated[list[known("time or weather")], BeforeValidator(_states)]
HoursText = Annotated[str, PlainValidator(_hours)]


def _of_times(looks: dict[str, str]) -> dict[str, str]:
    for word in (word for words in looks for word in _states(words)):
        if word not in STATES:
            reason = f"it names the time or weather {word!r}, which does not exist"
            raise refused(reason, f"Use one of: {', '.join(sorted(STATES))}", word)
    return looks


class Place(Entry):
    """A room."""

    id: str  # stable short id, never shown
    name: Text  # the title over its description
    alias: Text  # one word that stands for it, as in ``go kettle``
    desc: Text  # what a visitor sees
    # what can be looked at there: each word, with its text
    details: Annotated[dict[str, str], BeforeValidator(_details)] = Field(default_factory=dict)
    outdoors: StrictBool = False  # whether sky and tide are seen from it
    # what is seen as well at some times: words of the almanac such as ``low tide, night``, all of
    # which must hold, with a sentence
    looks: Annotated[dict[str, Text], AfterValidator(_of_times)] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Way:
    """One direction of a link, from the room ``source`` to the room ``target``.

    ``closed``: Nobody sees it until a deed opens it.
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
    name: Text  # as it is called, without an article
    aliases: Texts = ()  # other words for it
    desc: Text  # what one sees who looks at it
    at: known("room or person")  # where it is, or who has it
    eat: Text = ""  # what one tastes; empty for what is nothing to eat
    drink: Text = ""
    wear: Text = ""  # which of Evennia's types of clothes it is, such as ``hat``
    holds: Annotated[int, Field(strict=True, ge=0, le=100)] = 0  # how many things fit into it


class Hour(Entry):
    """An hour of somebody's day: in a room, or with a person."""

    at: HoursText
    place: known("room") = Field("", alias="in")
    person: str = Field("", alias="with")
    when: States = Field(default_factory=list)
    does: Annotated[list[Text], BeforeValidator(listed), Field(min_length=1)]


def _day(raw: Any) -> Any:
    if not isinstance(raw, list | tuple):
        raise refused("'day' must be a list of hours", "", "day:")
    for each in raw:
        keys = set(each) if isinstance(each, dict) else set()
        if keys - {"at", "in", "with", "when", "does"} or ("in" in keys) == ("with" in keys):
            cure = "Write {at: 9-12, in: quay, does: mends nets}, or 'with' a person in place of in"
            near = str(each.get("at", "day:")) if keys else str(each)
            raise refused(f"{each!r} is no hour of a day", cure, near)
    return raw


class Person(Entry):
    """An agent as the world's author wrote it."""

    id: str  # the file's name without its ending
    name: Text  # the agent's name
    home: known("room")
    look: Text  # what others see who look at it
    # how often it does something unasked, 0 to 1
    talkativeness: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(0.5, alias="idle")
    profile: str  # who it is, in the second person
    examples: tuple[str, ...] = ()  # script lines that show its voice
    loves: Texts = ()  # ids of things that matter to it
    ties: dict[str, str] = Field(default_factory=dict)  # what the others are to it, by name
    keeps: StrictBool = False  # whether it keeps its home open for guests, as an innkeeper does
    # what it does at which hour, the first that fits
    day: Annotated[tuple[Hour, ...], BeforeValidator(_day)] = ()

    @field_validator("examples")
    @classmethod
    def _end_in_an_act(cls, examples: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        name = info.data.get("name", "")
        for lines in (each.strip().splitlines() for each in examples):
            if info.context and (len(lines) < 2 or not lines[-1].startswith(f"~{name}> ")):
                cure = "Write what is perceived first, then the agent's own act"
                reason = f"an example does not end in the line '~{name}> …'"
                raise refused(reason, cure, lines[0] if lines else "examples")
        return tuple(
            "\n".join(line.rstrip() for line in each.strip().splitlines()) for each in examples
        )

    @property
    def whole_profile(self) -> str:
        """The profile, with what the agent knows of the others after it."""
        told = " ".join(f"{name}: {tie}." for name, tie in self.ties.items())
        return f"{self.profile}\nOthers you know. {told}" if told else self.profile


@dataclass(frozen=True, slots=True)
class Atlas:
    """The whole world, checked.

    ``start`` is the id of the newcomers' room, ``area`` what all of it is called.
    """

    start: str
    places: Mapping[str, Place]
    ways: tuple[Way, ...]
    things: Mapping[str, Thing]
    people: Mapping[str, Person]
    area: str = ""

    @property
    def closed(self) -> list[str]:
        """The ids of the ways that only a deed opens."""
        return [way.id for way in self.ways if way.closed]


def read_atlas(folder: Path = FOLDER) -> Atlas:
    """Read and check the world under ``folder``.

    Raises:
        ConfigError: A file is missing, is no YAML, lacks a field, or names
            something that does not exist; with file, line and reason.
    """
    chart = DataFile(folder / "map.yaml")
    places = _entries(chart, Place, chart.table("rooms"), _AtlasNames(()))
    ways = tuple(_ways(chart, places))
    start = chart.known("start", chart.data.get("start"), places, "room")
    _check_walk(chart, start, places, ways)
    people = _people(folder / "agents", places)
    goods = DataFile(folder / "things.yaml")
    things = _entries(goods, Thing, goods.data, _AtlasNames(places, people))
    _check_bonds(folder / "agents", people, things)
    return Atlas(start, places, ways, things, people, str(chart.data.get("area", "")))


def _entries[E: Entry](
    source: DataFile, form: type[E], table: Mapping[str, Any], names: _AtlasNames
) -> dict[str, E]:
    """The entries of a table, by their ids."""
    found: dict[str, E] = {}
    for key, raw in table.items():
        source.section = key
        fields = raw if isinstance(raw, dict) else {}
        found[key] = source.validated(form, {"id": key, **fields}, "a field of it", names)
    source.section = ""
    return found


def _ways(source: DataFile, places: Mapping[str, Place]) -> Iterable[Way]:
    taken: set[tuple[str, str]] = set()
    links = [*(source.data.get("links") or ()), *(hidden := source.data.get("closed") or [])]
    for link in links:
        if not isinstance(link, list) or len(link) != 3:
            raise source.error("links:", f"{link!r} is not [room, direction, room]")
        near = f"[{', '.join(str(part) for part in link)}]"
        room, direction, other = link
        for end in (room, other):
            source.known(near, end, places, "room")
        if direction not in OPPOSITE:
            raise source.error(near, f"{direction!r} is no direction", f"Use one of {_ALL_WAYS}")
        there = Way(room, direction, other, closed=link in hidden)
        for way in (there, Way(other, OPPOSITE[direction], room)):
            if (way.source, way.direction) in taken:
                raise source.error(near, f"{way.source!r} has two ways {way.direction}")
            taken.add((way.source, way.direction))
            yield way


_ALL_WAYS = ", ".join(OPPOSITE)


def _check_walk(
    source: DataFile, start: str, places: Mapping[str, Place], ways: Iterable[Way]
) -> None:
    """Walk everywhere from ``start``: all is reachable, and the compass agrees."""
    by_room: dict[str, list[Way]] = {key: [] for key in places}
    for way in ways:
        by_room[way.source].append(way)
    at, queue = {start: (0, 0, 0)}, deque([start])
    while queue:
        for way in by_room[queue.popleft()]:
            here, step = at[way.source], _STEP[way.direction]
            there = (here[0] + step[0], here[1] + step[1], here[2] + step[2])
            if way.target not in at:
                at[way.target] = there
                queue.append(way.target)
            elif at[way.target] != there:
                raise source.error(
                    f"[{way.source}", f"{way.direction} of {way.source!r} is not {way.target!r}"
                )
    if lost := sorted(set(places) - set(at)):
        raise source.error(f"{lost[0]}:", f"no way leads to {lost[0]!r}", "Add it to links")
    _check_overlap(source, at)


def _check_overlap(source: DataFile, at: Mapping[str, tuple[int, int, int]]) -> None:
    rooms: dict[tuple[int, int, int], str] = {}
    for room, spot in at.items():
        other = rooms.setdefault(spot, room)
        if other != room:
            raise source.error(f"{room}:", f"{room!r} stands on the spot of {other!r}")


def _people(folder: Path, places: Mapping[str, Place]) -> dict[str, Person]:
    people: dict[str, Person] = {}
    for path in sorted(folder.glob("*.md")):
        person = _person(path, places)
        if any(other.name.casefold() == person.name.casefold() for other in people.values()):
            raise ConfigError(path, 1, f"a second agent is called {person.name!r}", "Rename one")
        people[person.id] = person
    if not people:
        raise ConfigError(folder, 1, "it holds no agent", "Put one <name>.md a person there")
    return people


def _person(path: Path, places: Mapping[str, Place]) -> Person:
    source = DataFile(path)
    profile = " ".join(source.body.split())
    if not profile:
        raise source.error("", "it has no profile", "Write who the agent is under the front matter")
    raw = {"id": path.stem, "profile": profile, **source.data}
    return source.validated(Person, raw, "a field of an agent", _AtlasNames(places))


def _check_bonds(folder: Path, people: Mapping[str, Person], things: Mapping[str, Thing]) -> None:
    """What people love exists, and whom they know lives here."""
    names = {person.name for person in people.values()}
    for person in people.values():
        source = DataFile(folder / f"{person.id}.md")
        for thing in person.loves:
            source.known("loves", thing, things, "thing")
        for other in (*person.ties, *(each.person for each in person.day if each.person)):
            source.known("ties", other, names - {person.name}, "person")
