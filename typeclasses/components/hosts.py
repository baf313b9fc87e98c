"""Who receives a guest: who keeps a place open, and who of several greets.

An agent with the attribute ``keeps`` keeps its home: it does not walk out on guests, and comes
back when one comes. What is decided here is read off the world, whoever's mind is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typeclasses.agents import Agent

_AGENT = "typeclasses.agents.Agent"


def hosts_of(room: Any) -> list[Agent]:
    """The agents that keep this room, wherever they are."""
    at_home = room.homes_set.filter(db_typeclass_path=_AGENT)
    return [agent for agent in at_home if agent.db.keeps]


def is_at_home(agent: Agent) -> bool:
    """Whether the agent is in a place that it keeps."""
    return bool(agent.db.keeps) and agent.location is not None and agent.location is agent.home


def guests_wait(agent: Agent) -> bool:
    """Whether a player is in the place that the agent keeps, and the agent is not."""
    if not agent.db.keeps or agent.home is None or agent.location is agent.home:
        return False
    there = agent.home.contents_get(content_type="character")
    return any(person.has_account for person in there)


def awake_in(room: Any) -> list[Agent]:
    """The agents in the room that are awake and not paused."""
    here = room.contents_get(content_type="character") if room is not None else []
    return [each for each in here if each.is_agent and not (each.is_asleep or each.db.paused)]


def greeter(room: Any, guest: Any) -> Agent | None:
    """Who greets a guest: whoever is at home here, else who talks most; None if nobody can."""
    others = (each for each in awake_in(room) if each is not guest)
    return max(others, key=_as_greeter, default=None)


def _as_greeter(agent: Agent) -> tuple[bool, float, int]:
    return agent.home is agent.location, talkativeness(agent), -int(agent.id)


def talkativeness(agent: Agent) -> float:
    """How often the agent does something unasked, 0 to 1."""
    return min(max(number(agent.attributes.get("talkativeness"), 0.5), 0.0), 1.0)


def number(value: Any, default: float) -> float:
    """``value`` as a number; builders can set an attribute to anything."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return default


def absence(room: Any) -> str:
    """Where the room's hosts are and what to do, a line each; empty if all are here and awake."""
    return "\n".join(line for host in hosts_of(room) if (line := _absence(host, room)))


def _absence(host: Agent, room: Any) -> str:
    name, here = host.key, host.location is room
    if host.is_asleep and here:
        return f"{name}, who keeps this place, is asleep. To wake {name}: |wwake {name.lower()}|n"
    if here or host.location is None:
        return ""
    doing = "sleeps at" if host.is_asleep else "has just stepped out to"
    return f"{name}, who keeps this place, {doing} {host.location.key}."
