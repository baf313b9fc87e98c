"""A builder asks the model which memories an old summary tells."""

from __future__ import annotations

import json

import pytest

from keepsake.agent.memory.citing import cite
from keepsake.errors import KeepsakeError
from tests.fakes.model_server import llm_page
from tests.world.agents_world import SMALL_WINDOWS, next_of
from tests.world.web_world import WebWorld

SUMMARY = "Tom has herrings in barrels. They are many."


class TestCiting(WebWorld):
    """Mira's memories were summarised by a model that named none of them."""

    COMPACTION = f"{SMALL_WINDOWS}**count_from**: 0\n"

    def setUp(self):
        super().setUp()
        self.asked = []
        self.answers = [json.dumps({"sentences": [{"sentence": 1, "memories": [2, 3]}]})]
        self.fake.script = self.spoken
        self.add_memories(40)

    def models_page(self, **more):
        usual = {"host": self.fake.address, "model": "fake", "time_limit": 60, "form": self.FORM}
        words = " ".join(f"{name}={value}" for name, value in {**usual, **more}.items())
        return llm_page(agent=f"provider=ollama {words}", summarizer=f"provider=ollama {words}")

    def spoken(self, prompt):
        if "wrote a summary of them" in prompt:
            self.asked.append(prompt)
            return next_of(self.answers)
        return SUMMARY if "Write your summary" in prompt else next_of(self.replies)

    def cite(self, number):
        """Ask in a worker thread, as a page does."""
        asked = self.services.workers.submit(cite, self.mind.memory, self.services, number)
        self.settle(asked.done)
        return asked.result()

    def test_the_answer_says_what_was_lost_and_is_kept(self):
        path = self.of_mira("/compactions/1/losses")
        before = self.get(path)
        assert not before["named"]
        assert "fake named memories for 1 of 2 sentences" in self.cite(1)
        after = self.get(path)
        assert after["named"]
        kept = {each["memory"]["number"]: each["kept"] for each in after["losses"]}
        assert (kept[2], kept[3]) == ("shorter", "shorter")
        assert '\n2. Tom says, "Barrel' in self.asked[0]
        assert f"S1. {SUMMARY.split('. ', maxsplit=1)[0]}." in self.asked[0]

    def test_an_answer_that_names_none_changes_nothing(self):
        self.answers = ["I cannot tell."]
        with pytest.raises(KeepsakeError, match="named none"):
            self.cite(1)
        assert not self.get(self.of_mira("/compactions/1/losses"))["named"]
        said = self.post(self.of_mira("/compactions/99/sources"))
        assert (said["done"], "no compaction 99" in said["said"]) == (False, True)
