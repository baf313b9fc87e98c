"""An agent in a game whose rooms and characters have no code for agents."""

from __future__ import annotations

from typing import Any

from evennia.objects.objects import DefaultCharacter, DefaultExit, DefaultRoom
from evennia.utils import create

from keepsake.agent.attention import EventKind, Impulse
from keepsake.agent.surroundings import identity_of
from keepsake.contrib.evennia.creation import find_agents
from keepsake.happening import Person
from keepsake.prompt.verbs import Command
from tests.world.agents_world import AgentsWorld


class TestAnyGame(AgentsWorld):
    def setUp(self) -> None:
        super().setUp()
        self.limbo = create.create_object(DefaultRoom, key="Limbo")
        self.cave = create.create_object(DefaultRoom, key="The Cave")
        self.rook = create.create_object("keepsake.contrib.evennia.AgentNPC", "Rook", self.limbo)
        self.visitor = create.create_object(DefaultCharacter, "Ilse", self.cave)
        self.events: list[Impulse] = []
        self.rook.mind.thinker.notice = self.events.append

    def lines_of(self, agent: Any) -> list[str]:
        return [memory.line for memory in agent.mind.memory.context().window]

    def test_it_hears_notices_arrivals_and_speaks(self):
        assert find_agents("rook") == [self.rook]
        self.visitor.move_to(self.limbo)
        self.settle()
        self.visitor.execute_cmd("say Good evening, Rook.")
        self.visitor.move_to(self.cave)
        self.settle()
        assert 'Ilse says, "Good evening, Rook."' in self.lines_of(self.rook)
        assert [each.kind for each in self.events] == [EventKind.ARRIVAL, EventKind.ADDRESSED]
        assert {each.source for each in self.events} == {"Ilse"}
        assert all(each.memory for each in self.events)
        heard = self.capture(self.visitor)
        self.visitor.move_to(self.limbo, quiet=True)
        self.rook.execute_cmd("say Come in.")
        assert any("Come in." in line for line in heard)

    def test_it_answers_aloud_looks_and_walks(self):
        way = create.create_object(DefaultExit, "north", self.limbo, destination=self.cave)
        self.visitor.move_to(self.limbo, quiet=True)
        self.settle()
        heard = self.capture(self.visitor)
        actor = self.rook.mind.actor
        actor.speak(
            self.rook, "Braces {are} $no() |rtrap.", Person("Ilse", identity_of(self.visitor))
        )
        assert 'Rook says to you, "Braces {are} $no() ||rtrap."' in heard
        for command in (Command("examine", "Ilse"), Command("go", "north")):
            actor.do(self.rook, command)
        assert (self.rook.location, way.destination) == (self.cave, self.cave)
        assert "is not available" not in " ".join(self.lines_of(self.rook))
