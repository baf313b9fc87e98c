"""Who receives a guest: who keeps a place open, and who of several greets or answers.

An agent with the attribute ``keeps`` keeps its home: it does not walk out on guests, and comes
back when one comes. What is decided here is read off the world, whoever's mind is open.
"""

from __future__ import annotations

from typing import Any

from evennia.objects.models import ObjectDB

from keepsake.agent.attention import TALK_SECONDS
from keepsake.agent.surroundings import (
    is_agent,
    people_near,
    players_near,
    talkativeness,
)
from keepsake.contrib.evennia.creation import FOLDER
from keepsake.contrib.evennia.minds import mind_of
from keepsake.language.heard import names


def hosts_of(room: Any) -> list[Any]:
    """The agents that keep this room, wherever they are."""
    # Not of `room.homes_set`, which ties what it finds to the room, even once that is deleted.
    at_home = ObjectDB.objects.filter(db_home=room, db_attributes__db_key=FOLDER)
    return [each for each in at_home if is_agent(each) and each.db.keeps]


def call_hosts(room: Any) -> None:
    """Have the agents that keep this room come back to it."""
    for host in hosts_of(room):
        if host.location is not room and (mind := mind_of(host)):
            mind.sleeper.come_home()


def awake_in(room: Any) -> list[Any]:
    """The agents in the room that are awake and not paused."""
    here = room.contents_get(content_type="character") if room is not None else []
    return [each for each in here if is_agent(each) and not (each.is_asleep or each.db.paused)]


def greeter(room: Any, guest: Any) -> Any | None:
    """Who greets a guest: whoever is at home here, else who talks most; None if nobody can."""

    def welcome(agent: Any) -> tuple[bool, float, int]:
        return agent.home is agent.location, talkativeness(agent), -int(agent.id)

    others = (each for each in awake_in(room) if each is not guest)
    return max(others, key=welcome, default=None)


def answers_room(agent: Any, player: Any, words: str, now: float) -> bool:
    """Whether what a player says to nobody in particular is for this agent.

    If it names somebody else, it is for them. Else it is for the agent that they spoke to last,
    for some minutes. Where that is none, and no other player is here, it is for who would greet
    them. ``now``: Seconds of the clock that :func:`turned_to` uses.
    """
    if any(names(words, each.key) for each in people_near(agent) if each is not player):
        return False
    last, at = player.ndb.spoken_to or (None, now)
    if now - at < TALK_SECONDS and last in awake_in(agent.location):
        return last is agent
    return not players_near(player) and greeter(agent.location, player) is agent


def turned_to(agent: Any, player: Any, now: float, *, away: bool = False) -> None:
    """A player has turned to the agent; or ``away``, to somebody else."""
    if not away:
        player.ndb.spoken_to = (agent, now)
    elif player.ndb.spoken_to and player.ndb.spoken_to[0] is agent:
        player.ndb.spoken_to = None
