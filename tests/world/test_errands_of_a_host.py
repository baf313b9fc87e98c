"""An innkeeper on an errand: a guest neither calls her from it, nor waits for her after it."""

from __future__ import annotations

from datetime import timedelta

from keepsake.books.plan_lines import read_plan
from tests.world.plans_world import PlansWorld


class TestErrandsOfAHost(PlansWorld):
    """Mira keeps the inn, and is at the quay for Tom."""

    def setUp(self) -> None:
        super().setUp()
        self.mira.db.keeps = True
        self.bram_and_ada_at_the_quay()
        for each in (self.ada, self.char2):
            each.move_to(self.add_room("The Loft"), quiet=True)
        self.char1.move_to(self.quay, quiet=True)

    def test_a_guest_is_not_kept_waiting_by_an_errand_that_is_done(self):
        bram = self.bram.mind
        now = self.services.clock.now()
        met = read_plan("now, The Quay: see the ferry", now, ["The Quay"])
        bram.books.plans.add(met)
        bram.read_edits()
        self.mira.move_to(self.quay, quiet=True)
        self.plans.add(read_plan("now: bring Tom the wax", now))
        self.replies = ["> done 1", "> wait"]
        self.pass_minutes(1)
        assert not self.plans.current
        self.char1.move_to(self.room1, quiet=True)
        self.time.time += timedelta(minutes=4)
        self.pass_time(5)
        self.mind.sleeper.tick()
        self.pass_time(5)
        assert self.mira.location is self.room1

    def test_a_guest_does_not_turn_her_round_before_she_has_asked(self):
        self.char1.move_to(self.room1, quiet=True)
        self.replies = ["I will.\n> walk to the Quay\n*takes breath*\n> talk Bram = Is it dry?"]
        heard = self.capture(self.bram)
        self.pass_time(1)
        gate = self.hold_answers()
        self.char1.execute_cmd("talk Mira Ask Bram whether it is dry.")
        self.pass_time(0.5)
        gate.set()
        self.pass_time(3)
        self.char1.move_to(self.quay, quiet=True)
        self.ada.move_to(self.room1)
        self.pass_time(20)
        assert 'Mira says to you, "Is it dry?"' in heard
