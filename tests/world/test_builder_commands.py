"""What builders type to tend agents, and what players cannot."""

from __future__ import annotations

from dataclasses import replace

from evennia.utils.ansi import strip_ansi

from commands.base import PlayerCommand
from commands.default_cmdsets import BUILDER_COMMANDS, AccountCmdSet, CharacterCmdSet
from keepsake.contrib.evennia.commands.agents import VIEWS
from keepsake.contrib.evennia.creation import all_agents, find_agents
from keepsake.errors import ModelUnavailable
from tests.world.agents_world import AgentsWorld, Building


class TestAgentCommand(Building, AgentsWorld):
    def test_create_makes_one_here_that_perceives(self):
        shown = self.type("@agent/create Ada = You are Ada, a clockmaker.")
        assert "Made Ada" in shown
        assert "earlier life" not in shown
        ada = find_agents("Ada")[0]
        assert ada.location == self.room1
        assert ada.db.profile == "You are Ada, a clockmaker."
        self.char1.execute_cmd("say Welcome, Ada.")
        assert 'Tom says, "Welcome, Ada."' in self.lines(ada)

        folder = self.mind.memory.folder
        assert "is gone" in self.type("@agent/delete Mira")
        assert [agent.key for agent in all_agents()] == ["Ada"]
        assert list((folder / "archive").glob("0*.jsonl"))
        assert "remembers an earlier life" in self.type("@agent/create Mira")
        again = find_agents("Mira")[0]
        assert again.db.profile == "You are Mira, an innkeeper."
        assert 'Tom says, "Welcome, Ada."' in self.lines(again)

    def test_what_is_refused_is_told_with_the_cure(self):
        for name in (
            "../../etc",
            "|rRed",
            "M\u0456ra",
            "x" * 10_000,
            "",
            "Tom",
        ):
            shown = self.type(f"@agent/create {name} = You are somebody.")
            assert "did not work" in shown or "Usage" in shown, name
            assert len(shown) < 600
        assert [agent.key for agent in all_agents()] == ["Mira"]
        assert [p.name for p in self.services.places.agents.iterdir()] == ["Mira"]
        shown = self.type("@agent Nobody")
        assert "There is no agent" in shown
        assert "Mira" in shown
        assert "did not work" in self.type("@agent/pause ../..")
        self.type("@agent/eat Mira")
        assert self.mira.pk

    def test_an_agent_is_seen_and_mended(self):
        assert "You are Mira, an innkeeper." in self.type("@agent/profile Mira")
        self.type("@agent/profile Mira = You are Mira, a pirate.")
        assert self.mira.db.profile == "You are Mira, a pirate."
        assert "paused" in self.type("@agent/pause Mira")
        assert "paused" in self.type("@agent")
        assert "thinks again" in self.type("@agent/resume Mira")
        self.char1.execute_cmd("say |rGood evening|n")
        shown = self.type("@agent/prompt Mira")
        assert 'Tom says, "|rGood evening|n"' in shown
        assert "BASIC COMMANDS:" in shown


class TestMemoryCommands(Building, AgentsWorld):
    def setUp(self):
        super().setUp()
        self.mira.db.paused = True
        config = self.services.places.config / "memory_compaction.md"
        config.write_text(
            "**immediate_window**: 4\n**recent_window**: 50\n**min_saving_tokens**: 0\n"
        )

    def talk(self, count):
        for number in range(count):
            self.char1.execute_cmd(f"say Ship {number} came from Ostrey with salt.")

    def test_failures_and_damage_are_told(self):
        self.talk(9)

        class Dead:
            def summarize(self, source):
                raise ModelUnavailable("nobody answers on port 1", "Start the server")

        compacting = self.mind.memory.memory._compactor
        compacting._host = replace(compacting._host, summarizer=Dead)
        shown = self.type("@compact-memories Mira", "failed")
        assert "nobody answers on port 1. Start the server" in shown
        archive = self.mind.memory.memory.archive
        segment = next(archive.folder.glob("0*.jsonl"))
        segment.write_bytes(segment.read_bytes().replace(b'"n":3,', b'"n":!,'))
        shown = self.type("@memory-status Mira", "Integrity")
        assert "Failed" in shown
        assert "0000000001.jsonl:3 cannot be read" in shown


class TestWhatIsMeant(Building, AgentsWorld):
    """Nobody named, a switch that there is not, one of something."""

    def test_without_a_name_it_is_the_agent_in_the_room(self):
        self.mind.keeper.write_note("well", "The cup lies in it.", place="", by="builder")
        assert "Mira's memories 1-1" in self.type("@agent/memories 1"), "an alias of its switch"
        for line, wanted in (
            ("@journal", "Mira's journal"),
            ("@people", "Mira knows"),
            ("@pin", "pinned for Mira"),
            ("@pin = Tom owes me six pence.", "Mira's pinned block"),
            ("@pin/remove = 1", "No longer pinned"),
            ("@notes", "1 note in"),
            ("@note /well", "The cup lies in it."),
            ("@memories 1", "Mira's memories 1-1"),
            ("@compaction", "has not been compacted"),
            ("@memory-status", "Mira's memory"),
            ("@agent/pause", "Mira is paused"),
            ("@sleep/here", "sleep"),
            ("@wake", "wakes"),
        ):
            shown = self.type(line)
            assert wanted in shown, (line, shown)
        assert not self.mira.is_asleep
        assert "Name it" in self.type("@agent/delete")
        assert self.mira.pk
        self.mira.location = self.room2
        for line in ("@journal", "@wake"):
            assert "not clear which agent you mean. Name one: Mira" in self.type(line), line

    def test_a_switch_that_there_is_not_is_refused_by_every_command(self):
        self.account.permissions.add("Developer")
        self.char1.permissions.add("Developer")
        for line in ("@pin/delete mira", "@journal/undo mira", "@agent/pause/delete mira"):
            assert "do not go together" in self.type(line), line
        assert self.mira.pk
        assert not self.mira.db.paused
        refused = 0
        for command in (*CharacterCmdSet(), *AccountCmdSet()):
            if isinstance(command, PlayerCommand) or command.key.startswith("__"):
                continue
            shown = self.type(f"{command.key}/nonsense Mira = 1")
            assert "has no switch /nonsense" in shown or "not available" in shown, shown
            refused += "has no switch" in shown
        assert refused > 60
        assert "Made Ada" in self.type("@agent/crea Ada = You are Ada.")


class TestPlayersAreKeptOut(AgentsWorld):
    def test_no_builder_command_for_players(self):
        self.account.is_superuser = False
        self.account.permissions.clear()
        self.account.permissions.add("Player")
        self.char1.permissions.clear()
        heard = self.hears(self.char1)
        for line in (
            *(f"{each.key} Mira" for each in BUILDER_COMMANDS),
            *(f"@{switch} Mira" for switch in VIEWS),
            *(f"@agent/{switch} Mira" for switch in VIEWS),
            "@agent/prompt Mira",
            "@agent/delete Mira",
            "@rules/drop Tom",
            "memory-status",
        ):
            heard.clear()
            self.char1.execute_cmd(line)
            shown = strip_ansi("\n".join(heard))
            assert "not available" in shown, line
            assert "innkeeper" not in shown, line
        assert self.mira.pk
