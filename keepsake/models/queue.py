"""The queue in front of one model server.

All book-keeping happens in the owner's thread (Evennia's reactor); only the model
call itself runs in a worker thread. A prompt is built when its turn comes, so it
shows the world as it is then, and a thought that is no longer wanted costs nothing.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Protocol

from keepsake.errors import ModelError, ModelFailed, ModelUnavailable, PromptUnfit
from keepsake.ports import Generation, GenerationRequest

log = logging.getLogger("keepsake.models")

Build = Callable[[], GenerationRequest | None]
"""Makes the request when its turn has come; None when it is no longer wanted."""

Outcome = Generation | ModelError | None
"""What ``done`` gets: an answer, an error, or None when ``build`` gave none."""

Done = Callable[[Outcome], None]
Post = Callable[[Callable[[], None]], object]
"""Runs a function in the owner's thread soon; may be called from any thread."""


class Priority(IntEnum):
    """Who goes first: the lower number."""

    PLAYER = 0
    EVENT = 1
    IDLE = 2
    COMPACTION = 3
    SLEEP = 4


BACKGROUND = (Priority.COMPACTION, Priority.SLEEP)
"""What nobody waits for: together they leave a place free."""
PATIENCE_SECONDS = 60.0
"""A job that has waited this long goes up one step, though never before a player's. What is
asked in sleep stays where it is: the night is long, and everybody else's thoughts come first."""
REBUILDS = 2
"""How often a prompt is built anew for a server that has shown what it takes."""


class QueuedModel(Protocol):
    """What the queue needs of a model: :class:`keepsake.models.model.AskedModel`."""

    def is_known(self) -> bool:
        """Whether prompts can be made for it; quick."""
        ...

    def learn(self, given_up: Callable[[], bool]) -> None:
        """Learn what it takes; blocks."""
        ...

    def generate(self, request: GenerationRequest) -> Generation:
        """Answer; blocks."""
        ...


@dataclass(eq=False, slots=True)
class Ticket:
    """A place in the queue."""

    priority: Priority
    key: str | None
    number: int
    since: float
    model: QueuedModel
    build: Build
    done: Done
    cancelled: bool = False
    answered: bool = False
    rebuilt: int = 0  # how often its prompt was built anew

    def cancel(self) -> None:
        """Give the place up; ``done`` will not be called. Too late does no harm."""
        self.cancelled = True

    def rank(self, now: float) -> tuple[int, int]:
        """What the queue sorts by: priority, raised by long waiting, then arrival."""
        if self.priority is Priority.SLEEP:
            return self.priority, self.number
        lifted = self.priority - int((now - self.since) / PATIENCE_SECONDS)
        floor = min(self.priority, Priority.EVENT)
        return max(lifted, floor), self.number


