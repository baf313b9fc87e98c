"""Hooks of a game's agents: the examples of docs/your-own-game.md, unchanged."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import patch

import pytest
from evennia.utils import create

from keepsake.agent.runtime import Runtime
from keepsake.contrib.evennia.creation import all_agents, find_agents
from keepsake.paths import REPOSITORY
from tests.fakes.model_server import Reply
from tests.log_lines import LogLines
from tests.world.agents_world import AgentsWorld, Building
from tests.world.talk_world import TalkWorld

PAGE = (REPOSITORY / "docs" / "your-own-game.md").read_text(encoding="utf-8")
EXAMPLES = "".join(re.findall(r"^```python\n(.*?)^```", PAGE.partition("## Hooks")[2], re.M | re.S))


@pytest.fixture(scope="module", autouse=True)
def npcs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("game")
    (folder / "npcs.py").write_text(EXAMPLES, encoding="utf-8")
    with pytest.MonkeyPatch.context() as path:
        path.syspath_prepend(folder)
        yield


class TestHooks(TalkWorld):
    def start_services(self) -> Runtime:
        self.fake.capabilities = ["completion", "tools"]  # before anybody asks for them
        return super().start_services()

    def npc(self, kind: str) -> Any:
        self.mira.delete()
        self.char2.delete()
        self.mira = create.create_object(f"npcs.{kind}", "Mira", self.room1, home=self.room1)
        self.pass_time(1)
        return self.mira

    def told(self, words: str, *answers: str) -> str:
        return str(self.ask(words, *answers)[-1][-1]["content"])

    def test_a_shop_sells_and_buys_at_its_prices(self):
        shop = self.npc("Shopkeeper")
        self.char1.db.coins = 6
        last = self.told("A lamp, please.", "> sell lamp to Tom")
        assert "[A lamp costs 5 coins.]\n" in last
        assert "> sell <words> to <person>: take the money and hand" in last
        tools = str(self.fake.calls("/api/chat")[-1].body["tools"])
        assert ("'sell'" in tools, "'buy'" in tools) == (True, False), "nothing is carried"
        assert ([each.key for each in self.char1.contents], self.char1.db.coins) == (["lamp"], 1)
        self.char1.contents[0].location = shop
        self.fake.plan("/api/chat", Reply("", calls=[("buy", {"what": "lamp from tom"})]))
        self.told("Buy it back?")
        assert self.char1.db.coins == 5

    def test_a_quest_flag_is_set_and_shown_in_the_prompt(self):
        kind = type(self.npc("Widow"))
        assert "ring" not in self.told("Good day.", "Good day.")
        assert "[Tom knows of the ring in the well.]" in self.told("Where is your ring?", "Gone.")
        with patch.object(kind, "at_agent_heard", lambda *_: False):
            assert self.ask("Are you there?") == []
        assert 'Tom says to you, "Are you there?"' in self.lines()

    def test_a_guard_attacks_only_on_duty(self):
        guard = self.npc("Guard")
        assert "attack <" not in self.told("Boo.", "> attack Tom", "> wait")
        assert self.char1.db.hp is None
        guard.db.on_duty = True
        told = self.told("Boo.", "> attack Tom")
        assert "More deeds here: > attack <person>: strike somebody" in told
        assert (self.char1.db.hp, "~attack Tom" in self.lines()) == (7, True)
        assert "You tried to attack king: there is only Tom" in self.told("Boo.", "> attack king")

    def test_a_veto_keeps_silent_and_is_counted(self):
        monk = self.npc("Monk")
        self.told("Hello.", "Hello!\n*nods.*\n> get Obj")
        assert self.lines()[-3:-1] == ["~emote nods, in silence.", "~get Obj"]
        assert monk.mind.thinker.log.guarded == {"refused": 1, "altered": 1}
        assert "may not be said or done here" in self.told("Say it!", "I say it.", "*nods*")
        assert not [line for line in self.heard if "Hello!" in line]
        self.ask("Say it!", "I say it.", "I say it again.")
        assert not [line for line in self.heard if "seems far away" in line], "no model is missing"

    def test_a_broken_hook_is_logged_and_the_turn_goes_on(self):
        kind = type(self.npc("Guard"))
        broken = {f"at_agent_{name}": lambda *_: 1 / 0 for name in ("heard", "prompt", "answer")}
        wrong = patch.multiple(kind, agent_verbs={"attack <foe>": "strike"}, **broken)
        with wrong, LogLines() as logged:
            self.told("Hello.", "Good day.")
        assert "~say Good day." in self.lines()
        assert "\n".join(logged.lines).count("ZeroDivisionError") >= 3
        assert "'attack <foe>' is no usage" in "\n".join(logged.lines)


class TestMemoryId(Building, AgentsWorld):
    def spawned(self, key: str, **own: str) -> Any:
        kind = "keepsake.contrib.evennia.agents.AgentNPC"
        self.type(f"spawn {dict(own, typeclass=kind, key=key)}")
        return find_agents(key)[-1]

    def test_an_agent_that_is_spawned_again_knows_what_it_was_told(self):
        given = {"memory_id": "0b3d8e1c-5a52-4f0e-9d3b-2f1c6f6a7e10", "profile": "You are Ilse."}
        ilse = self.spawned("Ilse", **given)
        for line in ("Listen!", "My dog is called Biscuit."):
            self.char1.execute_cmd(f"say {line}")
        ilse.delete()
        for key in ("Ilse", "Greta"):  # also under another name
            again = self.spawned(key, **given)
            told = 'Tom says, "My dog is called Biscuit."' in self.lines(again)
            assert (told, again.memory_folder) == (True, "Ilse")
            again.delete()
        assert self.spawned("Ilse").db.memory_id == given["memory_id"], "its name finds it, too"
        find_agents("Ilse")[0].delete()
        assert self.spawned("Ilse", memory_id="other").memory_folder != "Ilse"

    def test_an_agent_gets_the_memories_of_an_id_that_is_set_later(self):
        old = self.mira.db.memory_id
        self.mira.key = "Zora"
        self.char1.execute_cmd("say Before.")
        self.mira.delete()
        self.type("create/drop Greta:keepsake.contrib.evennia.AgentNPC")
        greta = find_agents("Greta")[0]
        self.type(f'set Greta/memory_id = "{old}"')
        self.char1.execute_cmd("say After.")
        assert self.lines(greta)[-2:] == ['Tom says, "Before."', 'Tom says, "After."']
        self.type("agent Greta = You are Greta, a baker.")
        assert (greta.db.profile, greta.home) == ("You are Greta, a baker.", self.room1)

    def test_agents_never_share_an_id_and_an_older_agent_gets_one(self):
        bram = self.add_agent("Bram")
        mine = self.mira.db.memory_id
        with LogLines() as logged:
            bram.db.memory_id = mine
            self.char1.execute_cmd("say Hello.")
            self.spawned("Bram", memory_id=mine, memory_folder="Mira")
        assert "Mira has the memory" in logged.lines[0]
        self.type("copy Mira = Third")
        self.char1.execute_cmd("say Hello.")
        agents = (*all_agents(), self.mira.copy(new_key="Twin"))
        for name in ("memory_id", "memory_folder"):
            assert len({each.attributes.get(name) for each in agents}) == 5
        kept = self.mind.memory.folder / "memory_id"
        self.stop_services()
        self.mira.attributes.remove("memory_id")
        kept.unlink()
        self.services = self.start_services()
        assert (self.mind.memory.folder / "memory_id").read_text().strip() == self.mira.db.memory_id
        assert kept.exists()
