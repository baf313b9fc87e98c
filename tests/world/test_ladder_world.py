"""Compaction in the game: the budget, promises, and what builders see of it."""

from __future__ import annotations

from unittest.mock import patch

from evennia.utils.ansi import strip_ansi

from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.books.plan import Plan, PlanState
from keepsake.errors import ModelUnavailable
from keepsake.events.types import Thought
from keepsake.events.values import CompactReason
from tests.fakes.model_server import tokens
from tests.world.agents_world import Building
from tests.world.ladder_world import ROOM, LadderWorld


def unavailable(_source):
    """Stand in for a summarizer whose server does not answer."""
    raise ModelUnavailable("nobody answers on port 1", "Start the server")


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
        assert "Mira seems far away" in shown_after("Are you there?")
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
        assert f"[Always remember: {promise.line}]" in prompt
        book.close(lambda each: each == promise)
        assert f"[No longer to be remembered: {promise.line}]" in self.ask("Who am I?", "Tom.")[0]


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

    def test_a_promise_is_dropped_with_the_plan_that_reminds_of_it(self):
        soup = Commitment(CommitmentKind.PROMISE, "Tom", "a bowl of soup", 2)
        self.mind.memory.commitments.add(soup)
        plans = self.mind.books.plans
        reminder = plans.add(Plan(what=soup.text, since=soup.number))
        other = plans.add(Plan(what="sweep the floor", since=soup.number))
        self.type("@rules/drop Tom", "Dropped")
        assert plans.current == (other,)
        ended = next(each for each in plans.items if each.number == reminder.number)
        assert ended.state is PlanState.DROPPED

    def test_a_compaction_that_runs_already_is_no_failure(self):
        self.chatter(8)
        self.mind.compactions.compact(CompactReason.MANUAL)
        shown = " ".join(self.type("@compact-memories Mira", "Not now").split())
        assert "a compaction of Mira's memory is under way. Wait for it to end" in shown
        self.wait_for_compaction()
