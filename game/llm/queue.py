"""One queue in front of each model server.

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
from dataclasses import dataclass
from enum import IntEnum

from game.mind.errors import ModelError, ModelFailed, ModelUnavailable
from game.mind.ports import Generation, GenerationRequest, LanguageModel

log = logging.getLogger("keepsake.llm")

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


@dataclass(eq=False, slots=True)
class Ticket:
    """A place in the queue."""

    priority: Priority
    key: str | None
    number: int
    since: float
    model: LanguageModel
    build: Build
    done: Done
    cancelled: bool = False

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

    Args:
        executor: Runs the calls.
        post: Runs a function in the owner's thread.
        in_flight: Calls at once. Where there are two or more, compaction and sleep leave
            one free, so that a player never waits for a summary or for somebody's night.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        executor: Executor,
        post: Post,
        in_flight: int = 2,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.in_flight = in_flight
        self._executor = executor
        self._post = post
        self._clock = clock
        self._number = 0
        self._waiting: list[Ticket] = []
        self._running: list[Ticket] = []
        self._pump_posted = False
        self._closed: ModelError | None = None

    def submit(
        self,
        priority: Priority,
        key: str | None,
        build: Build,
        done: Done,
        model: LanguageModel,
    ) -> Ticket:
        """Queue one call; owner's thread only.

        ``build`` and ``done`` run in the owner's thread, never inside this call.
        ``done`` gets the answer, the error, or None when ``build`` gave None.

        Args:
            priority: How urgent it is.
            key: Who asks; None for nobody in particular.
            build: Makes the request when the turn has come.
            done: Gets what came of it, once, unless the ticket is cancelled.
            model: Answers it.
        """
        self._number += 1
        ticket = Ticket(priority, key, self._number, self._clock(), model, build, done)
        self._waiting.append(ticket)
        self._pump_soon()
        return ticket

    def waiting(self) -> dict[Priority, int]:
        """Jobs that wait, by priority; owner's thread only."""
        counted = Counter(ticket.priority for ticket in self._waiting if not ticket.cancelled)
        return {priority: counted[priority] for priority in Priority}

    def running(self) -> int:
        """Calls in flight; owner's thread only."""
        return len(self._running)

    def close(self, reason: ModelError | None = None) -> None:
        """Take no more jobs; answer those that wait with ``reason``; owner's thread only.

        Calls in flight end by themselves and are answered as they end.
        """
        self._closed = reason or ModelUnavailable("The world is shutting down")
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
        busy = {ticket.key for ticket in self._running if ticket.key is not None}
        free = [t for t in self._waiting if t.key not in busy and self._has_place(t.priority)]
        if not free:
            return None
        now = self._clock()
        chosen = min(free, key=lambda ticket: ticket.rank(now))
        self._waiting.remove(chosen)
        return chosen

    def _has_place(self, priority: Priority) -> bool:
        if len(self._running) >= self.in_flight:
            return False
        if priority not in BACKGROUND or self.in_flight == 1:
            return True
        behind = sum(ticket.priority in BACKGROUND for ticket in self._running)
        return behind < self.in_flight - 1

    def _begin(self, ticket: Ticket) -> None:
        try:
            request = ticket.build()
        except Exception as error:  # whatever a builder does wrong must not stop the queue
            log.exception("[Model] The prompt of %s could not be built", ticket.key)
            self._tell(ticket, ModelFailed(f"The prompt could not be built ({error})", "See log"))
            return
        if request is None:
            self._tell(ticket, None)
            return
        self._call(ticket, request)

    def _call(self, ticket: Ticket, request: GenerationRequest) -> None:
        try:
            future = self._executor.submit(ticket.model.generate, request)
        except RuntimeError:  # the executor is shut down
            self._tell(ticket, ModelUnavailable("The world is shutting down"))
            return
        self._running.append(ticket)
        future.add_done_callback(lambda ended: self._post(lambda: self._ended(ticket, ended)))

    def _ended(self, ticket: Ticket, future: Future[Generation]) -> None:
        self._running.remove(ticket)
        self._tell(ticket, _outcome(ticket, future))
        self._pump_soon()

    def _tell(self, ticket: Ticket, outcome: Outcome) -> None:
        if ticket.cancelled:
            return
        try:
            ticket.done(outcome)
        except Exception:  # whatever a receiver does wrong must not stop the queue
            log.exception("[Model] The answer to %s could not be used", ticket.key)

    def _answer_all_closed(self) -> None:
        waiting, self._waiting = self._waiting, []
        for ticket in waiting:
            self._tell(ticket, self._closed)


def _outcome(ticket: Ticket, future: Future[Generation]) -> Generation | ModelError:
    if future.cancelled():
        return ModelUnavailable("The world is shutting down")
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, ModelError):
        return error
    log.error("[Model] A fault in the client of %s", ticket.key, exc_info=error)
    return ModelFailed(f"The model's client broke ({error!r})", "See the log; please report it")
