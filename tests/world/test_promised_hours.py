"""A promise with an hour: what was agreed happens, and the agent is reminded of it once."""

from __future__ import annotations

from datetime import time, timedelta

from keepsake.books.plan import PlanState
from keepsake.language.due import DueDay
from tests.world.plans_world import PlansWorld


class TestPromisedHours(PlansWorld):
    """Mira promises things for an hour, with a plan for it and without one."""

    def reminded(self, minutes: float) -> list[str]:
        """Let time pass; return the prompts that say that something is due."""
        before = len(self.prompts())
        self.pass_minutes(minutes)
        return [each for each in self.prompts()[before:] if "It is time for" in each]

    def promised(self):
        (promise,) = self.mind.books.commitments.items
        return promise

    def test_a_promise_with_an_hour_reminds_the_agent_at_that_hour(self):
        self.ask("Soup in ten minutes?", "You'll have it.\n> promise Tom, in 10 minutes: soup")
        (plan,) = self.plans.current
        assert (plan.what, plan.whom.name) == ("soup", "Tom")
        assert any("; you will be reminded by your plan 1" in each for each in self.lines())
        number = self.promised().number
        self.replies = [f"Your soup, Tom.\n> done 1\n> kept {number}", "> wait"]
        assert self.reminded(9) == []
        (due,) = self.reminded(3)
        assert f"(you promised it: when it is done, also write > kept {number})" in due
        assert self.mind.books.commitments.items == ()
        assert self.plans.current == ()
        assert self.reminded(20) == []

    def test_its_words_may_say_the_hour(self):
        self.ask("Soup?", "In ten minutes.\n> promise Tom: soup in ten minutes")
        assert len(self.reminded(12)) >= 1

    def test_a_plan_that_is_made_with_it_is_the_only_one(self):
        self.ask(
            "Soup in ten minutes?",
            "You'll have it.\n> plan in 10 minutes, Tom: bring soup\n"
            "> promise Tom, in 10 minutes: soup",
        )
        (plan,) = self.plans.current
        assert plan.what == "bring soup"
        self.ask("Bread, too, in half an hour?", "Yes.\n> promise Tom, in 30 minutes: bread")
        self.ask("Warm bread?", "Yes.\n> plan in 30 minutes, Tom: bread from the oven")
        assert [each.what for each in self.plans.current] == ["bring soup", "bread from the oven"]

    def test_a_plan_of_the_same_answer_takes_the_place_of_the_reminder(self):
        self.bram_and_ada_at_the_quay()
        self.ask(
            "Draughts with Bram at noon tomorrow?",
            "Surely.\n> promise Tom, tomorrow noon: draughts with Bram\n"
            "> plan tomorrow 11:30, the Quay, Bram: play draughts with Tom and Bram",
        )
        (plan,) = self.plans.current
        assert (plan.where, plan.whom.name, plan.number) == ("The Quay", "Bram", 1)
        assert (plan.at.hour, plan.at.minute) == (11, 30)
        self.ask(
            "And bread at three in the afternoon tomorrow?",
            "Yes.\n> plan tomorrow 15:00, the Quay, Bram: bring bread to Tom\n"
            "> promise Tom, tomorrow 3 in the afternoon: bread",
        )
        assert [each.what for each in self.plans.current][1:] == ["bring bread to Tom"]
        self.ask("And a song at noon tomorrow?", "Yes.\n> promise Tom, tomorrow noon: a song")
        assert len(self.plans.current) == 3, "of another answer"

    def test_of_several_promises_the_prompt_names_that_of_which_it_reminds(self):
        self.ask("A song?", "One day.\n> promise Tom: a song")
        self.ask("And soup in ten minutes?", "Yes.\n> promise Tom, in 10 minutes: soup")
        _, soup = self.mind.books.commitments.items
        (due,) = self.reminded(12)[:1]
        assert f"also write > kept {soup.number})" in due

    def test_what_was_kept_before_its_hour_reminds_nobody(self):
        self.ask("Soup in ten minutes?", "You'll have it.\n> promise Tom, in 10 minutes: soup")
        self.ask("I have it already.", f"Good.\n> kept {self.promised().number}")
        (plan,) = self.plans.items
        assert plan.state is PlanState.DONE
        assert self.reminded(12) == []

    def test_a_part_of_the_day_has_an_hour_too_and_a_day_alone_has_none(self):
        today = self.services.clock.now().astimezone().date()
        self.ask("Bread?", "Yes.\n> promise Tom, tomorrow morning: a loaf")
        assert self.promised().due == DueDay(today + timedelta(days=1), part="morning")
        (plan,) = self.plans.current
        assert plan.at.time() == time(9)
        self.ask("A song?", "Yes.\n> promise Tom, tomorrow: a song")
        assert self.plans.current == (plan,)

    def test_what_was_whispered_is_a_plan_that_only_its_hearer_knows(self):
        self.replies = ["Yes.\n> promise Tom, in 10 minutes: the forged seal", "> wait"]
        self.char1.execute_cmd("whisper Mira = Bring me the forged seal in ten minutes.")
        self.pass_time(5)
        (plan,) = self.plans.current
        assert plan.private == {self.promised().key}

    def test_what_was_asked_for_aloud_is_done_before_others_though_its_prompt_was_private(self):
        self.whisper_before()
        self.ask("Soup in ten minutes?", "Yes.\n> promise Tom, in 10 minutes: soup, no walnuts")
        (plan,) = self.plans.current
        assert plan.private is not None
        assert plan.confided is None

    def test_without_plans_a_promise_is_only_noted(self):
        self.set_thinking(plans=False)
        self.ask("Soup in ten minutes?", "You'll have it.\n> promise Tom, in 10 minutes: soup")
        assert self.promised().text == "soup"
        assert self.plans.current == ()
