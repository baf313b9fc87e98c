"""The steps of several plans: one at a time, and none is lost."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.task import Clock

from keepsake.agent.plans.pending_steps import PendingSteps
from keepsake.agent.scheduler import ClockScheduler


class OnClock(ClockScheduler):
    """A scheduler without a reactor."""

    def soon(self, call: Callable[[], object]) -> None:
        self.later(0.0, call)


class Steps(PendingSteps):
    """Steps on a clock that a test moves; ``came`` has the plans whose steps came, in order."""

    def __init__(self) -> None:
        self.clock = Clock()
        super().__init__(OnClock(self.clock))
        self.came: list[int] = []

    def begin(self, seconds: float, number: int, *, yields: bool = False) -> None:
        self.set(seconds, number, lambda: self.came.append(number), yields=yields)

    def after(self, seconds: float) -> list[int]:
        self.clock.advance(seconds)
        return self.came


def test_a_step_of_another_plan_is_put_aside_and_taken_up_when_none_is_to_come() -> None:
    steps = Steps()
    steps.begin(4, 1)
    steps.begin(30, 2)
    assert steps.after(20) == []
    steps.take_up(4)
    assert steps.after(10) == [2]
    steps.take_up(4)
    assert steps.after(3) == [2]
    assert steps.after(1) == [2, 1]


def test_a_wait_for_a_player_does_not_hold_up_a_step_that_comes_sooner() -> None:
    steps = Steps()
    steps.begin(4, 1)
    steps.begin(90, 2, yields=True)
    assert steps.after(4) == [1]
    steps.take_up(4)
    assert steps.after(85) == [1]
    assert steps.after(1) == [1, 2]


def test_one_plan_has_one_step() -> None:
    steps = Steps()
    steps.begin(4, 1)
    steps.begin(8, 2)
    steps.begin(2, 1)
    assert steps.after(2) == [1]
    steps.drop(2)
    steps.take_up(0)
    assert steps.after(100) == [1]
