"""Who may call off a private plan: those who know of it, its person, and whom one of them sends."""

from __future__ import annotations

from typing import Any

from keepsake.books.plan import PlanState
from tests.world.plans_world import PlansWorld


class TestWhosePlan(PlansWorld):
    """Tom crosses on the ferry with Mira, or not; Ada is there, too."""

    def setUp(self) -> None:
        super().setUp()
        self.ada = self.add_player(2, "Ada")
        self.ada.move_to(self.quay, quiet=True)

    def whispered(self, answer: str, words: str = "Take me over at six?", who: Any = None) -> None:
        """Let somebody whisper to Mira, who plans something; then they are at the Quay."""
        self.replies = [answer, "> wait"]
        (who or self.char1).execute_cmd(f"whisper Mira = {words}")
        self.pass_time(5)
        assert self.plans.current[-1].private is not None
        for each in (self.char1, self.char2):
            each.move_to(self.quay, quiet=True)

    def meets(self) -> list[str]:
        """Let Ada come to Mira."""
        self.pass_minutes(4)
        self.ada.move_to(self.room1, quiet=True)
        return self.capture(self.ada)

    def test_a_third_calls_off_what_was_asked_for_in_private(self):
        self.whispered("Aye.\n> plan 18:00, Tom: row him over for a cheese")
        heard = self.meets()
        words = "Tom does not cross at six, he sleeps here."
        (prompt,) = self.ask(words, "Jilted!\n> cancel 1: he sleeps here", who=self.ada)
        assert "[Still to do: 1. something with Tom that is private: say nothing of it.]" in prompt
        assert "row him over" not in prompt
        (plan,) = self.plans.items
        assert (plan.state, plan.why) == (PlanState.DROPPED, "he sleeps here")
        assert not any("row him" in line for line in heard)

    def test_a_third_calls_it_off_in_words(self):
        self.whispered("Aye.\n> plan 18:00, Tom: row him over for a cheese")
        self.meets()
        self.ask("Tom does not cross.", "> cancel take Tom over: he sleeps here", who=self.ada)
        assert self.plans.items[0].state is PlanState.DROPPED
        told = [line for line in self.lines() if line.startswith("Off your plans")]
        assert not any("cheese" in line for line in told)

    def test_other_words_end_none_that_is_not_shown(self):
        self.whispered("Aye.\n> plan 18:00, Tom: row him over for a cheese")
        self.meets()
        self.ask("Is Tom well?", "> done bake the bread", who=self.ada)
        assert len(self.plans.current) == 1

    def test_whom_it_is_with_calls_it_off_in_words(self):
        self.whispered("I will.\n> plan 18:00, Ada: keep the bench dry", words="Ada comes at six.")
        self.meets()
        self.ask("I cannot come.", "> cancel the bench for Ada: she cannot", who=self.ada)
        assert self.plans.items[0].state is PlanState.DROPPED

    def test_in_words_none_of_several_is_called_off(self):
        self.whispered("Aye.\n> plan 18:00, Tom: row him over")
        self.char1.move_to(self.room1, quiet=True)
        self.whispered("Aye.\n> plan 20:00, Tom: row him back", words="And back at eight?")
        self.meets()
        self.ask("Tom does not cross.", "> cancel take Tom over: he sleeps here", who=self.ada)
        assert len(self.plans.current) == 2
        assert not any("row him" in line for line in self.lines() if "matches" in line)

    def test_who_does_not_speak_of_them_has_no_say(self):
        self.whispered("Aye.\n> plan 18:00, Tom: row him over")
        self.meets()
        (prompt,) = self.ask("Is it late?", "> cancel 1: no\n> cancel row him over", who=self.ada)
        assert "Still to do" not in prompt
        assert len(self.plans.current) == 1

    def test_whom_it_is_with_calls_it_off_though_somebody_else_has_whispered_it(self):
        answer = "I will.\n> plan 18:00, Ada: keep the bench dry for her singing"
        self.whispered(answer, words="Ada comes at six to sing.")
        heard = self.meets()
        (prompt,) = self.ask("I cannot come at six.", "> cancel 1: she cannot", who=self.ada)
        assert "[Still to do: 1. something with Ada that is private: say nothing of it.]" in prompt
        assert "bench" not in prompt
        assert "18:00" not in prompt
        assert self.plans.items[0].state is PlanState.DROPPED
        assert not any("bench" in line for line in heard)
