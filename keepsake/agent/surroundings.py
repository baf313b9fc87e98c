"""What is around somebody: people, things, exits, what can be done; and who is meant by a line."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from keepsake.agent.attention import EventKind, Impulse
from keepsake.language.heard import names
from keepsake.prompt.verbs import Options

type Body = Any
"""The agent itself, as the world has it: an ``AgentMixin`` of
:mod:`keepsake.contrib.evennia.agents`, which says what it has."""
type FindBody = Callable[[], Body | None]
"""Gives the agent as it is now; None if it has been deleted."""


@dataclass(frozen=True, slots=True)
class Life:
    """Whose mind it is."""

    number: int  # the agent's database number
    name: str  # its name
    folder: Path  # ``vault/agents/<name>``
    body: FindBody  # gives the agent as it is now
    # those of all people and places; quick, on the reactor thread
    names: Callable[[], frozenset[str]]


_SPEECH = frozenset({"say", "talk", "whisper", "pose", "shout"})
_CALLED = ("say", "shout")


def is_agent(somebody: Any) -> bool:
    """Whether this is an agent; characters of other classes than Keepsake's are none."""
    return bool(getattr(somebody, "is_agent", False))


def people_near(character: Any) -> list[Any]:
    """Everybody else in the same room, players and agents."""
    if character.location is None:
        return []
    here = character.location.contents_get(content_type="character")
    return [person for person in here if person is not character]


def players_near(character: Any) -> list[Any]:
    """The people in the same room that a person plays."""
    return [person for person in people_near(character) if person.has_account]


def options_of(agent: Body, *, stays: bool) -> Options:
    """What the agent can do something with or to: people, things and exits."""
    place = agent.location
    ways = [way for way in place.exits if way.access(agent, "view")] if place is not None else []
    things = place.contents_get(content_type="object") if place is not None else ()
    details = (str(each) for each in (place.db.details or {})) if place is not None else ()
    leads = ((str(way.key), getattr(way.destination, "key", "")) for way in ways)
    return Options(
        exits=keys_of(way for way in ways if way.access(agent, "traverse")),
        people=keys_of(people_near(agent)),
        things=(*keys_of(things), *details),
        lying=keys_of(thing for thing in things if thing.access(agent, "get")),
        carried=keys_of(agent.contents),
        ways={way: f"{way} to {there}" if there else way for way, there in leads},
        stays=stays,
    )


def keys_of(objects: Iterable[Any]) -> tuple[str, ...]:
    """The names of people or things, each once."""
    return tuple(dict.fromkeys(str(each.key) for each in objects))


def place_of(character: Any) -> str:
    """The name of the room; empty for nowhere."""
    return str(character.location.key) if character.location else ""


def show(
    agent: Body, text: str, kind: str, *, hidden_from: tuple[Any, ...] = (), **facts: Any
) -> None:
    """Have all in the agent's room see something of it, but for itself and these."""
    if agent.location is not None:
        # Evennia reads what it shows to a room as a template, which no text of ours is.
        agent.location.msg_contents(
            ("{shown}", {"type": kind, **facts}),
            exclude=[agent, *hidden_from],
            from_obj=agent,
            mapping={"shown": text},
        )


def show_people(agent: Body, text: str) -> None:
    """Tell the people in the room; agents would only remember it for nothing."""
    agents = tuple(person for person in people_near(agent) if is_agent(person))
    show(agent, text, "thinking", hidden_from=agents)


def show_absent(agent: Body, impulse: Impulse) -> None:
    """Tell the player who waits for an answer that none will come, if they are still here."""
    here = [person.key for person in people_near(agent)]
    if impulse.priority == "player" and impulse.source in here:
        show_people(agent, f"{agent.key} seems far away, and does not answer.")


def hosts_guests(agent: Body) -> bool:
    """Whether players are in the place that the agent keeps, be it there or not."""
    if not agent.db.keeps or agent.home is None:
        return False
    there = agent.home.contents_get(content_type="character")
    return any(person.has_account and person is not agent for person in there)


def talkativeness(agent: Body) -> float:
    """How often the agent does something unasked, 0 to 1."""
    share = agent.attributes.get("talkativeness")  # builders can set an attribute to anything
    return min(max(float(share), 0.0), 1.0) if isinstance(share, int | float) else 0.5


def identity_of(somebody: Any) -> str:
    """What tells this character from every other, now and later: ``41-20261121194500``.

    It is the character's, not the account's, so that two characters of one player are two
    people, and one that is renamed stays the same. The time of its making is in it because
    database numbers begin anew with a new database: over an old vault nobody is known.

    Returns:
        The database number and the time of the making (UTC); empty for what is no character,
        or is deleted.
    """
    if "character" not in getattr(somebody, "_content_types", ()) or somebody.id is None:
        return ""
    return _identity(somebody.id, somebody.db_date_created)


@lru_cache(maxsize=4096)  # asked of everybody near, many times a thought
def _identity(number: int, made: datetime) -> str:
    return f"{number}-{made.astimezone(UTC) if made.tzinfo else made:%Y%m%d%H%M%S}"


# -- who is meant


def event_of(agent: Any, speaker: Any, line: str, facts: Mapping[str, Any]) -> Impulse | None:
    """What ``line`` from ``speaker`` asks of the agent's attention; None for nothing.

    ``facts``: The message's ``type`` and, for directed speech, ``to``: a database number.
    """
    kind, to = str(facts.get("type", "")), facts.get("to")
    player, aside = bool(getattr(speaker, "has_account", False)), False
    if to == agent.id and kind in ("give", "wake"):
        meant = EventKind.GIVEN if kind == "give" else EventKind.ADDRESSED
    elif kind not in _SPEECH:
        return None
    elif to == agent.id or (kind == "whisper" and to is None):
        meant = EventKind.ADDRESSED
    elif to is not None:
        if not player:
            return None  # what an agent says to somebody else is no reason to join in
        meant, aside = EventKind.HEARD, True
    elif names(line, agent.key):
        meant = EventKind.ADDRESSED if kind in _CALLED else EventKind.NAMED
    elif (others := people_near(agent)) == [speaker] and kind in _CALLED:
        meant = EventKind.ADDRESSED  # two alone in a room: all that one says is for the other
    else:
        meant, said = EventKind.HEARD, line.partition('"')[2].removesuffix('"') or line
        aside = any(names(said, each.key) for each in others if each is not speaker)
    return Impulse(meant, player, speaker.key, source_id=identity_of(speaker), aside=aside)


FARTHEST = 200
"""Rooms that are looked at for a way; whoever lives farther away than that is simply there."""


def way_to(agent: Body, goal: Any) -> list[Any] | None:
    """The shortest way of exits to a room, of those that the agent may pass; None for none."""
    start = agent.location
    if start is None:
        return None
    ways: dict[Any, list[Any]] = {start: []}
    ahead = deque([start])
    while goal not in ways and ahead and len(ways) < FARTHEST:
        room = ahead.popleft()
        for way in room.exits:
            there = way.destination
            if there is not None and there not in ways and way.access(agent, "traverse"):
                ways[there] = [*ways[room], way]
                ahead.append(there)
    return ways.get(goal)
