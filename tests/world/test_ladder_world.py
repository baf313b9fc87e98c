"""The ladder in the game: budget, triggers, promises, and what builders see of it.

Real gateway, client and summaries (extractive ones, unless a test says otherwise); the
model is scripted and counts a token for every word.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partialmethod
from unittest.mock import patch

from evennia.utils.ansi import strip_ansi

from keepsake.agent import agent_log
from keepsake.agent import turn as turn_module
from keepsake.agent.memory import memory as memory_module
from keepsake.archive import history
from keepsake.books.commitments import Commitment, CommitmentKind
from keepsake.errors import ModelUnavailable
from keepsake.memory.config import CompactionConfig
from keepsake.memory.types import CompactReason
from tests.fakes.model_server import tokens
from tests.world.agents_world import AgentsWorld, Building, FixedConfig

WHO = ("Bram", "Nell", "Oswin", "Joss", "Ruan")
WHAT = ("salt", "cider", "barley", "herring", "lamp oil", "honey", "tar")
WHERE = ("from Ostrey", "up the river", "to the mill", "by the north gate", "over the hills",
         "through the snow", "at dawn", "on Friday night", "with two mules", "for the feast",
         "without a word")  # fmt: skip
TOLD = "## Told To You, And Promised\n"
LOGGING = (*(agent_log, turn_module, memory_module),)


class Dead:
    """A summarizer whose server is gone."""

    def summarize(self, source):
        raise ModelUnavailable("nobody answers on port 1", "Start the server")


class LadderWorld(AgentsWorld):
    """Mira with a budget that a test can set."""

    def setUp(self):
        super().setUp()
        self.logged = []
        for module in LOGGING:
            for name in ("log", "warn"):
                if (real := getattr(module, name, None)) is not None:
                    setattr(module, name, self.logged.append)
                    self.addCleanup(setattr, module, name, real)

    def budget(self, **values):
        """What ``memory_compaction.md`` says."""
        usual = {"immediate_window": 200, "recent_window": 200, "min_saving_tokens": 1}
        self.services.compaction = FixedConfig(CompactionConfig(**{**usual, **values}))

    def fill(self, share, **values):
        """Let Mira listen until her prompt has this share of its budget."""
        self.budget(recent_window=10_000, high=9.0, sleep=9.0, emergency=9.0, **values)
        self.thinks("Good day.")
        self.mira.db.paused = True
        number = 0
        while self.load().share < share:
            number += 1
            self.chatter(4)
            assert number < 500
        self.settle()
        self.mira.attributes.remove("paused")

    def summarizer(self, make):
        """Have the summaries written by what ``make`` gives, called in a worker thread."""
        compacting = self.mind.memory.memory._compactor
        real = compacting._host.summarizer
        compacting._host = replace(compacting._host, summarizer=lambda: make(real))

    def slow(self):
        """Let summaries wait until the event is set."""
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.summarizer(lambda real: gate.wait(60) and real())
        return gate

    def chatter(self, count):
        """Talk of others, each line another."""
        for number in range(count):
            who, what, where = (words[number % len(words)] for words in (WHO, WHAT, WHERE))
            line = f"{who} brought {number + 2} casks of {what} {where}, and then left for home."
            # From two people: what one alone says would all be meant for Mira.
            (self.char1, self.char2)[number % 2].execute_cmd(f"say {line}")
            self.compacted()

    def load(self):
        return self.mind.memory.memory.load()

    thinks = partialmethod(AgentsWorld.asks, seconds=2.0)

    def compacted(self):
        """Let a compaction that runs in the background end."""
        memory = self.mind.memory
        self.settle(lambda: not memory.compacting)

    def past(self):
        return history.compactions(self.mind.memory.memory.archive)


class TestBudget(LadderWorld):
    """A prompt never passes its budget; over the emergency mark a thought waits for room."""

    def test_a_prompt_that_does_not_fit_is_not_sent_and_everybody_is_told_once(self):
        def is_told(line):
            heard.clear()
            assert self.thinks(line) == []
            return strip_ansi("\n".join(heard))

        for each in (self.account, self.char1):
            each.permissions.add("Builder")
        heard = self.hears(self.char1)
        self.mira.db.profile = "You are Mira. " + "You love barley bread. " * 300
        self.budget(context_tokens=900)
        shown = is_told("Good day.")
        assert "Mira seems far away" in shown
        assert shown.count("Mira cannot think. ") == 1
        assert "Shorten its profile: @agent/profile Mira" in shown
        assert sum("cannot think" in line for line in self.logged) == 1
        shown = is_told("Are you there?")
        assert "cannot think" not in shown, "once for each state"
        assert "Mira seems far away" in shown
        self.mira.db.profile = "You are Mira."
        assert self.thinks("And now?", "say Here I am.")
        assert "~say Here I am." in self.lines()
        self.account.is_superuser = False
        for each in (self.account, self.char1):
            each.permissions.clear()
        self.mira.db.profile = "You are Mira. " + "You love barley bread. " * 300
        shown = is_told("Good day.")
        assert "Mira seems far away" in shown
        assert "budget" not in shown, "players are not told of budgets"
        assert "tokens" not in shown

    def test_a_thought_makes_room_first_without_any_model_and_then_goes_on(self):
        self.fill(1.3, context_tokens=1600)
        assert self.thinks("Well?") == [], "switched off, what is too large is not sent"
        assert self.past() == []
        assert any("cannot think" in line for line in self.logged)
        self.budget(context_tokens=1600, high=9.0, fallback_after=0)
        self.summarizer(lambda _: Dead())
        prompts = self.thinks("What did ship 3 bring?", "say Casks.")
        assert [past.reason for past in self.past()] == ["emergency"]
        assert self.mind.memory.context().recent.model == "extractive"
        assert "## Recent Past (Summary)" in prompts[0]
        assert all(len(tokens(prompt)) <= 1600 - 256 for prompt in prompts)
        assert "~say Casks." in self.lines()
        warned = next(line for line in self.logged if "compacting before the thought" in line)
        assert "of 1,344 tokens" in warned

    def test_neither_a_fault_before_a_thought_nor_a_pause_while_it_waits_stops_all_others(self):
        self.budget()
        with patch.object(self.mind.memory, "context", side_effect=RuntimeError("ours")):
            self.thinks("Well?")
        assert self.thinks("And now?", "say Here I am.")
        self.fill(1.1, context_tokens=1600)
        self.budget(context_tokens=1600, high=9.0)
        gate = self.slow()
        self.char1.execute_cmd("talk Mira Well?")
        self.clock.advance(2.0)
        self.mira.db.paused = True
        gate.set()
        self.compacted()
        assert not self.thinking()
        self.mira.db.paused = False
        assert self.thinks("Hello?", "say Hi.")


class TestChanges(LadderWorld):
    """Files, names and the agent's own commands, while the world runs."""

    def test_a_template_that_was_never_usable_leaves_the_last_good_way_until_it_is_mended(self):
        folder = self.services.places.config / "compaction"
        (folder / "mine.md").write_text("# Mine\n\n```prompt\n{% for x in %}\n```\n")
        self.fill(0.87, context_tokens=1600)
        self.budget(context_tokens=1600, strategy="mine")
        self.mind.memory.remember("Somebody coughs.")
        self.compacted()
        assert [(past.reason, past.strategy) for past in self.past()] == [("high", "narrative")]
        (folder / "mine.md").write_text((folder / "structured.md").read_text())
        assert self.services.strategy().name == "mine"

    def test_a_memory_that_was_closed_stays_closed_its_archive_has_another_owner(self):
        self.fill(1.1, context_tokens=1600)
        self.budget(context_tokens=1600, high=9.0)
        component, gate = self.mind.memory, self.slow()
        component.compact(CompactReason.MANUAL, lambda _: None)
        self.mira.key = "Moira"
        gate.set()
        self.settle(lambda: not component.compacting)
        assert self.mind.memory is not component
        assert self.mind.memory.remember("I am Moira now.")
        assert self.past() == [], "what had begun under the old name came to nothing"

    def test_compact_is_a_tool_call_with_a_result_and_again_at_once_is_refused(self):
        self.budget(immediate_window=4, recent_window=40, preserve_memories=4)
        self.mira.db.paused = True
        self.chatter(12)
        self.mira.attributes.remove("paused")
        heard = self.hears(self.char1)
        self.thinks("Clear your mind.", "compact | so much salt")
        assert [past.reason for past in self.past()] == ["agent"]
        act, result = self.mind.memory.context().window[-2:]
        assert (act.kind.value, act.text, act.reason) == ("act", "compact", "so much salt")
        assert result.kind.value == "result"
        assert result.text.startswith("You clear your mind: memories ")
        assert not any("compact" in line or "mind:" in line for line in heard)
        self.thinks("Say hello.", "say Hello there, Tom, how are you?")
        self.thinks("Again.", "compact")
        assert "nothing to sum up yet" in self.lines()[-1]
        assert len(self.past()) == 1

    def test_a_promise_outlives_every_compaction_until_it_is_kept(self):
        self.budget(immediate_window=4, recent_window=8, preserve_memories=4, preserve_share=0.01)
        self.mira.db.paused = True
        self.char1.execute_cmd("talk Mira Will you keep my key?")
        book = self.mind.memory.commitments
        promise = Commitment(CommitmentKind.PROMISE, "Tom", "keep the key safe", 2)
        book.add(promise)
        self.chatter(40)
        self.mira.attributes.remove("paused")
        assert len(self.past()) >= 2
        head = self.thinks("Who are you?", "say Mira.")[0].split("\n---\n")[0]
        assert head.split(TOLD)[1].splitlines()[0] == f"- {promise.line}"
        book.close(lambda each: each == promise)
        assert TOLD not in self.thinks("And who am I?", "say Tom.")[0]


