"""Exits from one room to another."""

from __future__ import annotations

from typing import Any

from evennia.objects.objects import DefaultExit

from keepsake.agent.runtime import running
from keepsake.agent.surroundings.people import hosts_guests
from keepsake.contrib.evennia.minds import open_minds
from keepsake.happening import KnownVerb
from keepsake.prompt.verbs import Command


class Exit(DefaultExit):
    """A way out of a room."""

    def at_post_traverse(self, traversing_object: Any, source_location: Any, **kwargs: Any) -> None:
        """Let agents that follow the character come along, or lose track of it."""
        super().at_post_traverse(traversing_object, source_location, **kwargs)
        for mind in list(open_minds()) if running() else ():
            agent = mind.thinker.body()
            actor = mind.actor
            leader = traversing_object
            if agent is None or actor.leader != leader.id:
                continue
            able = not (agent.db.asleep or agent.db.paused or hosts_guests(agent))
            if able and agent.location is source_location and self.access(agent, "traverse"):
                actor.do(agent, Command(KnownVerb.GO, self.key))
            if agent.location is not leader.location:
                actor.leader = None
