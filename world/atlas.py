"""Reads the world's data files and refuses what does not fit together.

``map.yaml`` holds the rooms and the links between them, ``things.yaml`` what can
be carried, ``agents/<name>.md`` the people. Nothing here touches Evennia, so a
world can be checked without a server; :mod:`world.build` puts it into the game.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keepsake.agent.almanac import STATES, Hours
from keepsake.errors import ConfigError
from keepsake.prompt.verbs import COMPASS
from world.source import DataFile, flag, number

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


@dataclass(frozen=True, slots=True)
class Place:
    """A room."""

    id: str  # stable short id, never shown
    name: str  # the title over its description
    alias: str  # one word that stands for it, as in ``go kettle``
    desc: str  # what a visitor sees
    details: Mapping[str, str]  # what can be looked at there: each word, with its text
    outdoors: bool = False  # whether sky and tide are seen from it
    # what is seen as well at some times: words of the almanac such as ``low tide, night``, all of
    # which must hold, with a sentence
    looks: Mapping[str, str] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True)
class Thing:
    """Something to carry.

    eat, drink: What one tastes; empty for what is nothing to eat or drink.
    wear: Which of Evennia's types of clothes it is, such as ``hat``; empty for none.
    holds: How many things fit into it.
    """

    id: str  # stable short id, never shown
    name: str  # as it is called, without an article
    aliases: tuple[str, ...]  # other words for it
    desc: str  # what one sees who looks at it
    at: str  # the id of a room, or of the person who has it
    eat: str = ""
    drink: str = ""
    wear: str = ""
    holds: int = 0


@dataclass(frozen=True, slots=True)
class Person:
    """An agent as the world's author wrote it."""

    id: str  # the file's name without its ending
    name: str  # the agent's name
    home: str  # the id of its room
    look: str  # what others see who look at it
    talkativeness: float  # how often it does something unasked, 0 to 1
    profile: str  # who it is, in the second person
    examples: tuple[str, ...]  # script lines that show its voice
    loves: tuple[str, ...]  # ids of things that matter to it
    ties: Mapping[str, str]  # what the others are to it, by name, in the second person
    keeps: bool = False  # whether it keeps its home open for guests, as an innkeeper does
    # what it does at which hour, the first that fits; see :func:`_day`
    day: tuple[Mapping[str, Any], ...] = ()

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
    places = {key: _place(chart, key, raw) for key, raw in chart.table("rooms").items()}
    ways = tuple(_ways(chart, places))
    start = chart.known("start", chart.data.get("start"), places, "room")
    _check_walk(chart, start, places, ways)
    people = _people(folder / "agents", places)
    goods = DataFile(folder / "things.yaml")
    holders = {*places, *people}
    things = {key: _thing(goods, key, raw, holders) for key, raw in goods.data.items()}
    _check_bonds(folder / "agents", people, things)
    area = chart.text_of(chart.data, "area", "area") if "area" in chart.data else ""
    return Atlas(start, places, ways, things, people, area)


def _place(source: DataFile, key: str, raw: Any) -> Place:
    details: dict[str, str] = {}
    for words, text in (raw.get("details") or {}).items() if isinstance(raw, dict) else ():
        for word in str(words).split(","):
            details[word.strip().lower()] = " ".join(str(text).split())
    return Place(
        id=key,
        name=source.text_of(raw, key, "name"),
        alias=source.text_of(raw, key, "alias"),
        desc=source.text_of(raw, key, "desc"),
        details=details,
        outdoors=raw.get("outdoors") is True,
        looks=_looks(source, key, raw.get("looks") or {}),
    )


def _looks(source: DataFile, key: str, raw: Any) -> dict[str, str]:
    """What is seen at some times alone, by words of the almanac."""
    if not isinstance(raw, dict):
        raise source.error("looks:", f"'looks' of {key!r} must be a table of times and sentences")
    for words in raw:
        states_of(source, f"looks of {key}", words)
    return {str(words): source.text_of(raw, str(words), words) for words in raw}


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


def _thing(source: DataFile, key: str, raw: Any, holders: Iterable[str]) -> Thing:
    return Thing(
        id=key,
        name=source.text_of(raw, key, "name"),
        aliases=source.words(raw, key, "aliases"),
        desc=source.text_of(raw, key, "desc"),
        at=source.known(key, raw.get("at"), holders, "room or person"),
        holds=_count(source, key, raw.get("holds", 0)),
        **{use: source.text_of(raw, key, use) for use in ("eat", "drink", "wear") if use in raw},
    )


