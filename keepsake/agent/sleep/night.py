"""The nights of one agent: its tasks one after another, in a worker thread.

Each task may be interrupted anywhere and run again, because it finds its earlier results on disk.
An interrupted night therefore starts again at the next sleep. A task may also run by day, when a
talk is over: what it leaves, the night does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from functools import partial

from twisted.internet.defer import DeferredLock

from keepsake.agent.runtime import Runtime
from keepsake.errors import ConfigError, KeepsakeError, ModelError, ModelMissing, ModelUnavailable
from keepsake.events.types import Guard, Sleep
from keepsake.events.values import GuardOp, SleepOp
from keepsake.happening import PersonId
from keepsake.logs import Subsystem, get_logger
from keepsake.models.tickets import Priority
from keepsake.ports import Generation, GenerationRequest, RefusedAnswer, TargetModel
from keepsake.tasks.task import FALLBACK, TRIES, Ask, Task, run

log = get_logger(Subsystem.NIGHT)

_NIGHT_TIMEOUT = 86_400.0
"""Seconds after which a night's work times out: one day."""

type Figures = Mapping[str, int | float]
"""A task's counters for the event log: ``{"asked": 3, "written": 12}``."""
type NightTask = Callable[[NightAsk], Figures]
"""One task of a night. :class:`NightOver` may interrupt it at any call of ``ask``; it is safe to
run it again."""


class NightOver(KeepsakeError):
    """The agent has woken. The rest of the work waits for the next night."""


class NightAsk:
    """The model of one sleep: an :data:`Ask` with a limit of calls that stops when the agent wakes.

    Args:
        ask: Asks the model; None if there is no model.
        limit: How many calls are allowed.
        woken: Set when somebody wakes the agent, from any thread.
        late: Set when the night is over by the clock, from any thread. Then each task that is left
            may ask once.

    Attributes:
        calls: How many calls were made.
        prompt_tokens, completion_tokens: Their sums, as the server counts.
        refused: The answers that could not be used.
    """

    def __init__(
        self,
        ask: Ask | None,
        limit: int,
        woken: threading.Event | None = None,
        late: threading.Event | None = None,
    ) -> None:
        self.calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.refused = list[RefusedAnswer]()
        self._ask = ask
        self._limit = limit
        self._woken = woken or threading.Event()
        self._late = late or threading.Event()
        self._before = 0  # the calls before the task that runs

    @property
    def is_late(self) -> bool:
        """Whether the night is over by the clock."""
        return self._late.is_set()

    @property
    def available(self) -> bool:
        """Whether the limit allows a call now, and the retries if its answer is refused."""
        if self.is_late and self.calls > self._before:
            return False
        return self._ask is not None and self.calls + TRIES <= self._limit

    def begin_task(self) -> None:
        """Begin the next task of the night."""
        self._before = self.calls

    def check(self) -> None:
        """Raise if the night is over; call it before each piece of work.

        Raises:
            NightOver: The agent has woken.
        """
        if self._woken.is_set():
            raise NightOver("The agent has woken", "What is left waits for its next sleep")

    def do[T](self, task: Task[T]) -> T | None:
        """Run a task; return its result, or None if nothing of the answers can be used; blocks.

        Raises:
            NightOver: See :meth:`__call__`.
            ModelError: There was no answer.
        """
        result = run(task, self, fall_back=False)
        self.refused += result.refusals
        return None if result.by == FALLBACK else result.value

    def __call__(self, build: Callable[[TargetModel], GenerationRequest]) -> Generation:
        """Return the model's answer; blocks.

        Raises:
            NightOver: The agent has woken.
            ModelError: There was no answer.
        """
        self.check()
        assert self._ask is not None, "asked only while a model is available"
        self.calls += 1
        try:
            answer = self._ask(build)
        except ModelError as error:
            self.check()  # a call that the waking cancelled is no error
            if isinstance(error, ModelUnavailable | ModelMissing):
                self._ask = None  # the other tasks go on without a model
            raise
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens
        self.check()
        return answer


