"""Agents that remember with another memory than ours."""

from __future__ import annotations

from unittest.mock import patch

from keepsake.agent.surroundings import identity_of
from keepsake.archive.forgetting import ForgottenPerson, forget
from keepsake.contrib.evennia.creation import set_memory
from keepsake.contrib.evennia.minds import close_mind, mind_of
from keepsake.models.minilm import MiniLMEmbedder
from tests.world.agents_world import AgentsWorld, Building
from tests.world.broken_memories import Keeps

CHATTER = ("It rains.", "The soup is hot.", "Nice fire.", "Long day.", "The dog sleeps.", "Hm.")
FACT = "My brother Edwin mends nets in Ostrey."
BROKEN = "tests.world.broken_memories"


class PluggedWorld(AgentsWorld):
    """Mira with a window of four, and any memory."""

    def start_services(self):
        new = super().start_services()
        new.embedder = MiniLMEmbedder()
        (new.places.config / "memory_compaction.md").write_text(
            "**immediate_window**: 4\n**recent_window**: 4\n**min_saving_tokens**: 0\n"
            "**preserve_memories**: 4\n"
        )
        return new

    def has(self, name):
        set_memory(self.mira, name)
        self.settle()

    @property
    def folder(self):
        return self.services.places.agents / "Mira"


class TestMemories(PluggedWorld):
    """Plain RAG in place of ours; other ones, and such as break."""

    def find(self, words):
        """What the memory finds for these words."""
        return [
            each.document for each in self.mind.keeper.recaller.find(words, seconds=5.0).memories
        ]

    def test_what_left_the_window_is_found_and_nothing_of_ours_or_private_stands_there(self):
        self.has("rag")
        self.says("Never open the cellar door, Mira.", FACT, *CHATTER, *CHATTER)
        prompt = self.asks("Where is my brother Edwin?", "say In Ostrey.")[0]
        past = prompt.split("RELATED PAST EXPERIENCES:\n")[1].split("\n\n")[0]
        assert "mends nets in Ostrey" in past
        assert "(memory 3)" in past
        for heading in ("Told To You", "What Mattered", "People Here"):
            assert heading not in prompt
        assert prompt.split("\n---\n")[1].count('says, "') <= 4

        self.char1.execute_cmd("whisper Mira = The silver key is under the mill.")
        self.says(*CHATTER)
        self.settle()
        told = [found.text for found in self.find("Where is the silver key?")]
        told += self.mind.keeper.recaller.context
        assert not [each for each in told if "silver" in each or "mill" in each]
        assert [each for each in told if "whispers to you" in each]

        self.has("")
        assert self.mind.keeper.recaller.context is None
        self.says("Bram owes me six pence.", *CHATTER)
        self.has("rag")  # it lives the archive anew
        assert "six pence" in self.find("What does Bram owe?")[0].text
        assert self.find("Where does Edwin mend nets?")[0].first == 3

    def test_one_that_writes_files_has_a_folder_of_its_own_which_forgetting_takes(self):
        self.has("generative-agents")
        self.says(FACT)
        self.mind.keeper.recaller.rest()
        stream = self.folder / "memories" / "generative-agents" / "stream.json"
        assert "Edwin" in stream.read_text()
        self.stop_services()
        forget(self.folder, ForgottenPerson(identity_of(self.char1), "Tom"))
        assert not stream.exists()
        assert "Edwin" not in (self.folder / "archive" / "0000000001.jsonl").read_text()
        self.start_services()

    def test_a_fault_is_told_under_its_name_and_the_agent_goes_on(self):
        with self.assertLogs("keepsake.agents") as logs:
            self.has(f"{BROKEN}:Breaks")
            self.says(*CHATTER)
            (prompt,) = self.asks("Good evening.", "say Good evening.")[:1]
        faults = [line for line in logs.output if "ZeroDivisionError" in line]
        assert len(faults) == 1
        assert f"[Error] Mira: The memory {BROKEN}:Breaks: broke off" in faults[0]
        assert "Hm." in prompt
        assert "~say Good evening." in self.lines()

    def test_what_is_forgotten_is_not_written_again_by_one_still_at_work(self):
        self.addCleanup(Keeps.gate.set)
        self.says(FACT)
        with patch("keepsake.agent.memory.plugged.PATIENCE", 0.05):
            self.has(f"{BROKEN}:Keeps")
            self.services.workers.submit(self.mind.keeper.recaller.rest)
            assert Keeps.entered.wait(60)
            close_mind(self.mira.id)
            forget(self.folder, ForgottenPerson(identity_of(self.char1), "Tom"))
            assert mind_of(self.mira).keeper.recaller.find("Edwin?", seconds=5.0).memories == ()
        Keeps.gate.set()
        assert Keeps.closed.wait(60)
        self.settle()
        there = [path for path in (self.folder / "memories").rglob("*") if path.is_file()]
        assert not [path for path in there if "Edwin" in path.read_text()]


class TestCommand(Building, AgentsWorld):
    """``@agent/memory``."""

    def test_it_is_seen_and_changed(self):
        assert "remembers with keepsake. There are: full-context" in self.type("@agent/memory Mira")
        assert "remembers with rag." in self.type("@agent/memory Mira = rag")
        assert "There is no memory" in self.type("@agent/memory Mira = rug")
        assert "remembers with keepsake." in self.type("@agent/memory Mira = keepsake")
        for who in (self.account, self.char1):  # to whom Evennia's test case gives it
            who.permissions.remove("Developer")
        assert "for developers" in self.type(f"@agent/memory Mira = {BROKEN}:Keeps")
        self.account.permissions.add("Developer")
        assert f"remembers with {BROKEN}:Breaks." in self.type(
            f"@agent/memory Mira = {BROKEN}:Breaks"
        )
