"""Commands with which builders manage agents, and which players do not have."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from evennia.utils.ansi import strip_ansi
from evennia.utils.create import create_object

from commands.default_cmdsets import BUILDER_COMMANDS
from keepsake.contrib.evennia.commands.agents import VIEWS
from keepsake.contrib.evennia.creation import all_agents, find_agents
from keepsake.ports import Generation
from tests.sentences import table
from tests.world.agents_world import AgentsWorld, Building


class TestAgentCommand(Building, AgentsWorld):
    def test_a_created_agent_is_here_and_perceives(self):
        shown = self.type("@agent/create Ada = You are Ada, a clockmaker.")
        assert "Made Ada" in shown
        assert "earlier memories" not in shown
        ada = find_agents("Ada")[0]
        assert ada.location == self.room1
        assert ada.db.profile == "You are Ada, a clockmaker."
        self.char1.execute_cmd("say Welcome, Ada.")
        assert 'Tom says, "Welcome, Ada."' in self.lines(ada)

    def test_a_deleted_agent_gets_its_memories_back_when_it_is_created_again(self):
        self.char1.execute_cmd("say Farewell, Mira.")
        folder = self.mind.memory.folder
        assert "is deleted" in self.type("@agent/delete Mira")
        assert all_agents() == []
        assert list((folder / "archive").glob("0*.jsonl"))
        assert "earlier memories" in self.type("@agent/create Mira")
        again = find_agents("Mira")[0]
        assert 'Tom says, "Farewell, Mira."' in self.lines(again)

    def test_only_what_the_archive_had_before_counts_as_earlier(self):
        """Its first look is a memory already, and a game may show it more than one line."""

        def shown(room: Any, looker: Any, **_: Any) -> str:
            looker.msg("A bell rings.")
            return str(room.key)

        with patch.object(type(self.room1), "return_appearance", shown):
            assert "earlier" not in self.type("@agent/create Ada = You are Ada.")
        number = find_agents("Ada")[0].mind.memory.memory.tiers.last_number
        assert number > 1
        self.type("@agent/delete Ada")
        assert f"Ada has its {number} earlier memories" in self.type("@agent/create Ada")

    def test_an_agent_made_in_a_builders_hands_lives_in_the_builders_room(self):
        """Evennia's own command `create` makes it so."""
        kind = "typeclasses.agents.Agent"
        ada = create_object(kind, key="Ada", location=self.char1, home=self.char1)
        assert (ada.location, ada.home) == (self.room1, self.room1)
        assert ada not in self.char1.contents
        assert ada in self.room1.contents
        memories = ada.mind.memory.memory.archive.folder.glob("*.jsonl")
        first = json.loads(next(memories).read_text().splitlines()[0])
        assert first["place"] == self.room1.key

    def test_bad_names_are_refused_with_a_reason(self):
        for name in ("../../etc", "|rRed", "M\u0456ra", "x" * 10_000, "", "Tom"):
            shown = self.type(f"@agent/create {name} = You are somebody.")
            assert "did not work" in shown or "Usage" in shown, name
            assert len(shown) < 600
        assert [agent.key for agent in all_agents()] == ["Mira"]
        assert [p.name for p in self.services.places.agents.iterdir()] == ["Mira"]
        assert "There is no agent" in self.type("@agent Nobody")

    def test_builders_see_and_change_a_persona(self):
        assert "You are Mira, an innkeeper." in self.type("@agent Mira")
        self.type("@agent Mira = You are Mira, a pirate.")
        assert self.mira.db.profile == "You are Mira, a pirate."

    def test_builders_pause_an_agent_and_let_it_think_again(self):
        assert "paused" in self.type("@agent/pause Mira")
        assert "paused" in self.type("@agent")
        assert "thinks again" in self.type("@agent/resume Mira")

    def test_builders_see_the_next_prompt_as_text(self):
        self.char1.execute_cmd("say |rGood evening|n")
        shown = self.type("@agent/prompt Mira") + self.type("next")
        assert 'Tom says, "|rGood evening|n"' in shown
        assert "Your deeds: " in shown

    def test_builders_see_what_the_model_can_do_and_what_it_does_now(self):
        model = self.services.gateway.model("agent")[0]
        model.capabilities = replace(model.capabilities, evaluates=1000)
        shown = self.type("@llm-status")
        assert "evaluates 1,000 tokens of a prompt" in " ".join(shown.split())
        assert "0 altered, 0 refused, 0 dropped" in shown
        assert "in flight" in shown

    def test_builders_see_what_share_of_prompts_a_server_had_in_its_cache(self):
        server = self.services.gateway.model("agent")[1]
        server.calls = 1
        assert "the server does not say" in self.type("@llm-status")
        server._count_cached(Generation("Yes.", "stop", 100, 60, 2, 0.1, "m"))
        server._count_cached(Generation("Yes.", "stop", 100, 90, 2, 0.1, "m"))
        assert "75% of the prompts' tokens; of the newest prompt 90%" in self.type("@llm-status")


class TestArguments(Building, AgentsWorld):
    """Commands without an agent's name, and with two switches."""

    def test_without_a_name_it_is_the_agent_in_the_room(self):
        self.mind.books.notes.write("well", "The cup lies in it.", now=self.services.clock.now())
        assert "Mira's memories 1-1" in self.type("@agent/memories 1"), "an alias of its switch"
        for line, wanted in table("builders' lines without a name"):
            shown = self.type(line)
            assert wanted in shown, (line, shown)
        assert not self.mira.db.asleep
        assert "Name the agent" in self.type("@agent/delete")
        assert "whole name: Mira" in self.type("@agent/delete mir")
        assert self.mira.pk
        self.mira.location = self.room2
        for line in ("@journal", "@wake"):
            assert "not clear which agent you mean. Name one: Mira" in self.type(line), line

    def test_wrong_switches_change_nothing(self):
        profile = self.mira.db.profile
        assert "cannot be combined" in self.type("@agent/pause/delete mira")
        assert 'no switch "/unpin". Use one of' in self.type("@agent/unpin mira = 9")
        assert "has no switches" in self.type("@memory-status/all mira")
        assert self.mira.db.profile == profile
        assert profile in self.type("@agent mira = You are Mira, a smith."), "to be copied back"
        self.mira.attributes.remove("profile")
        assert "The old one" not in self.type("@agent mira = You are Mira."), "there was none"


class TestPlayersAreKeptOut(AgentsWorld):
    def test_no_builder_command_for_players(self):
        self.demote_to_player()
        heard = self.capture(self.char1)
        for line in (
            *(f"{each.key} Mira" for each in BUILDER_COMMANDS),
            *(f"@{switch} Mira" for switch in VIEWS),
            *(f"@agent/{switch} Mira" for switch in VIEWS),
            "@agent/prompt Mira",
            "@agent/delete Mira",
            "@rules/drop Tom",
            "memory-status",
            "agent/recall Mira = x",
            "recall x",
            "notes",
        ):
            heard.clear()
            self.char1.execute_cmd(line)
            shown = strip_ansi("\n".join(heard))
            assert "not available" in shown, line
            assert line[0] != "@" or "emote" not in shown, line
            assert "innkeeper" not in shown, line
        assert self.mira.pk
