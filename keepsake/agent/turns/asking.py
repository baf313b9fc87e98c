"""One request of a turn to the model: it waits in the queue, then the answer comes in pieces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from twisted.internet.defer import Deferred, DeferredQueue

from keepsake.agent.runtime import PROFILE, Runtime
from keepsake.errors import KeepsakeError, ModelError, ModelUnavailable
from keepsake.models.profiles import ModelProfile
from keepsake.models.tickets import Outcome, Priority, Ticket
from keepsake.ports import GenerationRequest

type Wait = Callable[[Awaitable[Any]], Awaitable[Any]]
"""Waits for a result; raises :class:`keepsake.agent.turns.attempt.TurnDropped` if the turn ends."""


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """The end of an answer: the whole answer, an error, or None if the call was cancelled."""

    outcome: Outcome


type Build = Callable[[ModelProfile, float], GenerationRequest | None]
"""Builds the request when the queue reaches it, after a wait in seconds; None cancels it."""


class ModelCall:
    """A request of an agent to the model.

    Args:
        key: Identifies the agent to the queue, and to the server's prompt cache.
        build: Called when the queue reaches the request.
    """

    def __init__(self, services: Runtime, key: str, priority: Priority, build: Build) -> None:
        self._services = services
        self._key = key
        self._priority = priority
        self._build = build
        self._queued = services.seconds()
        self._inbox: DeferredQueue[str | AnswerEnd] = DeferredQueue()
        self._ticket: Ticket | None = None

    def submit(self) -> None:
        """Put the request into the queue.

        Raises:
            KeepsakeError: There is no such profile, or no model.
        """
        self._ticket = self._services.gateway.submit(
            PROFILE,
            self._priority,
            self._key,
            self._request,
            lambda outcome: self._inbox.put(AnswerEnd(outcome)),
        )

    def next(self) -> Deferred[str | AnswerEnd]:
        """Return the next piece of the answer, or its end."""
        return self._inbox.get()

    def cancel(self) -> None:
        """Give up the request; harmless after its end."""
        if self._ticket is not None:
            self._ticket.cancelled = True

    def give_up(self) -> None:
        """Give up the request, and end its answer; harmless after its end."""
        self.cancel()
        self._inbox.put(AnswerEnd(None))

    def _request(self, profile: ModelProfile) -> GenerationRequest | None:
        """Build the request, now that the queue has reached it; None cancels it."""
        waited = self._services.seconds() - self._queued
        request = self._build(profile, waited)
        if request is None:
            return None
        post = self._services.post
        inbox = self._inbox
        return replace(
            request,
            cache_key=self._key,
            on_text=lambda piece: post(lambda: inbox.put(piece)),
        )


async def whole_answer(call: ModelCall, wait: Wait) -> Outcome:
    """Send a request, and return what came of it when its answer is complete.

    Raises:
        KeepsakeError: There is no such profile, or no model.
    """
    try:
        call.submit()
        piece = await wait(call.next())
        while not isinstance(piece, AnswerEnd):
            piece = await wait(call.next())
        outcome: Outcome = piece.outcome
        return outcome
    finally:
        call.cancel()


def as_model_error(error: KeepsakeError) -> ModelError:
    """Return why a request could not be sent, as the failure of a model."""
    return error if isinstance(error, ModelError) else ModelUnavailable(str(error))
