"""What a plan's end rests on: what was handed over, said and reached, and the agent's own word."""

from __future__ import annotations

from typing import Any

from keepsake.books.plan import PlanState
from tests.world.plans_world import PlansWorld


class TestEndsOfPlans(PlansWorld):
    """Tom gives Mira something to bring to Bram, who is at the quay."""

    def errand(self, *answers: str, thing: str = "jar of honey") -> Any:
        """Let Tom hand over a thing and ask that it be brought to Bram; return the thing."""
        self.bram_and_ada_at_the_quay()
        jar = self.add_thing(thing)
        jar.aliases.add("honey")
        jar.location = self.char1
        self.char1.execute_cmd(f"give {thing} to Mira")
        self.ask("Bring the honey to Bram at the quay, please.", *answers)
        self.pass_minutes(1)
        return jar

    def test_a_plan_is_not_done_while_the_agent_carries_what_it_got_for_it(self):
        jar = self.errand(
            "> plan now, the Quay: bring honey to Bram\n> walk to Bram\nHoney for you!\n> done 1",
            "> give jar of honey to Bram\n> done 1",
        )
        assert jar.location is self.bram
        (plan,) = self.plans.items
        assert (plan.state, plan.why) == (PlanState.DONE, "")
        told = "You tried > done 1: You still carry the jar of honey, so that it is not done."
        assert any(told in line for line in self.lines())
        assert any("(you still carry the jar of honey)" in each for each in self.prompts())

    def test_an_agent_that_insists_has_done_it(self):
        jar = self.errand(
            "> plan now, the Quay: show the honey to Bram\n> walk to Bram\nLook!\n> done 1",
            "He has seen it.\n> done 1",
        )
        assert jar.location is self.mira
        assert self.plans.items[0].state is PlanState.DONE

    def test_what_did_not_happen_is_told_with_the_end(self):
        bram = self.add_agent("Bram")
        bram.db.paused = True
        bram.execute_cmd("say The bees are asleep.")
        self.pass_time(5)
        self.mind.read_edits()
        self.pass_minutes(1)
        bram.move_to(self.quay, quiet=True)
        for n in range(12):
            self.ask(f"This is line {n}.", "Is it?")
        self.mind.plans.set_off = lambda _: False
        self.ask("Tell him.", "> plan in 3 minutes, the Quay: tell Bram of supper", "> done 1")
        self.pass_minutes(4)
        lacks = "Bram was not spoken to; you were not at The Quay"
        assert f"Done, and off your plans: tell Bram of supper ({lacks})" in self.lines()
        (plan,) = self.plans.items
        assert (plan.state, plan.why) == (PlanState.DONE, lacks)

    def test_an_end_that_a_failed_step_forbids_says_which_and_why(self):
        self.whisper_before()
        self.bram_and_ada_at_the_quay()
        self.replies = [
            "> plan now, the Quay: whisper to Bram\n> walk to Bram\n"
            "> whisper Bram = The seal is forged, by Tom's brother.\n> done 1",
            "> wait",
        ]
        self.char1.execute_cmd("whisper Mira = Tell nobody of the seal.")
        self.pass_minutes(1)
        step = "> whisper Bram = The seal is forged, by Tom's brother."
        why = "an answer that may hold what was whispered to you reaches nobody else"
        end = f"You did not end the plan, because this was not done: {step}: "
        assert f"{end}You did not say your words to Bram: {why}" in self.lines()
        assert self.plans.current

    def test_a_walk_that_cannot_begin_forbids_the_end(self):
        self.ask("Do it.", "> plan in 3 minutes: see the moon")
        self.replies = ["> walk to the Moon\n> done 1", "> wait"]
        self.pass_minutes(5)
        end = "You did not end the plan, because this was not done:"
        assert f"{end} > walk to the Moon: you know no way there" in self.lines()
        assert self.plans.current
