"""Errands among agents: who asks for a plan is answered, and the plan waits for the answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from keepsake.agent.plans.next_steps import ANSWER_SECONDS, PLAYER_SECONDS
from keepsake.agent.surroundings.identity import identity_of
from keepsake.books.plan import PlanState
from keepsake.books.plan_lines import read_plan
from keepsake.happening import Person
from tests.world.agents_world import AgentsWorld


class TestErrands(AgentsWorld):
    """Nell has an errand to Oswin at the inn; no player is near.

    Agents may not talk among themselves at all, but for an errand.

    Attributes:
        answers: The next answers of each agent; the last one is repeated.
        steps: What Nell answers instead when her plan is due; empty for nothing.
        asked: Whose prompts were answered, and the prompts, in order.
    """

    START = datetime(2026, 11, 28, 20, 29, tzinfo=UTC)

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0, chatter_turns=0)
        self.mira.db.paused = True
        self.nell = self.add_agent("Nell")
        self.oswin = self.add_agent("Oswin")
        self.loft = self.add_room("The Loft")
        for player in (self.char1, self.char2):
            player.move_to(self.loft, quiet=True)
        self.pass_time(10)
        self.answers = {"Nell": ["> wait"], "Oswin": ["> wait"]}
        self.steps = ""
        self.asked: list[tuple[str, str]] = []
        self.fake.script = self.answer_of

    def answer_of(self, prompt: str) -> str:
        """Answer for the agent whose prompt it is."""
        name = "Nell" if "You are Nell." in prompt else "Oswin"
        self.asked.append((name, prompt))
        if self.steps and "It is time for what you mean to do" in prompt:
            return self.steps
        replies = self.answers[name]
        return replies.pop(0) if len(replies) > 1 else replies[0]

    def begin(self) -> None:
        plans = self.nell.mind.books.plans
        plans.add(read_plan("now: ask Oswin for a bed", self.services.clock.now()))
        self.nell.mind.plans.check()

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass, on the wall clock and on the timers."""
        for _ in range(int(seconds)):
            self.time.time += timedelta(seconds=1)
            self.pass_time(1)

    @property
    def names(self) -> list[str]:
        """Whose prompts were answered, in order."""
        return [name for name, _ in self.asked]

    def test_an_agent_that_is_asked_for_a_plan_answers_without_a_player(self):
        self.begin()
        self.answers["Nell"] = ["> talk Oswin = A bed for Bob?", "Thank you.\n> done bed", "> wait"]
        self.answers["Oswin"] = ["There is one in the loft.", "> wait"]
        self.pass_seconds(60)
        assert self.names[:3] == ["Nell", "Oswin", "Nell"]
        assert self.asked[1][1].endswith("[Nell waits for your answer.]")
        assert "Oswin has answered you" in self.asked[2][1]
        assert "[Your plain lines are spoken to Oswin.]" in self.asked[2][1]
        (plan,) = self.nell.mind.books.plans.items
        assert plan.state is PlanState.DONE

    def test_a_plan_for_now_is_begun_by_the_deeds_of_the_answer_that_makes_it(self):
        self.char1.move_to(self.nell.location, quiet=True)
        errand = "> plan now: tell Oswin of Tom, then Tom of it\n> talk Oswin = Tom is here."
        self.answers["Nell"] = [errand, "> done 1", "> wait"]
        self.answers["Oswin"] = ["Is he, now.", "> wait"]
        self.char1.execute_cmd("talk Nell Tell Oswin that I am here, and tell me what he says.")
        self.pass_seconds(4)
        (plan,) = self.nell.mind.books.plans.current
        assert plan.state is PlanState.DOING
        self.pass_seconds(12)
        assert self.names[:3] == ["Nell", "Oswin", "Nell"], "Oswin is asked, though for no answer"
        assert "Oswin has answered you" in self.asked[2][1]

    def test_who_answered_nothing_is_asked_once_a_plan_waits_for_it(self):
        self.begin()
        self.answers["Nell"] = ["> talk Oswin = Bob asks for a bed.", "> wait for Oswin", "> wait"]
        self.answers["Oswin"] = ["> wait", "There is one in the loft.", "> wait"]
        self.pass_seconds(60)
        assert "Oswin has answered you" in self.asked[-1][1]

    def test_a_plan_does_not_wait_for_ever_for_somebody_here(self):
        self.begin()
        self.oswin.db.paused = True
        self.answers["Nell"] = ["> wait for Oswin", "> done bed", "> wait"]
        self.pass_seconds(PLAYER_SECONDS + 20)
        assert "Oswin has not answered" in self.asked[1][1]
        assert not self.nell.mind.books.plans.current

    def test_what_a_plan_tells_is_answered_once_and_thanks_are_not(self):
        self.begin()
        self.answers["Nell"] = [
            "> talk Oswin = Bob asks whether there is a bed for him.",
            "> talk Oswin = I am obliged to you, Oswin.\n> done bed",
            "> wait",
        ]
        self.answers["Oswin"] = ["There is one in the loft.", "> wait"]
        self.pass_seconds(90)
        assert self.names == ["Nell", "Oswin", "Nell"]
        assert "Oswin has answered you" in self.asked[2][1]
        assert any("I am obliged to you" in line for line in self.lines(self.oswin))

    def test_what_is_told_to_somebody_whom_the_plan_does_not_name_needs_no_answer(self):
        joss = self.add_agent("Joss")
        self.pass_time(5)
        self.begin()
        self.answers["Nell"] = ["> talk Joss = I am on an errand, Joss.", "> wait"]
        self.pass_seconds(60)
        assert set(self.names) == {"Nell"}
        assert any("I am on an errand" in line for line in self.lines(joss))

    def test_after_a_plan_has_ended_another_one_that_was_begun_goes_on(self):
        self.begin()
        self.answers["Nell"] = ["> wait", "> done greet", "> done bed", "> wait"]
        self.pass_seconds(10)
        plans = self.nell.mind.books.plans
        plans.add(read_plan("now: greet the moon", self.services.clock.now()))
        self.nell.mind.plans.check()
        self.pass_seconds(30)
        assert self.names == ["Nell"] * 3
        assert [each.state for each in plans.items] == [PlanState.DONE] * 2

    def test_a_step_without_a_usable_answer_is_asked_again(self):
        self.begin()
        self.answers["Nell"] = ["*looks up*\n> examine Oswin", "", "", "> done bed", "> wait"]
        self.pass_seconds(2 * ANSWER_SECONDS)
        assert self.nell.mind.books.plans.items[0].state is PlanState.DONE

    def test_for_whom_a_plan_waits_is_asked_though_it_was_only_told(self):
        joss = self.add_agent("Joss")
        self.pass_time(5)
        self.begin()
        self.answers["Nell"] = ["> talk Joss = Bob needs a bed.\n> wait for Joss", "> done bed"]
        self.answers["Oswin"] = ["There is one in the loft."]  # it answers for Joss too
        self.pass_seconds(60)
        assert self.names[:3] == ["Nell", "Oswin", "Nell"]
        assert "You are Joss." in self.asked[1][1]
        assert "Joss has answered you" in self.asked[2][1]
        assert joss.mind.thinker.turn is None

    def test_the_next_step_does_not_answer_what_was_answered_to_it(self):
        self.begin()
        self.answers["Nell"] = ["> talk Oswin = A bed for Bob?", "> wait"]
        self.answers["Oswin"] = ["There is one in the loft.", "> wait"]
        self.pass_seconds(60)
        step = self.asked[2][1]
        assert "Oswin has answered you" in step
        assert "waits for your answer" not in step

    def wait_for_oswin(self, *then: str) -> str:
        """Let Nell wait for Oswin, who tells her something; return the prompt after that step."""
        plans = self.nell.mind.books.plans
        plans.add(read_plan("now: hear what Oswin has to say", self.services.clock.now()))
        self.answers["Nell"] = ["> wait for Oswin", *then, "> wait"]
        self.nell.mind.plans.check()
        self.pass_seconds(10)
        self.oswin.db.paused = True
        self.oswin.execute_cmd("talk Nell I slept that night, Nell.")
        self.pass_seconds(20)
        return self.asked[-1][1]

    def test_words_for_which_a_plan_waits_are_answered_though_its_step_only_ends_it(self):
        prompt = self.wait_for_oswin("> done 1", "I know, Oswin. I always knew.")
        assert self.names == ["Nell"] * 3
        assert "Oswin has answered you" in self.asked[1][1]
        assert "still waits for your answer to: I slept that night" in prompt
        assert any("I always knew." in line for line in self.lines(self.oswin))

    def test_words_for_which_a_plan_waits_are_answered_once(self):
        self.wait_for_oswin("You did, Oswin.\n> done 1")
        assert self.names == ["Nell"] * 2

    def test_who_is_gone_when_the_step_has_ended_is_not_answered(self):
        self.add_exits(self.nell.location, "up", "down", self.loft)
        self.wait_for_oswin("> walk to the Loft\n> done 1")
        assert self.nell.location is self.loft
        assert self.names == ["Nell"] * 2

    def test_the_first_words_of_whom_a_plan_is_with_are_answered_though_it_does_not_wait(self):
        plans = self.nell.mind.books.plans
        plans.add(read_plan("now: hear Oswin out", self.services.clock.now()))
        self.answers["Nell"] = ["*sits down*", "I know, Oswin.\n> done 1", "> wait"]
        self.nell.mind.plans.check()
        self.pass_seconds(10)
        self.oswin.db.paused = True
        self.oswin.execute_cmd("talk Nell I slept that night, Nell.")
        self.pass_seconds(10)
        assert self.names == ["Nell"] * 2
        assert any("I know, Oswin." in line for line in self.lines(self.oswin))
        self.oswin.execute_cmd("talk Nell And now it rains.")
        self.pass_seconds(10)
        assert self.names == ["Nell"] * 2, "talk among agents ends by itself"

    def test_who_comes_does_not_take_the_turn_of_who_has_asked(self):
        self.begin()
        self.answers["Nell"] = ["> talk Oswin = A bed for Bob?", "> wait"]
        joss = self.add_agent("Joss")
        joss.db.paused = True
        joss.location = self.loft
        self.pass_seconds(3)
        joss.move_to(self.oswin.location)
        self.pass_seconds(30)
        (prompt,) = [prompt for name, prompt in self.asked if name == "Oswin"][:1]
        assert prompt.endswith("[Nell waits for your answer.]")

    def test_a_plan_that_waits_for_somebody_goes_on_when_they_come(self):
        bob = self.add_player(2, "Bob")
        ada = self.add_player(3, "Ada")
        bob.move_to(self.loft, quiet=True)
        self.begin()
        self.answers["Nell"] = ["> wait for Bob", "Good evening.", "He came.\n> done bed", "> wait"]
        self.pass_seconds(10)
        ada.execute_cmd("talk Nell Good evening, Nell.")
        self.pass_seconds(30)
        assert self.names == ["Nell", "Nell"], "a talk with somebody else is no step of the plan"
        assert (
            "[Still to do: 1. ask Oswin for a bed (begun) (you wait for Bob).]" in self.asked[1][1]
        )
        bob.move_to(self.nell.location)
        self.pass_seconds(10)
        assert "(Bob is here)" in self.asked[2][1]
        (plan,) = self.nell.mind.books.plans.items
        assert plan.state is PlanState.DONE

    def test_words_to_a_player_are_followed_by_a_step_when_the_player_goes_or_keeps_silent(self):
        self.add_player(2, "Ada")
        self.oswin.db.paused = True
        plan = read_plan("now: tell Ada the news", self.services.clock.now())
        self.nell.mind.books.plans.add(plan)
        self.answers["Nell"] = ["> talk Ada = The ferry is late.", "> wait"]
        self.nell.mind.plans.check()
        self.pass_seconds(PLAYER_SECONDS - 10)
        assert self.names == ["Nell"], "Ada may answer"
        self.pass_seconds(20)
        assert self.names == ["Nell", "Nell"]
        assert "Ada has not answered" in self.asked[1][1]

    def test_a_talk_with_somebody_else_does_not_end_the_wait_for_a_players_word(self):
        self.add_player(2, "Ada")
        bob = self.add_player(3, "Bob")
        self.oswin.db.paused = True
        plan = read_plan("now: ask Ada for the news", self.services.clock.now())
        self.nell.mind.books.plans.add(plan)
        self.answers["Nell"] = ["> talk Ada = What news?", "Good evening, Bob.", "> wait"]
        self.nell.mind.plans.check()
        self.pass_seconds(10)
        bob.execute_cmd("talk Nell Good evening, Nell.")
        self.pass_seconds(PLAYER_SECONDS / 2)
        assert self.names == ["Nell", "Nell"], "the plan waits for Ada still"
        self.pass_seconds(PLAYER_SECONDS / 2)
        assert self.names == ["Nell"] * 3, "and not for ever"
        assert "Ada has not answered" in self.asked[2][1]

    def test_a_player_who_goes_in_the_middle_of_a_plan_lets_it_go_on(self):
        ada = self.add_player(2, "Ada")
        self.oswin.db.paused = True
        plan = read_plan("now: tell Ada the news", self.services.clock.now())
        self.nell.mind.books.plans.add(plan)
        self.answers["Nell"] = ["> talk Ada = The ferry is late.", "> wait"]
        self.nell.mind.plans.check()
        self.pass_seconds(10)
        ada.move_to(self.loft)
        self.pass_seconds(15)
        assert self.names == ["Nell", "Nell"]
        assert "whom you talked with has gone" in self.asked[1][1]

    def test_a_prompt_names_the_open_question_of_another_one_too(self):
        ada = self.add_player(2, "Ada")
        self.begin()
        self.answers["Nell"] = ["> talk Oswin = Is there a bed for Bob?", "> wait"]
        self.answers["Oswin"] = ["Yes, Ada, at noon.\n> talk Nell = In the loft.", "> wait"]
        while self.names != ["Nell"]:
            self.pass_seconds(1)
        ada.execute_cmd("talk Oswin Does the ferry come today?")
        self.pass_seconds(30)
        prompts = [prompt for name, prompt in self.asked if name == "Oswin"]
        assert prompts[0].endswith("[Ada waits for your answer.]")
        assert "[You have not answered Nell: Is there a bed for Bob?]" in prompts[0]
        assert not any("You have not answered" in prompt for prompt in prompts[1:])

    def test_each_step_gets_one_answer_and_all_count_as_thoughts_of_the_plan(self):
        self.set_thinking(plan_thoughts=5)
        self.begin()
        self.answers["Nell"] = ["> talk Oswin = Well?\n> talk Oswin = And?"] + [
            f"> talk Oswin = Question {n}?" for n in range(20)
        ]
        self.answers["Oswin"] = [f"Answer {n}." for n in range(20)]
        self.pass_seconds(300)
        assert self.names == ["Nell", "Oswin", "Nell", "Oswin", "Nell"]

    def test_the_next_step_waits_for_the_answer_and_not_for_ever(self):
        self.begin()
        self.answers["Nell"] = ["> talk Oswin = A bed for Bob?", "> wait"]
        self.pass_seconds(ANSWER_SECONDS - 5)
        assert self.names == ["Nell", "Oswin"]
        self.pass_seconds(20)
        assert self.names == ["Nell", "Oswin", "Nell"]
        assert "Oswin has not answered" in self.asked[2][1]

    def test_an_answer_in_the_moment_in_which_the_wait_ends_is_no_silence(self):
        self.begin()
        self.answers["Nell"] = ["> talk Oswin = A bed for Bob?", "> wait"]
        self.pass_seconds(ANSWER_SECONDS - 5)
        assert self.names == ["Nell", "Oswin"]
        thinker = self.nell.mind.thinker
        while thinker.turn is None:  # the step is due, and its prompt is not made yet
            self.clock.advance(0.5)
        self.oswin.execute_cmd("talk Nell There is one in the loft.")
        self.pass_seconds(5)
        assert self.names == ["Nell", "Oswin", "Nell"]
        prompt = self.asked[2][1]
        assert "There is one in the loft." in prompt
        assert "Oswin has answered you" in prompt
        assert "Oswin has not answered" not in prompt

    def test_nobody_is_waited_for_who_will_not_answer(self):
        self.oswin.db.paused = True
        self.begin()
        self.answers["Nell"] = ["> talk Oswin = A bed for Bob?", "> wait"]
        self.pass_seconds(ANSWER_SECONDS / 2)
        assert self.names == ["Nell", "Nell"]

    def test_what_was_decided_for_a_plan_is_done_though_a_player_speaks(self):
        ada, almanac = self.interrupted()
        assert almanac.location == ada
        assert self.names[:2] == ["Nell", "Nell"]
        assert self.nell.mind.books.plans.items[0].state is PlanState.DONE
        assert self.asked[1][1].endswith("waits for your answer to: Good evening, Nell.]")

    def test_words_of_the_plans_person_are_answered_together_with_its_next_step(self):
        ada, almanac = self.interrupted(whom="Ada")
        assert almanac.location == ada
        assert self.nell.mind.books.plans.items[0].state is PlanState.DONE
        assert self.names == ["Nell", "Nell"], "the step that was given up, and the answer"
        assert self.asked[1][1].endswith("[Ada waits for your answer.]")

    def interrupted(self, whom: str = ""):
        """Let Nell give Ada an almanac for a plan, which is with ``whom``, while Ada greets her."""
        ada = self.add_player(2, "Ada")
        almanac = self.add_thing("almanac")
        almanac.location = self.nell
        gate = self.hold_answers()
        people = [Person(whom, identity_of(ada))] if whom else []
        what = f", {whom}: bring the almanac" if whom else ": bring Ada the almanac"
        plan = read_plan(f"now{what}", self.services.clock.now(), people=people)
        self.nell.mind.books.plans.add(plan)
        self.steps = "> give almanac to Ada\n> done almanac"
        self.nell.mind.plans.check()
        self.clock.advance(1)
        self.settle(lambda: self.nell.mind.thinker.turn is not None)
        self.settle(lambda: bool(self.fake.calls("/api/chat")))
        ada.execute_cmd("talk Nell Good evening, Nell.")
        gate.set()
        self.pass_seconds(8)
        return ada, almanac
