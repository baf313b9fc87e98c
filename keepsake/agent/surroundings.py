"""The surroundings of a character: people, things, exits, routes; and who is addressed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from keepsake.agent.attention import EventKind, Impulse
from keepsake.agent.body import Body as Body  # noqa: PLC0414 - others import it from here
from keepsake.agent.body import FindBody
from keepsake.language.perception import names
from keepsake.prompt.verbs import Options


@dataclass(frozen=True, slots=True)
class AgentRef:
    """A reference to an agent: its number, name and folder, and how to find its object."""

    number: int  # the agent's database number
    name: str  # its name
    folder: Path  # ``vault/agents/<name>``
    body: FindBody  # returns the agent's object
    names: Callable[[], frozenset[str]]  # of all people and places; fast, for the reactor thread


_SPEECH = frozenset({"say", "talk", "whisper", "pose", "shout"})
_ALOUD = ("say", "shout")


def is_agent(somebody: Any) -> bool:
    """Return whether this is a Keepsake agent; characters of other classes are not."""
    return bool(getattr(somebody, "is_agent", False))


def people_near(character: Any) -> list[Any]:
    """Return the other characters in the same room, players and agents."""
    if character.location is None:
        return []
    here = character.location.contents_get(content_type="character")
    return [person for person in here if person is not character]


def players_near(character: Any) -> list[Any]:
    """Return the other characters in the same room that a player controls."""
    return [person for person in people_near(character) if person.has_account]


def options_of(agent: Body, *, stays: bool) -> Options:
    """Return the people, things and exits that the agent's verbs can name."""
    place = agent.location
    ways = [way for way in place.exits if way.access(agent, "view")] if place is not None else []
    things = place.contents_get(content_type="object") if place is not None else ()
    details = dict(place.db.details or {}) if place is not None else {}
    first_names = {text: name for name, text in reversed(details.items())}.values()
    leads = ((str(way.key), getattr(way.destination, "key", "")) for way in ways)
    return Options(
        exits=keys_of(way for way in ways if way.access(agent, "traverse")),
        people=keys_of(people_near(agent)),
        things=(*keys_of(things), *map(str, reversed(first_names)), *map(str, details)),
        lying=keys_of(thing for thing in things if thing.access(agent, "get")),
        carried=keys_of(agent.contents),
        ways={way: f"{way} to {there}" if there else way for way, there in leads},
        stays=stays,
    )


def keys_of(objects: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of people or things, without duplicates."""
    return tuple(dict.fromkeys(str(each.key) for each in objects))


def place_of(character: Any) -> str:
    """Return the name of the character's room; empty if it is in none."""
    return str(character.location.key) if character.location else ""


def show(
    agent: Body, text: str, kind: str, *, hidden_from: tuple[Any, ...] = (), **facts: Any
) -> None:
    """Show a line to everybody in the agent's room, except to itself and ``hidden_from``."""
    if agent.location is not None:
        # Evennia formats the message as a template, so the text is passed as a value.
        agent.location.msg_contents(
            ("{shown}", {"type": kind, **facts}),
            exclude=[agent, *hidden_from],
            from_obj=agent,
            mapping={"shown": text},
        )


def show_players(agent: Body, text: str) -> None:
    """Show a line to the players in the room, not to agents, which would only remember it."""
    agents = tuple(person for person in people_near(agent) if is_agent(person))
    show(agent, text, "thinking", hidden_from=agents)


def show_no_answer(agent: Body, impulse: Impulse) -> None:
    """Tell a waiting player who is still here that no answer will come."""
    here = [person.key for person in people_near(agent)]
    if impulse.priority == "player" and impulse.source in here:
        show_players(agent, f"{agent.key} seems far away, and does not answer.")


def hosts_guests(agent: Body) -> bool:
    """Return whether players are in the place that the agent keeps, even if it is away."""
    if not agent.db.keeps or agent.home is None:
        return False
    there = agent.home.contents_get(content_type="character")
    return any(person.has_account and person is not agent for person in there)


def talkativeness(agent: Body) -> float:
    """Return how often the agent acts unprompted, 0 to 1."""
    share = agent.attributes.get("talkativeness")  # a builder can set the attribute to any value
    return min(max(float(share), 0.0), 1.0) if isinstance(share, int | float) else 0.5


def identity_of(somebody: Any) -> str:
    """Return the permanent unique identity of a character: ``41-20261121194500``.

    It belongs to the character, not to the account: two characters of one player are two people,
    and a renamed character stays the same. It holds the creation time because a new database
    counts from 1 again, and its characters must not be taken for those of an old vault.

    Returns:
        The database number and the creation time (UTC); empty if the object is no character or is
        deleted.
    """
    if "character" not in getattr(somebody, "_content_types", ()) or somebody.id is None:
        return ""
    return _identity(somebody.id, somebody.db_date_created)


@lru_cache(maxsize=4096)  # called for everybody near, many times per thought
def _identity(number: int, made: datetime) -> str:
    return f"{number}-{made.astimezone(UTC) if made.tzinfo else made:%Y%m%d%H%M%S}"


# -- who is addressed


def event_of(agent: Any, speaker: Any, line: str, facts: Mapping[str, Any]) -> Impulse | None:
    """Return the impulse that a speaker's line gives the agent; None if there is none.

    ``facts``: The message's ``type`` and, for directed speech, ``to``: a database number.
    """
    kind = str(facts.get("type", ""))
    to = facts.get("to")
    player = bool(getattr(speaker, "has_account", False))
    aside = False
    if to == agent.id and kind in ("give", "wake"):
        meant = EventKind.GIVEN if kind == "give" else EventKind.ADDRESSED
    elif kind not in _SPEECH:
        return None
    elif to == agent.id or (kind == "whisper" and to is None):
        meant = EventKind.ADDRESSED
    elif to is not None:
        if not player:
            return None  # agents do not join in when an agent talks to somebody else
        meant = EventKind.HEARD
        aside = True
    elif names(line, agent.key):
        meant = EventKind.ADDRESSED if kind in _ALOUD else EventKind.NAMED
    elif (others := people_near(agent)) == [speaker] and kind in _ALOUD:
        meant = EventKind.ADDRESSED  # alone in a room: each line is for the other one
    else:
        meant = EventKind.HEARD
        said = line.partition('"')[2].removesuffix('"') or line
        aside = any(names(said, each.key) for each in others if each is not speaker)
    return Impulse(meant, player, speaker.key, source_id=identity_of(speaker), aside=aside)


MOST_ROOMS = 200
"""Rooms that a route search visits at most. An agent without a route home is moved there."""


def route_to(agent: Body, goal: Any) -> list[Any] | None:
    """Return the shortest route to a room through exits that the agent may pass; else None."""
    start = agent.location
    if start is None:
        return None
    ways: dict[Any, list[Any]] = {start: []}
    ahead = deque([start])
    while goal not in ways and ahead and len(ways) < MOST_ROOMS:
        room = ahead.popleft()
        for way in room.exits:
            there = way.destination
            if there is not None and there not in ways and way.access(agent, "traverse"):
                ways[there] = [*ways[room], way]
                ahead.append(there)
    return ways.get(goal)
