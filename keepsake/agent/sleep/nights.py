"""The nights of one agent: their work in a thread, and the way back from there.

What there is to do is in :mod:`keepsake.agent.sleep.night_works`, in which order and how it
goes on after a crash in :mod:`keepsake.sleep`.
"""

from __future__ import annotations

import threading
from datetime import datetime

from keepsake.agent.agent_log import log, logged
from keepsake.agent.body import Life
from keepsake.agent.happenings import not_used
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.agent.sleep.night_works import NightWorks
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.events.types import Sleep
from keepsake.models.queue import Priority
from keepsake.sleep import night
from keepsake.sleep.asking import NightAsk, Work
from keepsake.sleep.log import AFRESH
from keepsake.sleep.steps import Figures, Step
from keepsake.tasks.task import Ask

_changing = threading.Lock()
"""Held while a night is opened or closed, so that none is opened for whoever has just woken."""


class Nights(NightWorks):
    """The nights of one agent; on the reactor thread, the work itself in another.

    Attributes:
        step: What the present night is at; None before it begins and when it is over.
    """

    def __init__(self, life: Life, mind: Remembering, services: Runtime) -> None:
        super().__init__(life, mind, services)
        self.step: Step | None = None
        self._asking: NightAsk | None = None
        self._broken_off: list[tuple[datetime, NightAsk]] = []
        """Sleeps of late that ended too soon: the next makes up for them, with what they left."""
        self._working = 0

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

        First the journal draws out what matters and the profiles are brought up to date; what
        has left the window by then would be told only by its summary.
        """
        return not self._working or self.step in (Step.COMPACT, Step.TIDY)

    def begin(self, why: str, fell_asleep: datetime) -> None:
        """The agent falls asleep: its night's work begins in a thread."""
        self._services.events.emit(Sleep(agent=self._name, op="falls asleep", why=why))
        self.go_on(why, fell_asleep)

    def go_on(self, why: str, fell_asleep: datetime) -> None:
        """The agent sleeps on after the server was down, and its night's work goes on."""
        woken = threading.Event()
        asking = NightAsk(self._ask_model(woken), self._calls_left(fell_asleep), woken)
        self._asking, self.step = asking, None
        self._broken_off.append((fell_asleep, asking))
        self._working += 1
        self._services.nights.submit(self._sleep, asking, why, fell_asleep)

    def _calls_left(self, now: datetime) -> int:
        """The most model calls of a sleep that begins now.

        Whoever wakes an agent again and again must not make its night cost more.
        """
        late = [(when, asking) for when, asking in self._broken_off if now - when < AFRESH]
        self._broken_off = late
        spent = sum(asking.calls for _, asking in late)
        return max(self._services.sleeping.current.calls - spent, 0)

    def end(self, by: str, *, whole: bool = False) -> None:
        """The agent was woken ``by`` somebody: its night ends at the next piece of work.

        After a ``whole`` sleep the next one is another night.
        """
        self._stop()
        if whole:
            self._broken_off = []
        now = self._services.clock.now()
        self._services.events.emit(Sleep(agent=self._name, op="wakes", why=by))
        self._services.workers.submit(self._woke, by, now)

    def close(self) -> None:
        """The server stops; the agent sleeps on, and its night goes on when the server is back."""
        self._stop()

    def _stop(self) -> None:
        if self._asking is not None:
            self._asking.wake()
        self._asking = None

    # -- in worker threads

    def _sleep(self, asking: NightAsk, why: str, fell_asleep: datetime) -> None:
        try:
            if self._begun(asking, why, fell_asleep) and self._has_work():
                works = {
                    step: self._told(asking, step, work) for step, work in self.works().items()
                }
                done = night.run(
                    self._name, works, self.log, asking, self._services.clock, self._tell
                )
                if done.next_step is None:
                    self._tell(f"{self._name}'s night is done ({asking.calls} model calls)")
        except KeepsakeError as error:
            self._tell(f"{self._name} sleeps without its night's work: {error}")
        except Exception as error:
            # Nobody looks at the future: without this line nobody would ever hear of it.
            log(f"[Error] {self._name}: The night broke off: {error!r}")
        finally:
            self._services.post(lambda: self._over(asking))

    def _begun(self, asking: NightAsk, why: str, fell_asleep: datetime) -> bool:
        """Whether a night is open; False if the agent has woken before a thread was free."""
        with _changing:
            if asking.woken.is_set():
                return False
            if (last := self.log.last) is None or last.woke is not None:
                self.log.begin(why, fell_asleep)
        return True

    def _has_work(self) -> bool:
        return (last := self.log.last) is not None and last.next_step is not None

    def _told(self, asking: NightAsk, step: Step, work: Work) -> Work:
        """The same work, which says what the night is at, and has an event told of how it ends."""

        def told(ask: NightAsk) -> Figures:
            if self._asking is asking:
                self.step = step
            began, calls = self._services.seconds(), asking.calls
            refused = len(asking.refused)
            figures: Figures = {}
            problem = ""
            try:
                figures = work(ask)
            except Exception as error:  # handed on, to whoever works through the night
                problem = str(error) or repr(error)
                raise
            finally:
                new = asking.refused[refused:]
                for event in not_used(
                    self._name, ((each.task, each.answer, each.reason) for each in new)
                ):
                    self._services.events.emit(event)
                numbers = {key: n for key, n in figures.items() if isinstance(n, int | float)}
                self._services.events.emit(
                    Sleep(
                        agent=self._name,
                        op="step",
                        step=step.value,
                        seconds=round(self._services.seconds() - began, 6),
                        calls=asking.calls - calls,
                        figures=numbers,
                        problem=problem,
                    )
                )
            return figures

        return told

    def _woke(self, by: str, now: datetime) -> None:
        with logged(f"{self._name}: The end of a night was lost"), _changing:
            try:
                if (last := self.log.last) is not None and last.woke is None:
                    self.log.woke(by, now)
            except KeepsakeError as error:
                self._tell(f"{self._name} woke, which could not be written down: {error}")

    @staticmethod
    def _tell(line: str) -> None:
        log(f"[Sleep] {line}")

    # -- back on the reactor thread

    def _over(self, asking: NightAsk) -> None:
        self._working -= 1
        if self._asking is asking or self._asking is None:
            self.step = None

    def _ask_model(self, woken: threading.Event) -> Ask | None:
        """How the model that works in sleep is asked; None where none does."""
        profile = self._services.sleeping.current.profile
        try:
            return self._services.asker(profile, Priority.SLEEP, woken)
        except ConfigError as error:
            self._tell(f"{self._name} sleeps without a model: {error}")
            return None
