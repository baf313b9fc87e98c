"""Two errands of one agent: the second goes on while the first waits for somebody who is away."""

from __future__ import annotations

from keepsake.books.plan import PlanState
from tests.world.plans_world import PlansWorld


class TestTwoErrands(PlansWorld):
    def test_an_errand_that_was_put_aside_goes_on_when_the_other_waits_for_somebody_away(self):
        self.add_player(2, "Ada").move_to(self.quay, quiet=True)
        deeds = "> plan tomorrow 12:00: count the cups\n> plan tomorrow 13:00: greet Ada"
        self.ask("Do both.", f"I will.\n{deeds}")
        plans = self.mind.plans
        self.replies = ["> wait for Ada", "*counts the cups*\n> done 1", "> wait"]
        for number in (1, 2):
            plans.begin(number)
            plan = plans.named(number)
            assert plan is not None
            plans.steps.go_on(plan, "it goes on")
        self.pass_minutes(1)
        due = [each for each in self.prompts() if "It is time for what you mean to do: " in each]
        assert [each.partition("mean to do: ")[2][:2] for each in due] == ["2.", "1."]
        assert [each.number for each in self.plans.current] == [2]

    def test_a_step_of_a_plan_that_has_ended_holds_up_no_other(self):
        deeds = "".join(
            f"\n> plan tomorrow {hour}:00: count the cups again" for hour in (12, 13, 14)
        )
        self.ask("Do it.", f"I will.{deeds}")
        plans = self.mind.plans
        self.replies = ["> wait for Ada", "> wait"]
        for number in (1, 2, 3):
            plans.begin(number)
            plan = plans.named(number)
            assert plan is not None
            plans.steps.go_on(plan, "it goes on")
        self.plans.set_state(self.plans.current[0], PlanState.DONE, "")
        self.pass_minutes(1)
        due = [each for each in self.prompts() if "It is time for what you mean to do: " in each]
        assert [each.partition("mean to do: ")[2][:2] for each in due] == ["3.", "2."]
