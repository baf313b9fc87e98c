"""A small model that agrees to tell somebody something, or to go, and does not write the deed."""

from __future__ import annotations

from typing import Any

from keepsake.agent.turns.consent.trial import PASSED, TrialResult
from tests.world.agents_world import is_trial
from tests.world.plans_world import PlansWorld

FAILED = TrialResult("fake", allowed=2, let_out="a plain betrayal")
ASKED = "Tell Bram that the ferry is late, please."
TOLD = 'Mira says to you, "Tom says that the ferry is late."'


class SmallErrands(PlansWorld):
    """Mira with a small model, Tom, and Bram at the quay.

    Attributes:
        says: What the model answers to players.
        goes: What it says of where Mira goes.
        sent: What it says of whether she takes a message to somebody.
        words: With which words it lets Mira tell it.
    """

    FORM = "dialogue"
    says = " I'll tell him."
    goes = " stays here.)"
    sent = " takes the message to Bram.)"
    words = 'Tom says that the ferry is late.")'

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.heard_by_ada = self.bram_and_ada_at_the_quay()
        self.heard_by_bram = self.capture(self.bram)
        self.fake.script = self.answer
        self.pass_time(10)

    def answer(self, prompt: str) -> str:
        if "Each note says where" in prompt:
            return self.goes
        if "Each note says what somebody does next" in prompt:
            return self.sent
        if "Each note says with which words" in prompt:
            return self.words
        return self.says

    def questions(self) -> list[str]:
        """Return the last talk of each question about the talk."""
        notes = (each for each in self.every_prompt() if "Each note says" in each)
        return [each.rpartition("\n\n")[2] for each in notes]

    def talk(self, words: str) -> None:
        self.char1.execute_cmd(f"talk Mira {words}")
        self.pass_minutes(1)


class TestSmallErrands(SmallErrands):
    """A model that continues text."""

    def test_what_it_agrees_to_tell_is_told_and_its_plan_has_ended(self):
        self.talk(ASKED)
        assert [line for line in self.heard_by_bram if "ferry" in line] == [TOLD]
        (plan,) = self.plans.items
        assert plan.what == "talk Bram = Tom says that the ferry is late"
        assert (plan.whom.name, plan.state.value) == ("Bram", "done")
        assert self.mira.location is self.quay

    def test_nobody_is_told_what_it_does_not_agree_to(self):
        self.sent = " goes on talking.)"
        self.talk(ASKED)
        assert not self.plans.items
        assert self.mira.location is self.room1

    def test_words_that_have_nothing_of_the_request_are_not_said(self):
        self.words = 'I keep bees.")'
        self.talk(ASKED)
        assert f'Mira says to you, "Tom: {ASKED}"' in self.heard_by_bram

    def test_a_name_alone_sends_nobody_to_somebody_who_is_here(self):
        self.bram.move_to(self.room1, quiet=True)
        self.talk(ASKED)
        assert not self.questions()

    def test_a_whisper_sends_nobody(self):
        self.char1.execute_cmd(f"whisper Mira = {ASKED}")
        self.pass_minutes(1)
        assert not self.questions()
        assert not self.plans.items

    def test_a_host_tells_it_when_its_person_comes(self):
        self.mira.db.keeps = True
        self.mira.home = self.room1
        self.talk(ASKED)
        (plan,) = self.plans.items
        assert plan.waits_for == "when Bram comes"
        assert self.mira.location is self.room1
        self.bram.move_to(self.room1)
        self.pass_minutes(1)
        assert TOLD in self.heard_by_bram

    def test_the_words_are_made_of_the_request_alone(self):
        self.says = " I'll tell him, and nobody else of your lamp."
        self.talk(ASKED)
        assert "lamp" not in self.questions()[-1]
        assert self.questions()[-1].startswith(f"Tom asks Mira: {ASKED}")

    def test_a_file_of_an_earlier_version_sends_nobody(self):
        page = self.services.prompts["agreed"]
        text = page.path.read_text()
        page.path.write_text(text.partition("```sent")[0])
        page.reread()
        self.talk(ASKED)
        assert not self.questions()


class TestWalksThatWait(SmallErrands):
    """A walk that has to wait."""

    says = " I come."
    goes = " goes to The Quay.)"

    def test_a_walk_that_waits_for_an_answer_is_done_after_it(self):
        gate: list[Any] = []

        def answer(prompt: str) -> str:
            if "Each note says where" in prompt and not gate:
                gate.append(1)
                self.posted.put(lambda: self.char1.execute_cmd("talk Mira And take your shawl."))
            return self.answer(prompt) if len(gate) < 2 else " stays here.)"

        self.fake.script = answer
        self.char1.execute_cmd("talk Mira Come to the quay, please.")
        self.pass_minutes(2)
        assert self.mira.location is self.quay
        assert {each.state.value for each in self.plans.items} <= {"done"}


class TestSmallChatModel(SmallErrands):
    """A chat model whose trial has shown that it is small."""

    FORM = "chat"
    KEEPS_SECRETS = False
    says = "I'll tell him."
    sent = "(Then Mira takes the message to Bram.)"

    def setUp(self) -> None:
        super().setUp()
        self.services.secret_trial.know(FAILED)

    def test_it_is_asked_as_a_chat_whose_notes_are_its_own_answers(self):
        self.talk(ASKED)
        asked = next(
            call.body["messages"]
            for call in self.fake.calls("/api/chat")
            if "Each note says what somebody does" in str(call.body["messages"][0]["content"])
        )
        assert [each["role"] for each in asked[:3]] == ["system", "user", "assistant"]
        assert asked[2]["content"] == "(Then Ann takes the message to Kees.)"
        assert asked[-1]["content"] == f"Tom: {ASKED}\nMira: I'll tell him."

    def test_what_it_agrees_to_tell_is_told_without_a_call_for_the_plan(self):
        self.talk(ASKED)
        assert TOLD in self.heard_by_bram
        assert len([each for each in self.every_prompt() if not is_trial(each)]) == 3

    def test_it_walks_where_its_words_go(self):
        self.says = "I'll come with you."
        self.goes = "(Now Mira goes to The Quay.)"
        self.talk("Will you come to the quay with me?")
        assert self.mira.location is self.quay

    def test_it_is_not_asked_if_it_has_written_a_deed(self):
        self.says = "I'll tell him.\n> plan tomorrow 12:00, Bram: tell him that the ferry is late"
        self.talk(ASKED)
        assert not self.questions()

    def test_one_that_knew_no_errand_in_its_trial_is_asked_about_walks_alone(self):
        self.services.secret_trial.know(TrialResult("fake"))
        self.talk(ASKED)
        assert not self.questions()
        self.talk("Will you come to the quay with me?")
        assert len(self.questions()) == 1

    def test_one_that_has_passed_is_never_asked(self):
        self.services.secret_trial.know(PASSED)
        self.talk(ASKED)
        assert not self.questions()
        assert not self.plans.items
