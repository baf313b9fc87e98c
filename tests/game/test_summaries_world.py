"""A model behind an OpenAI-compatible server writes the summaries, over the wire."""

from __future__ import annotations

import re

from keepsake.memory import CompactReason
from tests.game.test_ladder_world import LadderWorld

ASKED = "Write your summary of these memories."


class TestSummariesByModel(LadderWorld):
    """Provider, host and model of ``summarizer`` are named, and nothing else."""

    def setUp(self):
        super().setUp()
        config = self.services.places.config / "llm.md"
        model = f"**provider**: openai\n**host**: {self.fake.address}\n**model**: fake\n"
        config.write_text(config.read_text().replace("**provider**: extractive\n", model))
        self.answers = []
        thinks = self.fake.script
        self.fake.script = lambda prompt: self.writes(prompt) if ASKED in prompt else thinks(prompt)
        self.mira.db.profile = "You are Mira, who keeps the Inn. You fear geese (secret).\n\nMore."

    def writes(self, prompt):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def lived(self):
        """So many memories that a compaction by hand has something to do."""
        self.budget(immediate_window=4, preserve_memories=4)
        self.mira.db.paused = True
        self.chatter(20)
        self.mira.db.paused = False
        self.mind.memory.compact(CompactReason.MANUAL, lambda _: None)
        self.compacted()

    def asked(self):
        """The messages of each call for a summary."""
        bodies = [call.body for call in self.fake.calls("/v1/chat/completions")]
        return [b["messages"] for b in bodies if ASKED in b["messages"][-1]["content"]]

    def test_it_is_asked_by_messages_and_once_more_with_the_reason(self):
        said = "Char2 and Tom spoke of casks that came and went."
        self.answers = ["...", said]
        self.lived()
        first, second = self.asked()
        assert [each["role"] for each in first] == ["system", "user"]
        assert first[0]["content"].startswith("You are Mira, who keeps the Inn.\n")
        assert "geese" not in first[0]["content"]
        assert re.search(r'^2\. .*"Bram brought 2 casks of salt', first[1]["content"], re.M)
        assert "could not be used: it is empty" in second[1]["content"]
        recent = self.mind.memory.context().recent
        assert (recent.text, recent.model) == (said, "fake")
        assert self.past()[-1].verdict.tries == 2

    def test_without_the_names_that_the_game_knows_it_is_made_without_a_model(self):
        self.answers = ["Many casks came and went, and everybody left for home."]
        self.lived()
        assert len(self.asked()) == 2
        assert re.search(r"leaves out .*Tom", self.asked()[1][1]["content"])
        recent = self.mind.memory.context().recent
        assert recent.model == "extractive"
        assert "Tom said: " in recent.text
