"""The model as a sleeper may ask it: a limit on calls, and an end when the agent wakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from game.mind.errors import KeepsakeError
from game.mind.ports import Generation

type Generate = Callable[[str, tuple[str, ...]], Generation]
"""Continues a prompt up to one of the stop strings; blocks, raises ModelError."""


class NightOver(KeepsakeError):
    """The agent has woken, or its sleep may cost no more: what is left waits for the next."""


class CallsSpent(NightOver):
    """The calls of a step are spent; the next step goes on, what is left waits for a sleep."""


class Ask(Protocol):
    """Asks the model that works in sleep; what it answers may be anything."""

    @property
    def available(self) -> bool:
        """Whether a model may be asked now; without one the rules alone have to do."""
        ...

    def check(self) -> None:
        """Go on; call it before each piece of work.

        Raises:
            NightOver: The agent has woken.
        """
        ...

    def __call__(self, prompt: str, stop: tuple[str, ...] = ()) -> str:
        """The model's answer; blocks.

        Raises:
            NightOver: The agent has woken.
            CallsSpent: No more calls may be made for this step.
            ModelError: There was no answer.
        """
        ...
