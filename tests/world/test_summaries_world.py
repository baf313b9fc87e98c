"""A model behind an OpenAI-compatible server writes the summaries, over the wire."""

from __future__ import annotations

import re
from types import SimpleNamespace

from keepsake.books.commitments import Commitment, CommitmentKind
from keepsake.events.types import Guard
from keepsake.memory.types import CompactReason
from tests.world.test_ladder_world import LadderWorld

ASKED = "Write your summary of these memories."
HELD = "Which of these lines does the text contradict?"


class TestSummariesByModel(LadderWorld):
    """Provider, host and model of ``summarizer`` are named, and nothing else."""

    def setUp(self):
        super().setUp()
        config = self.services.places.config / "llm.md"
        model = f"**provider**: openai\n**host**: {self.fake.address}\n**model**: fake\n"
        config.write_text(config.read_text().replace("**provider**: extractive\n", model))
        self.answers, self.contradicted = [], ["none"]
        thinks = self.fake.script

        def script(prompt):
            if HELD in prompt:
                return self.next_of(self.contradicted)
            return self.next_of(self.answers) if ASKED in prompt else thinks(prompt)

        self.fake.script = script
        self.mira.db.profile = "You are Mira, who keeps the Inn. You fear geese (secret).\n\nMore."

    @staticmethod
    def next_of(answers):
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def asked(self, what=ASKED):
        """The messages of each call for a summary, or about one."""
        bodies = [call.body for call in self.fake.calls("/v1/chat/completions")]
        return [b["messages"] for b in bodies if what in b["messages"][-1]["content"]]

    def test_it_is_asked_by_messages_and_once_more_with_the_pin_that_it_contradicts(self):
        self.mind.keeper.pinned.add("The mill is Tom's.")
        promise = Commitment(CommitmentKind.PROMISE, "Tom", "bring him two casks of cider", 0)
        self.mind.memory.commitments.add(promise)
        wrong = "Tom and Char2 spoke of casks. I owe Tom nothing, and the mill is mine."
        right = "Tom and Char2 spoke of casks that came and went."
        self.answers, self.contradicted = [wrong, right], ["1.", "none"]
        emitted, ended = [], []
        self.services.events = SimpleNamespace(emit=emitted.append, close=lambda: None)
        self.budget(immediate_window=4, preserve_memories=4)
        self.mira.db.paused = True
        self.chatter(20)
        self.mira.db.paused = False
        self.mind.memory.compact(CompactReason.MANUAL, ended.append)
        self.compacted()

        first, second = self.asked()
        assert [each["role"] for each in first] == ["system", "user"]
        assert first[0]["content"].startswith("You are Mira, who keeps the Inn.\n")
        assert "geese" not in first[0]["content"]
        assert re.search(r'^2\. .*"Bram brought 2 casks of salt', first[1]["content"], re.M)
        held = self.asked(HELD)
        shown = held[0][0]["content"]
        assert re.search(r"^1\. .*The mill is Tom's\.$", shown, re.M)
        assert re.search(r"^2\. .*bring him two casks of cider", shown, re.M)
        assert wrong in shown
        assert right in held[1][0]["content"]
        reason = second[1]["content"].partition("could not be used: ")[2]
        assert "contradicts" in reason
        assert "The mill is Tom's." in reason
        assert "cider" not in reason
        recent = self.mind.memory.context().recent
        assert recent.text.startswith(right)
        assert (recent.model, ended[0].calls) == ("fake", 4)
        ((task, answer, why),) = ended[0].refused
        assert (task, answer) == ("summarise", wrong)
        assert "The mill is Tom's." in why
        (guard,) = (each for each in emitted if isinstance(each, Guard))
        assert (guard.task, guard.op, guard.before) == ("summarise", "refused", wrong)
        assert guard.reason == why
