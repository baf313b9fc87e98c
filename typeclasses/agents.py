"""The village's agents."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from keepsake.agent.runtime import now
from keepsake.books.usual_hours import UsualHours
from keepsake.contrib.evennia.agents import AgentMixin
from typeclasses.characters import Character
from world import days
from world.almanac import Hours, almanac
from world.deed.asking import needed_for, wished_by
from world.source import TAG_CATEGORY
from world.usual_hours import hours_between


class Agent(AgentMixin, Character):
    """A character of the village that a language model plays.

    Attributes (in the database):
        day: The daily schedule; see :mod:`world.days`.
    """

    agent_cmdset = "commands.agent_cmdset.AgentCmdSet"
    is_everyday = days.is_everyday

    def usual_day(self) -> str:
        """Return the daily schedule as a line.

        For example: ``9-12 at Pump Square (if market day): sells pies; 13-14 with Bram: talks; …``.
        """
        hours = sorted(self.db.day or (), key=lambda hour: Hours.parse(hour["at"]).since)
        return "; ".join(map(self._hour_line, hours))

    def usual_now(self) -> str:
        """Return the entry of the daily schedule for this hour as a line; empty for none."""
        hour = days.entry_of(self, almanac(now().astimezone()))
        return self._hour_line(hour) if hour is not None else ""

    def hours_between(self, since: datetime, until: datetime) -> list[UsualHours]:
        """Return what the daily schedule has it do in a span of time."""
        return hours_between(self, since, until)

    def _hour_line(self, hour: Mapping[str, Any]) -> str:
        """Return an entry of the schedule: when, where or with whom, in which weather, and what."""
        place = hour.get("in") or self.home
        where = ""
        if name := hour.get("with"):
            where = f" with {name}"
        elif place:
            where = f" at {place.key}"
        states = " and ".join(hour.get("when") or ())
        only = f" (if {states})" if states else ""
        does = hour["does"][0] if hour.get("does") else "is there"
        return f"{hour['at']}{where}{only}: {does}"

    def deeds_needed(self, words: str, who: Any) -> Mapping[str, str]:
        """Return what a player must do for the things of a deed that the words name."""
        return needed_for(self, words, who)

    def wishes(self) -> tuple[str, ...]:
        """Return the names of the things that deeds say to give it."""
        return wished_by(self)

    def at_minute(self) -> None:
        """Continue the daily schedule."""
        super().at_minute()
        days.live_minute(self, almanac(now().astimezone()))

    def at_object_post_copy(self, new_obj: Any, **kwargs: Any) -> None:
        """Remove the world's id from a copy, so that no deed refers to it."""
        super().at_object_post_copy(new_obj, **kwargs)
        new_obj.tags.clear(category=TAG_CATEGORY)