class ModelQueue:
    """Calls to one server, the most urgent first, never two of one key at once.

    Where there are two places or more, compaction and sleep leave one free, so that a player never
    waits for a summary or for somebody's night.

    Attributes:
        running: The calls in flight.
        places: How many may be.

    Args:
        executor: Runs the calls.
        post: Runs a function in the owner's thread.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        executor: Executor,
        post: Post,
        clock: Callable[[], float] = time.monotonic,
        places: int = 2,
    ) -> None:
        self.running: list[Ticket] = []
        self.places = places
        self._executor, self._post, self._clock = executor, post, clock
        self._number, self._pump_posted = 0, False
        self._waiting: list[Ticket] = []
        self._closed: ModelError | None = None

    def submit(
        self, priority: Priority, key: str | None, model: QueuedModel, build: Build, done: Done
    ) -> Ticket:
        """Queue one call; owner's thread only.

        ``build`` and ``done`` run in the owner's thread, never inside this call.

        Args:
            priority: How urgent it is.
            key: Who asks; None for nobody in particular.
            model: Which model is asked.
            build: For what.
            done: Gets what came of it, once, unless the ticket is cancelled: the answer, the
                error, or None when ``build`` gave None.
        """
        self._number += 1
        ticket = Ticket(priority, key, self._number, self._clock(), model, build, done)
        self._waiting.append(ticket)
        self._pump_soon()
        return ticket

    def waiting(self) -> dict[Priority, int]:
        """Jobs that wait, by priority; owner's thread only."""
        counted = Counter(each.priority for each in self._waiting if not each.cancelled)
        return {priority: counted[priority] for priority in Priority}

    def close(self, reason: ModelError) -> None:
        """Answer all, those in flight too, with ``reason``, and take no more; owner's thread only.

        What comes of the calls in flight is not looked at.
        """
        self._closed = reason
        self._answer_all_closed()

    def _pump_soon(self) -> None:
        if not self._pump_posted:
            self._pump_posted = True
            self._post(self._pump)

    def _pump(self) -> None:
        self._pump_posted = False
        if self._closed is not None:
            self._answer_all_closed()
        if (ticket := self._take()) is not None:
            self._begin(ticket)
            # The next one in a turn of its own: building a prompt takes a moment, and
            # players must not wait for fifty of them.
            self._pump_soon()

    def _take(self) -> Ticket | None:
        """The job whose turn it is, out of the queue; None when none may start."""
        self._waiting = [ticket for ticket in self._waiting if not ticket.cancelled]
        if len(self.running) >= self.places:
            return None
        now, keys = self._clock(), {each.key for each in self.running} - {None}
        may = (each for each in self._waiting if each.key not in keys and self._has_place(each))
        ticket = min(may, key=lambda each: each.rank(now), default=None)
        if ticket is not None:
            self._waiting.remove(ticket)
        return ticket

    def _has_place(self, ticket: Ticket) -> bool:
        """Whether there is a place that it may take, where any is free."""
        if ticket.priority not in BACKGROUND or self.places == 1:
            return True
        return sum(each.priority in BACKGROUND for each in self.running) < self.places - 1

    def _begin(self, ticket: Ticket) -> None:
        self.running.append(ticket)
        if ticket.model.is_known():
            self._build(ticket)
        else:
            self._run(ticket, ticket.model.learn, lambda: self._is_given_up(ticket))

    def _build(self, ticket: Ticket) -> None:
        """Build the prompt and have it answered; the place is taken."""
        try:
            request = None if ticket.cancelled else ticket.build()
        except Exception as error:  # whatever a builder does wrong must not stop the queue
            log.exception("[Model] The prompt of %s could not be built", ticket.key)
            self._end(ticket, ModelFailed(f"The prompt could not be built ({error})", "See log"))
            return
        if request is None:
            self._end(ticket, None)
            return
        request = replace(request, given_up=lambda: self._is_given_up(ticket))
        self._run(ticket, ticket.model.generate, request)

    def _run[A](self, ticket: Ticket, work: Callable[[A], Generation | None], given: A) -> None:
        """Have it done by a worker thread: an answer, or what a server takes is learnt."""
        try:
            future = self._executor.submit(work, given)
        except RuntimeError:  # the executor is shut down
            self._end(ticket, ModelUnavailable("The world is shutting down"))
            return
        future.add_done_callback(lambda ended: self._post(lambda: self._ended(ticket, ended)))

    def _ended(self, ticket: Ticket, future: Future[Generation | None]) -> None:
        if ticket.answered:
            return  # at the end of the queue
        outcome = _outcome(ticket, future)
        if outcome is None:  # it is known now
            self._build(ticket)
        elif (
            isinstance(outcome, PromptUnfit)  # for what is known of the server now
            and ticket.rebuilt < REBUILDS
            and not self._is_given_up(ticket)
        ):
            ticket.rebuilt += 1
            self._build(ticket)
        else:
            self._end(ticket, outcome)
        self._pump_soon()

    def _end(self, ticket: Ticket, outcome: Outcome) -> None:
        """Give the place free and tell what came."""
        self.running.remove(ticket)
        self._tell(ticket, outcome)

    def _is_given_up(self, ticket: Ticket) -> bool:
        return ticket.cancelled or self._closed is not None

    def _tell(self, ticket: Ticket, outcome: Outcome) -> None:
        ticket.answered = True
        if ticket.cancelled:
            return
        try:
            ticket.done(outcome)
        except Exception:  # whatever a receiver does wrong must not stop the queue
            log.exception("[Model] The answer to %s could not be used", ticket.key)

    def _answer_all_closed(self) -> None:
        left = [*self.running, *self._waiting]
        self.running, self._waiting = [], []
        for ticket in left:
            self._tell(ticket, self._closed)


def _outcome(ticket: Ticket, future: Future[Generation | None]) -> Outcome:
    if future.cancelled():
        return ModelUnavailable("The world is shutting down")
    error = future.exception()
    if error is None or isinstance(error, ModelError):
        return error or future.result()
    log.error("[Model] A fault in the client of %s", ticket.key, exc_info=error)
    return ModelFailed(f"The model's client broke ({error!r})", "See the log; please report it")
