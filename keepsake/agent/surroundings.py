"""What is around somebody: people, things, exits; and what sort of somebody that is."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from keepsake.agent.body import Body


def people_near(character: Any) -> list[Any]:
    """Everybody else in the same room, players and agents."""
    if character.location is None:
        return []
    here = character.location.contents_get(content_type="character")
    return [person for person in here if person is not character]


def players_near(character: Any) -> list[Any]:
    """The people in the same room that a person plays."""
    return [person for person in people_near(character) if person.has_account]


def things_near(character: Any) -> list[Any]:
    """The things in the same room."""
    if character.location is None:
        return []
    return list(character.location.contents_get(content_type="object"))


def exits_of(character: Any) -> list[str]:
    """The names of the exits that the character can see."""
    if character.location is None:
        return []
    return [way.key for way in character.location.exits if way.access(character, "view")]


def place_of(character: Any) -> str:
    """The name of the room; empty for nowhere."""
    return str(character.location.key) if character.location else ""


def looks_of(agent: Body, room: Any) -> str:
    """What ``room`` looks like to the agent now; empty for nowhere, and for one without looks."""
    return str(room.get_display_desc(agent)) if room is not None and room.db.desc else ""


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


def is_at_home(agent: Body) -> bool:
    """Whether the agent is in a place that it keeps."""
    return bool(agent.db.keeps) and agent.location is not None and agent.location is agent.home


def guests_wait(agent: Body) -> bool:
    """Whether a player is in the place that the agent keeps, and the agent is not."""
    if not agent.db.keeps or agent.home is None or agent.location is agent.home:
        return False
    there = agent.home.contents_get(content_type="character")
    return any(person.has_account for person in there)


def hosts_guests(agent: Body) -> bool:
    """Whether it keeps the place where it is and has guests there, or some wait at home."""
    return (is_at_home(agent) and bool(players_near(agent))) or guests_wait(agent)


def talkativeness(agent: Body) -> float:
    """How often the agent does something unasked, 0 to 1."""
    return min(max(number(agent.attributes.get("talkativeness"), 0.5), 0.0), 1.0)


def number(value: Any, default: float) -> float:
    """``value`` as a number; builders can set an attribute to anything."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return default


def identity_of(somebody: Any) -> str:
    """What tells this character from every other, now and later: ``41-20261121194500``.

    It is the character's, not the account's, so that two characters of one player are two
    people, and one that is renamed stays the same. The time of its making is in it because
    database numbers begin anew with a new database: over an old vault nobody is known.

    Returns:
        The database number and the time of the making (UTC); empty for what is no character,
        or is deleted.
    """
    if getattr(somebody, "is_agent", None) is None or somebody.id is None:
        return ""
    return _identity(somebody.id, somebody.db_date_created)


@lru_cache(maxsize=4096)  # asked of everybody near, many times a thought
def _identity(number: int, made: datetime) -> str:
    return f"{number}-{made.astimezone(UTC) if made.tzinfo else made:%Y%m%d%H%M%S}"
