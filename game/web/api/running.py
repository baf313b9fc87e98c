"""The world that runs in this process, for the views."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as TookTooLong
from datetime import datetime, tzinfo
from pathlib import Path

from evennia.objects.models import ObjectDB

from game.web.api import snapshots
from game.web.api.lives import ArchiveAccess, Grounds, Inhabitant, WayOut
from game.web.api.on_reactor import WorldBusy, on_reactor
from game.web.api.shapes import AgentRow, Overview, PromptView, TiersView
from keepsake.agent.naming import names_of
from keepsake.agent.services import services
from keepsake.events.agent_names import Names
from keepsake.recall.documents import Hit
from typeclasses.agents import all_agents
from typeclasses.rooms import Room

PATIENCE = 20.0
"""Seconds; a search gives up by itself long before."""


class RunningWorld:
    """Asks the reactor thread for what concerns objects."""

    recorded = False
    title = ""
    zone: tzinfo | None = None

    @property
    def events(self) -> Path:
        """The folder of the event log."""
        return services().places.events

    def now(self) -> datetime:
        """The time by the agents' clock."""
        return services().clock.now()

    def overview(self, *, may_act: bool) -> Overview:
        """All agents at a glance."""
        return snapshots.overview(may_act=may_act)

    def row(self, number: int, *, may_act: bool) -> AgentRow:
        """One of them."""
        return on_reactor(lambda: snapshots.row(snapshots.agent_with(number), may_act=may_act))

    def prompt(self, number: int) -> PromptView:
        """What was sent for it since the server started."""
        return on_reactor(lambda: snapshots.prompt(number))

    def tiers(self, number: int) -> TiersView:
        """Which of its memories is where."""
        return on_reactor(lambda: snapshots.tiers(number))

    def life(self, number: int) -> ArchiveAccess:
        """Its archive."""
        return on_reactor(lambda: snapshots.life(number))

    def names(self, number: int) -> Names:
        """What it is and was called."""
        return on_reactor(lambda: names_of(snapshots.agent_with(number)))

    def ranked(self, number: int, question: str, limit: int) -> Sequence[Hit] | None:
        """What a search finds as the agent's own thoughts make it.

        Raises:
            WorldBusy: All threads that search are busy.
        """
        recaller = on_reactor(lambda: snapshots.mind_with(number).keeper.recaller)
        on_reactor(recaller.prepare)
        # Where the agents' own searches are made: they and the game's pages share the threads.
        searching = services().searchers.submit(recaller.rank, question, limit)
        try:
            return searching.result(PATIENCE)
        except (TookTooLong, CancelledError) as error:
            searching.cancel()  # if it has not begun, nobody waits for it any more
            raise WorldBusy("The search took too long", "Try again in a moment") from error

    def inhabitants(self) -> Sequence[Inhabitant]:
        """All agents, by name."""
        return on_reactor(_inhabitants)

    def grounds(self) -> Grounds:
        """The map."""
        return on_reactor(_grounds)


def _inhabitants() -> Sequence[Inhabitant]:
    agents = services().places.agents
    found = [
        Inhabitant(a.id, a.key, a.location.key if a.location else "", agents / a.memory_folder)
        for a in all_agents()
        if a.id is not None
    ]
    return sorted(found, key=lambda each: each.name)


def _grounds() -> Grounds:
    rooms = tuple(Room.objects.all().values_list("id", "db_key"))  # a page asks every ten seconds
    exits = ObjectDB.objects.filter(db_destination__isnull=False, db_location__isnull=False)
    found = exits.values_list("db_key", "db_location_id", "db_destination_id")
    return Grounds(rooms, tuple(WayOut(*each) for each in found))
