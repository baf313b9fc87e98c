"""Walks for a plan: to places and to people, and what is done where a walk ends or breaks off."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from keepsake.agent.acting.walker import FARTHEST
from keepsake.books.plan import PlanState
from tests.world.plans_world import PlansWorld


class TestWalksForPlans(PlansWorld):
    """Mira walks for what she means to do."""

    def pass_time_until_she_walks(self) -> None:
        """Let time pass until Mira walks; at most five minutes."""
        for _ in range(300):
            self.time.time += timedelta(seconds=1)
            self.pass_time(1)
            if self.mind.walker.walking:
                return
        self.fail("Mira does not walk.")

    def walk_for_tom(self, *replies):
        """Let Mira have a plan in three minutes, and carry it out so."""
        self.ask("Do it.", "> plan in 3 minutes: fetch the almanac")
        self.replies = [*replies, "> wait"]
        self.pass_minutes(4)

    def test_what_is_written_after_a_walk_is_done_where_it_ends(self):
        crown = self.add_thing("crown")
        crown.location = self.quay
        cup = self.add_thing("cup")
        before = len(self.prompts())
        self.walk_for_tom(
            "> walk to the Quay\n*looks about*\n> get crown\n> say Here it is!", "> done almanac"
        )
        assert cup.location is self.mira.home
        assert crown.location is self.mira
        arrived = next(n for n, line in enumerate(self.lines()) if "You arrive" in line)
        there = "\n".join(self.lines()[arrived:])
        parts = ("looks about", "crown", "Here it is!")
        assert sorted(parts, key=there.index) == [*parts]
        assert len(self.prompts()) - before == 3, "the promise; the walk and what follows; done"

    def test_who_is_spoken_to_on_the_way_answers_and_goes_on_with_the_plan(self):
        far = self.add_room("The Mole")
        self.add_exits(self.quay, "out", "in", far)
        self.ask("Do it.", "> plan in 3 minutes: see the mole")
        self.replies = ["> walk to the Mole\n> say The mole at last!", "> wait"]
        self.pass_time_until_she_walks()
        self.char1.move_to(self.mira.location, quiet=True)
        before = len(self.prompts())
        self.ask("A word, Mira?", "Yes?")
        assert any("Yes?" in line for line in self.lines()), "a walk does not keep a player waiting"
        assert "A word, Mira?" in self.prompts()[before]
        self.replies = ["> walk to the Mole\n> say Here I am.\n> done mole", "> wait"]
        self.pass_minutes(3)
        assert self.mira.location is far
        assert not any("The mole at last!" in line for line in self.lines())
        assert any("Here I am." in line for line in self.lines())

    def test_a_plan_goes_on_after_a_look_where_its_walk_ended_though_who_asked_is_not_there(self):
        self.whisper_before()
        self.replies = [
            "At once.\n> plan now: look at the quay, then tell Tom\n> walk to the Quay\n> look",
            "> walk to Tom\n> say Nobody is there.\n> done quay",
            "> wait",
        ]
        self.char1.execute_cmd("talk mira See who is at the quay, would you?")
        self.pass_minutes(2)
        assert any("Nobody is there." in line for line in self.lines())
        assert self.mira.location is self.char1.location

    def test_a_walk_that_is_broken_off_is_known_and_its_plan_goes_on(self):
        far = self.add_room("The Mole")
        self.add_exits(self.quay, "out", "in", far)
        self.ask("Do it.", "> plan in 3 minutes: see the mole")
        self.replies = ["> walk to the Mole", "> wait"]
        self.pass_time_until_she_walks()
        self.char1.move_to(self.mira.location, quiet=True)
        self.ask("A word, Mira?", "Yes?")
        assert any("You did not get there" in line for line in self.lines())
        self.replies = ["> walk to the Mole", "> done mole", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(3)
        assert self.mira.location is far
        told = [prompt for prompt in self.prompts()[before:] if "(you did not get there)" in prompt]
        assert told == self.prompts()[before : before + 1], "its next thought, and no later one"

    def walk_after_tom(self, *replies):
        """Let Mira set out to Tom at the quay; return the mole behind it, and when she is there."""
        far = self.add_room("The Mole")
        self.add_exits(self.quay, "out", "in", far)
        self.ask("Do it.", "> plan in 3 minutes: give Tom his almanac")
        self.char1.move_to(self.quay, quiet=True)
        self.replies = [*replies, "> wait"]
        self.pass_time_until_she_walks()
        return far

    def test_a_walk_to_somebody_goes_on_after_them_and_ends_where_they_are(self):
        far = self.walk_after_tom("> walk to Tom\n> say Your almanac, Tom.\n> done almanac")
        self.char1.move_to(far, quiet=True)
        self.pass_minutes(1)
        assert self.mira.location is far
        assert "You arrive: The Mole." in self.lines()
        assert "~say Your almanac, Tom." in self.lines()
        assert self.plans.items[0].state is PlanState.DONE

    def test_who_cannot_be_reached_is_told_and_nothing_is_said_to_the_air(self):
        self.walk_after_tom("> walk to Tom\n> say Your almanac, Tom.\n> done almanac")
        self.char1.move_to(self.add_room("The Moon"), quiet=True)
        before = len(self.prompts())
        self.pass_minutes(1)
        met = "You last met Tom at The Inn (Friday 27 November 2026, afternoon, 12:00)."
        assert f"You did not reach Tom; you are at The Inn. {met}" in self.lines()
        assert not any(line.startswith("~say") for line in self.lines())
        assert "(you did not reach Tom)" in self.prompts()[before]
        assert self.plans.items[0].state is PlanState.DOING

    def test_what_could_not_be_done_after_a_missed_walk_begins_no_plan(self):
        bram = self.add_agent("Bram")
        bram.db.paused = True
        bram.move_to(self.quay)
        cup = self.add_thing("cup")
        cup.location = self.mira
        errand = "> walk to Bram\n> plan now: give Bram his cup\n> give cup to Bram"
        self.ask("Take Bram his cup, please.", errand, seconds=2)
        bram.move_to(self.add_room("The Moon"), quiet=True)
        missed = "You did not reach Bram; you are at The Inn."
        for _ in range(100):
            self.pass_time(0.5)
            if any(missed in line for line in self.lines()):
                break
        assert any(missed in line for line in self.lines())
        (plan,) = self.plans.current
        assert plan.state is PlanState.OPEN
        before = len(self.prompts())
        self.pass_minutes(1)
        assert "It is time for what you mean to do: 1. " in self.prompts()[before]

    def bram_has_moved(self, answer: str) -> Any:
        """Let Mira look for Bram at the quay, though he is at the mole; return the mole."""
        far = self.add_room("The Mole")
        self.add_exits(self.quay, "out", "in", far)
        bram = self.add_agent("Bram")
        bram.db.paused = True
        bram.execute_cmd("say The bees are asleep.")
        self.pass_time(5)
        self.mind.read_edits()
        bram.move_to(far, quiet=True)
        self.heard = self.capture(bram)
        self.ask("Tell Bram at the quay that supper is ready.", answer)
        self.pass_minutes(1)
        return far

    def test_who_is_not_where_the_walk_ends_is_followed(self):
        before = len(self.prompts())
        self.bram_has_moved("> walk to the Quay\n> talk Bram = Supper!\n> walk to Tom")
        assert 'Mira says to you, "Supper!"' in self.heard
        ways = ("You arrive: The Quay.", "~walk to Bram", "You arrive: The Mole.", "~walk to Tom")
        assert [line for line in self.lines() if line in ways] == [*ways]
        assert len(self.prompts()) == before + 2, "and what she has to say to Tom"

    def test_an_agent_waits_for_who_is_late_where_they_are_to_meet(self):
        self.bram_has_moved("> plan in 3 minutes, the Quay, Bram: tell him that supper is ready")
        self.replies = ["> walk to the Quay\n> talk Bram = Supper!\n> wait for Bram", "> wait"]
        self.pass_minutes(4)
        assert self.mira.location is self.quay
        assert "Supper!" not in str(self.heard)

    def test_an_errand_for_now_follows_who_has_moved(self):
        far = self.bram_has_moved(
            "> plan now, the Quay, Bram: tell him that supper is ready\n"
            "> walk to the Quay\n> talk Bram = Supper!\n> done 1"
        )
        assert self.mira.location is far
        assert 'Mira says to you, "Supper!"' in self.heard

    def asked_by_tom_at_the_quay(self, *answers: str) -> Any:
        """Let Bram speak to Mira, who has an appointment with Tom at the quay, where Tom is.

        Returns:
            What Tom is shown from then on.
        """
        bram = self.add_agent("Bram")
        bram.db.paused = True
        self.ask("Meet me?", "> plan in 10 minutes, the Quay, Tom: bring him what Bram says")
        self.char1.move_to(self.quay, quiet=True)
        heard = self.capture(self.char1)
        self.ask("Tom may have my honey?", *answers, who=bram)
        self.pass_minutes(1)
        return heard

    def test_plain_words_after_a_walk_are_for_who_has_an_appointment_there(self):
        heard = self.asked_by_tom_at_the_quay(
            "I will ask him.\n> walk to the Quay\nMay he? That is for you to say.\n> done 1"
        )
        assert self.mira.location is self.quay
        assert 'Mira says to you, "May he? That is for you to say."' in heard
        assert not any("You did not say it" in line for line in self.lines())
        assert self.plans.items[0].state is PlanState.DONE

    def test_plain_words_after_a_walk_are_for_who_is_met_there_though_others_are_there(self):
        ada = self.add_player(2, "Ada")
        ada.move_to(self.quay, quiet=True)
        heard = self.asked_by_tom_at_the_quay("> walk to the Quay\nMay he?\n> done 1")
        assert 'Mira says to you, "May he?"' in heard

    def test_plain_words_after_a_walk_for_a_plan_are_for_its_person(self):
        bram = self.add_agent("Bram")
        bram.db.paused = True
        bram.move_to(self.quay, quiet=True)
        ada = self.add_player(2, "Ada")
        ada.move_to(self.quay, quiet=True)
        heard = self.capture(bram)
        self.ask("Ask Bram for honey?", "> plan now: ask Bram\n> walk to the Quay\nHave you honey?")
        self.pass_minutes(1)
        assert 'Mira says to you, "Have you honey?"' in heard

    def test_plain_words_after_a_walk_to_where_nobody_waits_are_not_for_others(self):
        ada = self.add_player(2, "Ada")
        ada.move_to(self.quay, quiet=True)
        heard = self.capture(ada)
        self.ask("Fare you well!", "> walk to the Quay\nSafe home, Tom!")
        self.pass_minutes(1)
        assert self.mira.location is self.quay
        assert "Safe home" not in str(heard)

    def test_somebody_who_moves_on_and_on_is_given_up(self):
        far = self.walk_after_tom("> walk to Tom", "> wait")
        pier = self.add_room("The Pier")
        self.add_exits(far, "east", "west", pier)
        self.add_exits(pier, "south", "north", self.room1)
        ring = [self.room1, self.quay, far, pier]
        for _ in range(8 * FARTHEST):
            opposite = ring[ring.index(self.mira.location) - 2]
            self.char1.move_to(opposite, quiet=True)
            self.pass_time(0.5)
            if not self.mind.walker.walking:
                break
        assert not self.mind.walker.walking
        assert any("You did not reach Tom" in line for line in self.lines())

    def test_a_walk_that_cannot_begin_does_not_end_the_plan(self):
        self.ask("Do it.", "> plan in 3 minutes: see the moon")
        self.replies = ["> walk to the Moon", "I know no moon.\n> done moon", "> wait"]
        self.pass_minutes(5)
        assert any("(you did not set off)" in prompt for prompt in self.prompts())
        assert self.plans.items[0].state is PlanState.DONE

    def test_a_walk_to_somebody_who_is_here_has_ended_there(self):
        ada = self.add_player(2, "Ada")
        heard = self.capture(ada)
        self.ask("Do it.", "> plan in 3 minutes: greet Ada")
        self.replies = ["> walk to Ada\nGood day to you.\n> done Ada", "> wait"]
        self.pass_minutes(5)
        assert 'Mira says to you, "Good day to you."' in heard
        assert "You need not walk: Ada is here." in self.lines()
        assert self.plans.items[0].state is PlanState.DONE

    def test_a_plan_goes_on_after_a_walk_to_where_the_agent_is(self):
        self.ask("Do it.", "> plan in 3 minutes: greet Tom")
        self.replies = ["> walk to the Inn", "Tom!\n> done Tom", "> wait"]
        self.pass_minutes(5)
        assert "You need not walk: you are at The Inn." in self.lines()
        assert not any("did not set off" in each for each in self.prompts())
        assert self.plans.items[0].state is PlanState.DONE

    def test_who_speaks_to_an_agent_before_it_sets_off_is_answered_first(self):
        self.ask("Do it.", "> plan in 3 minutes: see the quay")
        before = len(self.prompts())
        gate = self.hold_answers()
        self.replies = [
            "> walk to the Quay\n*looks about*\n> done 1",
            "It is blue, Tom.\n> walk to the Quay\n*looks about*\n> done 1",
            "> wait",
        ]
        while len(self.prompts()) == before:
            self.time.time += timedelta(seconds=5)
            self.clock.advance(5)
            self.settle(lambda: self.is_thinking() or not self._at_work())
        self.char1.execute_cmd("talk Mira What colour is your cup?")
        gate.set()
        self.pass_minutes(1)
        acts = [line for line in self.lines() if line.startswith("~")]
        assert acts.index("~say It is blue, Tom.") < acts.index("~emote looks about")
        assert self.mira.location is self.quay
        assert self.plans.items[0].state is PlanState.DONE
        assert len(self.prompts()) == before + 2
        told = "You did not set off: Tom waits for your answer, and then you may go"
        assert told in self.prompts()[before + 1]

    def test_a_player_whom_the_answer_has_answered_too_keeps_nobody_from_setting_off(self):
        ada = self.add_player(2, "Ada")
        heard = self.capture(self.char1)
        before = len(self.prompts())
        self.replies = [
            "It is blue, Ada.\n> talk Tom = I will see.\n> plan now: see who is at the quay, and"
            " tell Tom\n> walk to the Quay\n> walk to Tom\n> talk Tom = Nobody is there.\n> done 1",
            "> wait",
        ]
        ada.execute_cmd("talk Mira What colour is your cup?")
        self.char1.execute_cmd("talk Mira See who is at the quay, and tell me.")
        self.pass_minutes(1)
        assert not any("did not set off" in line for line in self.lines())
        assert 'Mira says to you, "Nobody is there."' in heard
        assert len(self.prompts()) == before + 1

    def test_an_errand_from_which_other_words_kept_the_agent_is_not_forgotten(self):
        ada = self.add_player(2, "Ada")
        heard = self.capture(self.char1)
        before = len(self.prompts())
        gate = self.hold_answers()
        self.replies = [
            "I will see.\n> walk to the Quay\n> walk to Tom\nNobody is there.",
            "It is blue, Ada.",
            "> walk to the Quay\n> walk to Tom\nNobody is there.\n> done 1",
            "> wait",
        ]
        self.char1.execute_cmd("talk Mira See who is at the quay, and tell me.")
        while len(self.prompts()) == before:
            self.clock.advance(0.5)
            self.settle(lambda: self.is_thinking() or not self._at_work())
        ada.execute_cmd("talk Mira What colour is your cup?")
        gate.set()
        self.pass_minutes(2)
        assert 'Mira says to you, "Nobody is there."' in heard
        asked = "what was asked for: Tom says to you, 'See who is at the quay, and tell me.'"
        assert [(each.what, each.state) for each in self.plans.items] == [(asked, PlanState.DONE)]
