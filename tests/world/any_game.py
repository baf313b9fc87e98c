"""A game whose rooms, characters and commands have no code for agents."""

from __future__ import annotations

from typing import Any

from evennia.objects.objects import DefaultRoom
from evennia.utils import create

from keepsake.agent.attention.impulse import Impulse
from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.records import Memory
from keepsake.happening import Person
from tests.world import foreign_games
from tests.world.agents_world import AgentsWorld

AGENT = "tests.world.foreign_games.ForeignNPC"


class AnyGame(AgentsWorld):
    """The agent Rook and the player Ilse in Limbo."""

    def setUp(self) -> None:
        super().setUp()
        self.limbo = create.create_object(DefaultRoom, key="Limbo")
        self.cave = create.create_object(DefaultRoom, key="The Cave")
        self.rook = create.create_object(AGENT, "Rook", self.limbo)
        self.visitor = self.add_visitor("Ilse")
        self.events: list[Impulse] = []
        self.rook.mind.thinker.notice = self.events.append

    def add_visitor(self, name: str, kind: Any = foreign_games.Visitor) -> Any:
        """Add a character of a player, with the commands of a foreign game."""
        made = create.create_object(kind, name, self.limbo)
        made.cmdset.add_default(foreign_games.ForeignCmdSet)
        made.db_account = self.account2
        return made

    def lines_of(self, agent: Any) -> list[str]:
        return [memory.line for memory in agent.mind.memory.context().window]

    def newest(self, agent: Any = None) -> Memory:
        """Return an agent's newest memory."""
        memory: Memory = (agent or self.rook).mind.memory.context().window[-1]
        return memory

    def ilse(self) -> Person:
        """Return Ilse as an agent without short descriptions knows her."""
        return Person("Ilse", identity_of(self.visitor))
