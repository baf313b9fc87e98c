"""The steps of plans that are still to come: one at a time, and none is lost.

An agent that carries out one errand has no step of another between its own: it would walk away in
the middle. So the step of the other plan is put aside until this one rests or has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from keepsake.agent.scheduler import Alarm
from keepsake.ports import Scheduler


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of the plan ``number`` that comes at ``at``, in seconds of the scheduler's clock."""

    number: int
    at: float
    come: Callable[[], None]


class PendingSteps:
    """The next step, and those of other plans that were put aside for it; on the reactor thread."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._alarm = Alarm(scheduler)
        self._next: _Step | None = None
        self._aside: dict[int, _Step] = {}  # by plan

    def set(
        self, seconds: float, number: int, come: Callable[[], None], *, yields: bool = False
    ) -> None:
        """Let the next step of a plan come after some seconds; one that was set before does not.

        A step of another plan that was to come is put aside.

        Args:
            yields: Whether this step is put aside instead, if the other one comes sooner: it only
                waits for a player.
        """
        step = _Step(number, self._scheduler.seconds() + seconds, come)
        self._aside.pop(number, None)
        before = self._next if self._next is not None and self._next.number != number else None
        if yields and before is not None and before.at <= step.at:
            self._aside[number] = step
            return
        if before is not None:
            self._aside[before.number] = before
        self._begin(step)

    def drop(self, number: int) -> None:
        """Let the step of a plan that was set not come."""
        self._aside.pop(number, None)
        if self._next is not None and self._next.number == number:
            self._next = None
            self._alarm.cancel()

    def take_up(self, least: float) -> None:
        """Let the first step that was put aside be the next one, if none is to come.

        Args:
            least: The fewest seconds until it comes.
        """
        if self._next is None and self._aside:
            step = min(self._aside.values(), key=lambda each: each.at)
            self._aside.pop(step.number)
            self._begin(step, least)

    def close(self) -> None:
        """Let no step come any more."""
        self._aside.clear()
        self._next = None
        self._alarm.cancel()

    def _begin(self, step: _Step, least: float = 0.0) -> None:
        self._next = step
        self._alarm.set(max(least, step.at - self._scheduler.seconds()), self._come)

    def _come(self) -> None:
        step = self._next
        self._next = None
        if step is not None:
            step.come()
