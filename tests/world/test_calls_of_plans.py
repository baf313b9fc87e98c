"""How often a model is asked for a plan: not for what its agent does by itself, and not twice."""

from __future__ import annotations

from datetime import timedelta

from keepsake.agent.plans.next_steps import ANSWER_SECONDS
from keepsake.books.plan import PlanState
from keepsake.books.plan_lines import read_plan
from tests.world.plans_world import PlansWorld


class TestCallsOfPlans(PlansWorld):
    """Mira has appointments with Tom, and errands to Bram."""

    def appoint(self, plan: str, minutes: float = 4) -> int:
        """Let Mira have a plan, and time pass; return how many prompts there were before."""
        self.ask("Will you?", f"I will.\n> plan {plan}")
        before = len(self.prompts())
        self.replies = ["Here you are.\n> done 1", "> wait"]
        self.char1.move_to(self.quay, quiet=True)
        self.char2.move_to(self.add_room("The Loft"), quiet=True)
        self.pass_minutes(minutes)
        return before

    def test_an_agent_sets_off_by_itself_and_thinks_where_it_meets(self):
        before = self.appoint("in 3 minutes, the Quay, Tom: show him the ferry")
        (prompt,) = self.prompts()[before:]
        assert "You arrive: The Quay." in prompt
        assert "(Tom is here)" in prompt
        assert self.plans.items[0].state is PlanState.DONE

    def test_an_agent_that_set_off_waits_where_it_meets_and_thinks_when_they_come(self):
        self.appoint("in 3 minutes, the Quay, Tom: show him the ferry", minutes=0)
        self.char1.move_to(self.add_room("The Moon"), quiet=True)
        before = len(self.prompts())
        self.pass_minutes(5)
        assert self.mira.location is self.quay
        assert len(self.prompts()) == before
        self.char1.move_to(self.quay)
        self.pass_minutes(1)
        (prompt,) = self.prompts()[before:]
        assert "(Tom is here)" in prompt

    def test_an_agent_thinks_before_it_leaves_a_talk(self):
        self.ask("Will you?", "I will.\n> plan in 1 minute, the Quay: look at the ferry")
        before = len(self.prompts())
        self.pass_time(30)
        self.ask("Where is the cup?", "On its hook.")
        self.time.time += timedelta(minutes=1)
        self.replies = ["I must go.\n> walk to the Quay\n> done 1", "> wait"]
        self.pass_time(20)
        assert "(its time has come)" in self.prompts()[before + 1]
        assert "~say I must go." in self.lines()

    def test_an_agent_thinks_before_it_leaves_what_its_plan_names(self):
        self.add_thing("lantern")
        before = self.appoint("in 3 minutes, the Quay: bring the lantern to the ferry")
        assert "(its time has come)" in self.prompts()[before]
        assert "You arrive" not in self.prompts()[before]

    def test_an_agent_thinks_before_it_sets_off_if_something_is_to_be_done_elsewhere_first(self):
        kitchen = self.add_room("The Kitchen")
        self.add_exits(self.room1, "west", "east", kitchen)
        before = self.appoint("in 3 minutes, the Quay, Tom: bring soup from the kitchen", 3.5)
        assert "(its time has come)" in self.prompts()[before]
        assert "You arrive" not in self.prompts()[before]

    def test_who_comes_and_speaks_at_once_gets_one_answer_for_words_and_plan(self):
        self.char1.move_to(self.quay, quiet=True)
        self.ask("Ask him.", "> plan when Tom comes: give him his letter", who=self.char2)
        before = len(self.prompts())
        self.replies = ["Here it is.\n> done 1", "> wait"]
        self.char1.move_to(self.room1)
        self.clock.advance(0.5)
        self.settle(lambda: not self._at_work())
        self.ask("Good evening.", "Your letter.\n> done 1", seconds=12)
        (prompt,) = self.prompts()[before:]
        assert prompt.endswith("[Tom waits for your answer.]")
        assert "It is time for" in prompt

    def test_a_plan_that_is_due_in_a_moment_is_done_with_the_words_of_its_person(self):
        self.ask("Sing?", "Soon.\n> plan in 3 minutes, the Inn, Tom: sing him the song")
        self.time.time += timedelta(minutes=2.5)
        (prompt,) = self.ask("Well?", "La, la!\n> done 1", seconds=3)
        assert "It is time for what you mean to do: 1. " in prompt
        assert self.plans.items[0].state is PlanState.DONE
        before = len(self.prompts())
        self.pass_minutes(2)
        assert len(self.prompts()) == before

    def test_whom_an_agent_reached_and_spoke_to_is_no_newcomer(self):
        self.bram_and_ada_at_the_quay()
        self.ask(
            "Ask Bram for honey.",
            "> plan now, Bram: ask him for honey\n> walk to Bram\n"
            "> talk Bram = Some honey?\n> wait for Bram",
        )
        before = len(self.prompts())
        self.pass_time(ANSWER_SECONDS - 10)
        assert self.mira.location is self.quay
        assert len(self.prompts()) == before

    def test_a_plan_waits_on_for_an_agent_that_is_about_to_answer(self):
        self.bram_and_ada_at_the_quay()
        self.bram.attributes.remove("paused")
        gate = self.hold_answers()
        gate.set()
        self.fake.script = lambda prompt: "Honey!" if "You are Bram." in prompt else self.mine()
        self.replies = [
            "> plan now, Bram: ask him for honey\n> walk to Bram\n> talk Bram = Some honey?",
            "> done 1",
            "> wait",
        ]
        asked = self.bram.mind.thinker.is_asked_by
        self.bram.mind.thinker.is_asked_by = lambda _: True
        self.char1.execute_cmd("talk Mira Ask Bram for honey.")
        self.bram.db.paused = True
        before = len(self.prompts())
        self.pass_time(2 * ANSWER_SECONDS)
        assert len(self.prompts()) == before + 1, "only what Tom asked"
        self.bram.mind.thinker.is_asked_by = asked
        self.pass_time(ANSWER_SECONDS + 5)
        assert "Bram has not answered" in self.prompts()[-1]

    def mine(self) -> str:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def test_a_plan_that_only_waits_is_not_asked_about_after_a_talk(self):
        self.ask("Watch.", "I will.\n> plan in 1 minute: keep watch here tonight")
        self.replies = ["*looks out*\n> wait"]
        self.pass_minutes(2)
        (plan,) = self.plans.current
        assert plan.is_begun
        before = len(self.prompts())
        self.ask("Is all well?", "All is well.", seconds=30)
        assert len(self.prompts()) == before + 1

    def test_what_was_asked_for_is_a_plan_though_the_answer_makes_none(self):
        self.bram_and_ada_at_the_quay()
        self.bram.attributes.remove("paused")
        heard = self.capture(self.char1)
        self.fake.script = lambda prompt: "Yes!" if "You are Bram." in prompt else self.mine()
        self.replies = [
            "I will.\n> walk to Bram\n> talk Bram = Have you honey?",
            "> walk to Tom\n> talk Tom = He has.\n> done 1",
            "> wait",
        ]
        self.char1.execute_cmd("talk Mira Ask Bram whether he has honey, and tell me.")
        self.pass_minutes(2)
        assert 'Mira says to you, "He has."' in heard
        (plan,) = self.plans.items
        asked = "Tom says to you, 'Ask Bram whether he has honey, and tell me.'"
        assert (plan.what, plan.state) == (f"what was asked for: {asked}", PlanState.DONE)

    def test_what_was_asked_for_has_ended_when_the_answer_leads_back(self):
        self.bram_and_ada_at_the_quay()
        before = len(self.prompts())
        answer = "> walk to Bram\n> talk Bram = Supper!\n> walk to Tom\nHe knows."
        self.ask("Tell Bram that supper is ready.", answer)
        self.pass_minutes(2)
        assert self.plans.items[0].state is PlanState.DONE
        assert len(self.prompts()) == before + 1

    def test_of_two_who_are_met_together_each_has_the_plan_that_waits_for_them(self):
        self.char1.move_to(self.quay, quiet=True)
        self.char2.move_to(self.add_room("The Loft"), quiet=True)
        ada = self.add_player(2, "Ada")
        ada.move_to(self.quay, quiet=True)
        for name in ("Tom", "Ada"):
            now = self.services.clock.now()
            self.plans.add(read_plan(f"when {name} comes: tell {name} of the soup", now))
        self.replies = ["Soup, Tom.\n> done 1", "Soup, Ada.\n> done 2", "> wait"]
        before = len(self.prompts())
        self.mira.move_to(self.quay)
        self.pass_minutes(1)
        prompts = self.prompts()[before:]
        assert "(Tom is here)" in prompts[0]
        assert "(Ada is here)" in prompts[1]
        assert [each.state for each in self.plans.items] == [PlanState.DONE] * 2
