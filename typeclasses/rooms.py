"""Rooms, and their appearance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evennia.objects.objects import DefaultRoom
from evennia.utils.utils import iter_to_str

from keepsake.agent.runtime import now
from keepsake.agent.surroundings.identity import identity_of
from keepsake.contrib.evennia.characters import call_hosts, hosts_of
from keepsake.contrib.evennia.minds import mind_of
from typeclasses.clients import link, linked
from typeclasses.objects import ObjectParent
from world.almanac import almanac
from world.atlas import SHORT

EXIT_ORDER = {name: place for place, name in enumerate(SHORT)}


def where(room: Any) -> str:
    """Return the location as a phrase: ``on the Gorse Path``."""
    return str(room.db.where or f"at {room.key}")


class Room(ObjectParent, DefaultRoom):
    """A place in the world.

    Attributes (in the database):
        where: The location as a phrase: ``on the Gorse Path``.
        outdoors: Whether the sky and the tide are visible.
        looks: Extra sentences of the description, each with its condition: words of the almanac
            such as ``low tide, night``, all of which must hold.
    """

    default_description = "There is nothing to see here yet."

    def return_appearance(self, looker: Any, **kwargs: Any) -> str:
        """Return what ``look`` shows: title, description, exits, people, things and hosts."""
        title = self.get_display_name(looker, **kwargs)
        number = self.get_extra_display_name_info(looker, **kwargs)
        lists = (
            self.get_display_exits(looker, **kwargs),
            self.get_display_characters(looker, **kwargs),
            self.get_display_things(looker, **kwargs),
            "" if getattr(looker, "is_agent", False) else "\n".join(_absences(self)),
        )
        head = [f"|c{title}{number}|n", self.get_display_desc(looker, **kwargs), ""]
        return "\n".join([*head, *filter(None, lists)]).rstrip()

    def get_display_desc(self, looker: Any, **kwargs: Any) -> str:
        """Return the description, the sentences that hold at this time, and the sky."""
        seen_at = almanac(now().astimezone())
        looks = self.attributes.get("looks") or {}
        seen = [
            super().get_display_desc(looker, **kwargs),
            *(
                str(text)
                for words, text in looks.items()
                if seen_at.states.issuperset(word.strip() for word in str(words).split(","))
            ),
        ]
        return " ".join([*seen, seen_at.sky] if self.attributes.get("outdoors") else seen)

    def get_display_exits(self, looker: Any, **kwargs: Any) -> str:
        """Return the exits: ``Exits: north to Pump Square and up to The Guest Loft``."""
        exits = self.filter_visible(self.contents_get(content_type="exit"), looker, **kwargs)
        exits = sorted(exits, key=lambda way: (EXIT_ORDER.get(way.key, 99), way.key))
        names = [
            f"|y{link(looker, way.key, way.get_display_name(looker))}|n"
            + (f" to {way.destination.get_display_name(looker)}" if way.destination else "")
            for way in exits
        ]
        return f"|wExits:|n {iter_to_str(names, endsep=' and')}." if names else ""

    def get_display_characters(self, looker: Any, **kwargs: Any) -> str:
        """Return the other characters: ``Here: Mira and Tom``."""
        people = self.contents_get(content_type="character")
        names = []
        for person in self.filter_visible(people, looker, **kwargs):
            name = person.get_display_name(looker, **kwargs)
            asleep = " (asleep)" if person.db.asleep else ""
            names.append(f"|c{link(looker, f'look {name}', name)}|n{asleep}")
        return f"|wHere:|n {iter_to_str(names, endsep=' and')}." if names else ""

    def get_display_things(self, looker: Any, **kwargs: Any) -> str:
        """Return the things in the room: ``You see: a blue cup``."""
        line = super().get_display_things(looker, **kwargs).replace(", and ", " and ")
        line = linked(looker, line, self.contents_get(content_type="object"))
        return f"{line}." if line else ""

    def at_object_receive(
        self, moved_obj: Any, source_location: Any, move_type: str = "move", **kwargs: Any
    ) -> None:
        """When a player arrives, call the room's hosts back."""
        super().at_object_receive(moved_obj, source_location, move_type=move_type, **kwargs)
        if identity_of(moved_obj) and not (moved_obj.is_agent or moved_obj.unannounced):
            call_hosts(self)


def _absences(room: Room) -> Iterator[str]:
    """Yield a line for each host that sleeps or is busy: where it is and what to do."""
    for host in hosts_of(room):
        keeper = f"{host.key}, who keeps this place,"
        place = host.location
        mind = mind_of(host)
        if place is room and host.db.asleep:
            yield f"{keeper} is asleep. To wake {host.key}: |wwake {host.key.lower()}|n"
        elif place not in (room, None) and (host.db.asleep or (mind and mind.presence.in_talk)):
            yield f"{keeper} {'sleeps' if host.db.asleep else 'is busy'} {where(place)}."
