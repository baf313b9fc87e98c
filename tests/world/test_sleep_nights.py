"""The work of agents' nights, with the real steps and a fake model over HTTP."""

from __future__ import annotations

import json
import threading
from datetime import timedelta

from keepsake.agent.sleep.night_tasks import THROUGH
from keepsake.events.types import Sleep
from tests.fakes.model_server import Reply
from tests.log_lines import LogLines
from tests.world.agents_world import FixedConfig
from tests.world.ladder_world import ROOM, LadderWorld
from tests.world.test_sleep_world import SleepWorld

ALL = ["consolidate", "reflect", "profiles", "intentions"]
THINKS = "You live in this world"
"""Part of the prompts of an agent that is awake."""
READ_AGAIN = "What Tom and Mira said and did"


class NightWorld(SleepWorld):
    """Tom has told Mira about himself; a model can be asked at night."""

    def setUp(self):
        super().setUp()
        self.logged = self.enterContext(LogLines())
        self.steps = []
        self.services.events.emit = self.collect_step
        self.fake.script = self.answer
        for words in (
            "I work as a baker.",
            "My brother Ostrey is ill.",
            "I fear the river.",
            "I promise to bring the blue cup tomorrow.",
        ):
            self.type(f"talk mira {words}")
        self.pass_time(2)

    def collect_step(self, event):
        if isinstance(event, Sleep) and event.op == "step":
            self.steps.append(event.step)

    def answer(self, prompt):
        if THINKS in prompt:
            return "> wait"
        if '{"entries"' in prompt:
            return '{"entries": []}'
        return " Tom is worried about his brother Ostrey." if READ_AGAIN in prompt else " none"

    def use_model(self, **values):
        self.set_sleep(profile="agent", **values)

    def asked(self):
        """Return the prompts that were sent at night."""
        return [prompt for prompt in self.prompts() if THINKS not in prompt]

    def sleep(self):
        """Run a night; return the steps that were done."""
        self.steps.clear()
        self.put_to_bed()
        return self.steps

    def through(self):
        return json.loads((self.mind.memory.folder / THROUGH).read_text())["through"]

    def problems(self):
        return self.logged.having("ERROR night Mira: A task of the night failed step=")


class TestNights(NightWorld):
    def test_without_a_model_all_steps_are_done_in_order(self):
        self.set_sleep(profile="nonesuch")
        assert self.sleep() == ALL
        assert self.logged.having(
            "ERROR night Mira: There is no model for what the agent thinks over at night"
        )
        assert self.problems() == self.asked() == []
        [tom] = (p for p in self.mind.books.people.all() if p.name == "Tom")
        assert any("baker" in line.text for line in tom.lines)
        assert tom.portrait == ""

    def test_without_reflection_a_night_draws_no_conclusions(self):
        self.use_model(reflect=False)
        assert self.sleep() == ALL
        assert any('{"entries"' in prompt for prompt in self.asked())
        assert not any(READ_AGAIN in prompt for prompt in self.asked())
        [tom] = (p for p in self.mind.books.people.all() if p.name == "Tom")
        assert any("baker" in line.text for line in tom.lines)

    def test_without_a_memory_a_night_asks_nothing(self):
        self.use_model()
        self.set_thinking(memory=False)
        assert self.sleep() == ALL
        assert self.asked() == []

    def test_a_night_writes_pages_and_the_next_one_continues(self):
        self.use_model()
        assert self.sleep() == ALL
        seen = self.through()
        assert seen == self.mind.memory.memory.archive.last_number
        assert any(READ_AGAIN in prompt for prompt in self.asked())
        [tom] = (p for p in self.mind.books.people.all() if p.name == "Tom")
        assert tom.portrait == "Tom is worried about his brother Ostrey."
        self.sleeper.wake("a test")
        for what in ("onions", "leeks", "garlic", "shallots", "chives", "ramps"):
            self.type(f"talk mira I hate {what}.")
        self.pass_time(2)
        self.put_to_bed()
        assert self.through() > seen

    def test_a_failing_model_is_logged_and_the_night_goes_on(self):
        self.fake.always("/api/chat", Reply(status=500))
        self.use_model()
        assert self.sleep() == ALL
        assert self.problems()

    def test_a_night_that_was_cut_short_is_done_at_the_next_sleep(self):
        self.use_model()
        gate = self.hold_answers()
        self.sleeper.fall_asleep("a test said so")
        self.settle(lambda: bool(self.asked()))
        held = self.sleeper.nights.step
        assert held in ("consolidate", "profiles"), "both ask the model"
        self.char1.execute_cmd("wake mira")
        self.wait_for_night()  # although the model has not answered yet
        assert self.steps == ALL[: ALL.index(held)]
        gate.set()
        self.fake.always("/api/chat", Reply())
        self.pass_time(3)
        assert self.sleep() == ALL


