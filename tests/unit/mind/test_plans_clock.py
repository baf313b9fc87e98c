"""The clock of plans: when an agent is woken for what it means to do, and when it is not."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from twisted.internet.defer import maybeDeferred
from twisted.internet.task import Clock

from keepsake.agent.plans.next_steps import STEP_SECONDS
from keepsake.agent.plans.plans import CHECK_SECONDS, Plans
from keepsake.agent.plans.shown_plans import lines_of
from keepsake.agent.scheduler import ClockScheduler
from keepsake.agent.settings import ThinkingConfig
from keepsake.books.plan import GRACE, Plan, PlanState
from keepsake.books.plans import PlanBook
from keepsake.happening import Person
from keepsake.language.when import When

NOW = datetime(2026, 11, 28, 20, 5, tzinfo=UTC)
ANNEKE = Person("Anneke", "12-1")
TOM = Person("Tom", "13-1")
DONE = "you did this for it: > give soup to Tom"


class Manual(ClockScheduler):
    """Runs queued calls at once."""

    def soon(self, call):
        call()


class AtOnce(Executor):
    def submit(self, work, *args):
        future = Future()
        future.set_result(work(*args))
        return future


class Village:
    """One agent's plans, with a clock that tests move."""

    def __init__(self, folder, **config):
        self.timer = Clock()
        self.ahead = timedelta()
        self.ways = {}
        self.woken = []
        self.book = PlanBook(folder / "plans.md", now=self.now)
        self.services = SimpleNamespace(
            clock=self,
            scheduler=Manual(self.timer),
            seconds=self.timer.seconds,
            workers=AtOnce(),
            in_thread=lambda work, _seconds: maybeDeferred(work),
            acts_unprompted=True,
            thinking=SimpleNamespace(current=replace(ThinkingConfig(), **config)),
        )
        self.start()

    def start(self):
        """Start the agent, as after a restart."""

        def way(place):
            return self.ways.get(place, 0.0)

        self.plans = Plans("Mira", self.book, self.services, self.woken.append, way)
        self.plans.start()
        self.pass_by(0.0)

    def now(self):
        return NOW + timedelta(seconds=self.timer.seconds()) + self.ahead

    def pass_by(self, seconds):
        while seconds > CHECK_SECONDS:
            self.timer.advance(CHECK_SECONDS)
            seconds -= CHECK_SECONDS
        self.timer.advance(seconds)

    def add(self, what="meet Anneke", minutes=None, **facts):
        when = When(at=self.now() + timedelta(minutes=minutes)) if minutes is not None else None
        return self.book.add(Plan(what=what, **{"when": when, **facts}))

    @property
    def names(self):
        return [due.plan.what for due in self.woken]


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path)


def test_an_agent_is_woken_within_a_minute_of_its_plans_time_and_once(village):
    plan = village.add(minutes=15)
    village.pass_by(15 * 60 - 1)
    assert village.woken == []
    village.pass_by(CHECK_SECONDS + 1)
    assert village.names == ["meet Anneke"]
    village.plans.began(plan)
    village.pass_by(3600)
    assert len(village.woken) == 1
    assert village.book.items[0].state is PlanState.DOING


def test_an_appointment_that_was_whispered_and_said_aloud_wakes_once(village):
    both = {"minutes": 15, "where": "The Quay", "whom": ANNEKE}
    village.add("take the letter", private=frozenset({"12-1"}), **both)
    plan = village.add("meet Anneke", **both)
    village.add("meet Tom", minutes=18, where="The Quay", whom=TOM)
    village.pass_by(15 * 60 + CHECK_SECONDS)
    (woken,) = village.woken
    village.plans.began(woken.plan)
    village.pass_by(3600)
    assert set(village.names) == {woken.plan.what, "meet Tom"}
    assert village.names.count(woken.plan.what) == 1
    twins = [each for each in village.book.items if each.whom == ANNEKE]
    assert {each.state for each in twins} == {PlanState.DOING}
    assert plan in [replace(each, state=PlanState.OPEN) for each in twins]


def test_a_plan_for_the_end_of_the_calendar_keeps_no_other_from_its_time(village):
    village.book.path.write_text("- [ ] 9999-12-31 23:59: rest\n- [ ] 2026-11-28 20:15: cook\n")
    village.book.adopt()
    village.pass_by(15 * 60)
    assert set(village.names) == {"cook"}


def test_it_is_woken_early_enough_to_walk(village):
    village.ways["The Quay"] = 120.0
    village.add(minutes=15, where="The Quay")
    village.pass_by(13 * 60 + CHECK_SECONDS)
    assert village.names == ["meet Anneke"]


