"""The queue in front of one model server.

All book-keeping happens in the owner's thread (Evennia's reactor); only the model
call itself runs in a worker thread. A prompt is built when its turn comes, so it
shows the world as it is then, and a thought that is no longer wanted costs nothing.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from keepsake.errors import ModelError, ModelFailed, ModelUnavailable, PromptUnfit
from keepsake.models.model import Model
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


@dataclass(eq=False, slots=True)
class Ticket:
    """A place in the queue."""

    priority: Priority
    key: str | None
    number: int
    since: float
    model: Model
    build: Build
    done: Done
    cancelled: bool = False
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
        self._numbers = itertools.count(1)
        self._waiting: list[Ticket] = []
        self._closed: ModelError | None = None

    def submit(
        self, priority: Priority, key: str | None, model: Model, build: Build, done: Done
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
        ticket = Ticket(priority, key, next(self._numbers), self._clock(), model, build, done)
        self._waiting.append(ticket)
        self._post(self._pump)
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
        self.running, self._waiting = [*self.running, *self._waiting], []
        for ticket in list(self.running):
            self._end(ticket, reason)
            ticket.cancel()

    def _pump(self) -> None:
        """Begin with the most urgent of those that may begin now."""
        if self._closed is not None:
            self.close(self._closed)
            return
        self._waiting = [ticket for ticket in self._waiting if not ticket.cancelled]
        if len(self.running) >= self.places:
            return
        now, keys = self._clock(), {each.key for each in self.running} - {None}
        behind = sum(each.priority in BACKGROUND for each in self.running)
        held = BACKGROUND if 0 < self.places - 1 <= behind else ()
        may = (each for each in self._waiting if each.key not in keys and each.priority not in held)
        taken = min(may, key=lambda each: each.rank(now), default=None)
        if taken is not None:
            self._waiting.remove(taken)
            self.running.append(taken)
            self._ask(taken, known=taken.model.capabilities.known)
            # The next one in a turn of its own: building a prompt takes a moment, and
            # players must not wait for fifty of them.
            self._post(self._pump)

    def _ask(self, ticket: Ticket, *, known: bool) -> None:
        """Have a thread learn what the model takes; once that is ``known``, have it answer."""
        try:
            if not known:
                future: Future[Any] = self._executor.submit(
                    ticket.model.learn, lambda: ticket.cancelled
                )
            elif ticket.cancelled or (request := ticket.build()) is None:
                self._end(ticket, None)
                return
            else:
                request = replace(request, given_up=lambda: ticket.cancelled)
                future = self._executor.submit(ticket.model.generate, request)
        except Exception as error:  # whatever a builder does wrong must not stop the queue
            log.exception("[Model] The prompt of %s could not be built", ticket.key)
            self._end(ticket, ModelFailed(f"The prompt could not be built ({error})", "See log"))
            return
        future.add_done_callback(lambda _: self._post(lambda: self._came(ticket, future)))

    def _came(self, ticket: Ticket, future: Future[Any]) -> None:
        """The thread is done: with what it learnt, with the answer, or with an error."""
        if ticket not in self.running:
            return  # the queue was closed
        error = None if future.cancelled() else future.exception()
        if future.cancelled():
            self._end(ticket, ModelUnavailable("The world is shutting down"))
        elif error is None and future.result() is None:
            self._ask(ticket, known=True)
        elif error is None:
            self._end(ticket, future.result())
        elif isinstance(error, PromptUnfit) and ticket.rebuilt < REBUILDS:
            ticket.rebuilt += 1  # for what is known of the server now
            self._ask(ticket, known=True)
        elif isinstance(error, ModelError):
            self._end(ticket, error)
        else:
            log.error("[Model] A fault in the client of %s", ticket.key, exc_info=error)
            told = f"The model's client broke ({error!r})"
            self._end(ticket, ModelFailed(told, "See the log; please report it"))

    def _end(self, ticket: Ticket, outcome: Outcome) -> None:
        """Give the place free and tell what came."""
        self.running.remove(ticket)
        self._post(self._pump)
        try:
            if not ticket.cancelled:
                ticket.done(outcome)
        except Exception:  # whatever a receiver does wrong must not stop the queue
            log.exception("[Model] The answer to %s could not be used", ticket.key)


class DaemonThreads(Executor):
    """A thread for each call; unlike those of a pool, Python does not wait for it at its end."""

    def submit[T](self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have it called; the future has what came of it."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # handed to whoever waits
                future.set_exception(error)

        threading.Thread(target=run, name="model-call", daemon=True).start()
        return future
