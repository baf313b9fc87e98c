"""Rooms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evennia.objects.objects import DefaultRoom

from game.agent.impulses import EventKind, PerceivedEvent
from game.agent.services import running, services
from game.agent.surroundings import identity_of
from typeclasses.appearance import RoomAppearance
from typeclasses.hosts import awake_in, greeter, hosts_of
from typeclasses.minds import mind_of
from typeclasses.objects import ObjectParent


class Room(RoomAppearance, ObjectParent, DefaultRoom):
    """A place in the world; its agents notice who comes and goes."""

    def at_object_receive(
        self, moved_obj: Any, source_location: Any, move_type: str = "move", **kwargs: Any
    ) -> None:
        """Somebody arrived."""
        super().at_object_receive(moved_obj, source_location, move_type=move_type, **kwargs)
        self.notice(EventKind.ARRIVAL, moved_obj)

    def at_object_leave(
        self, moved_obj: Any, target_location: Any, move_type: str = "move", **kwargs: Any
    ) -> None:
        """Somebody leaves."""
        super().at_object_leave(moved_obj, target_location, move_type=move_type, **kwargs)
        self.notice(EventKind.DEPARTURE, moved_obj)

    def notice(self, kind: EventKind, somebody: Any) -> None:
        """Draw the agents' attention to somebody who came, left, woke or fell asleep."""
        is_agent = getattr(somebody, "is_agent", None)
        if is_agent is None or somebody.unannounced:
            return
        event = PerceivedEvent(kind, not is_agent, somebody.key, source_id=identity_of(somebody))
        seen = replace(event, kind=EventKind.SEEN) if kind is EventKind.ARRIVAL else event
        first = greeter(self, somebody)
        for agent in self.contents_get(exclude=somebody, content_type="character"):
            if agent.is_agent and (mind := mind_of(agent)):
                mind.thinker.notice(event if agent is first else seen)
        if kind is EventKind.ARRIVAL and not is_agent:
            self._call_hosts()
            if running() and (warming := services().warming):
                warming.want(awake_in(self))

    def _call_hosts(self) -> None:
        """Have whoever keeps this place come back to it."""
        for host in hosts_of(self):
            if host.location is not self and (mind := mind_of(host)):
                mind.sleeper.come_home()
