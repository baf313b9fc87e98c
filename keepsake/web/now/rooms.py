"""The rooms of the world, and who is where.

Everything here runs on the reactor thread, and is quick.
"""

from __future__ import annotations

from collections.abc import Iterator

from evennia.objects.models import ObjectDB

from keepsake.books.person_page import PersonPage
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.layout import laid_out
from keepsake.contrib.evennia.minds import mind_by_number
from keepsake.web.fact_shapes import AwayPlayer, MapExit, MapRoom, MapView
from keepsake.web.now.away import away_player
from keepsake.web.world import on_reactor

MOST_AWAY = 12
"""The most players who are away that are named."""
MOST_MET = 40
"""The most people among whom these are looked for, those whom agents met last: a query each."""
MOST_ROOMS = 400
"""The most rooms of a map. Larger ones are no pictures any more, and take the reactor too long."""


@on_reactor
def map_of_world() -> MapView:
    """Return the rooms that exits connect with an agent, with their places on a map.

    Exits count in both directions: some rooms are left by a command alone.
    """
    agents = all_agents()
    rooms = {each.location.id: each.location for each in agents if each.location is not None}
    new = list(rooms.values())
    ways: dict[int, list[tuple[str, int]]] = {}
    while new:
        for room in new:
            ways[room.id] = [(way.key, way.destination.id) for way in room.exits if way.destination]
        # One query for all rooms that are as far away.
        ways_in = ObjectDB.objects.filter(db_destination__in=[each.id for each in new])
        found = [way.destination for room in new for way in room.exits]
        found += [way.location for way in ways_in]
        new = []
        for there in found:
            if there is not None and there.id not in rooms and len(rooms) < MOST_ROOMS:
                rooms[there.id] = there
                new.append(there)
    cells = laid_out(ways)
    shown = []
    for number, room in rooms.items():
        characters = room.contents_get(content_type="character")
        shown.append(
            MapRoom(
                id=number,
                name=room.key,
                x=cells[number][0],
                y=cells[number][1],
                exits=tuple(MapExit(name=name, to=to) for name, to in ways[number] if to in rooms),
                agents=tuple((each.id, each.key) for each in agents if each.location is room),
                players=tuple(each.key for each in characters if each.has_account),
            )
        )
    complete = len(rooms) < MOST_ROOMS
    return MapView(rooms=tuple(shown), away=tuple(_away()), complete=complete)


def _away() -> Iterator[AwayPlayer]:
    """Yield the players whom agents have met and who are in no room now, the last met first."""
    minds = (mind_by_number(each.id) for each in all_agents())
    pages: dict[str, PersonPage] = {}
    for page in (page for mind in minds if mind for page in mind.books.people.known.values()):
        known = pages.get(page.key)
        if known is None or known.last_met < page.last_met:
            pages[page.key] = page
    newest = sorted(pages.values(), key=lambda each: each.last_met, reverse=True)
    left = 0
    for page in newest[:MOST_MET]:
        met = away_player(page.key)
        if met is not None and left < MOST_AWAY:
            left += 1
            place = getattr(met.db.prelogout_location, "key", "")
            yield AwayPlayer(key=page.key, name=page.names[-1], place=place, last_met=page.last_met)
