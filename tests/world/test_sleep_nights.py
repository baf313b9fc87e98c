"""What agents do in their sleep, with the real steps and a model over the wire."""

from __future__ import annotations

import threading

from keepsake.agent.sleep import night as nights_module
from keepsake.agent.sleep.log import Step
from tests.fakes.model_server import Reply
from tests.world.agents_world import FixedConfig
from tests.world.test_ladder_world import LadderWorld
from tests.world.test_sleep_world import SleepWorld

ALL = list(Step)
READ_AGAIN = "What Tom and Mira said and did"


class NightWorld(SleepWorld):
    """Tom has told Mira of himself; a model may work in her sleep."""

    def setUp(self):
        super().setUp()
        self.logged = []
        real, nights_module.log = nights_module.log, self.logged.append
        self.addCleanup(setattr, nights_module, "log", real)
        self.fake.script = self.answers
        for words in ("I work as a baker.", "My brother Ostrey is ill.", "I fear the river.",
                      "I promise to bring the blue cup tomorrow."):  # fmt: skip
            self.types(f"talk mira {words}")
        self.pass_time(2)

    def answers(self, prompt):
        if "~Mira>" in prompt[-40:]:
            return " wait"
        return " Tom is worried about his brother Ostrey." if READ_AGAIN in prompt else " none"

    def with_model(self, **values):
        self.set_sleep(profile="agent", **values)

    def asked(self):
        """The prompts that were sent in sleep."""
        return [prompt for prompt in self.fake.prompts() if "~Mira>" not in prompt[-40:]]

    def steps(self):
        last = self.sleeper.nights.log.last
        return [done.step for done in last.steps] if last else []

    def figures(self, step):
        done = [each for each in self.sleeper.nights.log.last.steps if each.step is step]
        assert done[-1].problem == ""
        return done[-1].figures


class TestWithoutAModel(NightWorld):
    def test_all_steps_are_done_in_order_and_nobody_is_asked(self):
        self.set_sleep(profile="nonesuch")
        self.put_to_bed()
        assert any("sleeps without a model" in line for line in self.logged)
        assert self.steps() == ALL
        assert not any(done.problem for done in self.sleeper.nights.log.last.steps)
        assert self.asked() == []
        tom = self.mind.acquaintances.book.find("Tom")[0]
        assert any("baker" in line.text for line in tom.lines)
        assert tom.portrait == ""

    def test_a_log_that_cannot_be_written_costs_the_work_and_not_the_sleep(self):
        (self.mind.memory.folder / "sleep.jsonl").mkdir()
        self.put_to_bed()
        assert self.mira.db.asleep
        assert any("without its night's work" in line for line in self.logged)
        self.types("wake mira")
        self.settle()
        assert not self.mira.db.asleep


class TestWithAModel(NightWorld):
    def test_a_night_writes_pages_and_the_next_only_of_what_is_new(self):
        self.with_model()
        self.put_to_bed()
        assert self.steps() == ALL
        seen = self.figures(Step.CONSOLIDATE)["through"]
        assert seen == self.mind.memory.memory.archive.last_number
        assert any(READ_AGAIN in prompt for prompt in self.asked())
        tom = self.mind.acquaintances.book.find("Tom")[0]
        assert tom.portrait == "Tom is worried about his brother Ostrey."
        self.sleeper.wake("a test")
        self.types("talk mira I hate onions.")
        self.pass_time(2)
        self.put_to_bed()
        assert self.figures(Step.CONSOLIDATE)["through"] > seen

    def test_sleeps_that_are_broken_off_share_the_calls_of_one_night(self):
        self.with_model(calls=3)
        for _ in range(6):
            self.types("talk mira My brother Ostrey is ill, and I fear for him.")
            self.put_to_bed()
            self.types("wake mira")
            self.pass_time(2)
        assert 1 <= len(self.asked()) <= 3, "shaken awake again and again, it costs no more"
        spent = len(self.asked())
        self.put_to_bed()
        self.sleeper.wake("a test", rested=True)
        self.types("talk mira My brother Ostrey is ill again.")
        self.pass_time(2)
        self.put_to_bed()
        assert len(self.asked()) > spent, "after a whole sleep it is another night"

    def test_a_model_that_fails_is_a_line_in_the_log_and_the_night_goes_on(self):
        self.fake.always("/api/generate", Reply(status=500))
        self.with_model()
        self.put_to_bed()
        assert self.steps() == ALL
        problems = [done.step for done in self.sleeper.nights.log.last.steps if done.problem]
        assert Step.COMPACT not in problems

    def begun(self):
        """Mira asleep, with the model held in the middle of a step; what lets it go."""
        self.with_model()
        gate = self.hold()
        self.sleeper.fall_asleep("a test said so")
        self.settle(lambda: bool(self.asked()))
        assert self.sleeper.working
        return gate

    def test_woken_in_the_middle_nothing_is_lost(self):
        gate = self.begun()
        held = self.sleeper.nights.step
        assert held in (Step.CONSOLIDATE, Step.PROFILES), "both ask the model"
        done = ALL[: ALL.index(held)]
        self.types("wake mira")
        self.let_sleep()  # though the model has not answered yet
        assert self.steps() == done
        self.settle(lambda: self.sleeper.nights.log.last.woke is not None)
        assert self.sleeper.nights.log.last.woken_by == "Tom"
        gate.set()
        self.fake.always("/api/generate", Reply())
        self.pass_time(3)
        self.put_to_bed()
        assert self.steps() == [step for step in Step if step not in done]
        assert len(self.sleeper.nights.log.nights()) == 2

    def test_the_server_stops_in_the_middle(self):
        gate = self.begun()
        self.stop_services()
        gate.set()
        self.fake.always("/api/generate", Reply())
        self.services = self.start_services()
        self.with_model()
        assert self.sleeper.asleep
        self.let_sleep()
        nights = self.sleeper.nights.log.nights()
        assert len(nights) == 1
        assert [done.step for done in nights[0].steps] == ALL
        assert nights[0].woke is None


class TestCompacting(LadderWorld):
    def test_the_memory_is_compacted_in_its_turn(self):
        self.services.sleeping = FixedConfig(self.services.sleeping.current)
        self.fill(0.75, context_tokens=1600)
        self.budget(context_tokens=1600)
        sleeper = self.mind.sleeper
        steps = []
        memory = self.mind.memory.memory
        compact = memory.compact

        def compacting(reason):
            steps.append(sleeper.nights.step)
            return compact(reason)

        memory.compact = compacting
        held, let_go = threading.Event(), threading.Event()
        consolidating = self.mind.acquaintances.settle

        def settle():
            held.set()
            let_go.wait(60)
            consolidating()

        self.mind.acquaintances.settle = settle
        sleeper.fall_asleep("a test said so")
        assert held.wait(60)
        self.mind.memory.compact_if_due()  # as the housekeeping asks every two seconds
        self.settle()
        assert not self.mind.memory.compacting, "first the pages are brought up to date"
        let_go.set()
        self.settle(lambda: not sleeper.working)
        assert steps == [Step.COMPACT]
        assert [past.reason for past in self.past()] == ["sleep"]
        last = sleeper.nights.log.last
        figures = next(done.figures for done in last.steps if done.step is Step.COMPACT)
        assert figures["compactions"] == 1
        assert figures["tokens after"] < figures["tokens before"]