def _count(source: DataFile, key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 100:
        raise source.error(f"{key}:", f"'holds' of {key!r} is {value!r}", "Use 0 to 100")
    return value


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
    name = source.text_of(source.data, "name", "name")
    profile = " ".join(source.body.split())
    if not profile:
        raise source.error("", "it has no profile", "Write who the agent is under the front matter")
    return Person(
        id=path.stem,
        name=name,
        home=source.known("home", source.data.get("home"), places, "room"),
        look=source.text_of(source.data, "look", "look"),
        talkativeness=float(number(source.error, "idle", source.data.get("idle", 0.5), 0, 1)),
        profile=profile,
        examples=tuple(_example(source, name, raw) for raw in source.data.get("examples") or ()),
        loves=source.words(source.data, name, "loves"),
        ties=dict(source.data.get("ties") or {}),
        keeps=flag(source.error, "keeps", source.data.get("keeps", False)),
        day=tuple(_day(source, places)),
    )


def _day(source: DataFile, places: Mapping[str, Place]) -> Iterable[Mapping[str, Any]]:
    """The hours of a day: ``at``, ``in`` (a room) or ``with`` (a person), ``does``, ``when``."""
    entries = source.data.get("day") or []
    if not isinstance(entries, list):
        raise source.error("day:", "'day' must be a list of hours")
    for raw in entries:
        near = str(raw.get("at", "day:")) if isinstance(raw, dict) else str(raw)
        if not isinstance(raw, dict) or set(raw) - _OF_AN_HOUR or ("in" in raw) == ("with" in raw):
            cure = "Write {at: 9-12, in: quay, does: mends nets}, or 'with' a person in place of in"
            raise source.error(near, f"{raw!r} is no hour of a day", cure)
        yield {
            "at": hours_of(source, raw.get("at")),
            "in": source.known(near, raw["in"], places, "room") if "in" in raw else "",
            "with": str(raw.get("with", "")),
            "when": states_of(source, near, raw.get("when")),
            "does": list(one_or_more(source, near, raw.get("does"))),
        }


_OF_AN_HOUR = {"at", "in", "with", "when", "does"}


def hours_of(source: DataFile, text: Any) -> str:
    """A stretch of the day, such as ``9-12``."""
    try:
        Hours.parse(str(text))
    except ValueError as error:
        raise source.error(str(text), str(error), "Write 'at: 9-12', or 'at: 18:30-2'") from None
    return str(text)


def states_of(source: DataFile, near: str, words: Any) -> list[str]:
    """Words of the almanac, parted by commas; none where there are none."""
    found = [word.strip() for word in str(words or "").split(",") if word.strip()]
    return [source.known(near, word, STATES, "time or weather") for word in found]


def one_or_more(source: DataFile, near: str, raw: Any) -> tuple[str, ...]:
    """A text, or a list of texts that take turns."""
    texts = raw if isinstance(raw, list) else [raw]
    if not texts or not all(isinstance(each, str) and each.strip() for each in texts):
        raise source.error(near, f"{raw!r} is neither a text nor a list of texts")
    return tuple(" ".join(each.split()) for each in texts)


def _example(source: DataFile, name: str, raw: Any) -> str:
    lines = str(raw).strip().splitlines()
    if len(lines) < 2 or not lines[-1].startswith(f"~{name}> "):
        raise source.error(
            lines[0] if lines else "examples",
            f"an example does not end in the line '~{name}> …'",
            "Write what is perceived first, then the agent's own act",
        )
    return "\n".join(line.rstrip() for line in lines)


def _check_bonds(folder: Path, people: Mapping[str, Person], things: Mapping[str, Thing]) -> None:
    """What people love exists, and whom they know lives here."""
    names = {person.name for person in people.values()}
    for person in people.values():
        source = DataFile(folder / f"{person.id}.md")
        for thing in person.loves:
            source.known("loves", thing, things, "thing")
        for other in (*person.ties, *(each["with"] for each in person.day if each["with"])):
            source.known("ties", other, names - {person.name}, "person")