class Nights:
    """The nights of one agent.

    Args:
        tasks: The tasks by name, in the order in which they run.
        prepare: Reads what the tasks need of the game; called on the reactor thread before them.
        after_talk: Returns the tasks that follow a talk with some people, by name.

    Attributes:
        step: The name of the running task; empty if none runs.
    """

    def __init__(
        self,
        name: str,
        tasks: Mapping[str, NightTask],
        services: Runtime,
        prepare: Callable[[], None] = lambda: None,
        *,
        after_talk: Callable[[Collection[PersonId]], Mapping[str, NightTask]] = lambda _: {},
    ) -> None:
        self.step = ""
        self._prepare = prepare
        self._after_talk = after_talk
        self._name = name
        self._tasks = tasks
        self._services = services
        self._woken = threading.Event()
        self._over = threading.Event()  # set when a talk is not to be thought over any more
        self._late = threading.Event()
        self._lock = DeferredLock()  # never two nights at once

    @property
    def working(self) -> bool:
        """Whether a night's work is still running."""
        return bool(self._lock.locked)

    def begin(self, why: str, done: Callable[[], object] = lambda: None) -> None:
        """Start the night's work when the agent falls asleep.

        ``done``: Called when all tasks have run, however little they could do.
        """
        self._services.events.emit(Sleep(agent=self._name, op=SleepOp.FALLS_ASLEEP, why=why))
        self.go_on(done)

    def go_on(self, done: Callable[[], object] = lambda: None) -> None:
        """Start the work of a night again that the server's stop cut short."""
        self._late = threading.Event()
        self._start(done)

    def make_up(self, done: Callable[[], object] = lambda: None) -> None:
        """Do the work of a night that is over already; each task asks the model at most once."""
        self._late = threading.Event()
        self._late.set()
        self._start(done)

    def think_over(self, people: Collection[PersonId]) -> None:
        """Think over talks with these people that are over, while the agent is awake.

        Nothing is done if there is no model.
        """
        self._over = threading.Event()
        if (ask := self._asker(self._over)) is not None:
            work = NightAsk(ask, self._services.sleeping.current.calls, self._over)
            self._run(work, self._after_talk(people), SleepOp.THINKS_OVER)

    def _start(self, done: Callable[[], object]) -> None:
        """Start the tasks of a night."""
        self._woken = threading.Event()
        ask = self._asker(self._woken)
        limit = self._services.sleeping.current.calls
        night = NightAsk(ask, limit, self._woken, self._late)
        self._run(night, self._tasks, SleepOp.STEP, done)

    def _asker(self, cancelled: threading.Event) -> Ask | None:
        """Return how the tasks ask a model; None, and the log says why, if there is none."""
        profile = self._services.sleeping.current.profile
        try:
            return self._services.asker(profile, Priority.SLEEP, cancelled)
        except ConfigError as error:
            told = "There is no model for what the agent thinks over at night"
            log.error(told, agent=self._name, exc_info=error)
            return None

    def _run(
        self,
        ask: NightAsk,
        tasks: Mapping[str, NightTask],
        op: SleepOp,
        done: Callable[[], object] = lambda: None,
    ) -> None:
        """Run tasks in a worker thread; call ``done`` when all have run."""
        services = self._services
        self._prepare()
        work = partial(self._run_tasks, ask, tasks, op)
        night = self._lock.run(services.in_thread, work, _NIGHT_TIMEOUT, services.nights)
        night.addCallback(lambda whole: done() if whole else None)
        night.addErrback(
            lambda failure: log.error(
                "The night's work failed", agent=self._name, exc_info=failure.value
            )
        )

    def end(self, by: str, *, by_itself: bool = False) -> None:
        """End the night, because ``by`` woke the agent. Work stops before its next piece.

        ``by_itself``: Whether its hour has come. Then each task that is left may ask once: the
        clock may have been put forward, and the model may be slow.
        """
        if by_itself:
            self._late.set()
        else:
            self.close()
        self._services.events.emit(Sleep(agent=self._name, op=SleepOp.WAKES, why=by))

    def disturb(self) -> None:
        """Stop thinking over a talk, because somebody speaks to the agent."""
        self._over.set()

    def close(self) -> None:
        """Stop the work, because the server stops or the agent is gone."""
        self._woken.set()
        self._over.set()

    def _run_tasks(self, ask: NightAsk, tasks: Mapping[str, NightTask], op: SleepOp) -> bool:
        """Run tasks one after another. If a task fails, log the error and go on.

        Args:
            op: What the event of each task says.

        Returns:
            Whether all tasks have run.
        """
        name = self._name
        emit = self._services.events.emit
        seconds = self._services.seconds
        try:
            for step, task in tasks.items():
                self.step = step
                ask.check()
                ask.begin_task()
                began = seconds()
                before = (ask.calls, ask.prompt_tokens, ask.completion_tokens)
                problem = ""
                figures: Figures = {}
                try:
                    figures = task(ask)
                except NightOver:
                    raise
                except Exception as error:  # one failed task must not stop the others
                    ask.check()  # an error because the night is over is not reported
                    known = isinstance(error, KeepsakeError)
                    problem = str(error) if known else f"an unexpected error ({error!r})"
                    told = "A task of the night failed"
                    log.error(told, agent=name, step=self.step, exc_info=error)
                event = partial(Sleep, agent=name, op=op, step=self.step, problem=problem)
                took = round(seconds() - began, 6)
                calls, prompts, answers = before
                emit(
                    event(
                        seconds=took,
                        calls=ask.calls - calls,
                        prompt_tokens=ask.prompt_tokens - prompts,
                        completion_tokens=ask.completion_tokens - answers,
                        figures=dict(figures),
                    )
                )
            log.info("The work is done", agent=name, calls=ask.calls, what=op.value)
            return True
        except NightOver:
            told = "Disturbed before the work was done; the next quiet or night goes on"
            log.info(told, agent=name, what=op.value)
            return False
        finally:
            self.step = ""
            for each in ask.refused:
                guard = partial(Guard, agent=name, task=each.task, op=GuardOp.REFUSED)
                emit(guard(before=each.answer, reason=each.reason))