class TestBuilders(Building, LadderWorld):
    def test_builders_see_all_figures_and_take_the_last_compaction_back(self):
        self.budget(immediate_window=4, recent_window=100, preserve_memories=4)
        self.mira.db.paused = True
        self.char1.execute_cmd("say The Marker of Harrow Bay is |rred|n.")
        self.chatter(8)
        before = [m.number for m in self.mind.memory.context().window]
        shown = self.type("@compact-memories Mira", "Compacted")
        for wanted in ("Tokens:", "saved)", "Rungs:", "summarise", "Cost:", "Archive:"):
            assert wanted in shown, shown
        assert "@compaction Mira 1" in shown
        assert max(map(len, shown.splitlines()[2:])) < 80
        shown = self.type("@memory-status Mira", "Integrity")
        for wanted in ("of 3,840 tokens", "Counted by:", "heuristic"):
            assert wanted in shown
        assert "Load" in self.type("@agent", "Mira")
        shown = self.type("@memory-status/tokens Mira", "Budget")
        for section in ("who it is", "commands", "window", "situation", "together"):
            line = next(line for line in shown.splitlines() if line.startswith(section))
            assert line.rstrip().endswith("%")
        assert "Budget 3,840 tokens" in shown
        assert "counted by: heuristic" in shown
        assert max(map(len, shown.splitlines())) < 80
        assert "Budget" in self.type("@memory-status/tokens", "Budget")

        shown = self.type("@compaction/undo Mira", "Took back")
        assert "Took back compaction 1" in shown
        assert "No other is left" in shown
        assert [m.number for m in self.mind.memory.context().window] == before
        assert self.mind.memory.context().recent is None
        assert "undone" in self.type("@compaction Mira", "stand")
        assert "Nothing was taken back" in self.type("@compact-memories/undo Mira", "Nothing")
        self.settle()
        shown = " ".join(self.type("@memory-status Mira", "Integrity").split())
        assert "whole" in shown
        assert "Promises" not in shown
        soup = Commitment(CommitmentKind.PROMISE, "Tom", "a bowl of soup", 2)
        self.mind.memory.commitments.add(soup)
        shown = " ".join(self.type("@memory-status Mira", "Integrity").split())
        assert "Promises: 1 in" in shown
