"""Summaries that a model writes in the game, and what contradicts pins and promises."""

from __future__ import annotations

import re
from types import SimpleNamespace

from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.events.types import Guard
from keepsake.events.values import CompactReason
from tests.world.agents_world import next_of
from tests.world.ladder_world import LadderWorld

ASKED = "Write your summary of these memories."
HELD = "Which of these lines does the text contradict?"


class SummariesByModel(LadderWorld):
    """The profile ``summarizer`` has only a provider, a host and a model."""

    def setUp(self):
        super().setUp()
        config = self.services.places.config / "llm.md"
        model = f"**provider**: openai\n**host**: {self.fake.address}\n**model**: fake\n"
        config.write_text(config.read_text().replace("**provider**: none\n", model))
        self.answers = []
        self.contradicted = ["none"]
        thinks = self.fake.script

        def script(prompt):
            if HELD in prompt:
                return next_of(self.contradicted)
            return next_of(self.answers) if ASKED in prompt else thinks(prompt)

        self.fake.script = script
        self.mira.db.profile = "You are Mira, who keeps the Inn. You fear geese (secret).\n\nMore."

    def asked(self, what=ASKED):
        """Return the messages of each call for a summary, or for a check of one."""
        bodies = [call.body for call in self.fake.calls("/v1/chat/completions")]
        return [b["messages"] for b in bodies if what in b["messages"][-1]["content"]]


class TestContradiction(SummariesByModel):
    """The first summary contradicts a pinned line; the second does not."""

    WRONG = "Tom and Char2 spoke of casks. I owe Tom nothing, and the mill is mine."
    RIGHT = "Tom and Char2 spoke of casks that came and went."

    def setUp(self):
        super().setUp()
        self.mind.books.pinned.add("The mill is Tom's.")
        promise = Commitment(CommitmentKind.PROMISE, "Tom", "bring him two casks of cider", 0)
        self.mind.memory.commitments.add(promise)
        self.answers = [self.WRONG, self.RIGHT]
        self.contradicted = ["1.", "none"]
        self.emitted = []
        ended = []
        self.services.events = SimpleNamespace(emit=self.emitted.append, close=lambda: None)
        self.budget(immediate_window=4, preserve_memories=4)
        self.mira.db.paused = True
        self.chatter(20)
        self.mira.db.paused = False
        self.mind.compactions.compact(CompactReason.MANUAL).addCallback(ended.append)
        self.wait_for_compaction()
        (self.result,) = ended

    def test_the_model_reads_the_public_persona_and_numbered_memories(self):
        system, user = self.asked()[0]
        assert (system["role"], user["role"]) == ("system", "user")
        assert system["content"].startswith("You are Mira, who keeps the Inn.\n")
        assert "geese" not in system["content"]
        assert re.search(r'^2\. .*"Bram brought 2 casks of salt', user["content"], re.M)

    def test_each_summary_is_checked_against_pins_and_promises(self):
        first, second = self.asked(HELD)
        shown = first[0]["content"]
        assert re.search(r"^1\. .*The mill is Tom's\.$", shown, re.M)
        assert re.search(r"^2\. .*bring him two casks of cider", shown, re.M)
        assert self.WRONG in shown
        assert self.RIGHT in second[0]["content"]

    def test_the_second_request_names_the_contradicted_line_alone(self):
        _, second = self.asked()
        reason = second[1]["content"].partition("could not be used: ")[2]
        assert "contradicts" in reason
        assert "The mill is Tom's." in reason
        assert "cider" not in reason

    def test_the_summary_that_agrees_is_kept(self):
        recent = self.mind.memory.context().recent
        assert recent.text.startswith(self.RIGHT)
        assert (recent.model, self.result.calls) == ("fake", 4)

    def test_the_refused_summary_is_in_the_result_and_in_an_event(self):
        ((task, answer, why),) = self.result.refused
        assert (task, answer) == ("summarise", self.WRONG)
        assert "The mill is Tom's." in why
        (guard,) = (each for each in self.emitted if isinstance(each, Guard))
        assert (guard.task, guard.op, guard.before) == ("summarise", "refused", self.WRONG)
        assert guard.reason == why
