"""Lives a trial through a memory and asks its questions, each when its time has come."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from keepsake.archive.privacy import PrivateWords
from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.lab.trials.trial import Trial, TrialQuestion
from keepsake.memory.protocol import MemorySystem, RecalledLine, Surroundings
from keepsake.ports import FixedClock

QUIET = timedelta(minutes=30)
"""So long without a memory is a rest."""
OVER = 1.25
"""The share of its budget that a context may cost: memories may count tokens differently."""
NIGHT = timedelta(hours=4)
"""So long without one, or a new day, is a night."""


type Found = tuple[RecalledLine, ...]


class MemoryFault(KeepsakeError):
    """A memory raised an error, or returned something else than the protocol wants."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One question and what the memory had for it."""

    question: TrialQuestion
    context: tuple[str, ...]  # what every prompt shows
    recalled: tuple[RecalledLine, ...]  # what was found for this question, best first
    tokens: int  # of both, by our estimate
    seconds: float  # that the memory took for both

    @property
    def found(self) -> tuple[int, ...]:
        """Numbers of the memories that were recalled, best first, each once."""
        return tuple(dict.fromkeys(n for each in self.recalled for n in each.numbers))


class Living:
    """One life through one memory; blocks.

    Args:
        trial: What is lived and asked.
        memory: What lives through it.
        clock: The memory's, which is put to each moment.
        given: What the memory was given.
        limit: How much is recalled for a question.
    """

    def __init__(
        self, trial: Trial, memory: MemorySystem, clock: FixedClock, given: Surroundings, limit: int
    ) -> None:
        self._trial, self._memory, self._clock = trial, memory, clock
        self._given, self._limit = given, limit
        self._private = PrivateWords()

    def ask_all(self) -> Iterator[Asking]:
        """Live from the first memory to the last question."""
        waiting = sorted(self._trial.questions, key=lambda each: each.time)
        for memory in self._trial.memories:
            while waiting and waiting[0].time < memory.time:
                yield self._ask(waiting.pop(0))
            self._live(memory)
        for question in waiting:
            yield self._ask(question)

    def _live(self, memory: Memory) -> None:
        self._pass_to(memory.time)
        self._memory.perceive(memory)
        self._private.saw(memory)

    def _pass_to(self, moment: datetime) -> None:
        gap = moment - self._clock.time
        if gap >= QUIET:
            self._memory.rest(asleep=gap >= NIGHT or moment.date() != self._clock.time.date())
        self._clock.time = max(moment, self._clock.time)

    def _ask(self, question: TrialQuestion) -> Asking:
        self._pass_to(question.time)
        began = time.perf_counter()
        # The asker is known, as in the world: "my sister" is the asker's.
        words = f"{question.asker}: {question.text}" if question.asker else question.text
        recalled = self._memory.recall(words, self._limit)
        context = self._memory.context(self._given.budget)
        seconds = time.perf_counter() - began
        context, recalled = self._checked(context, recalled)
        may = partial(self._private.may_hear_all, audience=question.audience)
        recalled = tuple(each for each in recalled if may(each.numbers))
        costs = self._given.tokens.each([*context, *(each.text for each in recalled)])
        return Asking(question, context, recalled, sum(costs), seconds)

    def _checked(self, context: Any, recalled: Any) -> tuple[tuple[str, ...], Found]:
        """What it gave, if that is what it is to give: a slip must not become a figure."""
        if isinstance(context, str) or not all(isinstance(each, str) for each in context):
            raise _unlike("context", "a list of lines, each a text")
        if isinstance(recalled, str) or not all(isinstance(e, RecalledLine) for e in recalled):
            raise _unlike("recall", "a list of RecalledLine")
        if len(recalled) > self._limit:
            raise _unlike("recall", f"{self._limit} lines at most, not {len(recalled)}")
        cost = sum(self._given.tokens.each(list(context)))
        if cost > OVER * self._given.budget:
            raise _unlike("context", f"{self._given.budget:,} tokens at most, not {cost:,}")
        return tuple(context), tuple(recalled)


def _unlike(method: str, wanted: str) -> MemoryFault:
    told = f"The memory's {method}() is to give {wanted}"
    return MemoryFault(told, "See docs/research.md; keepsake.lab.memories.conformance tests it")