class TestCompacting(LadderWorld):
    def test_the_memory_is_compacted_after_the_nights_work(self):
        self.services.sleeping = FixedConfig(self.services.sleeping.current)
        self.fill(0.75, ROOM)
        self.budget()
        sleeper = self.mind.sleeper
        books = self.mind.books
        update = books.update_people
        held = threading.Event()
        let_go = threading.Event()
        self.addCleanup(let_go.set)

        def held_update(archive):
            held.set()
            let_go.wait(300)
            update(archive)

        books.update_people = held_update
        sleeper.fall_asleep("a test said so")
        self.settle(held.is_set)
        # as the housekeeping does every two seconds
        self.mind.compactions.compact_if_due(asleep=sleeper.may_compact)
        assert not self.mind.compactions.compacting, "first the pages are brought up to date"
        let_go.set()
        self.settle(lambda: not sleeper.nights.working)
        self.mind.compactions.compact_if_due(asleep=sleeper.may_compact)
        self.wait_for_compaction()
        assert [past.reason for past in self.compactions()] == ["sleep"]


class TestMissedNights(NightWorld):
    """Nights that a stop of the server, or a jump of the clock, cuts short."""

    def asked_once(self):
        """Return how often the journal and the page of Tom were asked for."""
        asked = self.asked()
        return [sum(each in prompt for prompt in asked) for each in ('{"entries"', READ_AGAIN)]

    def restart(self, hours):
        self.stop_services()
        self.time.time += timedelta(hours=hours)
        self.services = self.start_services()
        self.services.events.emit = self.collect_step
        self.use_model()
        assert self.mind.sleeper, "the mind is open, as after a start of the server"

    def test_an_agent_over_whose_night_the_clock_jumped_makes_it_up_once(self):
        self.use_model()
        for what in ("eels", "leeks", "plums"):
            self.type(f"talk mira I like {what}.")
        self.pass_minutes(2)
        assert self.steps == []
        self.restart(9)
        self.pass_minutes(2)
        self.wait_for_night()
        assert not self.mira.db.asleep
        assert self.steps == ALL
        assert self.asked_once() == [1, 1]
        self.restart(1)
        self.pass_minutes(3)
        self.wait_for_night()
        assert self.steps == ALL, "only once"

    def test_a_night_that_a_stop_cuts_short_goes_on_at_the_start(self):
        self.use_model()
        gate = self.hold_answers()
        self.sleeper.fall_asleep("a test said so")
        self.settle(lambda: bool(self.asked()))
        gate.set()
        self.stop_services()
        self.fake.always("/api/chat", Reply())
        self.steps.clear()
        self.restart(0)
        self.pass_minutes(2)
        self.wait_for_night()
        assert self.steps == ALL
        assert not self.mira.db.night_due

    def test_the_work_of_an_agent_that_wakes_at_its_hour_is_ended(self):
        self.use_model()
        gate = self.hold_answers()
        self.sleeper.fall_asleep("a test said so")
        self.settle(lambda: bool(self.asked()))
        self.time.time += timedelta(hours=10)
        self.clock.advance(60)
        assert not self.mira.db.asleep
        gate.set()
        self.fake.always("/api/chat", Reply())
        self.wait_for_night()
        assert self.steps == ALL
        [tom] = (p for p in self.mind.books.people.all() if p.name == "Tom")
        assert tom.portrait == "Tom is worried about his brother Ostrey."
