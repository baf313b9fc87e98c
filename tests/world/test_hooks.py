"""What a game adds to its agents: the examples of docs/your-own-game.md, as they stand there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from evennia.prototypes import spawner
from evennia.utils import create

from keepsake.contrib.evennia.creation import find_agents
from keepsake.contrib.evennia.prototypes import AGENT
from keepsake.paths import REPOSITORY
from tests.fakes.model_server import Reply
from tests.world.agents_world import AgentsWorld, Building
from tests.world.test_talk_world import TalkWorld

PAGE = (REPOSITORY / "docs" / "your-own-game.md").read_text(encoding="utf-8")
EXAMPLES = "".join(re.findall(r"^```python\n(.*?)^```", PAGE.partition("## Hooks")[2], re.M | re.S))


@pytest.fixture(scope="module", autouse=True)
def npcs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The file that the page has one write."""
    folder = tmp_path_factory.mktemp("game")
    (folder / "npcs.py").write_text(EXAMPLES, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield


class TestHooks(TalkWorld):
    def start_services(self) -> Any:
        self.fake.can = ["completion", "tools"]
        return super().start_services()

    def npc(self, kind: str, name: str = "Ilse") -> Any:
        self.mira.delete()
        self.char2.delete()
        found = create.create_object(f"npcs.{kind}", name, self.room1, home=self.room1)
        self.pass_time(1)
        return found

    def answers(self, npc: Any, words: str, *answers: str) -> list[dict[str, Any]]:
        """Tom says this to it; what its model was sent, a request each."""
        before = len(self.fake.calls("/api/chat"))
        self.said = [*answers, "> wait"] if answers else self.said
        self.char1.execute_cmd(f"talk {npc.key} {words}")
        self.pass_time(4)
        return [call.body for call in self.fake.calls("/api/chat")[before:]]

    def lived(self, npc: Any) -> list[str]:
        return [each.text for each in npc.memory.context().window]

    def test_a_shop_sells_and_buys_at_its_prices(self):
        ilse, self.char1.db.coins = self.npc("Shopkeeper"), 6
        (sent,) = self.answers(ilse, "A lamp, please.", "> sell lamp to Tom\nMind the wick.")
        last = sent["messages"][-1]["content"]
        tools = [each["function"]["name"] for each in sent["tools"]]
        assert "[A lamp costs 5 coins.]\n" in last
        assert "sell <words> to <person> (person: Tom): take the money and hand" in last
        assert "buy <item>" not in last, "nothing is carried"
        assert ("sell" in tools, "buy" in tools) == (True, False)
        assert ([each.key for each in self.char1.contents], self.char1.db.coins) == (["lamp"], 1)
        self.answers(ilse, "A crown?", "> sell crown to Tom")
        assert "You have no crown that Tom can pay for." in self.lived(ilse)
        self.char1.contents[0].location = ilse
        call = Reply(text="", calls=[("buy", {"what": "lamp from tom"})])
        self.fake.plan("/api/chat", call)
        self.answers(ilse, "Buy it back?")
        assert self.char1.db.coins == 5

    def test_a_quest_flag_is_set_and_told(self):
        widow = self.npc("Widow")
        (sent,) = self.answers(widow, "Good day.", "Good day.")
        assert "ring" not in sent["messages"][-1]["content"]
        (sent,) = self.answers(widow, "Where is your ring?", "In the well.")
        assert self.char1.db.asked_for_ring
        assert "[Tom knows of the ring in the well.]" in sent["messages"][-1]["content"]
        type(widow).at_agent_heard = lambda *_: False
        assert self.answers(widow, "Are you there?") == []
        assert 'Tom says to you, "Are you there?"' in self.lived(widow)
        del type(widow).at_agent_heard

    def test_a_guard_attacks_on_duty_alone(self):
        guard = self.npc("Guard")
        (sent, _) = self.answers(guard, "Boo.", "> attack Tom", "> wait")
        assert "attack" not in sent["messages"][-1]["content"]
        assert self.char1.db.hp is None
        guard.db.on_duty = True
        (sent,) = self.answers(guard, "Boo.", "> attack Tom")
        assert "attack <person> (person: Tom): strike somebody" in sent["messages"][-1]["content"]
        assert (self.char1.db.hp, "attack Tom" in self.lived(guard)) == (7, True)
        (sent, _) = self.answers(guard, "Boo.", "> attack the king", "> wait")
        assert "there is only Tom" in " ".join(self.lived(guard))

    def test_a_veto_keeps_silent_and_is_logged(self):
        monk, heard = self.npc("Monk"), self.hears(self.char1)
        self.answers(monk, "Hello.", "Hello!\n*nods.*\n> get Obj")
        assert not [line for line in heard if "Hello!" in line]
        assert "emote nods, in silence." in self.lived(monk)
        thoughts = monk.mind.thinker.log
        assert thoughts.guarded == {"refused": 1, "altered": 1}
        (_, again) = self.answers(monk, "Say it!", "I say it.", "*nods*")
        assert "may not be said or done here" in again["messages"][-1]["content"]

    def test_a_broken_hook_is_logged_and_the_turn_goes_on(self):
        guard = self.npc("Guard")
        with pytest.MonkeyPatch.context() as broken, self.assertLogs("keepsake.agents") as logged:
            for name in ("heard", "prompt", "answer"):
                broken.setattr(type(guard), f"at_agent_{name}", lambda *_: 1 / 0)
            broken.setattr(type(guard), "agent_verbs", {"attack <foe>": "strike"})
            self.answers(guard, "Hello.", "Good day.")
        assert "say Good day." in self.lived(guard)
        text = "\n".join(logged.output)
        assert text.count("ZeroDivisionError") >= 3
        assert "'attack <foe>' is no usage" in text


class TestMemoryId(Building, AgentsWorld):
    """Memories belong to an id, and find the object that has it."""

    ID = "0b3d8e1c-5a52-4f0e-9d3b-2f1c6f6a7e10"

    def spawned(self, **own: Any) -> Any:
        prototype = {"prototype_parent": "AGENT", "location": self.room1, "home": self.room1, **own}
        (found,) = spawner.spawn(prototype, prototype_parents={"AGENT": AGENT.copy()})
        return found

    def test_an_agent_that_is_spawned_again_knows_what_it_was_told(self):
        ilse = self.spawned(key="Ilse", memory_id=self.ID, profile="You are Ilse.")
        for line in ("Listen!", "My dog is called Biscuit."):
            self.char1.execute_cmd(f"say {line}")
        ilse.delete()
        for key in ("Ilse", "Greta"):  # also under another name
            again = self.spawned(key=key, memory_id=self.ID)
            assert 'Tom says, "My dog is called Biscuit."' in self.lines(again)
            assert again.memory_folder == "Ilse"
            again.delete()
        assert self.spawned(key="Ilse").db.memory_id == self.ID, "without an id its name finds it"
        assert self.spawned(key="Ilse", memory_id="other").memory_folder != "Ilse"

    def test_an_id_that_is_set_later_brings_the_memories(self):
        old, self.mira.key = self.mira.db.memory_id, "Zora"
        self.char1.execute_cmd("say Before.")
        self.mira.delete()
        self.type("create/drop Greta:keepsake.contrib.evennia.AgentNPC")
        greta = find_agents("Greta")[0]
        self.type(f'set Greta/memory_id = "{old}"')
        self.char1.execute_cmd("say After.")
        assert [*self.lines(greta)][-2:] == ['Tom says, "Before."', 'Tom says, "After."']
        self.type("agent Greta = You are Greta, a baker.")
        assert (greta.db.profile, greta.home) == ("You are Greta, a baker.", self.room1)

    def test_two_agents_never_share_one(self):
        bram, mine = self.another_agent("Bram"), self.mira.db.memory_id
        with self.assertLogs("keepsake.agents") as logged:
            bram.db.memory_id = mine
            self.char1.execute_cmd("say Hello.")
            ilse = self.spawned(key="Ilse", memory_id=mine, memory_folder="Mira")
        assert "Mira has the memory" in logged.output[0]
        copy = self.mira.copy(new_key="Twin")
        agents = (self.mira, bram, ilse, copy)
        for name in ("memory_id", "memory_folder"):
            assert len({each.attributes.get(name) for each in agents}) == 4
        for each in agents:
            kept = self.services.places.agents / each.memory_folder / "memory_id"
            assert kept.read_text().strip() == each.db.memory_id

    def test_an_older_agent_gets_one_when_it_is_opened(self):
        folder = self.mind.memory.folder
        self.stop_services()
        self.mira.attributes.remove("memory_id")
        (folder / "memory_id").unlink()
        self.services = self.start_services()
        assert self.mind.memory.folder == folder
        assert (folder / "memory_id").read_text().strip() == self.mira.db.memory_id
