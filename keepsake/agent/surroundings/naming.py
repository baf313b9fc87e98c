"""The names by which an agent knows people, things and places."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from keepsake.agent.body import Body
from keepsake.agent.surroundings.game_objects import CharacterObject, GameObject, RoomObject
from keepsake.language.perception import plain_line

SHORTEST_NICKNAME = 3
"""The fewest letters of an alias that is a name. Shorter ones save typing, and are in any talk."""


def name_of(somebody: GameObject, agent: GameObject) -> str:
    """Return the name by which the agent, or a player, knows somebody or a thing; without colours.

    It is the name that a player in the agent's place would see and type: ``Tom``, or ``a tall man``
    in a game with short descriptions. It may change; see ``identity_of``.
    """
    return plain_name(str(somebody.get_display_name(looker=agent))) or plain_name(str(somebody.key))


def names_of(objects: Iterable[GameObject], agent: Body) -> tuple[str, ...]:
    """Return the names by which the agent knows people or things, without duplicates."""
    return tuple(dict.fromkeys(name_of(each, agent) for each in objects))


def spellings_of(thing: GameObject, agent: Body) -> tuple[str, ...]:
    """Return all names of a thing: the one that the agent knows, and those of the game."""
    return tuple(dict.fromkeys((name_of(thing, agent), str(thing.key), *nicknames(thing))))


def names_heard_for(somebody: CharacterObject, agent: Body) -> tuple[str, ...]:
    """Return all names by which an agent may hear of somebody."""
    return (name_of(somebody, agent), *nicknames(somebody))


def nicknames(somebody: GameObject) -> list[str]:
    """Return the other names of somebody or a thing: the aliases in the game."""
    return [each for each in map(str, somebody.aliases.all()) if len(each) >= SHORTEST_NICKNAME]


def place_of(character: CharacterObject) -> str:
    """Return the name of the character's room, without colour codes; empty if it is in none."""
    return name_of_place(character.location)


def name_of_place(place: RoomObject | None) -> str:
    """Return the name of a room, without colour codes; empty for None."""
    return plain_name(str(place.key)) if place is not None else ""


@lru_cache(maxsize=4096)  # called for everybody near, many times per thought
def plain_name(name: str) -> str:
    """Return a name on one line, without colour codes."""
    return plain_line(name)
