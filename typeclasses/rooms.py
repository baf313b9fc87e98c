"""Rooms."""

from __future__ import annotations

import re
from typing import Any

from evennia.contrib.grid.extended_room import ExtendedRoom

from keepsake.agent.runtime import running, runtime
from keepsake.agent.surroundings import identity_of
from keepsake.contrib.evennia.hosts import call_hosts
from keepsake.ports import SystemClock
from typeclasses.appearance import RoomAppearance
from typeclasses.objects import ObjectParent
from world.almanac import Almanac, almanac_now

_HAS_CALLS = re.compile(r"[$\\<]")
"""What a description has that calls Evennia's functions or marks a part of the day. Evennia looks
for them sign by sign, with a parser made for each look: three times a thought."""


class Room(RoomAppearance, ObjectParent, ExtendedRoom):
    """A place in the world.

    Its states are those that builders give it, as to every ``ExtendedRoom``, and the words of
    the almanac for this moment.

    Attributes (in the database):
        outdoors: Whether sky and tide are seen from it.
        looks: What is seen as well at some times: states such as ``low tide, night``, all of
            which must hold, with a sentence.
    """

    fallback_desc = RoomAppearance.default_description

    @property
    def almanac(self) -> Almanac:
        """What this moment is like."""
        return almanac_now(runtime().clock if running() else SystemClock())

    @property
    def room_states(self) -> list[str]:
        """What may be said of it now: ``morning``, ``low tide``, what a builder has set."""
        return sorted({*super().room_states, *self.almanac.states})

    def get_time_of_day(self) -> str:
        """The part of the day, for ``$state(morning, …)``."""
        return self.almanac.part

    def get_season(self) -> str:
        """The season, for ``desc_spring`` and the like."""
        return self.almanac.season

    def get_stateful_desc(self) -> str:
        """As Evennia's, but without a query of the database at each look."""
        there = {each.key: each for each in self.attributes.all()}
        seasons = self.seasons_per_year
        # Seasons come last, whether a builder has set one or it is that of now.
        for state in sorted(self.room_states, key=lambda each: each in seasons):
            for key in (f"desc_{state}", f"{state}_desc"):  # the second form is the older one
                if key in there and there[key].value:
                    return str(there[key].value)
        return str(self.attributes.get("desc", self.fallback_desc))

    def get_display_desc(self, looker: Any, **kwargs: Any) -> str:
        """The description, what is seen at such times as this, and the sky."""
        seen = [self.get_stateful_desc()]
        if _HAS_CALLS.search(seen[0]):
            seen = [super().get_display_desc(looker, **kwargs)]
        if looks := self.attributes.get("looks"):
            states = set(self.room_states)
            seen += [
                str(text)
                for words, text in looks.items()
                if states.issuperset(word.strip() for word in str(words).split(","))
            ]
        if self.attributes.get("outdoors"):
            seen.append(self.almanac.sky)
        return " ".join(seen)

    def at_object_receive(
        self, moved_obj: Any, source_location: Any, move_type: str = "move", **kwargs: Any
    ) -> None:
        """A player arrived: have whoever keeps this place come back to it."""
        super().at_object_receive(moved_obj, source_location, move_type=move_type, **kwargs)
        if identity_of(moved_obj) and not (moved_obj.is_agent or moved_obj.unannounced):
            call_hosts(self)
