"""Works through a night: the steps in their order, each of them resumable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from keepsake.errors import ArchiveUnwritable, KeepsakeError
from keepsake.ports import Clock
from keepsake.sleep.asking import CallsSpent, NightAsk, NightOver, Work
from keepsake.sleep.log import SleepLog
from keepsake.sleep.steps import Figures, Night, Step, StepDone

_log = logging.getLogger("keepsake.mind")


def run(  # noqa: PLR0917 - each of the six is another thing, and none can be left out
    name: str,
    works: Mapping[Step, Work],
    log: SleepLog,
    ask: NightAsk,
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
                done = _do(step, works.get(step, lambda _: {"left out": 1}), ask, clock)
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


def _present(log: SleepLog, ask: NightAsk, clock: Clock) -> Night:
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


def _do(step: Step, work: Work, ask: NightAsk, clock: Clock) -> StepDone:
    """One step, and what came of it.

    Raises:
        NightOver: The agent has woken; the step counts as not done.
    """
    before, problem = ask.calls, ""
    figures: Figures = {}
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
