"""Plans in a world: a character does later what it said that it would do."""

from __future__ import annotations

from datetime import timedelta

from keepsake.agent.surroundings.identity import identity_of
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plan_lines import read_plan
from keepsake.happening import Person
from keepsake.web.mine import plans_for
from tests.world.plans_world import PlansWorld


class TestPlans(PlansWorld):
    """Mira makes plans, and keeps, misses or drops them."""

    def promise_to_come(self):
        """Let Mira promise Tom to be at the quay in ten minutes; return the prompt."""
        (prompt,) = self.ask(
            "Meet me at the quay in ten minutes?",
            "I'll be there.\n> plan in 10 minutes, the Quay, Tom: show him the ferry",
        )[:1]
        return prompt

    def test_an_agent_that_promises_to_come_has_a_plan(self):
        assert "plan <when>, <where>, <whom>: <what>" in self.promise_to_come()
        (plan,) = self.plans.current
        assert (plan.where, plan.whom.id) == ("The Quay", identity_of(self.char1))

    def test_an_agent_keeps_an_appointment_and_says_when_it_is_done(self):
        self.promise_to_come()
        self.char1.move_to(self.quay)
        self.replies = ["There she lies, Tom.\n> done ferry", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(12)
        assert self.mira.location is self.quay
        (arrived,) = self.prompts()[before:]
        assert "It is time for what you mean to do: 1. " in arrived
        assert "(Tom is here)" in arrived
        assert "You arrive: The Quay." in arrived
        (done,) = self.plans.items
        assert done.state is PlanState.DONE
        assert "~say There she lies, Tom." in self.lines()
        records = [
            line for line in self.mind.memory.memory.archive.backwards() if line["type"] == "plan"
        ]
        assert [line["change"] for line in records][::-1] == ["made", "doing", "done"]

    def test_an_appointment_that_stands_already_is_not_planned_twice(self):
        self.promise_to_come()
        again = "> plan in 10 minutes, the Quay, Tom: show him the ferry and bring the lamp"
        self.ask("And bring the lamp.", f"I will.\n{again}")
        (plan,) = self.plans.current
        assert plan.what == "show him the ferry and bring the lamp"
        before = len(self.prompts())
        self.ask("Agreed?", "Yes.\n> plan in 10 minutes, Tom: show him the ferry")
        assert self.plans.current == (plan,)
        (told,) = [each for each in self.lines() if "stands already as your plan 1" in each]
        assert "show him the ferry" in told
        assert len(self.prompts()) == before + 1

    def test_a_promise_that_was_made_with_a_plan_is_kept_with_it(self):
        self.ask(
            "Meet me at the quay in ten minutes? And bring soup one day.",
            "I'll be there.\n> promise Tom: be at the Quay in ten minutes\n"
            "> plan in 10 minutes, the Quay, Tom: show him the ferry",
        )
        (promise,) = self.mind.books.commitments.items
        self.char1.move_to(self.quay)
        there = f"There she lies.\n> done ferry\n> kept {promise.number}"
        self.replies = ["> walk to the Quay", there, "> wait"]
        before = len(self.prompts())
        self.pass_minutes(12)
        for prompt in self.prompts()[before : before + 2]:
            assert f"also write > kept {promise.number})" in prompt
        assert self.mind.books.commitments.items == ()

    def test_a_promise_that_was_made_in_another_answer_is_not_ended_with_a_plan(self):
        self.ask("Bring me soup one day?", "I will.\n> promise Tom: soup one day")
        self.ask("Meet me in ten minutes?", "Yes.\n> plan in 10 minutes, the Quay, Tom: be there")
        self.char1.move_to(self.quay)
        self.replies = ["> walk to the Quay", "There she lies.\n> done 1", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(12)
        prompts = self.prompts()[before:]
        assert any("It is time for" in each for each in prompts)
        assert not any("also write > kept" in each for each in prompts)

    def test_a_plan_waits_for_somebody_to_come(self):
        self.char1.move_to(self.quay)
        now = self.services.clock.now()
        tom = Person("Tom", identity_of(self.char1))
        self.plans.add(read_plan("when Tom comes: give him the letter", now, people=[tom]))
        self.replies = ["Tom, your letter.", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(2)
        assert len(self.prompts()) == before
        self.char1.move_to(self.room1)
        self.pass_minutes(1)
        assert any("Tom is here" in prompt for prompt in self.prompts()[before:])

    def waits_for_tom(self) -> int:
        """Let Mira have a plan for when Tom comes; return the number of prompts until then."""
        self.char1.move_to(self.quay)
        tom = Person("Tom", identity_of(self.char1))
        now = self.services.clock.now()
        self.plans.add(read_plan("when Tom comes: give him the letter", now, people=[tom]))
        self.pass_minutes(1)
        return len(self.prompts())

    def comes_and_speaks(self, words: str, *answers: str) -> list[str]:
        """Let Tom, for whom a plan waits, come and speak at once; return the prompts from then."""
        before = self.waits_for_tom()
        self.replies = [*answers, "> wait"]
        self.char1.move_to(self.room1)
        self.char1.execute_cmd(words)
        self.pass_minutes(1)
        return self.prompts()[before:]

    def test_a_plan_is_carried_out_in_the_answer_to_its_person(self):
        prompts = self.comes_and_speaks(
            "talk Mira Good evening.", "And to you. Here is your letter.\n> done 1"
        )
        (prompt,) = prompts
        assert "It is time for what you mean to do: 1. " in prompt
        assert prompt.endswith("[Tom waits for your answer.]")
        assert not self.plans.current

    def test_words_to_which_the_answer_only_ends_a_plan_are_answered_after_it(self):
        heard = self.capture(self.char1)
        prompts = self.comes_and_speaks(
            "talk Mira My brother has drowned.", "> done 1", "Oh, Tom. Sit down by the fire."
        )
        assert "It is time for" not in prompts[1]
        assert prompts[1].endswith("still waits for your answer to: My brother has drowned.]")
        assert any("Sit down by the fire." in line for line in heard)
        assert len(prompts) == 2

    def test_a_plan_is_carried_out_in_the_greeting_of_its_person(self):
        before = self.waits_for_tom()
        self.replies = ["Good evening, Tom. Here is your letter.\n> done 1", "> wait"]
        self.char1.move_to(self.room1)
        self.pass_minutes(2)
        (prompt,) = self.prompts()[before:]
        assert "It is time for what you mean to do: 1. " in prompt
        assert prompt.endswith("[You turn to Tom now, who has come.]")
        assert not self.plans.current

    def test_a_plan_that_is_not_ended_in_that_answer_waits_for_the_persons_next_word(self):
        first, *_ = self.comes_and_speaks("talk Mira Good evening.", "And to you.")
        assert "It is time for" in first
        (plan,) = self.plans.current
        assert plan.is_begun

    def test_a_whisper_of_its_person_is_answered_without_the_plan_which_comes_after_it(self):
        first, *others = self.comes_and_speaks("whisper Mira = Psst.", "Yes?", "Your letter.")
        assert "It is time for" not in first
        assert any("It is time for" in each for each in others)

    def test_words_of_its_person_that_interrupt_a_plan_are_answered_with_it(self):
        before = self.waits_for_tom()
        gate = self.hold_answers()
        self.char1.move_to(self.room1)
        while len(self.prompts()) == before:
            self.clock.advance(0.5)
            self.settle(lambda: self.is_thinking() or not self._at_work())
        assert "It is time for" in self.prompts()[before]
        self.char1.execute_cmd("talk Mira Good evening.")
        self.replies = ["It comes too late.", "Here is your letter.\n> done 1", "> wait"]
        gate.set()
        self.pass_time(8)
        prompt = self.prompts()[before + 1]
        assert "It is time for" in prompt
        assert prompt.endswith("[Tom waits for your answer.]")
        assert not self.plans.current
        self.pass_minutes(2)
        assert len(self.prompts()) == before + 2

    def test_a_plan_waits_until_somebody_has_gone(self):
        self.char2.move_to(self.add_room("The Loft"), quiet=True)
        self.ask("Good day.", "Good day.\n> plan after the tide goes out: rake the sand")
        self.mind.read_edits()
        self.ask("Sweep when I have gone.", "Yes.\n> plan when Tom has gone: sweep the floor")
        _, plan = self.plans.current
        assert plan.waits_for == "when Tom has gone"
        before = len(self.prompts())
        self.pass_minutes(2)
        assert len(self.prompts()) == before
        self.replies = ["*sweeps the floor*\n> done 2", "> wait"]
        self.char1.move_to(self.quay)
        self.pass_minutes(1)
        assert "(Tom has gone)" in self.prompts()[before]
        tide, swept = self.plans.items
        assert (tide.state, swept.state) == (PlanState.OPEN, PlanState.DONE)

    def test_a_missed_plan_is_in_the_next_prompt(self):
        self.plans.add(read_plan("in 5 minutes: bake", self.services.clock.now()))
        self.mira.db.paused = True
        self.pass_minutes(25)
        self.mira.attributes.remove("paused")
        (missed,) = self.plans.items
        assert missed.state is PlanState.MISSED
        (prompt, *_) = self.ask("Good evening, Mira.", "Good evening.")
        assert "You meant to, and did not: 1. " in prompt
        (prompt, *_) = self.ask("Is it done?", "> done 1\nIt is baked at last.")
        assert self.plans.items[0].state is PlanState.DONE
        (prompt, *_) = self.ask("Good.", "It is.")
        assert "You meant to, and did not" not in prompt

    def test_a_gesture_that_others_would_see_keeps_no_plan_open(self):
        self.add_player(2, "Ada")
        self.plans.add(Plan(what="mend the net"))
        self.replies = ["It is whole again.\n*nods*\n> done net", "> wait"]
        self.char1.execute_cmd("whisper Mira = Is the net whole?")
        self.pass_time(8)
        assert not self.plans.current

    def test_a_prompt_lists_plans_by_time_and_what_was_done_for_them(self):
        self.ask("Do it.", "> plan Sunday 12:00: row\n> plan whistle")
        errand = "> plan in 3 minutes: ask Bram at the quay for honey; drop the cup here"
        cup = self.add_thing("cup")
        cup.location = self.mira
        self.ask("And this.", errand)
        (prompt,) = self.ask("Well?", "Soon.")[:1]
        assert all(f"[You mean to: {number}. " in prompt for number in (1, 2, 3))
        third = "3. ask Bram at the quay for honey; drop the cup here"
        assert f"[Still to do: {third}; 1. row; 2. whistle.]" in prompt
        self.replies = ["> drop cup\n> get crown\n*nods*", "> walk to the Quay", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(4)
        woken, second, third, *_ = self.prompts()[before:]
        assert "(you did:" not in woken
        assert "(begun) (you did: > drop cup)" in second
        assert "(you did: > drop cup; > walk to the Quay)" in third

    def test_shortly_before_a_plan_the_ordinary_day_waits(self):
        self.ask("Come at ten past?", "> plan in 10 minutes, Tom: show him the ferry")
        clock = self.mind.plans
        assert not clock.occupies
        self.time.time += timedelta(minutes=6)
        assert clock.occupies
        self.plans.set_state(self.plans.current[0], PlanState.DROPPED, "he left")
        assert not clock.occupies

    def test_who_has_come_early_to_a_plan_stays(self):
        self.ask("Come to the quay?", "> plan in 40 minutes, the Quay, Tom: show him the ferry")
        clock = self.mind.plans
        assert not clock.occupies
        self.mira.move_to(self.quay)
        assert clock.occupies

    def test_players_see_what_is_planned_with_them_and_no_surprise(self):
        tom = Person("Tom", "12-1")
        quay = {"whom": tom, "where": "The Quay"}
        plans = [
            Plan(what="row", **quay),
            Plan(what="dig", whom=tom, where="The Mole", private=frozenset({tom.id})),
            Plan(what="bake him a cake", **quay, private=frozenset({"13-1"})),
            Plan(what="find out what he hides", whom=tom),
            Plan(what="sweep"),
        ]
        met = ("at The Quay, with Tom", "at The Mole, with Tom")
        assert plans_for(plans, {tom.id}) == met
        assert plans_for(plans, {"13-1"}) == ()

    def test_builders_see_plans_and_add_to_them(self):
        shown = self.capture(self.char1)
        self.char1.execute_cmd("@agent/plans Mira = in 10 minutes: sweep the floor")
        self.settle(lambda: any("sweep the floor" in each for each in shown))
        assert self.plans.current

    def test_a_plan_knows_whom_it_names_though_they_have_never_met(self):
        self.char2.move_to(self.quay, quiet=True)
        self.ask("Find Char2 and ask about the tide.", "> plan tomorrow 12:00, Char2: ask")
        [plan] = self.plans.current
        assert plan.whom == Person(self.char2.key, identity_of(self.char2))

    def test_a_time_that_cannot_be_read_comes_back_as_a_result(self):
        self.ask("Come at swine o'clock?", "> plan : .")
        assert any("Write: plan tomorrow" in line or "say what" in line for line in self.lines())
