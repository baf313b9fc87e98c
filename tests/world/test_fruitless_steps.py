"""A plan whose model repeats itself is soon asked about rarely, and its wrong numbers are told."""

from __future__ import annotations

from keepsake.agent.plans.next_steps import STEP_SECONDS
from keepsake.books.plan import PlanState
from tests.world.plans_world import PlansWorld

HERE = "Here I am, shawl and all."


class TestFruitlessSteps(PlansWorld):
    """Mira has a plan, and a model that says the same at each of its steps."""

    def setUp(self) -> None:
        super().setUp()
        self.ask("Will you?", "I will.\n> plan in 2 minutes: wait for the ferry in my shawl")
        self.asked = len(self.prompts())

    def hour(self, *answers: str) -> list[str]:
        """Let an hour pass, in which her model gives these answers; return the prompts."""
        self.replies = list(answers)
        self.pass_minutes(62)
        return self.prompts()[self.asked :]

    def said(self, words: str) -> int:
        return self.lines().count(f"~say {words}")

    def test_a_short_line_that_nobody_has_answered_is_said_once(self):
        self.hour(HERE)
        assert self.said(HERE) == 1

    def test_steps_that_bring_nothing_new_come_ever_more_rarely(self):
        assert len(self.hour(HERE)) <= 16, "some eight steps, each asked twice"

    def test_words_that_nobody_answers_come_ever_more_rarely(self):
        assert len(self.hour(*(f"Here I am, and it is my line {n}." for n in range(60)))) <= 12

    def test_a_deed_that_is_done_again_in_the_same_place_is_nothing_new(self):
        assert len(self.hour("> look")) <= 48, "some eleven steps, with four looks each"

    def test_a_deed_that_fails_is_nothing_new(self):
        assert len(self.hour("> give moon to Tom", "> give sun to Tom")) <= 18

    def test_a_step_comes_soon_after_words_to_somebody_else(self):
        self.replies = [HERE]
        self.pass_minutes(20)
        before = len(self.prompts())
        self.ask("Still here?", "Still.")
        self.replies = ["> done 1"]
        self.pass_time(2 * STEP_SECONDS)
        assert len(self.prompts()) == before + 2
        assert not self.plans.current

    def test_a_number_of_no_plan_is_told_back_and_then_taken_for_the_only_one(self):
        prompts = self.hour(f"{HERE}\n> done 7")
        assert self.said(HERE) == 1
        assert len(prompts) == 2
        refused = "You tried > done 7: '7' matches none of the plans. Give its number: 1. "
        assert any(line.startswith(refused) for line in self.lines())
        assert self.plans.items[0].state is PlanState.DONE

    def test_a_number_of_no_plan_ends_none_of_several(self):
        self.ask("And?", "> plan tomorrow 12:00: bake")
        self.hour("> done 7")
        assert [each.number for each in self.plans.current] == [1, 2]

    def test_a_short_answer_may_be_given_again(self):
        self.ask("Is it late?", "Yes.")
        self.ask("Is it dark?", "Yes.")
        assert self.said("Yes.") == 2
