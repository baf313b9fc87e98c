"""Which places an agent can walk to, and the way there."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from keepsake.agent.body import Body
from keepsake.agent.surroundings.game_objects import CharacterObject, ExitObject, RoomObject
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import name_of
from keepsake.happening import Person
from keepsake.prompt.verbs import find_named

type Route = list[ExitObject]
"""The exits to pass, in order; none for the room where one is."""

MOST_ROOMS = 200
"""Rooms that a route search visits at most. An agent without a route home is moved there."""


def route_to(agent: Body, goal: RoomObject | None) -> Route | None:
    """Return the shortest route to a room through exits that the agent may pass; else None."""
    return next((ways for room, ways in routes_from(agent) if room is goal), None)


def routes_from(agent: Body) -> Iterator[tuple[RoomObject, Route]]:
    """Yield rooms, the nearest first, each with the shortest route there; at most MOST_ROOMS."""
    start = agent.location
    if start is None:
        return
    ways: dict[RoomObject, Route] = {start: []}
    ahead = deque([start])
    while ahead:
        room = ahead.popleft()
        yield room, ways[room]
        for way in room.exits:
            there = way.destination
            if there is None or there in ways or len(ways) >= MOST_ROOMS:
                continue
            if way.access(agent, "traverse"):
                ways[there] = [*ways[room], way]
                ahead.append(there)


def place_names(agent: Body) -> frozenset[str]:
    """Return the names of the places that the agent can walk to."""
    return frozenset(name_of(room, agent) for room, _ in routes_from(agent))


def persons_in_reach(agent: Body) -> tuple[Person, ...]:
    """Return everybody to whom the agent can walk, the nearest first, as it knows them."""
    return tuple(
        Person(name_of(each, agent), identity_of(each))
        for room, _ in routes_from(agent)
        for each in room.contents_get(content_type="character")
        if each is not agent
    )


class Goal(NamedTuple):
    """Where an agent wants to walk.

    Attributes:
        room: The room; that of the person, if one is meant.
        ways: The exits to pass.
        person: Who is meant; None for a place.
    """

    room: RoomObject
    ways: Route
    person: CharacterObject | None = None

    def is_reached_by(self, agent: Body) -> bool:
        """Return whether the agent is there, or with the person, who may have moved."""
        room = self.room if self.person is None else self.person.location
        return agent.location is room


def find_goal(agent: Body, words: str) -> Goal | None:
    """Return the place or person that words name, and the way there.

    Args:
        words: ``the Quay``, ``Oswin``.

    Returns:
        The goal; None if the agent knows no way to such a place or person.
    """
    routes = list(routes_from(agent))
    rooms = {name_of(room, agent): Goal(room, ways) for room, ways in reversed(routes)}
    if (name := find_named(words, tuple(rooms))) is not None:
        return rooms[name]
    people = {
        name_of(each, agent): Goal(room, ways, each)
        for room, ways in reversed(routes)
        for each in room.contents_get(content_type="character")
        if each is not agent
    }
    found = find_named(words, tuple(people))
    return people[found] if found is not None else None
