"""What each step of an agent's night does, put together from its components.

Everything here runs in the thread of a night. The steps themselves are plain functions in
:mod:`keepsake`; each may be broken off at any line and done again.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random

from keepsake.agent.body import Life
from keepsake.agent.memory.plugged import PluggedMemory
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.services import Services
from keepsake.archive.log import Archive
from keepsake.archive.privacy import outward
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.journal.consolidate import consolidate
from keepsake.books.profiles.asleep import LEFT, update_profiles
from keepsake.language.perception import for_prompt
from keepsake.language.words import telling
from keepsake.recall.documents import Hit
from keepsake.recall.related import about_memory
from keepsake.sleep.asking import Ask, Work
from keepsake.sleep.dream import dream
from keepsake.sleep.log import SleepLog
from keepsake.sleep.reflect import Evidence, reflect
from keepsake.sleep.steps import Figures, Step
from keepsake.sleep.tidy import tidy

THROUGH = "through"
"""The figure of a sleep that says up to which memory the profiles were brought up to date."""
NEWEST = 2000
"""The most memories that one sleep goes through again."""
DREAMT_OF = 120
"""The newest memories, of which it may dream."""
OLDER = 40
"""As many older ones, one stretch from anywhere in its life."""
SEARCH_SECONDS = 20.0
"""Nobody waits for the searches of a sleeper."""
KNOWN = 200
"""The most people whose names a reflection knows, those met last."""
FOUND = 8
"""The most memories that stand as evidence for one question."""
_LOOK_SECONDS = 0.2

_logs: dict[Path, SleepLog] = {}
"""One a folder: the night of an agent that was renamed may still come to its end while that
of the new name begins, and they must know of each other."""


class NightWorks:
    """What does the steps of one agent's nights.

    Attributes:
        log: Which nights there were.
    """

    def __init__(self, life: Life, mind: Remembering, services: Services) -> None:
        self._name, self._folder, self._services = life.name, life.folder, services
        self._mind = mind
        self.log = _logs.setdefault(life.folder, SleepLog(life.folder))
        self._pause = threading.Event()  # never set: a sleep that costs nothing

    def works(self, fell_asleep: datetime) -> Mapping[Step, Work]:
        """The works of the night that began then; another memory than ours rests in its own way."""
        if (plugged := self._mind.plugged) is not None:
            return {step: partial(_none_of, plugged, step) for step in Step}
        return {
            Step.CONSOLIDATE: self._consolidate,
            Step.PROFILES: self._profiles,
            Step.REFLECT: self._reflect,
            Step.COMPACT: self._compact,
            Step.DREAM: lambda ask: self._dream(ask, fell_asleep),
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

    def _consolidate(self, ask: Ask) -> Figures:
        config, window = self._services.journal.current, self._mind.memory.context().window
        # What mattered today is slept on, whether or not a compaction would have drawn it out.
        self._mind.diary.leaving(window)
        return consolidate(self._mind.diary.journal, ask, config, self._now)

    def _profiles(self, ask: Ask) -> Figures:
        people, archive = self._mind.acquaintances, self._archive
        people.settle()
        newest = archive.last_number
        since = max(self._through(), newest - NEWEST)
        memories = self._read(since + 1, newest) if newest > since else []
        figures = update_profiles(people.book, memories, ask, self._name, people.importance_of)
        return {**figures, THROUGH: since if LEFT in figures else newest}

    def _through(self) -> int:
        """The last memory that the profiles of an earlier sleep have seen."""
        seen = [
            int(step.figures.get(THROUGH, 0))
            for night in self.log.nights()
            for step in night.steps
            if step.step is Step.PROFILES and not step.problem
        ]
        return max(seen, default=0)

    # -- reflecting

    def _reflect(self, ask: Ask) -> Figures:
        config = self._services.sleeping.current
        known = self._mind.acquaintances.book.all()[:KNOWN]
        people = [(each.key, each.names[-1].name) for each in known if each.names]
        figures, _ = reflect(
            self._mind.diary.journal,
            self.evidence,
            ask,
            config,
            self._name,
            self._now,
            people=people,
        )
        return figures

    def evidence(self, question: str) -> Sequence[Evidence]:
        """Raw memories that may answer the question, by recall, else by their words."""
        found = self._mind.keeper.recaller.find(question, by="night", seconds=SEARCH_SECONDS)
        hits = found.memories if found is not None else ()
        memories = self._of(hits) or self._by_words(question)
        return [
            Evidence(each.number, for_prompt(each.line), each.time.astimezone())
            for each in memories[:FOUND]
        ]

    def _of(self, hits: Sequence[Hit]) -> list[Memory]:
        """The memories that were found, best first, without those about its own memory."""
        found: list[Memory] = []
        for hit in hits:
            found += self._read(hit.document.first, hit.document.last)
        return [memory for memory in found if not about_memory(memory)]

    def _by_words(self, question: str) -> list[Memory]:
        """What recall without an index comes down to: the newest that share most words."""
        wanted, newest = telling(question), self._archive.last_number
        scored = []
        for memory in self._read(max(newest - NEWEST, 0) + 1, newest):
            shared = len(wanted & telling(f"{memory.source} {memory.text}"))
            if shared and memory.kind is MemoryKind.PERCEPTION and not about_memory(memory):
                scored.append((shared, memory.number, memory))
        return [memory for _, _, memory in sorted(scored, key=lambda each: each[:2])[::-1]]

    # -- compacting

    def _compact(self, ask: Ask) -> Figures:
        """Have the memory compacted if it is over its sleep mark, and wait for the end of it.

        What has left the window by that is read again, for rules that were told in it.
        """
        memory, asked = self._mind.memory, threading.Event()

        def start() -> None:
            try:
                memory.compact_if_due()
            finally:
                asked.set()

        before = self._weight()
        self._services.post(start)
        # Whoever wakes meanwhile does not wait for it; it goes on by itself.
        wait = self._services.wait
        while not wait(asked, _LOOK_SECONDS) or memory.compacting:
            ask.check()
            wait(self._pause, _LOOK_SECONDS)
        after = self._weight()
        made = after[0] - before[0]
        figures = {"compactions": made, "tokens before": before[1], "tokens after": after[1]}
        reread = memory.reread(ask, memory.noticed)
        return {**figures, "read again": reread} if reread else figures

    def _weight(self) -> tuple[int, int]:
        """How many compactions there were, and what the prompt weighs in tokens."""
        memory = self._mind.memory.memory
        return memory.status().compactions, memory.load().used

    # -- dreaming and tidying

    def _dream(self, ask: Ask, fell_asleep: datetime) -> Figures:
        if not self._services.sleeping.current.dream:
            return {"dreams": 0}
        # The same dice however often the step is begun: a dream is not chosen anew.
        rng = Random(f"{self._name} {fell_asleep.isoformat()}")
        return dream(self._dreamt_of(rng), self._name, ask, rng, self._folder, self._now)

    def _dreamt_of(self, rng: Random) -> list[Memory]:
        newest = self._archive.last_number
        before = max(newest - DREAMT_OF, 0)
        first = rng.randint(1, max(before - OLDER, 1))
        older = self._read(first, min(first + OLDER - 1, before)) if before else []
        return [*older, *self._read(before + 1, newest)]

    def _tidy(self, _ask: Ask) -> Figures:
        return tidy(self._folder, self._mind.diary.journal, self._now)


def _none_of(plugged: PluggedMemory, step: Step, _ask: Ask) -> Figures:
    """What is left of a step where another memory than ours sleeps."""
    if step is Step.COMPACT:
        plugged.rest(asleep=True)
    return {}
