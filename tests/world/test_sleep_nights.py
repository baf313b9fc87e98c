"""The work of agents' nights, with the real steps and a fake model over HTTP."""

from __future__ import annotations

import json
import threading

from keepsake.agent.sleep.night_tasks import THROUGH
from keepsake.events.types import Sleep
from tests.fakes.model_server import Reply
from tests.log_lines import LogLines
from tests.world.agents_world import FixedConfig
from tests.world.test_ladder_world import ROOM, LadderWorld
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
        for words in ("I work as a baker.", "My brother Ostrey is ill.", "I fear the river.",
                      "I promise to bring the blue cup tomorrow."):  # fmt: skip
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
        assert self.logged.having("ERROR night Mira: The agent sleeps without a model")
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
