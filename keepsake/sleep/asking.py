"""The model as a sleeper may ask it: a limit on calls, and an end when the agent wakes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from math import ceil

from keepsake.errors import KeepsakeError, ModelError, ModelMissing, ModelUnavailable
from keepsake.ports import Generation
from keepsake.sleep.steps import Figures, Step

type Generate = Callable[[str, tuple[str, ...]], Generation]
"""Continues a prompt up to one of the stop strings; blocks, raises ModelError."""

type Work = Callable[[Ask], Figures]
"""Does one step, in a worker thread. It may be broken off by :class:`NightOver` at any call of
``ask``: what it did until then is on the disk, and doing it again does no harm."""

_WEIGHTS = {
    **{Step.CONSOLIDATE: 2, Step.PROFILES: 3, Step.REFLECT: 3},
    **{Step.COMPACT: 1, Step.DREAM: 1},
}
"""How a night's calls are shared out; what a step does not use goes to those after it."""


class NightOver(KeepsakeError):
    """The agent has woken, or its sleep may cost no more: what is left waits for the next."""


class CallsSpent(NightOver):
    """The calls of a step are spent; the next step goes on, what is left waits for a sleep."""


class Ask:
    """The model for one sleep: a limit on its calls, and an end when the agent wakes.

    Args:
        generate: Asks the model; None for none.

    Attributes:
        woken: Set once the agent has woken: a call that still waits for its turn can be given up.
    """

    def __init__(
        self, generate: Generate | None, limit: int, woken: threading.Event | None = None
    ) -> None:
        self.calls = 0
        self.limit = limit
        self._generate = generate
        self._until = limit
        self.woken = woken or threading.Event()

    @property
    def available(self) -> bool:
        """Whether a model may be asked now; without one the rules alone have to do."""
        return self._generate is not None and self.calls < min(self._until, self.limit)

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

    def __call__(self, prompt: str, stop: tuple[str, ...] = ()) -> str:
        """The model's answer; blocks.

        Raises:
            NightOver: The agent has woken.
            CallsSpent: No more calls may be made for this step, or there is no model.
            ModelError: There was no answer.
        """
        self.check()
        generate = self._generate
        if generate is None or not self.available:
            raise CallsSpent("The model calls of this sleep are spent", "The rest waits")
        self.calls += 1
        try:
            answer = generate(prompt, stop).text
        except ModelError as error:
            self.check()  # a call that was given up because the agent woke is no fault
            if isinstance(error, ModelUnavailable | ModelMissing):
                self._generate = None  # the other steps do what they can without
            raise
        self.check()
        return answer
