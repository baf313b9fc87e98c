"""How rooms and people look to others, and how coming and going reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evennia.utils.utils import iter_to_str

from keepsake.contrib.evennia.hosts import hosts_of
from typeclasses.clients import link, linked

COMPASS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
EXIT_ORDER = {name: place for place, name in enumerate((*COMPASS, "up", "down"))}


class RoomAppearance:
    """Mixed into rooms: title, description, ways, people, things, and where its host is."""

    default_description = "There is nothing to see here yet."

    def return_appearance(self, looker: Any, **kwargs: Any) -> str:
        """What ``look`` shows."""
        title = self.get_display_name(looker, **kwargs)
        number = self.get_extra_display_name_info(looker, **kwargs)
        lists = (
            self.get_display_exits(looker, **kwargs),
            self.get_display_characters(looker, **kwargs),
            self.get_display_things(looker, **kwargs),
            "" if getattr(looker, "is_agent", False) else "\n".join(_absences(self)),
        )
        head = [f"|c{title}{number}|n", self.get_display_desc(looker, **kwargs), ""]
        return "\n".join([*head, *(line for line in lists if line)]).rstrip()

    def get_display_exits(self, looker: Any, **kwargs: Any) -> str:
        """The ways out, as in ``Exits: north to Pump Square and up to The Guest Loft``."""
        exits = self.filter_visible(self.contents_get(content_type="exit"), looker, **kwargs)
        exits = sorted(exits, key=lambda way: (EXIT_ORDER.get(way.key, 99), way.key))
        names = [_way(way, looker) for way in exits]
        return f"|wExits:|n {iter_to_str(names, endsep=' and')}." if names else ""

    def get_display_characters(self, looker: Any, **kwargs: Any) -> str:
        """Everybody else, as in ``Here: Mira and Tom``."""
        people = self.contents_get(content_type="character")
        people = self.filter_visible(people, looker, **kwargs)
        names = [_somebody(person, looker, **kwargs) for person in people]
        return f"|wHere:|n {iter_to_str(names, endsep=' and')}." if names else ""

    def get_display_things(self, looker: Any, **kwargs: Any) -> str:
        """What lies about, as in ``You see: a blue cup``."""
        line = super().get_display_things(looker, **kwargs).replace(", and ", " and ")
        line = linked(looker, line, self.contents_get(content_type="object"))
        return f"{line}." if line else ""


def _somebody(person: Any, looker: Any, **kwargs: Any) -> str:
    name = person.get_display_name(looker, **kwargs)
    name = f"|c{link(looker, f'look {name}', name)}|n"
    shown = "asleep" if person.is_asleep else person.attributes.get("posture")
    away = "away" if person.attributes.get("away") else ""
    note = ", ".join(filter(None, (shown, away)))
    return f"{name} ({note})" if note else name


def _way(way: Any, looker: Any) -> str:
    name = way.get_display_name(looker)
    if way.destination is None:
        return f"{name}"
    return f"|y{link(looker, way.key, name)}|n to {way.destination.get_display_name(looker)}"


def _absences(room: Any) -> Iterator[str]:
    """Where the room's hosts are and what to do, a line each; nothing if all are here and awake."""
    for host in hosts_of(room):
        name, here = host.key, host.location is room
        if host.is_asleep and here:
            wake = f"To wake {name}: |wwake {name.lower()}|n"
            yield f"{name}, who keeps this place, is asleep. {wake}"
        elif not here and host.location is not None:
            doing = "sleeps at" if host.is_asleep else "has just stepped out to"
            yield f"{name}, who keeps this place, {doing} {host.location.key}."


class CharacterAppearance:
    """Mixed into characters: what a stranger sees, and what bystanders read when they walk."""

    default_description = "A stranger, as yet undescribed."

    def get_display_things(self, looker: Any, **kwargs: Any) -> str:
        """What somebody carries, as in ``Carries: a jar of honey``."""
        line = super().get_display_things(looker, **kwargs).replace(", and ", " and ")
        worn = [each.get_numbered_name(1, looker)[0] for each in self.contents if each.db.worn]
        wears = [f"|wWears:|n {iter_to_str(worn, endsep=' and')}."] if worn else []
        carries = [f"|wCarries:|n {line.partition('|n ')[2]}."] if line else []
        return "\n".join([*carries, *wears])

    def filter_visible(self, obj_list: Any, looker: Any, **kwargs: Any) -> Any:
        """What can be seen and is not worn."""
        shown = super().filter_visible(obj_list, looker, **kwargs)
        return [each for each in shown if not each.db.worn]

    def get_display_desc(self, looker: Any, **kwargs: Any) -> str:
        """The description, and that somebody sleeps, as everybody can see."""
        text = super().get_display_desc(looker, **kwargs)
        sleeps = f"{self.get_display_name(looker, **kwargs)} lies asleep."
        return f"{text}\n{sleeps}" if self.is_asleep else text

    def announce_move_from(
        self, destination: Any, msg: str | None = None, mapping: Any = None, **kwargs: Any
    ) -> None:
        """Tell those who stay: ``Tom goes south to The Quay``."""
        way = next((e for e in self.location.exits if e.destination == destination), None)
        text = "{object} goes {exit} to {destination}." if way else "{object} is gone."
        super().announce_move_from(destination, msg=msg or text, mapping=mapping, **kwargs)

    def announce_move_to(
        self, source_location: Any, msg: str | None = None, mapping: Any = None, **kwargs: Any
    ) -> None:
        """Tell those who were here: ``Tom arrives from The Kettle``."""
        text = "{object} arrives from {origin}."
        super().announce_move_to(source_location, msg=msg or text, mapping=mapping, **kwargs)
