"""Appointments by the command `meet`: asked, agreed and kept, with every kind of model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from unittest.mock import patch

from evennia.utils.ansi import strip_ansi

from commands.speech import CmdTalk
from keepsake.agent.surroundings.identity import identity_of
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plan_lines import read_plan
from tests.world.agents_world import AgentsWorld


class Appointing(AgentsWorld):
    """Mira at the inn, beside the quay; Tom asks her to meet him."""

    START = datetime(2026, 11, 27, 12, tzinfo=UTC)

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.quay = self.add_room("The Quay")
        self.add_exits(self.room1, "north", "south", self.quay)
        self.plans = self.mind.books.plans
        self.heard = self.capture(self.char1)

    def meet(self, words: str) -> str:
        """Let Tom ask, and return what he is shown."""
        self.heard.clear()
        self.char1.execute_cmd(f"meet {words}")
        self.settle(lambda: bool(self.heard))
        self.pass_time(6)
        return self.shown()

    def shown(self) -> str:
        return strip_ansi("\n".join(self.heard))

    def pass_minutes(self, minutes: float) -> None:
        """Let time pass, on the wall clock and on the timers."""
        for _ in range(int(minutes * 4)):
            self.time.time += timedelta(seconds=15)
            self.pass_time(15)

    def only_plan(self) -> Plan:
        (plan,) = self.plans.items
        return plan


class TestChat(Appointing):
    """With a model that acts, the model says yes or no."""

    def test_a_model_agrees_by_a_deed_and_the_world_makes_the_plan(self):
        self.replies = ["Gladly.\n> agree Tom", "> wait"]
        shown = self.meet("mira at the quay in 30 minutes")
        assert 'You say to Mira, "Will you meet me at the quay in 30 minutes?"' in shown
        assert (
            "Mira agrees to meet you: The Quay, Friday 27 November 2026, afternoon, 12:30." in shown
        )
        plan = self.only_plan()
        assert plan.at == self.START + timedelta(minutes=30)
        assert (plan.where, plan.whom.id) == ("The Quay", identity_of(self.char1))
        assert plan.since > 0
        prompt = self.prompts()[-1]
        assert (
            "Tom asks you to come: The Quay, Friday 27 November 2026, afternoon, 12:30." in prompt
        )

    def test_a_game_whose_talk_says_no_words_can_ask_to_meet(self):
        self.replies = ["Gladly.\n> agree Tom", "> wait"]
        with (
            patch.object(CmdTalk, "says_words", False),
            patch.object(CmdTalk, "speak", lambda talk: talk.caller.msg("There is no menu.")),
        ):
            shown = self.meet("mira at the quay in 30 minutes")
        assert "Mira agrees to meet you: The Quay" in shown
        assert "Tom says to you" in self.prompts()[0]

    def test_a_plan_of_its_own_for_that_time_and_place_is_a_yes(self):
        self.replies = ["I'll be early.\n> plan 12:29, the Quay, Tom: meet him there", "> wait"]
        shown = self.meet("mira at the quay in 30 minutes")
        assert "Mira agrees to meet you: The Quay" in shown
        assert self.only_plan().what == "meet him there"

    def test_a_plan_for_another_hour_is_no_answer(self):
        self.replies = ["Later.\n> plan 15:00, the Quay, Tom: meet him there", "> wait"]
        assert "agrees" not in self.meet("mira at the quay in 30 minutes")

    def test_the_deed_is_offered_only_while_an_invitation_is_open(self):
        assert "> agree" not in "\n".join(self.ask("Good day.", "Good day."))
        self.replies = ["Not today.\n> decline Tom", "> wait"]
        shown = self.meet("mira in 30 minutes")
        assert "Mira does not agree to meet you: The Inn" in shown
        assert self.plans.items == ()
        assert "> agree" not in "\n".join(self.ask("Good day.", "Good day again."))

    def test_a_player_is_told_if_nothing_was_settled(self):
        self.replies = ["Perhaps.", "> wait"]
        self.meet("mira in 30 minutes")
        self.pass_time(60)
        assert "Mira has said neither yes nor no." in self.shown()

    def test_she_is_woken_in_time_and_when_the_player_comes(self):
        self.replies = ["Gladly.\n> agree Tom", "> wait"]
        self.meet("mira at the quay in 10 minutes")
        before = len(self.prompts())
        self.replies = ["> walk to the Quay", "> wait"]
        self.pass_minutes(10)
        assert self.mira.location is self.quay
        assert "its time has come" in self.prompts()[before]
        self.replies = ["There you are.\n> done meet Tom", "> wait"]
        self.char1.move_to(self.quay)
        self.pass_minutes(1)
        assert self.only_plan().state is PlanState.DONE


class TestBadInput(Appointing):
    """What cannot be read is refused with a cure, and nobody is asked."""

    def test_what_is_no_time_or_has_passed_or_is_far_away_is_refused(self):
        for words, why in (
            ("mira at the quay whenever", "is no time"),
            ("mira at the moon tomorrow 12:00", "is no time, and no place"),
            ("mira", "Meet whom, where and when?"),
            ("mira 1 january 2020 12:00", "That time has passed"),
            ("mira in 90 days", "more than 60 days away"),
            ("nobody at the quay tomorrow 12:00", "Nobody of that name can be asked here"),
        ):
            with self.subTest(words):
                assert why in self.meet(words)
        assert not self.prompts()

    def test_an_agent_that_sleeps_is_not_asked(self):
        self.mira.db.asleep = self.START.isoformat()
        assert "Mira cannot answer now." in self.meet("mira in 10 minutes")


class TestByRule(Appointing):
    """A model that cannot act, and no model at all: agreed and kept by rule."""

    FORM = "dialogue"

    def test_she_agrees_walks_there_in_time_waits_and_greets(self):
        shown = self.meet("mira at the quay in 10 minutes")
        assert "Mira agrees to meet you: The Quay" in shown
        assert not self.fake.calls("/api/generate") or all(
            call.body["options"]["num_predict"] == 1 for call in self.fake.calls("/api/generate")
        )
        self.pass_minutes(8)
        assert self.mira.location is self.room1
        self.pass_minutes(3)
        assert self.mira.location is self.quay
        assert self.only_plan().state is PlanState.DOING
        self.heard.clear()
        self.char1.move_to(self.quay)
        self.pass_minutes(1)
        assert self.only_plan().state is PlanState.DONE
        assert 'Mira says to you, "' in self.shown()

    def test_who_does_not_come_is_waited_for_and_then_given_up(self):
        self.meet("mira at the quay in 10 minutes")
        self.pass_minutes(27)
        plan = self.only_plan()
        assert plan.state is PlanState.DROPPED
        assert plan.why == "Tom did not come"

    def test_she_declines_if_she_means_to_do_something_else_then_or_sleeps(self):
        self.plans.add(read_plan("in 40 minutes: bake", self.services.clock.now()))
        assert "Mira does not agree to meet you" in self.meet("mira in 30 minutes")
        assert "Mira does not agree to meet you" in self.meet("mira tomorrow 3:00")
        assert "Mira agrees to meet you" in self.meet("mira tomorrow 12:00")

    def test_at_night_an_agent_that_is_awake_comes_if_it_is_soon(self):
        self.time.time = self.START.replace(hour=2)
        assert "Mira agrees to meet you" in self.meet("mira at the quay in 10 minutes")
        assert "Mira does not agree to meet you" in self.meet("mira in 3 hours")

    def test_an_appointment_survives_a_reload(self):
        self.meet("mira at the quay in 10 minutes")
        self.stop_services()
        self.services = self.start_services()
        self.set_thinking(idle_interval=1e9)
        assert self.mira.mind is not None
        self.pass_minutes(11)
        assert self.mira.location is self.quay

    def test_the_ordinary_day_waits_an_hour_for_who_is_to_be_met_here(self):
        presence = self.mira.mind.presence
        now = self.services.clock.now()
        for where, waits in (("The Quay", False), ("The Inn", True)):
            plan = read_plan(f"when Ada comes, {where}: meet her at {where}", now, [where])
            self.plans.add(plan)
            assert presence.is_occupied is waits
        self.pass_minutes(62)
        assert not presence.is_occupied

    def test_an_ordinary_day_and_guests_wait_for_it(self):
        self.mira.home = self.room1
        self.mira.db.keeps = True
        self.meet("mira at the quay in 2 minutes")
        self.pass_minutes(4)
        assert self.mira.location is self.quay
        self.mira.mind.sleeper.tick()
        assert not self.mira.mind.walker.walking
