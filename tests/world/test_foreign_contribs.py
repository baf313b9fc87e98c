"""Agents in games with Evennia's contribs: maps, and short descriptions."""

from __future__ import annotations

from typing import Any

from evennia.contrib.grid.xyzgrid.xyzgrid import XYZGrid
from evennia.contrib.grid.xyzgrid.xyzroom import XYZRoom
from evennia.utils import create
from evennia.utils.ansi import strip_ansi

from keepsake.agent.memory.shelf import PageNeeds
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import place_of
from keepsake.contrib.evennia import hear, person_of
from keepsake.happening import Manner, Person, Speech
from keepsake.prompt.verbs import Command
from tests.world import foreign_games
from tests.world.any_game import AGENT, AnyGame

TOWN = """

 + 0 1

 0 #-#

 + 0 1

"""
"""A map of Evennia's grid: two rooms with a road."""


class TestPictures(AnyGame):
    """Lines that are drawn with characters."""

    def setUp(self) -> None:
        super().setUp()
        grid, _ = XYZGrid.create("grid")
        self.addCleanup(grid.delete)
        grid.add_maps({"map": TOWN, "zcoord": "town"})
        grid.spawn()
        self.town = XYZRoom.objects.get_xyz(xyz=(0, 0, "town"))
        self.inn = XYZRoom.objects.get_xyz(xyz=(1, 0, "town"))

    def test_the_map_of_evennias_grid_is_not_perceived(self):
        shown = self.capture(self.visitor)
        self.visitor.location = self.town
        self.visitor.execute_cmd("look")
        assert any("@-#" in strip_ansi(line) for line in shown), "a player sees the map"
        bert = create.create_object(AGENT, "Bert", self.town)
        first = bert.mind.memory.context().window
        assert [each.event for each in first] == ["look"]
        bert.mind.actor.do(bert, Command("go", "east"))
        assert bert.location == self.inn
        bert.mind.actor.do(bert, Command("look", ""))
        assert not any("@" in line for line in self.lines_of(bert))

    def test_a_game_names_the_types_of_its_own_pictures(self):
        drawn = ("~~~ Ω ~~~", {"type": "portrait"})
        self.rook.msg(drawn)
        assert "Ω" in self.newest().text
        self.rook.pictures = {"portrait"}
        self.rook.msg(drawn)
        self.rook.msg("You feel a draught.")
        assert len([line for line in self.lines_of(self.rook) if "Ω" in line]) == 1
        assert self.newest().text == "You feel a draught."


class TestShortDescriptions(AnyGame):
    """A game with Evennia's contrib RPSystem."""

    def setUp(self) -> None:
        super().setUp()
        self.hall = create.create_object(foreign_games.RPRoom, key="|rThe Hall|n")
        self.boss = create.create_object(foreign_games.RPVisitor, "boss", self.hall)
        self.boss.cmdset.add_default(foreign_games.ForeignCmdSet)
        self.boss.sdesc.add("a tall man")
        self.boss.db_account = self.account2
        self.vera = create.create_object(foreign_games.RPAgent, "Vera", self.hall)
        self.vera.sdesc.add("a pale woman")
        self.vera.mind.thinker.notice = self.events.append

    def test_a_person_is_known_by_the_short_description(self):
        self.boss.execute_cmd("say Good evening.")
        self.settle()
        said = self.newest(self.vera)
        assert said.actor == Person("a tall man", identity_of(self.boss))
        assert self.events[-1].source == "a tall man"
        assert "boss" not in said.text
        self.vera.recog.add(self.boss, "Odo")
        self.boss.execute_cmd("say It is me.")
        assert self.newest(self.vera).actor == Person("Odo", identity_of(self.boss))

    def test_its_prompt_holds_no_true_name(self):
        self.boss.execute_cmd("say Good evening.")
        self.settle()
        self.vera.mind.books.update_people(self.vera.mind.memory.memory.archive)
        built = list[Any]()
        self.vera.mind.preview(self.vera, self.boss, "Who am I?").addCallback(built.append)
        self.settle(lambda: bool(built))
        prompt = built[0][0].text
        assert 'a tall man says to you, "Who am I?"' in prompt
        assert "boss" not in prompt
        near = frozenset({identity_of(self.boss)})
        mind = self.vera.mind
        needs = PageNeeds(partner=identity_of(self.boss))
        lines = mind.books.people_lines(self.vera, mind.memory.private, None, near, needs)
        assert lines[0].text.startswith("a tall man, met")

    def test_it_remembers_who_woke_it_by_the_name_that_it_knows(self):
        self.vera.mind.sleeper.fall_asleep("a test said so")
        to = (person_of(self.vera),)
        call = Speech(speaker=person_of(self.boss), words="Wake up!", to=to, manner=Manner.SHOUT)
        hear(self.hall, call)
        assert any("a tall man woke you" in line for line in self.lines_of(self.vera))

    def test_its_answer_arrives(self):
        heard = self.capture(self.boss)
        self.vera.mind.actor.speak(self.vera, "Come in.", Person("a tall man"))
        assert any("Come in." in line for line in heard)
        assert not any("/Me" in line or "Vera" in line for line in heard)
        whisper = self.vera.mind.actor.speak(
            self.vera, "Only you.", Person("a tall man"), whispered=True
        )
        assert whisper.command is not None
        assert any("Only you." in line and "/Me" not in line for line in heard)
        assert self.vera.mind.actor.unheard == 0

    def test_places_have_no_colour_codes(self):
        assert place_of(self.vera) == "The Hall"
