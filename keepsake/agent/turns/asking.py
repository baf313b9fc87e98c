"""One request of a turn to the model: it waits in the queue, then the answer comes in pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from twisted.internet.defer import Deferred, DeferredQueue

from keepsake.agent.agent_log import ThoughtLog
from keepsake.agent.runtime import PROFILE, Runtime
from keepsake.agent.turns.answering import Answering, Wait
from keepsake.agent.turns.attempt import AttemptState
from keepsake.errors import KeepsakeError
from keepsake.events.values import Assent, GuardOp
from keepsake.logs import Subsystem, get_logger
from keepsake.models.profiles import ModelProfile
from keepsake.models.queue import Outcome, Priority, Ticket
from keepsake.ports import Generation, GenerationRequest
from keepsake.tasks.agreed import Agreed
from keepsake.tasks.answer import AnswerPart, AnswerReader, PartKind
from keepsake.tasks.deed import deed_of
from keepsake.tasks.guard import SpeechFault

log = get_logger(Subsystem.THOUGHTS)


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


class Reading:
    """Reads an answer as it comes, and has each part carried out as soon as it is complete."""

    def __init__(
        self,
        reader: AnswerReader,
        answering: Answering,
        state: AttemptState,
        thoughts: ThoughtLog,
    ) -> None:
        self._reader = reader
        self._answering = answering
        self._state = state
        self._thoughts = thoughts

    async def take(self, piece: str, wait: Wait) -> None:
        """Read a piece of the answer."""
        for part in self._reader.feed(piece):
            await self._answering.carry_out(part, wait)

    async def end(self, answer: Generation, wait: Wait) -> None:
        """Read the rest of the answer: an unfinished line, an unstreamed text, tool calls."""
        state = self._state
        reader = self._reader
        unread = [] if reader.heard else reader.feed(answer.text)
        rest = [*unread, *reader.end()]
        deeds = [AnswerPart(PartKind.DEED, deed_of(call)) for call in answer.tool_calls]
        for part in [*rest, *deeds]:
            await self._answering.carry_out(part, wait)
        did = any(act.command is not None for act in state.acts)
        if state.acts and not did:
            state.fault = state.fault or state.acts[-1].refusal
        if not state.parts:
            fault = SpeechFault.NOT_OWN if reader.is_over else SpeechFault.EMPTY
            state.fault = state.fault or fault
            self._thoughts.guard(state.impulse, GuardOp.REFUSED, answer.text, state.fault)
        elif reader.altered:
            why = "labels and marks are not spoken"
            self._thoughts.guard(state.impulse, GuardOp.ALTERED, "\n".join(reader.altered), why)


async def assent(
    services: Runtime, key: str, priority: Priority, task: Agreed, wait: Wait
) -> Assent:
    """Ask the model whether an answer agrees to a deed; without an answer, it does not.

    Args:
        key: Identifies the question to the queue.
    """
    call = ModelCall(services, key, priority, lambda profile, _: task.ask(profile, ""))
    try:
        call.submit()
        item = await wait(call.next())
        while isinstance(item, str):  # it comes in pieces, and as a whole at its end
            item = await wait(call.next())
        outcome = item.outcome
        return task.read(outcome.text) if isinstance(outcome, Generation) else task.fallback()
    except KeepsakeError as error:  # no such profile, no model, or another answer
        log.info(f"It is not known what was agreed: {error}", agent=task.who)
        return task.fallback()
    finally:
        call.cancel()
