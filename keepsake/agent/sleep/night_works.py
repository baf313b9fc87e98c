"""What each step of an agent's night does, put together from its components.

Everything here runs in the thread of a night. The steps themselves are plain functions in
:mod:`keepsake`; each may be broken off at any line and done again.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

from keepsake.agent.body import Life
from keepsake.agent.memory.plugged import PluggedMemory
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.archive.log import Archive
from keepsake.archive.privacy import NOBODY, outward
from keepsake.archive.records import Memory
from keepsake.books.people_shown import May
from keepsake.sleep.asking import NightAsk, Work
from keepsake.sleep.journal import write_day
from keepsake.sleep.log import SleepLog
from keepsake.sleep.people import write_portraits
from keepsake.sleep.reflect import reflect
from keepsake.sleep.steps import Figures, Step
from keepsake.sleep.tidy import tidy

THROUGH = "through"
"""The figure of a sleep that says up to which memory the journal was written."""
NEWEST = 2000
"""The most memories that one sleep goes through again."""
_LOOK_SECONDS = 0.2

_logs: dict[Path, SleepLog] = {}
"""One a folder: the night of an agent that was renamed may still come to its end while that
of the new name begins, and they must know of each other."""


class NightWorks:
    """What does the steps of one agent's nights.

    Attributes:
        log: Which nights there were.
    """

    def __init__(self, life: Life, mind: Remembering, services: Runtime) -> None:
        self._name, self._folder, self._services = life.name, life.folder, services
        self._mind = mind
        self.log = _logs.setdefault(life.folder, SleepLog(life.folder))

    def works(self) -> Mapping[Step, Work]:
        """What does each step; another memory than ours rests in its own way."""
        if (plugged := self._mind.plugged) is not None:
            return {step: partial(_none_of, plugged, step) for step in Step}
        return {
            Step.CONSOLIDATE: self._consolidate,
            Step.PROFILES: self._profiles,
            Step.REFLECT: self._reflect,
            Step.COMPACT: self._compact,
            Step.TIDY: self._tidy,
        }

    @property
    def _now(self) -> datetime:
        return self._services.clock.now()

    @property
    def _archive(self) -> Archive:
        return self._mind.memory.memory.archive

    def _read(self, first: int, last: int) -> list[Memory]:
        """Memories as anybody may know of them: what a night makes stands in all prompts."""
        return [outward(each) for each in self._archive.read(first, last)]

    # -- journal and people

    def _consolidate(self, ask: NightAsk) -> Figures:
        diary, newest = self._mind.diary, self._archive.last_number
        since = max(self._through(Step.CONSOLIDATE), newest - NEWEST)
        memories = self._read(since + 1, newest) if newest > since else []
        prompts, now = self._services.prompts.of("journal"), self._now
        # What a model is not asked about waits for a night in which it can be.
        through = newest if ask.available else since
        figures = write_day(diary.journal, memories, ask, prompts, self._name, now)
        if not figures:  # no model was asked of this day
            diary.leaving(self._mind.memory.context().window)
        return {**figures, THROUGH: through}

    def _profiles(self, ask: NightAsk) -> Figures:
        people = self._mind.acquaintances
        people.settle()
        prompts = self._services.prompts.of("people")
        return write_portraits(people.book, ask, prompts, self._name, self._may, self._read)

    @property
    def _may(self) -> May:
        """Whether anybody may hear what rests on the memories of those numbers."""
        return partial(self._mind.memory.private.may_hear_all, audience=NOBODY)

    def _through(self, done: Step) -> int:
        """The last memory that this step of an earlier sleep has seen."""
        seen = [
            int(step.figures.get(THROUGH, 0))
            for night in self.log.nights()
            for step in night.steps
            if step.step is done and not step.problem
        ]
        return max(seen, default=0)

    def _reflect(self, ask: NightAsk) -> Figures:
        return reflect(
            self._mind.diary.journal,
            ask,
            self._services.sleeping.current,
            self._services.prompts.of("reflect"),
            self._name,
            self._now,
            self._may,
        )

    # -- compacting

    def _compact(self, ask: NightAsk) -> Figures:
        """Have the memory compacted if it is over its sleep mark, and wait for the end of it."""
        memory, idle = self._mind.memory, threading.Event()

        def look() -> None:  # on the reactor thread, where no change is half begun
            if not memory.compacting:
                idle.set()

        before = self._weight()
        self._services.post(memory.compact_if_due)
        self._services.post(look)
        # Whoever wakes meanwhile does not wait for it; it goes on by itself.
        while not self._services.wait(idle, _LOOK_SECONDS):
            ask.check()
            self._services.post(look)
        after = self._weight()
        made = after[0] - before[0]
        return {"compactions": made, "tokens before": before[1], "tokens after": after[1]}

    def _weight(self) -> tuple[int, int]:
        """How many compactions there were, and what the prompt weighs in tokens."""
        memory = self._mind.memory.memory
        return memory.status().compactions, memory.load().used

    # -- tidying

    def _tidy(self, _ask: NightAsk) -> Figures:
        return tidy(self._folder, self._mind.diary.journal, self._now)


def _none_of(plugged: PluggedMemory, step: Step, _ask: NightAsk) -> Figures:
    """What is left of a step where another memory than ours sleeps."""
    if step is Step.COMPACT:
        plugged.rest(asleep=True)
    return {}
