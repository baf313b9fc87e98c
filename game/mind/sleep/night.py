"""Works through a night: the steps in their order, each of them resumable."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from math import ceil

from game.mind.errors import (
    ArchiveUnwritable,
    KeepsakeError,
    ModelError,
    ModelMissing,
    ModelUnavailable,
)
from game.mind.ports import Clock
from game.mind.sleep.asking import Ask, CallsSpent, Generate, NightOver
from game.mind.sleep.log import SleepLog
from game.mind.sleep.steps import Figures, Night, Step, StepDone, Work

_log = logging.getLogger("keepsake.mind")

_NOTHING: Figures = {}
_WEIGHTS = {
    **{Step.CONSOLIDATE: 2, Step.PROFILES: 3, Step.REFLECT: 3},
    **{Step.COMPACT: 1, Step.DREAM: 1},
}
"""How a night's calls are shared out; what a step does not use goes to those after it."""


class Asking:
    """The model for one sleep: a limit on its calls, and an end when the agent wakes."""

    def __init__(
        self, generate: Generate | None, limit: int, woken: threading.Event | None = None
    ) -> None:
        self.calls = 0
        self.limit = limit
        self._generate = generate
        self._until = limit
        self._woken = woken or threading.Event()

    @property
    def available(self) -> bool:
        """Whether a model may be asked now; without one the rules alone have to do."""
        return self._generate is not None and self.calls < min(self._until, self.limit)

    @property
    def woken(self) -> threading.Event:
        """Set once the agent has woken: a call that still waits for its turn can be given up."""
        return self._woken

    def wake(self) -> None:
        """End the night at its next piece of work; from any thread."""
        self._woken.set()

    def share_out(self, left: Sequence[Step]) -> None:
        """Give the first of the steps that are left its share of the calls that are left."""
        weights = [_WEIGHTS.get(step, 0) for step in left]
        share = ceil((self.limit - self.calls) * weights[0] / sum(weights)) if weights[0] else 0
        self._until = self.calls + max(share, 0)

    def check(self) -> None:
        """Go on; call it before each piece of work.

        Raises:
            NightOver: The agent has woken.
        """
        if self._woken.is_set():
            raise NightOver("The agent has woken", "What is left waits for its next sleep")

    def __call__(self, prompt: str, stop: tuple[str, ...] = ()) -> str:
        """The model's answer; blocks.

        Raises:
            NightOver: The agent has woken.
            CallsSpent: No more calls may be made for this step, or there is no model.
            ModelError: There was no answer.
        """
        self.check()
        generate = self._generate
        if generate is None or not self.available:
            raise CallsSpent("The model calls of this sleep are spent", "The rest waits")
        self.calls += 1
        try:
            answer = generate(prompt, stop).text
        except ModelError as error:
            self.check()  # a call that was given up because the agent woke is no fault
            if isinstance(error, ModelUnavailable | ModelMissing):
                self._generate = None  # the other steps do what they can without
            raise
        self.check()
        return answer


def run(  # noqa: PLR0917 - each of the six is another thing, and none can be left out
    name: str,
    works: Mapping[Step, Work],
    log: SleepLog,
    ask: Asking,
    clock: Clock,
    tell: Callable[[str], None],
) -> Night:
    """Do what is left of the present night; blocks, so in a worker thread.

    Call it again after a crash or a restart, and it goes on with the step that was broken
    off. A step that fails is written down with its problem, and the next one is done; one
    without a work is passed over. Where no sleep is open, one begins.

    Returns:
        The night as far as it came.

    Raises:
        ArchiveUnwritable: No sleep is open, and none could be written down.
    """
    with log.one_at_a_time:
        night = _present(log, ask, clock)
        try:
            while (step := night.next_step) is not None:
                ask.check()
                ask.share_out(night.left)
                done = _do(step, works.get(step, _left_out), ask, clock)
                log.done(done, night.number)
                if done.problem:
                    tell(f"In the sleep of {name}, {step.value}: {done.problem}")
                night = _again(log, night)
        except NightOver:
            tell(f"{name} woke before its night's work was done; the rest waits")
        except ArchiveUnwritable as error:
            # Without the line the step counts as not done, and doing it again does no harm.
            tell(f"The night's work of {name} waits: {error}")
        return _again(log, night)


def _present(log: SleepLog, ask: Asking, clock: Clock) -> Night:
    """The sleep that is open; one that nobody has written down begins now."""
    night = log.last
    if night is not None and (night.woke is None or ask.woken.is_set()):
        return night
    if ask.woken.is_set():  # it woke before anything was begun
        return Night(0, clock.now(), "")
    return log.begin("it was put to sleep", clock.now())


def _again(log: SleepLog, night: Night) -> Night:
    """The same night as the log has it by now."""
    return next((each for each in reversed(log.nights()) if each.number == night.number), night)


def _left_out(_: Ask) -> Figures:
    """What nobody has given a work for."""
    return {"left out": 1}


def _do(step: Step, work: Work, ask: Asking, clock: Clock) -> StepDone:
    """One step, and what came of it.

    Raises:
        NightOver: The agent has woken; the step counts as not done.
    """
    before, figures, problem = ask.calls, _NOTHING, ""
    try:
        figures = work(ask)
    except CallsSpent:
        figures = {"calls spent": 1}  # no fault: what is left is found again by the next night
    except NightOver:
        raise
    except KeepsakeError as error:
        ask.check()  # what was closed under it because the night is over is no fault
        problem = str(error)
    except Exception as error:  # whatever a step does wrong, the others and the agent go on
        ask.check()
        problem = f"a fault of this program ({error!r})"
        _log.exception("[Sleep] The step %s failed", step.value)
    return StepDone(step, clock.now(), ask.calls - before, figures, problem)
