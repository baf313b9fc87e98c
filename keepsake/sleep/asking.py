"""The model as a sleeper may ask it: a limit on calls, and an end when the agent wakes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from math import ceil

from keepsake.errors import KeepsakeError, ModelError, ModelMissing, ModelUnavailable
from keepsake.ports import Generation, TargetModel
from keepsake.sleep.steps import Figures, Step
from keepsake.tasks.task import Ask, Question, RefusedAnswer, Task, run

type Work = Callable[[NightAsk], Figures]
"""Does one step, in a worker thread. It may be broken off by :class:`NightOver` at any call of
``ask``: what it did until then is on the disk, and doing it again does no harm."""

_WEIGHTS = {Step.CONSOLIDATE: 2, Step.PROFILES: 4, Step.REFLECT: 2, Step.COMPACT: 1}
"""How a night's calls are shared out; what a step does not use goes to those after it."""


class NightOver(KeepsakeError):
    """The agent has woken, or its sleep may cost no more: what is left waits for the next."""


class CallsSpent(NightOver):
    """The calls of a step are spent; the next step goes on, what is left waits for a sleep."""


class NightAsk:
    """The model for one sleep: an :data:`Ask` with a limit, and an end when the agent wakes.

    Args:
        ask: Asks the model; None for none.
        limit: The most calls.

    Attributes:
        woken: Set once the agent has woken: a call that still waits for its turn can be given up.
        refused: The answers that were not used.
    """

    def __init__(self, ask: Ask | None, limit: int, woken: threading.Event | None = None) -> None:
        self.calls = 0
        self.limit = limit
        self._ask = ask
        self._until = limit
        self.woken = woken or threading.Event()
        self.refused: list[RefusedAnswer] = []

    @property
    def has_model(self) -> bool:
        """Whether there is a model that answers; its calls may be spent."""
        return self._ask is not None

    @property
    def available(self) -> bool:
        """Whether a model may be asked now."""
        return self._ask is not None and self.calls < min(self._until, self.limit)

    def wake(self) -> None:
        """End the night at its next piece of work; from any thread."""
        self.woken.set()

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
            CallsSpent: No more calls may be made for this step, or there is no model.
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
