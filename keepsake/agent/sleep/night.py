"""The nights of one agent: its tasks one after the other, by one coroutine.

Each task may be broken off anywhere and done again: what it did until then is on the disk, and
found there. What a night has done is in :data:`NAME` and in the event log.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred, DeferredLock

from keepsake.agent.agent_log import log, not_used
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.books.files import replace_file
from keepsake.errors import ConfigError, KeepsakeError, ModelError, ModelMissing, ModelUnavailable
from keepsake.events.types import Sleep
from keepsake.models.queue import Priority
from keepsake.ports import Generation, TargetModel
from keepsake.tasks.task import Ask, Question, RefusedAnswer, Task, run

NAME = "sleep.json"
"""What is known of an agent's present night, in its folder."""
AFRESH = timedelta(hours=12)
"""A sleep that begins this long after the last one is another night, with all there is to do."""
THROUGH = "through"
"""The figure of the journal that says how far it has come: a memory's number."""
_LONGEST = 86_400.0
"""Seconds after which a step is given up."""


class Step(StrEnum):
    """What an agent does in its sleep, in this order."""

    CONSOLIDATE = "consolidate"
    REFLECT = "reflect"
    PROFILES = "profiles"
    COMPACT = "compact"


type Figures = Mapping[str, int | float]
"""What a step did: ``{"asked": 3, "written": 12}``; for people and for programs."""
type NightTask = Callable[[NightAsk], Figures]
"""Does one step, in a worker thread. It may be broken off by :class:`NightOver` at any call of
``ask``: doing it again does no harm."""


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
        through: The newest memory of which the journal was written.
    """

    def __init__(self, ask: Ask | None, limit: int, woken: threading.Event | None = None) -> None:
        self.calls, self.limit, self.through = 0, limit, 0
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


@dataclass(frozen=True, slots=True)
class NightState:
    """What one night has done; a sleep that is broken off shares it with the next."""

    began: str = ""  # when the agent fell asleep last
    done: tuple[str, ...] = ()
    calls: int = 0
    through: int = 0  # the newest memory of which the journal was written; of all nights

    @classmethod
    def load(cls, path: Path) -> NightState:
        """What the file says; nothing where it is missing, or cannot be read."""
        try:
            found: dict[str, Any] = json.loads(path.read_text("utf-8"))
            done = tuple(map(str, found["done"]))
            return cls(str(found["began"]), done, int(found["calls"]), int(found["through"]))
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def save(self, path: Path) -> None:
        """Write it down.

        Raises:
            OSError: The disk is full, read-only or gone.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(asdict(self)) + "\n")

    def tonight(self, fell_asleep: datetime, *, again: bool) -> NightState:
        """The same where a sleep of then is part of this night, else a new one.

        ``again``: It is the sleep of before, which goes on after the server was down.
        """
        try:
            late = fell_asleep - datetime.fromisoformat(self.began) < AFRESH
        except (ValueError, TypeError):
            late = False
        began = fell_asleep.isoformat()
        if not late:
            return NightState(began, through=self.through)
        anew = set(self.done) >= set(Step) and not again
        return replace(self, began=began, done=() if anew else self.done)


