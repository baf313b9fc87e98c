"""Data sent to players' clients beside the text, by GMCP and to the web client.

Messages have Evennia's names: ``room_info`` is ``Room.Info`` on the wire.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.conf import settings

from keepsake.contrib.evennia.layout import laid_out
from world.atlas import SHORT

_MAP_RADIUS = 3
"""The radius of the map in steps."""
SPOKEN = frozenset({"say", "talk", "whisper", "shout", "page", "tell"})


def is_web(session: Any) -> bool:
    """Return whether the session belongs to a web client."""
    return "websocket" in str(session.protocol_key)


def send(character: Any, message: str, **facts: Any) -> None:
    """Send a message with its fields to the character's clients that support it."""
    for session in filter(_takes_messages, character.sessions.all()):
        session.msg(**{message: ((), facts)})


def _takes_messages(session: Any) -> bool:
    return is_web(session) or bool((session.protocol_flags or {}).get("OOB"))


def send_room(looker: Any) -> None:
    """Send the room to the looker's clients: name, exits and a map."""
    room = looker.location
    sessions = looker.sessions.all()
    if room is None or not any(map(_takes_messages, sessions)):
        return
    found = {SHORT.get(way.key, way.key): way.destination for way in _ways(room, looker)}
    ways = {each: found[each] for each in sorted(found, key=[*SHORT.values(), *found].index)}
    send(
        looker,
        "room_info",
        num=room.id,
        name=room.key,
        area=room.tags.get(category="area") or settings.SERVERNAME,
        exits={way: there.id for way, there in ways.items()},
        places={way: there.key for way, there in ways.items()},
    )
    for session in filter(is_web, sessions):
        session.msg(room_map=((map_of(looker),), {"rooms": rooms_near(looker)}))


def _ways(room: Any, looker: Any) -> list[Any]:
    ways = room.filter_visible(room.contents_get(content_type="exit"), looker)
    return [way for way in ways if way.destination is not None]


def map_of(looker: Any, steps: int = _MAP_RADIUS) -> str:
    """Return the places nearby, the nearest first, and the way to each."""
    return "\n".join(
        f"{room.key}: {', then '.join(path)}." for room, path in _near(looker, steps) if path
    )


def rooms_near(looker: Any, steps: int = _MAP_RADIUS) -> list[dict[str, Any]]:
    """Return the rooms nearby for a drawn map: number, name, column, row, and the rooms beside."""
    near = {room.id: room for room, _ in _near(looker, steps)}
    ways = {
        number: [(way.key, way.destination.id) for way in _ways(room, looker)]
        for number, room in near.items()
    }
    cells = laid_out(ways)
    return [
        {
            "id": number,
            "name": room.key,
            "x": cells[number][0],
            "y": cells[number][1],
            "to": [to for _, to in ways[number] if to in near],
        }
        for number, room in near.items()
    ]


def _near(looker: Any, steps: int) -> list[tuple[Any, tuple[str, ...]]]:
    """Return the rooms within so many steps, the looker's own first, with the way to each."""
    found: dict[Any, tuple[str, ...]] = {looker.location: ()}
    edge = [looker.location]
    for _ in range(steps):
        ways = [(way, room) for room in edge for way in _ways(room, looker)]
        edge = []
        for way, room in ways:
            if way.destination not in found:
                found[way.destination] = (*found[room], way.key)
                edge.append(way.destination)
    return list(found.items())


def linked(reader: Any, text: str, things: Iterable[Any]) -> str:
    """Return ``text`` with a link to look at each of ``things`` that it names."""
    names = sorted((each.key for each in things), key=len, reverse=True)
    anyone = re.compile("|".join(map(re.escape, names)) or r"(?!)")
    return anyone.sub(lambda name: link(reader, f"look {name[0]}", name[0]), text)


def link(reader: Any, command: str, label: str) -> str:
    """Return ``label``, as a link if the reader's client supports it (MXP, web client)."""
    sessions = reader.sessions.all() if hasattr(reader, "sessions") else ()
    clicks = any(is_web(each) or (each.protocol_flags or {}).get("MXP") for each in sessions)
    return f"|lc{command}|lt{label}|le" if clicks else label