def test_an_agent_that_cannot_begin_is_woken_again_until_it_has_missed_it(village):
    village.add(minutes=1)
    village.pass_by(GRACE.total_seconds() + 120)
    assert 5 <= len(village.woken) <= 16
    (plan,) = village.book.items
    assert plan.state is PlanState.MISSED
    assert lines_of(village.plans.missed(frozenset())) == (
        "1. 2026-11-28 20:06: meet Anneke (missed)",
    )
    village.ahead += timedelta(days=3)
    assert village.plans.missed(frozenset()) == ()


def test_a_restart_loses_no_plan_and_goes_on_with_the_one_that_was_begun(village):
    due = village.add(minutes=10)
    village.add("sing", minutes=20)
    village.pass_by(10 * 60 + CHECK_SECONDS)
    village.plans.began(due)
    village.plans.close()
    village.start()
    assert [each.why for each in village.woken] == [
        "its time has come",
        "the world stopped in the middle of it",
    ]
    village.pass_by(10 * 60 + CHECK_SECONDS)
    assert village.names == ["meet Anneke", "meet Anneke", "sing"]


def test_a_restart_without_a_model_leaves_what_a_model_had_begun(village):
    plan = village.add("keep watch for Tom's shilling", minutes=0, where="The Quay")
    village.pass_by(CHECK_SECONDS)
    village.plans.began(plan)
    village.woken.clear()
    village.plans.close()
    village.services.acts_unprompted = False
    village.start()
    village.pass_by(CHECK_SECONDS)
    assert village.woken == []
    assert village.book.items[0].state is PlanState.DOING


def test_a_restart_after_hours_does_not_go_on_with_what_was_begun(village):
    due = village.add(minutes=10)
    village.pass_by(10 * 60 + CHECK_SECONDS)
    village.plans.began(due)
    village.plans.close()
    village.ahead += timedelta(hours=5)
    village.start()
    assert village.names == ["meet Anneke"]


def test_a_clock_that_is_set_back_wakes_nobody_twice(village):
    plan = village.add(minutes=1)
    village.pass_by(60 + CHECK_SECONDS)
    village.plans.began(plan)
    village.ahead -= timedelta(hours=5)
    village.pass_by(6 * 3600)
    assert village.names == ["meet Anneke"]


def test_a_plan_that_waits_for_somebody_begins_when_that_person_comes(village):
    village.add("give her the letter", when=When(meeting="Anneke"), whom=ANNEKE)
    village.plans.meetings.set_present([TOM])
    assert village.woken == []
    village.plans.meetings.set_present([TOM, Person("Anne", ANNEKE.id)])
    (due,) = village.woken
    assert (due.plan.what, due.why) == ("give her the letter", "Anne is here")
    village.plans.meetings.set_present([TOM, ANNEKE])
    assert len(village.woken) == 1


def test_a_plan_of_several_steps_goes_on_after_each_deed(village):
    plan = village.add("ask Bram; bring it to Oswin", minutes=0)
    village.pass_by(CHECK_SECONDS)
    village.plans.began(plan)
    village.plans.steps.go_on(plan, DONE)
    village.pass_by(STEP_SECONDS)
    assert [due.why for due in village.woken] == [
        "its time has come",
        DONE,
    ]
    village.book.set_state(village.book.find("Bram"), PlanState.DONE)
    village.plans.steps.go_on(plan, DONE)
    village.pass_by(60)
    assert len(village.woken) == 2


def test_the_operators_budget_ends_a_plan_that_goes_round_in_circles(tmp_path):
    village = Village(tmp_path, plan_thoughts=3)
    plan = village.add("walk in circles", minutes=0)
    village.pass_by(CHECK_SECONDS)
    for _ in range(10):
        village.plans.began(plan)
        village.plans.steps.go_on(village.book.items[0], DONE)
        village.pass_by(CHECK_SECONDS)
    assert len(village.woken) == 3
    village.pass_by(3600)
    village.pass_by(CHECK_SECONDS)
    assert len(village.woken) == 4, "an hour later it goes on by itself"


def test_a_private_plan_is_shown_to_its_hearer_alone(village):
    village.add("hide the key", private=frozenset({ANNEKE.id}))
    plans = village.plans
    shown = [plans.shown(frozenset(each)) for each in ({ANNEKE.id}, {TOM.id}, set())]
    assert [len(each) for each in shown] == [1, 0, 0]
