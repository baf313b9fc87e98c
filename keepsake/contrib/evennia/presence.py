"""Who comes and who goes, noticed by the agents of a room.

A room that calls :func:`notice` from its own hooks sets ``notices_people``. In every other room
the agents see it by themselves: each message from somebody makes them look who is there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from keepsake.agent.attention import EventKind, PerceivedEvent
from keepsake.agent.runtime import running, runtime
from keepsake.agent.surroundings import identity_of, is_agent
from keepsake.contrib.evennia.hosts import awake_in, greeter, hosts_of
from keepsake.contrib.evennia.minds import mind_of


def notice(room: Any, kind: EventKind, somebody: Any) -> None:
    """Draw the agents' attention to somebody who came, left, woke or fell asleep."""
    if not identity_of(somebody) or getattr(somebody, "unannounced", False):
        return
    from_player = not is_agent(somebody)
    event = PerceivedEvent(kind, from_player, somebody.key, source_id=identity_of(somebody))
    seen = replace(event, kind=EventKind.SEEN) if kind is EventKind.ARRIVAL else event
    first = greeter(room, somebody)
    for agent in room.contents_get(exclude=somebody, content_type="character"):
        if is_agent(agent) and (mind := mind_of(agent)):
            mind.thinker.notice(event if agent is first else seen)
    if kind is EventKind.ARRIVAL and from_player:
        for host in hosts_of(room):  # who keeps this place comes back to it
            if host.location is not room and (mind := mind_of(host)):
                mind.sleeper.come_home()
        if running() and (warming := runtime().warming):
            warming.want(awake_in(room))


def look_round_soon(room: Any) -> None:
    """Look round once what is happening now has happened; for rooms that notice nobody."""
    if running() and not getattr(room, "notices_people", False) and not room.ndb.looks_round:
        room.ndb.looks_round = True
        runtime().timer.callLater(0, look_round, room)


def look_round(room: Any) -> None:
    """Notice who has come into a room and who has left it since the last look."""
    if room is None or room.pk is None or getattr(room, "notices_people", False):
        return
    room.ndb.looks_round = False
    before, here = room.ndb.people_seen, _people(room)
    room.ndb.people_seen = here
    if before is None:
        return
    for number, somebody in here.items():
        if number not in before:
            notice(room, EventKind.ARRIVAL, somebody)
    for number, somebody in before.items():
        if number not in here and somebody.pk is not None:
            notice(room, EventKind.DEPARTURE, somebody)


def _people(room: Any) -> dict[int, Any]:
    here = room.contents_get(content_type="character")
    return {each.id: each for each in here if is_agent(each) or each.has_account}
