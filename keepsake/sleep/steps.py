"""The steps of a night, and what each left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Step(StrEnum):
    """What an agent does in its sleep, in this order."""

    CONSOLIDATE = "consolidate"
    PROFILES = "profiles"
    REFLECT = "reflect"
    COMPACT = "compact"
    TIDY = "tidy"


type Figures = Mapping[str, int | float | str]
"""What a step did: ``{"merged": 3, "rescored": 12}``; for people and for programs."""


@dataclass(frozen=True, slots=True)
class StepDone:
    """One step that came to its end."""

    step: Step
    time: datetime
    calls: int = 0
    figures: Figures = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Night:
    """One sleep."""

    number: int
    fell_asleep: datetime
    why: str  # why it went to sleep: ``16 hours awake``, ``a builder said so``
    # what was done, in order; a step that was broken off is not among them
    steps: tuple[StepDone, ...] = ()
    # when it woke; None if it still sleeps, or the server ended meanwhile
    woke: datetime | None = None
    woken_by: str = ""  # why it woke: ``its hour``, ``Tom``
    # what there is to do, in order: after a sleep that was broken off, first the rest of that one
    plan: tuple[Step, ...] = tuple(Step)

    @property
    def left(self) -> tuple[Step, ...]:
        """What is not done yet, in order."""
        left = list(self.plan)
        for each in self.steps:
            if each.step in left:
                left.remove(each.step)
        return tuple(left)

    @property
    def next_step(self) -> Step | None:
        """The first step that is not done; None when all are."""
        return next(iter(self.left), None)

    @property
    def calls(self) -> int:
        """Model calls that its steps took."""
        return sum(each.calls for each in self.steps)
