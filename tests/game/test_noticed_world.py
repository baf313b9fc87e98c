"""What a model notices in an agent's sleep, and what summaries carry on, in the game.

The summaries are written over the wire by a scripted model that keeps all but one rule.
"""

from __future__ import annotations

import re

from keepsake.compaction import truncation
from keepsake.sleep.config import SleepConfig
from keepsake.sleep.steps import Step
from tests.fakes.model_server import Reply
from tests.game.agents_world import FixedConfig
from tests.game.test_ladder_world import TOLD, LadderWorld
from typeclasses.minds import close_all

REREAD = "Answer with the numbers of the lines alone"


class ModelWorld(LadderWorld):
    """Summaries are written by a model too, over the wire; one rule it blurs past knowing."""

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
        if not prompt.startswith("# What Mira remembers"):
            return ""
        if self.gone:
            self.fake.always("/api/generate", Reply(status=500))
        told = re.findall(r"^- .+", prompt.partition("\n# ")[0], re.M)
        lines = "\n".join(told).replace(", and then left for home", "")
        return lines.replace("Never open the eel trap", "Never mind the eel trap")

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


class TestRefused(ModelWorld):
    """A rule for which the noticed block has no room is carried on by the summaries."""

    PLACES = ("attic", "boathouse", "cellar", "dairy", "eel trap")
    LINE = re.compile(r"Tom told you: Never open the eel trap[.] [(]memory [0-9]+[)]")

    def setUp(self):
        super().setUp()
        self.budget(immediate_window=4, recent_window=8, preserve_memories=4, preserve_share=0.01)

    def told(self):
        """Tom gives one rule more than he may have in the block; and it leaves the window."""
        self.says(*(f"Never open the {place}." for place in self.PLACES))
        self.settle(lambda: bool(self.mind.memory.noticed.block.refused))
        assert len(self.mind.memory.noticed.block.lines) == 4
        self.says(chatter=40)  # nobody who waits is held open that long
        window = self.mind.memory.context().window
        assert not any("eel trap" in memory.text for memory in window)

    def carried(self):
        """How often the summaries say it, word for word and put back."""
        context = self.mind.memory.context()
        texts = [each.text for each in (context.longterm, context.recent) if each]
        lines = [line for text in texts for line in truncation.put_back_in(text)]
        assert sum(len(self.LINE.findall(text)) for text in texts) == len(lines)
        return len(lines)

    def test_each_compaction_carries_it_on_word_for_word_until_it_is_taken_back(self):
        self.told()
        put_back = [line for past in self.past() for line in past.verdict.put_back]
        assert put_back
        assert all(self.LINE.fullmatch(line) for line in put_back)
        assert self.past()[-1].verdict.wanted == 5
        assert self.carried() == 1
        prompt = self.thinks("Who are you?", "say Mira.")[0]
        assert self.LINE.search(prompt.split("\n---\n")[0])
        close_all()  # a restart
        assert self.mind.memory.noticed.block.refused == ()
        before = len(self.past())
        self.says(chatter=30)
        assert len(self.past()) >= before + 2
        assert self.carried() == 1
        self.says("You may open the eel trap again.", chatter=40)
        assert self.carried() == 0
