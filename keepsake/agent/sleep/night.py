"""The nights of one agent: its tasks one after the other, in one worker thread.

Each task may be broken off anywhere and done again: what it did until then is on the disk, and
found there. So a night that was interrupted is begun again at the next sleep.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial

from twisted.internet.defer import DeferredLock

from keepsake.agent.agent_log import log
from keepsake.agent.runtime import Runtime
from keepsake.errors import ConfigError, KeepsakeError, ModelError, ModelMissing, ModelUnavailable
from keepsake.events.types import Guard, Sleep
from keepsake.models.queue import Priority
from keepsake.ports import Generation, GenerationRequest, TargetModel
from keepsake.tasks.task import TRIES, Ask, RefusedAnswer, Task, run

_LONGEST = 86_400.0
"""Seconds after which a night is given up."""

type Figures = Mapping[str, int | float]
"""What a task did: ``{"asked": 3, "written": 12}``; for people and for programs."""
type NightTask = Callable[[NightAsk], Figures]
"""One task, which may be broken off by :class:`NightOver` at any call of ``ask``: doing it again
does no harm."""


class NightOver(KeepsakeError):
    """The agent has woken: what is left waits for the next night."""


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
        self.calls, self.refused = 0, list[RefusedAnswer]()
        self._ask, self._limit, self._woken = ask, limit, woken or threading.Event()

    @property
    def available(self) -> bool:
        """Whether a model may be asked now, and once more if its answer is refused."""
        return self._ask is not None and self.calls + TRIES <= self._limit

    def check(self) -> None:
        """Go on; call it before each piece of work.

        Raises:
            NightOver: The agent has woken.
        """
        if self._woken.is_set():
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

    def __call__(self, build: Callable[[TargetModel], GenerationRequest]) -> Generation:
        """The model's answer; blocks.

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
            self.check()  # a call that was given up because the agent woke is no fault
            if isinstance(error, ModelUnavailable | ModelMissing):
                self._ask = None  # the other tasks do what they can without
            raise
        self.check()
        return answer


class Nights:
    """The nights of one agent.

    Args:
        name: The agent's.
        tasks: What it does in its sleep, by name, in this order.
        services: What all agents share.

    Attributes:
        step: The task that the present night is at; empty while there is none.
    """

    def __init__(self, name: str, tasks: Mapping[str, NightTask], services: Runtime) -> None:
        self.step = ""
        self._name, self._tasks, self._services = name, tasks, services
        self._woken = threading.Event()
        self._alone = DeferredLock()  # never two nights at once

    @property
    def working(self) -> bool:
        """Whether something of a night is still being done."""
        return bool(self._alone.locked)

    def begin(self, why: str) -> None:
        """The agent falls asleep: its night's work begins."""
        services, name, ask = self._services, self._name, None
        config = services.sleeping.current
        services.events.emit(Sleep(agent=name, op="falls asleep", why=why))
        self._woken = woken = threading.Event()
        try:
            ask = services.asker(config.profile, Priority.SLEEP, woken)
        except ConfigError as error:
            log(f"[Sleep] {name} sleeps without a model: {error}")
        work = partial(self._sleep, NightAsk(ask, config.calls, woken))
        night = self._alone.run(services.in_thread, work, _LONGEST, services.nights)
        told = f"[Error] {name}: The night broke off:"
        night.addErrback(lambda failure: log(f"{told} {failure.value!r}"))

    def end(self, by: str) -> None:
        """The agent was woken ``by`` somebody: its night ends at the next piece of work."""
        self.close()
        self._services.events.emit(Sleep(agent=self._name, op="wakes", why=by))

    def close(self) -> None:
        """The server stops, or the agent is gone."""
        self._woken.set()

    def _sleep(self, asking: NightAsk) -> None:
        """One night; what goes wrong in a task is its problem, and the night goes on."""
        name, emit, seconds = self._name, self._services.events.emit, self._services.seconds
        try:
            for step, task in self._tasks.items():
                self.step = step
                asking.check()
                began, calls, problem = seconds(), asking.calls, ""
                figures: Figures = {}
                try:
                    figures = task(asking)
                except NightOver:
                    raise
                except Exception as error:  # whatever a task does wrong, the others go on
                    asking.check()  # what was closed under it because the night is over is no fault
                    known = isinstance(error, KeepsakeError)
                    problem = str(error) if known else f"a fault ({error!r})"
                    log(f"[Sleep] In the sleep of {name}, {self.step}: {problem}")
                event = partial(Sleep, agent=name, op="step", step=self.step, problem=problem)
                took, calls = round(seconds() - began, 6), asking.calls - calls
                emit(event(seconds=took, calls=calls, figures=dict(figures)))
            log(f"[Sleep] {name}'s night is done ({asking.calls} model calls)")
        except NightOver:
            log(f"[Sleep] {name} woke before its night's work was done; the rest waits")
        finally:
            self.step = ""
            for each in asking.refused:
                guard = partial(Guard, agent=name, task=each.task, op="refused")
                emit(guard(before=each.answer, reason=each.reason))
