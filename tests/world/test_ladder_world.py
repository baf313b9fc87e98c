"""Compaction in the game: budget, triggers, promises, and what builders see of it.

Gateway, client and summaries are real; summaries are extractive unless a test says otherwise.
The scripted model counts one token for each word.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partialmethod
from types import SimpleNamespace
from unittest.mock import patch

from evennia.utils.ansi import strip_ansi

from keepsake.agent.attention import TALK_SECONDS
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.contrib.evennia import lifecycle
from keepsake.errors import ModelUnavailable
from keepsake.events.types import Guard, Thought
from keepsake.events.values import CompactReason
from keepsake.memory import history
from keepsake.memory.config import CompactionConfig
from keepsake.memory.types import CompactionRequest
from keepsake.models.tickets import Priority
from tests.fakes.model_server import tokens
from tests.log_lines import LogLines
from tests.sentences import table
from tests.world.agents_world import AgentsWorld, Building, FixedConfig, next_of

WHO, WHAT, WHERE = table("who brings what from where")
KEPT = "## Always remember\n"
ROOM = 1600
"""Tokens of a prompt that has room for some twenty lines."""


def unavailable(_source):
    """Stand in for a summarizer whose server does not answer."""
    raise ModelUnavailable("nobody answers on port 1", "Start the server")


class LadderWorld(AgentsWorld):
    """Mira with a budget that a test can set."""

    def setUp(self):
        super().setUp()
        self.logged = self.enterContext(LogLines())

    def budget(self, **values):
        """Change settings of ``memory_compaction.md``."""
        usual = {"immediate_window": 200, "recent_window": 200, "min_saving_tokens": 1}
        self.services.compaction = FixedConfig(CompactionConfig(**{**usual, **values}))

    def limit(self, prompt_tokens):
        """Let a prompt have so many tokens; 0 for as many as the model can read."""
        given = {"prompt_tokens": prompt_tokens} if prompt_tokens else {}
        (self.services.places.config / "llm.md").write_text(self.models_page(**given))
        self.services.update_limits()  # as the housekeeping does

    def fill(self, share, prompt_tokens):
        """Let Mira listen until her prompt takes this share of its budget."""
        self.limit(prompt_tokens)
        self.budget(recent_window=10_000, high=9.0, sleep=9.0, emergency=9.0)
        self.ask("Good day.")
        self.mira.db.paused = True
        number = 0
        while self.load().share < share:
            number += 1
            self.chatter(4)
            assert number < 500
        self.settle()
        self.mira.attributes.remove("paused")

    def summarizer(self, make):
        """Let ``make``, called in a worker thread, return the summarizer."""
        compacting = self.mind.memory.memory.compactor
        real = compacting._host.summarizer
        compacting._host = replace(compacting._host, summarizer=lambda _: make(real))

    def chatter(self, count):
        """Let Tom and Char2 say different lines about other people."""
        for number in range(count):
            who, what, where = (words[number % len(words)] for words in (WHO, WHAT, WHERE))
            line = f"{who} brought {number + 2} casks of {what} {where}, and then left for home."
            # By two people, because all that a single person says would be addressed to Mira.
            (self.char1, self.char2)[number % 2].execute_cmd(f"say {line}")
            self.wait_for_compaction()

    def load(self):
        return self.mind.memory.memory.load()

    ask = partialmethod(AgentsWorld.ask, seconds=2.0)

    def compactions(self):
        return history.compactions(self.mind.memory.memory.archive)


class TestBudget(LadderWorld):
    """A prompt stays within its budget; over the emergency share, a thought compacts first."""

    def test_a_prompt_that_does_not_fit_is_not_sent_and_the_log_says_so_once(self):
        def shown_after(line):
            heard.clear()
            assert self.ask(line) == []
            return strip_ansi("\n".join(heard))

        heard = self.capture(self.char1)
        self.mira.db.profile = "You are Mira. " + "You love barley bread. " * 300
        self.limit(900)
        assert "Mira seems far away" in shown_after("Good day.")
        assert "far away" not in shown_after("Are you there?"), "it was said already"
        (told,) = self.logged.having("WARNING thoughts Mira: The agent cannot think")
        assert "Its largest part is 'who it is'" in told
        self.mira.db.profile = "You are Mira."
        assert self.ask("And now?", "Here I am.")
        assert "~say Here I am." in self.lines()

    def test_the_oldest_lines_are_left_out_of_a_prompt(self):
        self.fill(1.3, ROOM)
        (prompt,) = self.ask("Well?", "Well what?")
        assert len(tokens(prompt)) <= ROOM
        assert 'Tom says to you, "Well?"' in prompt
        assert self.compactions() == []
        hidden = self.mind.memory.context().window[1].number
        assert f"memory {hidden}" not in prompt

    def test_a_promise_is_shown_when_its_own_line_is_left_out(self):
        self.fill(1.3, ROOM)
        hidden = self.mind.memory.context().window[1].number
        promise = Commitment(CommitmentKind.PROMISE, "Tom", "mend the roof", hidden)
        self.mind.memory.commitments.add(promise)
        (prompt,) = self.ask("And now?", "Now what?")
        assert promise.line in prompt

    def test_a_thought_waits_for_no_summary_as_long_as_lines_can_be_left_out(self):
        self.fill(1.3, ROOM)
        self.budget(high=9.0)
        self.summarizer(lambda _: unavailable)
        prompts = self.ask("What did ship 3 bring?", "Casks.")
        assert self.compactions() == []
        assert prompts
        assert all(len(tokens(prompt)) <= ROOM for prompt in prompts)
        assert "~say Casks." in self.lines()
        assert not self.logged.having("WARNING compaction Mira: ")

    def test_the_first_prompt_after_a_start_fits_at_the_first_attempt(self):
        self.fill(1.3, ROOM)
        self.mind.memory.memory.window.overhead = None
        sent = []
        with patch.object(self.services.events, "emit", sent.append):
            (prompt,) = self.ask("Well?", "Well what?")
        assert len(tokens(prompt)) <= ROOM
        assert [each.attempt for each in sent if isinstance(each, Thought)] == [1]

    def test_a_thought_makes_room_first_if_not_even_the_newest_lines_fit(self):
        self.fill(1.3, ROOM)
        self.budget(high=9.0, preserve_memories=1000)
        self.summarizer(lambda _: unavailable)
        self.ask("What did ship 3 bring?", "Casks.")
        warned = self.logged.having("WARNING compaction Mira: ", "compacting before the thought")[0]
        assert "of 1,600 tokens" in warned
        assert "~say Casks." in self.lines()


class TestNoRoom(Building, LadderWorld):
    """The rest of the prompt alone is over the budget, for a while or by mistake."""

    def setUp(self):
        super().setUp()
        self.budget(immediate_window=4, recent_window=4, preserve_memories=4)
        self.mira.db.paused = True
        self.chatter(6)
        self.mira.attributes.remove("paused")
        self.ask("Good day.", "Good day.")
        self.before = self.mind.memory.context()
        self.limit(300)
        self.sent = self.ask("Are you there?")
        self.chatter(12)

    def test_nothing_is_sent_and_nothing_is_compacted(self):
        assert self.sent == []
        now = self.mind.memory.context()
        assert (now.longterm, now.recent) == (self.before.longterm, self.before.recent)
        assert now.window[: len(self.before.window)] == self.before.window

    def test_builders_read_what_to_raise(self):
        told = "Raise prompt_tokens of the profile in llm.md, or context_tokens"
        shown = " ".join(self.type("@memory-status Mira", "Integrity").split())
        assert "No room" in shown
        assert "and a prompt may have 300" in shown
        assert told in shown
        assert told in " ".join(self.type("@compact-memories Mira", "failed").split())

    def test_the_log_says_so_once(self):
        assert len(self.logged.having("compaction Mira", "no room for memories")) == 1

    def test_all_goes_on_once_there_is_room(self):
        self.limit(0)
        assert self.ask("And now?", "Here I am.")
        assert "No room" not in self.type("@memory-status Mira", "Integrity")
        assert self.logged.having("has room for memories again")


class TestChanges(LadderWorld):
    """Promises across compactions."""

    def test_a_promise_outlives_every_compaction_until_it_is_kept(self):
        self.budget(immediate_window=4, recent_window=8, preserve_memories=4)
        self.mira.db.paused = True
        self.char1.execute_cmd("talk Mira Will you keep my key?")
        book = self.mind.memory.commitments
        promise = Commitment(CommitmentKind.PROMISE, "Tom", "keep the key safe", 2)
        book.add(promise)
        self.chatter(40)
        self.mira.attributes.remove("paused")
        assert len(self.compactions()) >= 2
        prompt = self.ask("Who are you?", "Mira.")[0]
        assert prompt.split(KEPT)[1].splitlines()[0] == f"- {promise.line}"
        book.close(lambda each: each == promise)
        assert KEPT not in self.ask("And who am I?", "Tom.")[0]


class TestBuilders(Building, LadderWorld):
    def setUp(self):
        super().setUp()
        self.budget(immediate_window=4, recent_window=100, preserve_memories=4)
        self.mira.db.paused = True
        self.char1.execute_cmd("say The Marker of Harrow Bay is |rred|n.")

    def test_the_reason_why_nothing_is_compacted_is_shown(self):
        assert "due at memory 105 (103 more)" in self.type("@compact-memories Mira", "Nothing to")

    def test_what_a_compaction_saves_is_shown(self):
        self.chatter(8)
        assert " tokens before, " in self.type("@compact-memories Mira", "Compacted")
        shown = self.type("@memory-status Mira", "Integrity")
        assert "of 3,840 tokens" in shown
        assert "whole" in shown

    def test_each_section_of_the_prompt_is_shown_with_its_share(self):
        shown = self.type("@agent/prompt Mira", "Budget")
        for section in ("who it is", "headings", "window", "together"):
            line = next(line for line in shown.splitlines() if line.startswith(section))
            assert line.rstrip().endswith("%")

    def test_the_last_compaction_can_be_undone_once(self):
        self.chatter(8)
        before = [m.number for m in self.mind.memory.context().window]
        self.type("@compact-memories Mira", "Compacted")
        assert "Undid compaction 1" in self.type("@compaction/undo Mira", "Undid")
        assert [m.number for m in self.mind.memory.context().window] == before
        assert self.mind.memory.context().recent is None
        assert self.mind.memory.memory.next_due() is None
        shown = self.type("@memory-status Mira", "Integrity")
        assert "not before a person asks for one" in " ".join(shown.split())
        assert "undone" in self.type("@compaction Mira", "undone")
        assert "Nothing was undone" in self.type("@compaction/undo Mira", "Nothing")

    def test_a_failed_compaction_says_what_to_do(self):
        self.chatter(8)
        self.summarizer(lambda _: unavailable)
        shown = self.type("@compact-memories Mira", "failed")
        assert "nobody answers on port 1. Start the server" in shown

    def test_promises_are_counted_shown_and_dropped(self):
        soup = Commitment(CommitmentKind.PROMISE, "Tom", "a bowl of soup", 2)
        self.mind.memory.commitments.add(soup)
        shown = " ".join(self.type("@memory-status Mira", "Integrity").split())
        assert "Promises: 1 in" in shown
        assert "a bowl of soup" in self.type("@rules", "line")
        assert "Dropped" in self.type("@rules/drop Tom", "Dropped")
        assert self.mind.memory.commitments.items == ()

    def test_a_compaction_that_runs_already_is_no_failure(self):
        self.chatter(8)
        self.mind.compactions.compact(CompactReason.MANUAL)
        shown = " ".join(self.type("@compact-memories Mira", "Not now").split())
        assert "a compaction of Mira's memory is under way. Wait for it to end" in shown
        self.wait_for_compaction()


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


class TestCompany(LadderWorld):
    """Two agents with a player at the inn, whose compactions fall due together."""

    def setUp(self):
        super().setUp()
        self.joss = self.add_agent("Joss")
        self.pass_time(2)
        self.budget(immediate_window=4, recent_window=4, preserve_memories=4, count_from=0.0)
        self.char1.execute_cmd("talk Mira Good evening.")
        for agent in (self.mira, self.joss):
            agent.db.paused = True
        for number in range(12):
            self.char2.execute_cmd(f"say Cask {number} came from Ostrey, and left for home again.")
        self.minds = [self.mind, self.joss.mind]
        assert all(mind.memory.memory.may_be_due() for mind in self.minds)

    def compacting(self):
        """Do the housekeeping; return who compacts then."""
        lifecycle._do_housekeeping()
        return [mind for mind in self.minds if mind.compactions.compacting]

    def test_the_company_waits_for_a_pause_also_who_is_not_spoken_to(self):
        assert not self.joss.mind.thinker.in_talk
        assert self.compacting() == []
        self.clock.advance(TALK_SECONDS + 1)
        assert self.compacting() != []
        self.settle()

    def test_they_come_one_after_the_other(self):
        self.clock.advance(TALK_SECONDS + 1)
        assert self.compacting() == [self.mind]
        assert self.compacting() == [self.mind]
        self.settle()
        assert self.compacting() == [self.joss.mind]
        self.settle()

    def test_a_summary_for_which_a_thought_waits_gives_way_to_nobody(self):
        asked = []
        with patch.object(self.services, "asker", lambda _, priority: asked.append(priority)):
            for reason in (CompactReason.EMERGENCY, CompactReason.COUNT):
                limits = self.services.compaction_config
                self.mind.memory._summarizer(CompactionRequest(reason=reason, limits=limits))
        assert asked == [Priority.EVENT, Priority.COMPACTION]

    def test_where_no_player_is_they_run_at_once(self):
        for player in (self.char1, self.char2):
            player.move_to(self.add_room("The Quay"), quiet=True)
        assert self.compacting() == self.minds
        self.settle()


class TestAfterAStart(LadderWorld):
    """Mira's window became full while another model had more room; the world starts again."""

    def setUp(self):
        super().setUp()
        self.mira.db.paused = True
        self.budget(immediate_window=400, recent_window=400)
        self.mumble(12)
        self.start_again()

    def mumble(self, count):
        """Tom says things to nobody, of which no agent thinks."""
        for number in range(count):
            self.char1.execute_cmd(f"say Cask {number} came from Ostrey, and left for home again.")

    def start_again(self):
        """Start the world anew with windows so small that Mira's is full."""
        self.stop_services()
        self.services = self.start_services()
        self.addCleanup(lifecycle.stop, reload=True)
        self.budget(immediate_window=4, recent_window=4, preserve_memories=4, count_from=0.0)
        lifecycle.open_agents(self.services)
        self.settle(lambda: not self.mind.opening)
        assert self.mind.memory.memory.may_be_due() is CompactReason.COUNT

    def compacts(self):
        """Do the housekeeping; return whether she compacts then."""
        lifecycle._do_housekeeping()
        compacts = self.mind.compactions.compacting
        self.settle()
        return compacts

    def test_a_start_summarises_nothing_that_people_only_look_at(self):
        self.pass_time(3600)
        assert not self.compacts()
        assert self.logged.having("The window is full at the start")
        assert self.mind.memory.memory.tiers.state.summarised == 0
        newest = self.mind.memory.memory.tiers.last_number
        when = f"after the next talk with a player, or at memory {newest + 4:,}"
        assert self.mind.compactions.when_due() == when

    def test_after_a_talk_with_a_player_it_is_summarised_in_a_pause(self):
        self.char1.execute_cmd("talk Mira Good evening.")
        assert not self.compacts()
        self.clock.advance(TALK_SECONDS + 1)
        assert self.compacts()

    def test_a_world_without_a_player_summarises_as_it_grows(self):
        self.mumble(3)
        assert not self.compacts()
        self.mumble(1)
        assert self.compacts()
        assert self.mind.compactions.when_due() == ""

    def test_after_a_prompt_the_marks_decide(self):
        self.mira.db.paused = False
        self.ask("Good evening.", "> say Good evening, Tom.")
        self.clock.advance(TALK_SECONDS + 1)
        assert self.compacts()
