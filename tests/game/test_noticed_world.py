"""What a model notices in an agent's sleep, in the game."""

from __future__ import annotations

import re

from keepsake.sleep.config import SleepConfig
from keepsake.sleep.steps import Step
from tests.fakes.model_server import Reply
from tests.game.agents_world import FixedConfig
from tests.game.test_ladder_world import TOLD, LadderWorld

REREAD = "Answer with the numbers of the lines alone"


class ModelWorld(LadderWorld):
    """Summaries are written by a model too, over the wire."""

    def setUp(self):
        super().setUp()
        config = self.services.places.config / "llm.md"
        model = f"**provider**: ollama\n**host**: {self.fake.address}\n**model**: fake\n"
        config.write_text(config.read_text().replace("**provider**: extractive\n", model))
        self.gone = False
        thinks = self.fake.script
        self.fake.script = lambda prompt: self.writes(prompt) or thinks(prompt)

    def writes(self, prompt):
        """What the model writes for the memory; empty for a thought."""
        if REREAD in prompt:
            return f" {', '.join(re.findall(r'^([0-9]+)[.] Tom: Whoever', prompt, re.M)) or 'none'}"
        if not prompt.startswith("# Memories:"):
            return ""
        if self.gone:
            self.fake.always("/api/generate", Reply(status=500))
        told = " ".join(re.findall(r"^[0-9]+[.] (.+)", prompt, re.M))
        names = dict.fromkeys(re.findall(r"\b[A-Z]\w+", told))
        return f"I heard of casks of herring and of much else: {', '.join(names)}."

    def says(self, *lines, chatter=0):
        self.mira.db.paused = True
        for line in lines:
            self.char1.execute_cmd(f"talk Mira {line}")
        self.chatter(chatter)
        self.mira.attributes.remove("paused")

    def reread(self):
        """The prompts with which a day was read again."""
        return [prompt for prompt in self.fake.prompts() if REREAD in prompt]


class TestNoticedAsleep(ModelWorld):
    """In its sleep a model reads again what the rules took for nothing."""

    WORDS = "Whoever asks about the cup has not heard it from us."

    def sleeps(self):
        """Let Mira fall asleep over what was said; the compaction that comes of it."""
        self.budget(on_count=False, on_high=False, on_sleep=False, context_tokens=1600)
        self.says(self.WORDS)
        while self.load().share < 0.75:
            self.says(chatter=8)
        assert self.mind.memory.noticed.block.items == ()
        self.budget(on_count=False, on_high=False, context_tokens=1600)
        self.mind.sleeper.fall_asleep("a test said so")
        self.settle(lambda: not self.mind.sleeper.working)
        assert [past.reason for past in self.past()] == ["sleep"]
        assert self.mind.memory.context().recent.model != "extractive"

    def test_what_a_model_points_at_is_kept_in_the_words_that_were_said(self):
        self.sleeps()
        path = self.mind.memory.folder / "noticed.md"
        self.settle(lambda: path.exists() and self.WORDS in path.read_text())
        assert len(self.reread()) == 1
        assert f"Tom: {self.WORDS}" in self.reread()[0]
        self.mind.sleeper.wake("a test", rested=True)
        self.settle()
        head = self.thinks("Good morning.", "say Morning.")[0].split("\n---\n")[0]
        assert f"- Tom told you: {self.WORDS}" in head.split(TOLD)[1]
        assert any("Noticed in sleep" in line for line in self.logged)

    def test_a_model_that_is_gone_by_then_is_a_line_in_the_log(self):
        self.gone = True
        self.sleeps()
        self.settle(lambda: any("is not read again in this sleep" in x for x in self.logged))
        assert self.mind.memory.noticed.block.items == ()
        assert not self.mind.memory.compacting
        assert self.mind.memory.context().recent is not None, "the compaction itself stands"

    def test_what_was_taken_back_on_the_same_day_is_not_noticed(self):
        noticing, told = self.mind.memory.noticed, []
        self.mira.db.paused = True
        self.char1.execute_cmd("talk Mira The blue door stays shut tonight.")
        self.char1.execute_cmd("talk Mira You may open the blue door again.")
        self.mira.attributes.remove("paused")
        window = self.mind.memory.context().window

        def ask(prompt, stop):
            told.append(prompt)
            return re.search(r"^([0-9]+)[.] Tom: The blue", prompt, re.M)[1]

        noticing.reread(window, window[-1].number, ask)
        assert told
        assert noticing.block.items == ()
        noticing.reread(window[:-1], window[-1].number, ask)
        assert [item.text for item in noticing.block.items] == ["The blue door stays shut tonight."]

    def test_it_is_a_call_of_the_night_and_waits_where_there_is_none_left(self):
        self.services.sleeping = FixedConfig(SleepConfig(calls=0))
        self.sleeps()
        assert self.reread() == []
        assert self.mind.memory.noticed.block.items == ()
        self.mind.sleeper.wake("a test", rested=True)
        self.services.sleeping = FixedConfig(SleepConfig())
        self.mind.sleeper.fall_asleep("a test said so")
        self.settle(lambda: not self.mind.sleeper.working)
        assert len(self.reread()) == 1
        assert [item.text for item in self.mind.memory.noticed.block.items] == [self.WORDS]
        compacted = [d for d in self.mind.sleeper.nights.log.last.steps if d.step is Step.COMPACT]
        assert compacted[0].figures["read again"] == compacted[0].calls == 1

    def test_another_compaction_reads_nothing_again(self):
        self.fill(0.87, context_tokens=1600)
        self.budget(context_tokens=1600)
        self.says(self.WORDS)
        self.settle(lambda: bool(self.past()))
        assert [past.reason for past in self.past()] == ["high"]
        self.settle()
        assert self.reread() == []


class TestNoModelAsleep(LadderWorld):
    def test_without_a_model_nobody_is_asked(self):
        self.fill(0.75, context_tokens=1600)
        self.budget(context_tokens=1600)
        self.char1.execute_cmd(f"talk Mira {TestNoticedAsleep.WORDS}")
        self.mira.db.asleep = True
        self.mind.memory.compact_if_due()
        self.settle(lambda: bool(self.past()))
        self.settle()
        assert [past.reason for past in self.past()] == ["sleep"]
        assert not [prompt for prompt in self.fake.prompts() if REREAD in prompt]
        assert not any("[Notes]" in line for line in self.logged)
