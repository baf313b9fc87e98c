"""The conditions of a deed's step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from keepsake.agent.surroundings import people_near, players_near
from keepsake.archive.privacy import WHISPER
from keepsake.archive.records import POSE
from world.almanac import Almanac
from world.deed.progress import progress, records, standing
from world.tags import find, id_of


@dataclass
class DeedScene:
    """What a player has done just now, and what is around them."""

    player: Any  # who did it
    said: str  # the words that they spoke; empty if they did not
    to: Any  # to whom; None for all in the room
    how: str  # ``say``, ``whisper`` where nobody else heard it, ``pose`` where it was only played
    now: Almanac  # the moment
    place: str = ""  # the id of the room; empty for one of no file
    people: dict[str, Any] = field(default_factory=dict)  # the agents here that are awake, by id
    # other players who have a part in it: those here, and those a condition found
    partners: list[Any] = field(default_factory=list)
    last: datetime | None = None  # when the player did the step before

    def __post_init__(self) -> None:
        self.place = id_of(self.player.location)
        near = people_near(self.player)
        self.people = {id_of(p): p for p in near if p.is_agent and not p.is_asleep}
        self.others = [each for each in players_near(self.player) if not each.is_agent]

    def has(self, holder: Any, thing: str) -> list[Any]:
        """The things of that id that somebody carries."""
        return [each for each in holder.contents if id_of(each) == thing]


def _at(scene: DeedScene, places: tuple[str, ...]) -> bool:
    return scene.place in places


def _carry(scene: DeedScene, things: tuple[str, ...]) -> bool:
    return all(scene.has(scene.player, thing) for thing in things)


def _give(scene: DeedScene, gifts: Mapping[str, str]) -> bool:
    return all(
        person in scene.people
        and any(t.db.given_by == scene.player.id for t in scene.has(scene.people[person], thing))
        for thing, person in gifts.items()
    )


def _told(scene: DeedScene, person: str) -> bool:
    listener = scene.people.get(person)
    heard = listener is not None and scene.to in (None, listener)
    return heard and bool(scene.said) and scene.how != POSE


def _players(scene: DeedScene, number: int) -> bool:
    scene.partners += scene.others
    return len(scene.others) >= number - 1


def _elsewhere(scene: DeedScene, place: str) -> bool:
    room = find("room", place)
    there = room.contents_get(content_type="character") if room is not None else []
    found = [p for p in there if p.has_account and not p.is_agent and p is not scene.player]
    scene.partners += found
    return bool(found)


def _done(scene: DeedScene, ends: tuple[tuple[str, str], ...]) -> bool:
    mine = progress(scene.player)
    return all(_reached(mine.get(deed, {}).get("end", ""), end) for deed, end in ends)


def _village(scene: DeedScene, ends: tuple[tuple[str, str], ...]) -> bool:
    world = records()
    return all(_reached(world.get(deed, {}).get("end", ""), end) for deed, end in ends)


def _reached(reached: str, wanted: str) -> bool:
    return reached == wanted if wanted else bool(reached)


def _known(scene: DeedScene, least: Mapping[str, int]) -> bool:
    return all(standing(scene.player, person) >= value for person, value in least.items())


def _waited(scene: DeedScene, hours: float) -> bool:
    return scene.last is not None and scene.now.moment - scene.last >= timedelta(hours=hours)


CONDITIONS: dict[str, Callable[[DeedScene, Any], bool]] = {
    "at": _at,
    "near": lambda scene, people: all(each in scene.people for each in people),
    "without": lambda scene, people: not any(each in scene.people for each in people),
    "carry": _carry,
    "give": _give,
    "tell": _told,
    "words": lambda scene, words: all(each.search(scene.said) for each in words),
    "unless": lambda scene, words: not any(each.search(scene.said) for each in words),
    "whisper": lambda scene, wanted: (scene.how == WHISPER) == wanted,
    "sky": lambda scene, states: scene.now.states.issuperset(states),
    "hours": lambda scene, hours: scene.now.moment in hours,
    "players": _players,
    "elsewhere": _elsewhere,
    "done": _done,
    "village": _village,
    "standing": _known,
    "wait": _waited,
}
"""By the name that a file gives it, whether a condition holds."""
