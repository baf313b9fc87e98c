"""A plan that was made for a whisper: nobody but the whisperer is shown or told of it."""

from __future__ import annotations

from datetime import timedelta

from keepsake.agent.surroundings.identity import identity_of
from tests.world.plans_world import PlansWorld


class TestWhisperedPlans(PlansWorld):
    """Tom whispers, and Mira plans something for it."""

    def test_a_whispered_plan_is_for_the_whisperer_alone(self):
        ada = self.add_player(2, "Ada")
        self.replies = ["I will.\n> plan in 10 minutes, the Quay, Tom: dig up the chest", "> wait"]
        self.char1.execute_cmd("whisper Mira = Dig up the chest with me at the quay.")
        self.pass_time(5)
        (plan,) = self.plans.current
        assert plan.private == {identity_of(self.char1)}
        assert "chest" not in "".join(
            self.ask("What will you do today?", "This and that.", who=ada)
        )
        self.replies = ["To the quay.", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(11)
        assert any("dig up the chest" in prompt for prompt in self.prompts()[before:])
        assert "To the quay." not in "\n".join(self.lines(self.add_agent("Bram")))

    def has_a_whispered_plan(self) -> None:
        """Let Tom whisper, and Mira plan something for it that is due when he has gone."""
        self.replies = ["I will.\n> plan in 10 minutes: fetch the chest", "> wait"]
        self.char1.execute_cmd("whisper Mira = Fetch the chest under the willow in ten minutes.")
        self.pass_time(5)
        (plan,) = self.plans.current
        assert plan.private == {identity_of(self.char1)}
        for each in (self.char1, self.char2):
            each.move_to(self.quay)

    def test_somebody_who_comes_in_while_a_whispered_plan_is_thought_of_is_shown_nothing(self):
        self.has_a_whispered_plan()
        gate = self.hold_answers()
        before = len(self.prompts())
        while len(self.prompts()) == before:
            self.time.time += timedelta(seconds=15)
            self.clock.advance(15)
            self.settle(lambda: self.is_thinking() or not self._at_work())
        assert "fetch the chest" in self.prompts()[-1]
        self.replies = [
            "*points at the chest*\nThe chest is here.\n> emote lifts the chest",
            "> wait",
        ]
        ada = self.add_player(2, "Ada")
        bram = self.add_agent("Bram")
        heard = self.capture(ada)
        gate.set()
        self.pass_time(5)
        assert not any("chest" in line for line in [*heard, *self.lines(bram)])
        public = [m.text for m in self.mind.memory.context().window if m.confidants is None]
        assert not any("chest" in text for text in public)

    def test_who_asks_aloud_for_a_whispered_plan_finds_that_the_agent_has_it_and_can_end_it(self):
        self.replies = ["I will.\n> plan in 10 minutes: fetch the chest", "> wait"]
        self.char1.execute_cmd("whisper Mira = Fetch the chest under the willow in ten minutes.")
        self.pass_time(5)
        (prompt,) = self.ask("Is it done?", "It is.\n> done 1")
        assert "[Still to do: 1. what you and Tom keep from others here.]" in prompt
        assert "chest" not in prompt
        assert not self.plans.current

    def test_a_plan_made_in_a_whispered_turn_is_not_put_in_the_words_of_its_person(self):
        ada = self.add_player(2, "Ada")
        self.ask("Will you meet me at the quay at noon tomorrow?", "> wait")
        self.replies = ["Hm.\n> plan tomorrow 14:00, the Quay, Tom: tell him of the seal", "> wait"]
        ada.execute_cmd("whisper Mira = Tell my brother Tom that I know of the seal.")
        self.pass_time(5)
        (plan,) = self.plans.current
        assert plan.private == {identity_of(ada)}
        (prompt,) = self.ask("At what hour was that?", "At noon.")
        assert "1. something with Tom that is private: say nothing of it" in prompt
        assert "what was asked for" not in prompt
        assert "seal" not in prompt

    def test_a_whispered_plan_that_was_begun_is_not_named_to_others(self):
        self.has_a_whispered_plan()
        self.replies = ["> wait"]
        self.pass_minutes(11)
        (plan,) = self.plans.current
        assert plan.is_begun
        ada = self.add_player(2, "Ada")
        prompts = self.ask("What will you do?", "> done the washing\n> cancel 1: no", who=ada)
        prompts += self.ask("And then?", "Nothing.", who=ada)
        assert not any("chest" in prompt for prompt in prompts)
        assert self.plans.current == (plan,)

    def test_a_whispered_plan_that_is_due_before_others_shows_and_tells_them_nothing(self):
        self.replies = ["I will.\n> plan in 10 minutes, Tom: fetch the chest", "> wait"]
        self.char1.execute_cmd("whisper Mira = Fetch the chest under the willow in ten minutes.")
        self.pass_time(5)
        self.char1.move_to(self.quay)
        ada = self.add_player(2, "Ada")
        heard = self.capture(ada)
        before = len(self.prompts())
        self.replies = ["The chest!\n*points at the willow*", "> wait"]
        self.pass_minutes(12)
        (prompt, *_) = [each for each in self.prompts()[before:] if "It is time for" in each]
        assert "under the willow" not in prompt
        assert "say nothing of it" in prompt
        assert not any("chest" in line or "willow" in line for line in heard)

    def test_a_whispered_plan_that_is_done_before_others_is_told_to_nobody_else(self):
        self.replies = ["I will.\n> plan in 10 minutes, Tom: fetch the chest", "> wait"]
        self.char1.execute_cmd("whisper Mira = Fetch the chest under the willow in ten minutes.")
        self.pass_time(5)
        self.char1.move_to(self.quay)
        ada = self.add_player(2, "Ada")
        self.replies = ["> done 1", "> wait"]
        self.pass_minutes(12)
        assert not self.plans.current
        before = len(self.prompts())
        self.replies = ["Nothing.", "> wait"]
        for line in ("Good morning.", "What have you done?"):
            ada.execute_cmd(f"talk Mira {line}")
            self.pass_time(6)
        asked = self.prompts()[before:]
        assert asked
        assert not any("chest" in prompt or "willow" in prompt for prompt in asked)

    def test_an_answer_to_a_whisper_is_asked_once(self):
        self.replies = ["> plan in 9 minutes: dig", "> plan in 9 minutes: dig elsewhere", "> wait"]
        self.char1.execute_cmd("whisper Mira = Dig with me.")
        self.pass_time(5)
        (plan,) = self.plans.current
        assert plan.what == "dig"

    def test_what_one_hears_after_a_private_result_is_not_private_to_another(self):
        self.replies = ["> plan in 9 minutes: dig", "> wait"]
        self.char1.execute_cmd("whisper Mira = Dig with me.")
        self.pass_time(5)
        ada = self.add_player(2, "Ada")
        self.ask("Bake me a loaf?", "> plan in 9 minutes: bake her a loaf", who=ada)
        assert [each.private for each in self.plans.current if "loaf" in each.what] == [None]

    def whispered_plan_is_due(self, *answers: str) -> list[str]:
        """Let a plan of Tom's whisper come, that Mira begins so; return her prompts for it.

        ``self.heard`` is what Tom is shown at the Quay.
        """
        self.whisper_before()
        self.replies = ["I will.\n> plan in 2 minutes, the Quay, Tom: come alone", "> wait"]
        self.char1.execute_cmd("whisper Mira = Come to the quay in two minutes, alone.")
        self.pass_time(5)
        self.char1.move_to(self.quay, quiet=True)
        self.char2.move_to(self.room1, quiet=True)
        self.heard = self.capture(self.char1)
        before = len(self.prompts())
        self.replies = [*answers, "> wait"]
        self.mind.plans.set_off = lambda _: False  # her model says that she walks
        self.pass_minutes(3)
        return self.prompts()[before:]

    def at_the_quay_in_private(self) -> None:
        """Let Tom whisper of a meeting at the Quay, where Mira's model is asked about it now."""
        self.replies = ["I will.\n> plan in 2 minutes, the Quay, Tom: show him Button", "> wait"]
        self.char1.execute_cmd("whisper Mira = At the quay, in two minutes?")
        self.pass_time(5)
        for each in (self.mira, self.char1):
            each.move_to(self.quay, quiet=True)
        self.time.time += timedelta(seconds=70)
        self.gate = self.hold_answers()
        before = len(self.prompts())
        while len(self.prompts()) == before:
            self.time.time += timedelta(seconds=5)
            self.clock.advance(5)
            self.settle(lambda: self.is_thinking() or not self._at_work())
        self.asked = len(self.prompts())

    def answered(self) -> list[str]:
        """Let Tom speak while a plan's step is under way; return the prompts that follow."""
        self.replies = ["Here he is!\n> done 1"]
        self.char1.execute_cmd("talk Mira Where is he?")
        self.gate.set()
        self.pass_time(8)
        return self.prompts()[self.asked :]

    def test_words_of_who_alone_is_here_and_knows_of_it_are_answered_with_a_private_plan(self):
        self.at_the_quay_in_private()
        (prompt,) = self.answered()
        assert "It is time for what you mean to do: 1. " in prompt
        assert "Tom waits for your answer" in prompt
        assert not self.plans.current

    def test_a_private_plan_is_not_done_in_an_answer_that_others_hear(self):
        self.at_the_quay_in_private()
        self.add_player(2, "Ada").move_to(self.quay, quiet=True)
        prompt = self.answered()[0]
        assert "Tom waits for your answer" in prompt
        assert "Button" not in prompt

    def test_after_a_walk_for_a_private_plan_its_words_reach_who_knows_of_it(self):
        prompts = self.whispered_plan_is_due(
            "> walk to the Quay\n*bows*\nHere I am.\n> whisper Tom = As you said.\n"
            "> talk Tom = What is it?\n> wait for Tom"
        )
        assert "Others are here who may not know of this plan" in prompts[0]
        assert len(prompts) == 1
        assert [line for line in self.heard if line.startswith(("*", "Mira "))] == [
            "Mira arrives from The Inn.",
            "* Mira bows",
            'Mira says to you, "Here I am."',
            'Mira whispers to you, "As you said."',
            'Mira says to you, "What is it?"',
        ]

    def test_after_a_walk_for_a_private_plan_others_are_shown_nothing_of_it(self):
        others = self.bram_and_ada_at_the_quay()
        self.whispered_plan_is_due(
            "> walk to the Quay\n*hides the seal*\nI came for the seal.\n"
            "> talk Tom = Your seal.\n> talk Bram = His seal.\n> whisper Ada = His seal.\n> wait"
        )
        assert [line for line in self.heard if "whispers" in line] == [
            'Mira whispers to you, "I came for the seal."',
            'Mira whispers to you, "Your seal."',
        ]
        assert not any("seal" in line for line in others)

    def test_a_plan_that_words_said_aloud_do_not_explain_is_the_whisperers_alone(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        told = "> plan now, the Quay, Bram: tell him that the seal is forged"
        prompts = self.ask("You know what to do.", f"Yes.\n{told}\n> talk Bram = It is forged!")
        assert len(prompts) == 1
        (plan,) = self.plans.current
        assert (plan.private, plan.aloud) == ({identity_of(self.char1)}, None)
        before = len(self.prompts())
        self.replies = ["> walk to the Quay\n> talk Bram = It is forged!\nIt is forged!", "> wait"]
        self.pass_minutes(2)
        assert len(self.prompts()) > before
        assert not any("forged" in line for line in heard)

    def test_the_whisperer_alone_is_answered_with_the_whole_plan(self):
        self.whisper_before()
        self.bram_and_ada_at_the_quay()
        self.ask(
            "Ask Bram at noon tomorrow for honey.",
            "> plan tomorrow 12:00, the Quay, Bram: ask him for honey for the forger",
        )
        (prompt,) = self.ask("What do you mean to do?", "This and that.")[:1]
        assert "12:00, at The Quay, with Bram: ask him for honey for the forger" in prompt
        assert "what was asked for" not in prompt
