"""The nights of one agent: its tasks one after the other, in a thread, each of them resumable.

What was done is in the sleep log; a night that was broken off, or killed with the server, goes on
with the task that was at work.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

from keepsake.agent.agent_log import log, logged
from keepsake.agent.happenings import not_used
from keepsake.agent.runtime import Runtime
from keepsake.agent.sleep.log import AFRESH, Figures, Night, SleepLog, Step, StepDone
from keepsake.errors import (
    ArchiveUnwritable,
    ConfigError,
    KeepsakeError,
    ModelError,
    ModelMissing,
    ModelUnavailable,
)
from keepsake.events.types import Sleep
from keepsake.models.queue import Priority
from keepsake.ports import Clock, Generation, TargetModel
from keepsake.tasks.task import Ask, Question, RefusedAnswer, Task, run

type NightTask = Callable[[NightAsk], Figures]
"""Does one step, in a worker thread. It may be broken off by :class:`NightOver` at any call of
``ask``: what it did until then is on the disk, and doing it again does no harm."""

_log = logging.getLogger("keepsake.agent")


class NightOver(KeepsakeError):
    """The agent has woken: what is left waits for the next night."""


class CallsSpent(NightOver):
    """No more calls may be made; the next step goes on, what is left waits for a night."""


class NightAsk:
    """The model for one sleep: an :data:`Ask` with a limit, and an end when the agent wakes.

    Args:
        ask: Asks the model; None for none.
        limit: The most calls.
        woken: Set once the agent has woken, from any thread.

    Attributes:
        calls: How many were made.
        refused: The answers that were not used.
    """

    def __init__(self, ask: Ask | None, limit: int, woken: threading.Event | None = None) -> None:
        self.calls, self.limit = 0, limit
        self.woken = woken or threading.Event()
        self.refused: list[RefusedAnswer] = []
        self._ask = ask

    @property
    def available(self) -> bool:
        """Whether a model may be asked now."""
        return self._ask is not None and self.calls < self.limit

    def check(self) -> None:
        """Go on; call it before each piece of work.

        Raises:
            NightOver: The agent has woken.
        """
        if self.woken.is_set():
            raise NightOver("The agent has woken", "What is left waits for its next sleep")

    def do[T](self, task: Task[T]) -> T:
        """The result of a task; blocks.

        Raises:
            NightOver: See :meth:`__call__`.
            ModelError: There was no answer.
        """
        result = run(task, self, forgiving=False)
        self.refused += result.refusals
        return result.value

    def __call__(self, build: Callable[[TargetModel], Question]) -> Generation:
        """The model's answer; blocks.

        Raises:
            NightOver: The agent has woken.
            CallsSpent: No more calls may be made, or there is no model.
            ModelError: There was no answer.
        """
        self.check()
        ask = self._ask
        if ask is None or not self.available:
            raise CallsSpent("The model calls of this sleep are spent", "The rest waits")
        self.calls += 1
        try:
            answer = ask(build)
        except ModelError as error:
            self.check()  # a call that was given up because the agent woke is no fault
            if isinstance(error, ModelUnavailable | ModelMissing):
                self._ask = None  # the other steps do what they can without
            raise
        self.check()
        return answer


def do_step(step: Step, task: NightTask, ask: NightAsk, clock: Clock) -> StepDone:
    """Do one step; what goes wrong in it is its problem, and the night goes on.

    Raises:
        NightOver: The agent has woken; the step counts as not done.
    """
    before, problem = ask.calls, ""
    figures: Figures = {}
    try:
        figures = task(ask)
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


def work_through(  # noqa: PLR0917 - each is another thing, and none can be left out
    tasks: Mapping[Step, NightTask],
    sleep_log: SleepLog,
    ask: NightAsk,
    clock: Clock,
    begins: Callable[[Step], None] = lambda _: None,
    ended: Callable[[StepDone], None] = lambda _: None,
) -> Night | None:
    """Do what is left of the open night; blocks. None if no night is open.

    Call it again after a kill, and it goes on with the step that was broken off.

    Raises:
        NightOver: The agent has woken; what is left waits for its next sleep.
        ArchiveUnwritable: A step could not be written down: it counts as not done.
    """
    with sleep_log.at_work:
        night = sleep_log.last
        if night is None or night.woke is not None:
            return None
        for step in night.left:
            ask.check()
            begins(step)
            task = tasks.get(step, lambda _: {"left out": 1})
            done = do_step(step, task, ask, clock)
            night = sleep_log.done(done, night.number)
            ended(done)
        return night


class Nights:
    """The nights of one agent; on the reactor thread, the work itself in another.

    Args:
        name: The agent's name.
        tasks: What there is to do in each step.
        sleep_log: Which nights there were.
        services: What all agents share.

    Attributes:
        log: The sleep log.
        step: What the present night is at; None before it begins and when it is over.
    """

    def __init__(
        self, name: str, tasks: Mapping[Step, NightTask], sleep_log: SleepLog, services: Runtime
    ) -> None:
        self.log, self.tasks = sleep_log, tasks
        self.step: Step | None = None
        self._name, self._services = name, services
        self._asking: NightAsk | None = None
        self._late: list[tuple[datetime, NightAsk]] = []
        """The sleeps of this night: those that are broken off share its calls."""
        self._working, self._began = 0, 0.0

    @property
    def under_way(self) -> bool:
        """Whether a night has begun that nobody has ended yet; its work may be done."""
        return self._asking is not None

    @property
    def working(self) -> bool:
        """Whether a thread still works on a night, or waits for its turn."""
        return self._working > 0

    @property
    def may_compact(self) -> bool:
        """Whether the memory may be compacted because its owner sleeps.

        First the journal draws out what matters and the pages are brought up to date; what
        has left the window by then would be told only by its summary.
        """
        return not self._working or self.step is Step.COMPACT

    def begin(self, why: str, fell_asleep: datetime, *, again: bool = False) -> None:
        """The agent falls asleep: its night's work begins in a thread.

        ``again``: It sleeps on after the server was down.
        """
        if not again:
            self._services.events.emit(Sleep(agent=self._name, op="falls asleep", why=why))
        woken = threading.Event()
        self._late = [each for each in self._late if fell_asleep - each[0] < AFRESH]
        spent = sum(asking.calls for _, asking in self._late)
        limit = max(self._services.sleeping.current.calls - spent, 0)
        asking = NightAsk(self._model(woken), limit, woken)
        self._asking, self.step = asking, None
        self._late.append((fell_asleep, asking))
        self._working += 1
        self._services.nights.submit(self._sleep, asking, why, fell_asleep)

    def end(self, by: str, *, whole: bool = False) -> None:
        """The agent was woken ``by`` somebody: its night ends at the next piece of work.

        After a ``whole`` sleep the next one is another night.
        """
        self.close()
        if whole:
            self._late = []
        self._services.events.emit(Sleep(agent=self._name, op="wakes", why=by))
        self._services.workers.submit(self._woke, by, self._services.clock.now())

    def close(self) -> None:
        """The server stops; the agent sleeps on, and its night goes on when the server is back."""
        if self._asking is not None:
            self._asking.woken.set()
        self._asking = None

    def _model(self, woken: threading.Event) -> Ask | None:
        """How the model that works in sleep is asked; None where none does."""
        profile = self._services.sleeping.current.profile
        try:
            return self._services.asker(profile, Priority.SLEEP, woken)
        except ConfigError as error:
            log(f"[Sleep] {self._name} sleeps without a model: {error}")
            return None

    # -- in worker threads

    def _sleep(self, asking: NightAsk, why: str, fell_asleep: datetime) -> None:
        name, clock = self._name, self._services.clock
        try:
            with self.log.lock:  # so that none is opened for an agent that has just woken
                asking.check()
                if (last := self.log.last) is None or last.woke is not None:
                    self.log.begin(why, fell_asleep)
            begins = partial(self._begins, asking)
            work_through(self.tasks, self.log, asking, clock, begins, self._ended)
            log(f"[Sleep] {name}'s night is done ({asking.calls} model calls)")
        except NightOver:
            log(f"[Sleep] {name} woke before its night's work was done; the rest waits")
        except ArchiveUnwritable as error:
            log(f"[Sleep] {name} sleeps without its night's work: {error}")
        except Exception as error:
            # Nobody looks at the future: without this line nobody would ever hear of it.
            log(f"[Error] {name}: The night broke off: {error!r}")
        finally:
            for event in not_used(name, ((e.task, e.answer, e.reason) for e in asking.refused)):
                self._services.events.emit(event)
            self._services.post(lambda: self._over(asking))

    def _begins(self, asking: NightAsk, step: Step) -> None:
        self._began = self._services.seconds()
        if self._asking is asking:
            self.step = step

    def _ended(self, done: StepDone) -> None:
        if done.problem:
            log(f"[Sleep] In the sleep of {self._name}, {done.step.value}: {done.problem}")
        numbers = {key: n for key, n in done.figures.items() if isinstance(n, int | float)}
        self._services.events.emit(
            Sleep(
                agent=self._name,
                op="step",
                step=done.step.value,
                seconds=round(self._services.seconds() - self._began, 6),
                calls=done.calls,
                figures=numbers,
                problem=done.problem,
            )
        )

    def _woke(self, by: str, now: datetime) -> None:
        with logged(f"{self._name}: The end of a night could not be written down"):
            self.log.woke(by, now)

    # -- back on the reactor thread

    def _over(self, asking: NightAsk) -> None:
        self._working -= 1
        if self._asking is asking or self._asking is None:
            self.step = None
