"""A task: one question to a model, the check of its answer, and what happens without a model.

A task renders itself for the form of the model that answers, reads the answer, and names why it
refuses one. :func:`run` asks in a worker thread; the thinker asks on the reactor with the same
tasks. A refused answer is asked for once more, with the reason. After that the fallback counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from keepsake.errors import KeepsakeError, ModelError
from keepsake.ports import ChatMessage, Generation, TargetModel, Tool

TRIES = 2
"""How often a model is asked: once, and once more with the reason of the refusal."""
FALLBACK = "fallback"
"""The ``by`` of an outcome that no model wrote."""


@dataclass(frozen=True, slots=True)
class Question:
    """The prompt of a task, rendered for one model."""

    messages: tuple[ChatMessage, ...] = ()  # for a model whose form is ``chat``
    text: str = ""  # for a model that continues text
    stop: tuple[str, ...] = ()  # strings that end the answer
    max_tokens: int = 0  # tokens of the answer; 0 for the profile's ``max_tokens``
    temperature: float | None = None  # None for the profile's
    json_schema: Mapping[str, Any] | None = None
    tools: tuple[Tool, ...] = ()


class AnswerRefused(KeepsakeError):
    """An answer that fails its check; ``what`` is the reason, in words that a model can act on."""


class Task[T](Protocol):
    """One question to a model."""

    @property
    def name(self) -> str:
        """The name of its template, such as ``talk``."""
        ...

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The prompt for this model.

        Args:
            target: The model that will answer.
            refused: Why the last answer was refused; empty at the first try.
        """
        ...

    def read(self, answer: str) -> T:
        """What the answer means.

        Raises:
            AnswerRefused: It fails the check.
        """
        ...

    def fallback(self) -> T:
        """The result without a model."""
        ...


@dataclass(frozen=True, slots=True)
class RefusedAnswer:
    """One answer that was not used."""

    task: str
    answer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What the calls of a task took; tokens are 0 where the server does not count."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def with_call(self, answer: Generation) -> Cost:
        """The same and one call more."""
        return Cost(
            self.calls + 1,
            self.prompt_tokens + answer.prompt_tokens,
            self.completion_tokens + answer.completion_tokens,
            self.seconds + answer.seconds,
        )


@dataclass(frozen=True, slots=True)
class TaskResult[T]:
    """The result of a task, with who made it and what it took."""

    value: T
    by: str  # the model's name, or :data:`FALLBACK`
    cost: Cost = Cost()
    refusals: tuple[RefusedAnswer, ...] = ()
    problem: str = ""  # why no model answered; empty if one did


type Ask = Callable[[Callable[[TargetModel], Question]], Generation]
"""Asks the model of one profile: gets the prompt when the model's turn has come; blocks.

Raises:
    ModelError: No answer.
"""


def run[T](task: Task[T], ask: Ask | None, *, forgiving: bool = True) -> TaskResult[T]:
    """Have a model do the task; a refused answer is asked for once more, then the fallback counts.

    Args:
        task: The task.
        ask: How the model is asked; None where the profile names none.
        forgiving: Whether the fallback also counts where the model gave no answer.

    Raises:
        ModelError: No answer, and ``forgiving`` is off.
    """
    refusals: tuple[RefusedAnswer, ...] = ()
    cost, problem, reason = Cost(), "", ""
    for _ in range(TRIES if ask is not None else 0):
        assert ask is not None
        try:
            answer = ask(partial(task.ask, refused=reason))
        except ModelError as error:
            if not forgiving:
                raise
            problem = str(error)
            break
        cost = cost.with_call(answer)
        try:
            return TaskResult(task.read(answer.text), answer.model, cost, refusals)
        except AnswerRefused as refused:
            reason = refused.what
            refusals = (*refusals, RefusedAnswer(task.name, answer.text, reason))
    return replace(TaskResult(task.fallback(), FALLBACK, cost, refusals), problem=problem or reason)