class Nights:
    """The nights of one agent; on the reactor thread, its tasks in others.

    Args:
        memory: What is compacted, in the last step.
        tasks: What there is to do in each other step.
        services: What all agents share.

    Attributes:
        step: What the present night is at; None before it begins and when it is over.
        state: What the present night has done; None before the first one.
    """

    def __init__(
        self, memory: MemoryComponent, tasks: Mapping[Step, NightTask], services: Runtime
    ) -> None:
        self.step: Step | None = None
        self.state: NightState | None = None
        self._name, self._path = memory.name, memory.folder / NAME
        self._memory, self._tasks, self._services = memory, tasks, services
        self._asking: NightAsk | None = None
        self._working, self._alone = 0, DeferredLock()  # never two nights at once

    @property
    def under_way(self) -> bool:
        """Whether a night has begun that nobody has ended yet; its work may be done."""
        return self._asking is not None

    @property
    def working(self) -> bool:
        """Whether something of a night is still being done."""
        return self._working > 0

    @property
    def may_compact(self) -> bool:
        """Whether the memory may be compacted because its owner sleeps.

        First the journal draws out what matters and the pages are brought up to date; what
        has left the window by then would be told only by its summary.
        """
        return not self._working or self.step is Step.COMPACT

    def begin(self, why: str, fell_asleep: datetime, *, again: bool = False) -> None:
        """The agent falls asleep: its night's work begins.

        ``again``: It sleeps on after the server was down.
        """
        if not again:
            self._services.events.emit(Sleep(agent=self._name, op="falls asleep", why=why))
        woken, ask = threading.Event(), None
        try:
            profile = self._services.sleeping.current.profile
            ask = self._services.asker(profile, Priority.SLEEP, woken)
        except ConfigError as error:
            log(f"[Sleep] {self._name} sleeps without a model: {error}")
        self._asking, self.step = NightAsk(ask, 0, woken), None
        self._working += 1
        night = Deferred.fromCoroutine(self._sleep(self._asking, fell_asleep, again=again))
        told = f"[Error] {self._name}: The night broke off:"
        night.addErrback(lambda failure: log(f"{told} {failure.value!r}"))

    def end(self, by: str, *, whole: bool = False) -> None:
        """The agent was woken ``by`` somebody: its night ends at the next piece of work.

        After a ``whole`` sleep the next one is another night.
        """
        self.close()
        if whole and self.state is not None:
            self.state = NightState(through=self.state.through)
        self._services.events.emit(Sleep(agent=self._name, op="wakes", why=by))

    def close(self) -> None:
        """The server stops; the agent sleeps on, and its night goes on when the server is back."""
        if self._asking is not None:
            self._asking.woken.set()
        self._asking = None

    async def _sleep(self, asking: NightAsk, fell_asleep: datetime, *, again: bool) -> None:
        name = self._name
        await self._alone.acquire()
        try:
            if self.state is None:
                self.state = await self._in_thread(partial(NightState.load, self._path))
            self.state = self.state.tonight(fell_asleep, again=again)
            asking.limit = max(self._services.sleeping.current.calls - self.state.calls, 0)
            for step in Step:
                asking.check()
                if step not in self.state.done and (step in self._tasks or step is Step.COMPACT):
                    await self._do(step, asking)
            log(f"[Sleep] {name}'s night is done ({asking.calls} model calls)")
        except NightOver:
            log(f"[Sleep] {name} woke before its night's work was done; the rest waits")
        finally:
            for event in not_used(name, ((e.task, e.answer, e.reason) for e in asking.refused)):
                self._services.events.emit(event)
            self._working -= 1
            if self._asking in (asking, None):
                self.step = None
            self._alone.release()

    async def _do(self, step: Step, asking: NightAsk) -> None:
        """Do one step; what goes wrong in it is its problem, and the night goes on.

        Raises:
            NightOver: The agent has woken; the step counts as not done.
        """
        assert self.state is not None
        if self._asking is asking:
            self.step = step
        began, calls, problem = self._services.seconds(), asking.calls, ""
        asking.through = self.state.through
        figures: Figures = {}
        try:
            if task := self._tasks.get(step):
                figures = await self._in_thread(partial(task, asking))
            else:
                figures = await self._compact()
        except CallsSpent:
            figures = {"calls spent": 1}  # no fault: what is left is found again by the next night
        except NightOver:
            raise
        except Exception as error:  # whatever a step does wrong, the others and the agent go on
            asking.check()  # what was closed under it because the night is over is no fault
            problem = str(error) if isinstance(error, KeepsakeError) else f"a fault ({error!r})"
            log(f"[Sleep] In the sleep of {self._name}, {step.value}: {problem}")
        finally:
            calls = asking.calls - calls
            self.state = replace(self.state, calls=self.state.calls + calls)
        through = int(figures.get(THROUGH, self.state.through))
        self.state = replace(self.state, done=(*self.state.done, step.value), through=through)
        try:
            await self._in_thread(partial(self.state.save, self._path))
        except OSError as error:
            log(f"[Sleep] {self._path} cannot be written, so a step may be done again: {error}")
        self._services.events.emit(
            Sleep(
                agent=self._name,
                op="step",
                step=step.value,
                seconds=round(self._services.seconds() - began, 6),
                calls=calls,
                figures=dict(figures),
                problem=problem,
            )
        )

    async def _compact(self) -> Figures:
        """Have the memory compacted if it is over its sleep mark, and wait for the end of it."""
        memory, idle = self._memory, Deferred[None]()
        made, before = memory.memory.status().compactions, memory.memory.load().used
        memory.compact_if_due()
        memory.when_idle(lambda: idle.callback(None))
        await idle
        made = memory.memory.status().compactions - made
        return {
            "compactions": made,
            "tokens before": before,
            "tokens after": memory.memory.load().used,
        }

    def _in_thread[T](self, work: Callable[[], T]) -> Deferred[T]:
        return self._services.in_thread(work, _LONGEST, self._services.nights)
