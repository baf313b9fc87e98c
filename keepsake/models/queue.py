"""One model server: the queue in front of it, the models that are asked there, and how it is.

All book-keeping happens in the owner's thread (Evennia's reactor); only the model
call itself runs in a worker thread. A prompt is built when its turn comes, so it
shows the world as it is then, and a thought that is no longer wanted costs nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass, replace
from enum import IntEnum
from queue import SimpleQueue
from typing import Any

from keepsake.errors import (
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelTimeout,
    ModelUnavailable,
    PromptTooLong,
)
from keepsake.models.model import Model
from keepsake.models.profiles import CHAT, EMBEDDED, ModelProfile, model_name
from keepsake.ports import ChatMessage, Generation, GenerationRequest

log = logging.getLogger("keepsake.models")

BuildFor = Callable[[ModelProfile], GenerationRequest | None]
"""Makes the request when its turn has come, for the profile as it is then, its form decided; None
when it is no longer wanted."""

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
"""How often a prompt is built anew for a server that has found it too long."""
READY, UNASKED = "ready", "not asked yet"
UNWELL_SECONDS = 5.0
"""How soon a server is looked at again that failed a call, or is not well."""


@dataclass(eq=False, slots=True)
class Ticket:
    """A place in the queue."""

    priority: Priority
    key: str | None
    since: float
    model: Model
    build: BuildFor
    done: Done
    # set it to give the place up: ``done`` will not be called; too late does no harm
    cancelled: bool = False
    rebuilt: int = 0  # how often its prompt was built anew


class ModelServer:
    """One server, whatever profiles are asked there: the most urgent call first.

    Two calls of one key are never made at once. Where there are two places or more, compaction and
    sleep leave one free, so that a player never waits for a summary or for somebody's night.

    Args:
        provider: Who answers, as the profiles name it.
        host: Its address.
        executor: Runs the calls.
        post: Runs a function in the owner's thread.
        clock: Monotonic seconds.
        changed: Called when its health has changed, in any thread.

    Attributes:
        running: The calls in flight.
        places: How many may be.
        models: The models that are asked, by the names of their profiles.
        health: ``ready``, or what is wrong and what to do.
        due: When it is looked at next, in monotonic seconds.
        calls, failures: How many calls were made, and how many of them gave no answer.
        last_error: The newest failure since the last answer; empty when there is none.
    """

    def __init__(
        self,
        provider: str,
        host: str,
        executor: Executor,
        post: Post,
        *,
        clock: Callable[[], float] = time.monotonic,
        changed: Callable[[ModelServer], None] = lambda _: None,
    ) -> None:
        self.provider, self.host = provider, host
        self.models: dict[str, Model] = {}
        self.running: list[Ticket] = []
        self.places, self.health, self.due = 2, UNASKED, 0.0
        self._executor, self._post, self._clock, self._changed = executor, post, clock, changed
        self._waiting: list[Ticket] = []
        self.calls = self.failures = self._prompt_tokens = self._cached_tokens = 0
        self.last_error = ""
        self._closed: ModelError | None = None

    def submit(
        self, priority: Priority, key: str | None, model: Model, build: BuildFor, done: Done
    ) -> Ticket:
        """Queue one call of a model, as :meth:`Gateway.submit`; owner's thread only.

        ``build`` and ``done`` run in the owner's thread, never inside this call.
        """
        ticket = Ticket(priority, key, self._clock(), model, build, done)
        self._waiting.append(ticket)
        self._post(self._pump)
        return ticket

    def close(self, reason: ModelError) -> None:
        """Answer all, those in flight too, with ``reason``, and take no more; owner's thread only.

        What comes of the calls in flight is not looked at.
        """
        self._closed = reason
        self.running, self._waiting = [*self.running, *self._waiting], []
        for ticket in list(self.running):
            self._end(ticket, reason)
            ticket.cancelled = True

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
        ranked = list[tuple[int, int]]()
        for place, each in enumerate(self._waiting):
            if each.key not in keys and each.priority not in held:
                waited = 0.0 if each.priority is Priority.SLEEP else now - each.since
                lifted = each.priority - int(waited / PATIENCE_SECONDS)
                ranked.append((max(lifted, min(each.priority, Priority.EVENT)), place))
        if ranked:
            taken = self._waiting.pop(min(ranked)[1])
            self.running.append(taken)
            self._ask(taken, known=taken.model.capabilities.known)
            # The next one in a turn of its own: building a prompt takes a moment, and
            # players must not wait for fifty of them.
            self._post(self._pump)

    def _ask(self, ticket: Ticket, *, known: bool) -> None:
        """Have a thread learn what the model takes; once that is ``known``, have it answer."""
        try:
            if not known:
                future: Future[Any] = self._executor.submit(ticket.model.learn)
            else:
                profile = ticket.model.suited()
                request = None if ticket.cancelled else ticket.build(profile)
                if request is None:
                    self._end(ticket, None)
                    return
                messages = request.messages or (ChatMessage("user", request.prompt),)
                request = replace(
                    profile.request(request),
                    messages=messages if profile.form == CHAT else (),  # which gets nothing else
                    tools=request.tools if profile.takes_tools else (),
                    given_up=lambda: ticket.cancelled,
                )
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
        outcome: Outcome = None  # the prompt is to be built, perhaps once more
        try:
            outcome = future.result()
        except PromptTooLong as error:
            log.warning("[Model] %s", error)
            ticket.rebuilt += 1
            outcome = error if ticket.rebuilt > REBUILDS else None
        except ModelError as error:
            outcome = error
        except CancelledError:
            outcome = ModelUnavailable("The world is shutting down")
        except Exception as error:
            log.exception("[Model] A fault in the client of %s", ticket.key)
            told = f"The model's client broke ({error!r})"
            outcome = ModelFailed(told, "See the log; please report it")
        if outcome is None:
            self._ask(ticket, known=True)
        else:
            self._end(ticket, outcome)

    def _end(self, ticket: Ticket, outcome: Outcome) -> None:
        """Give the place free, count the call, and tell what came."""
        self.running.remove(ticket)
        self._post(self._pump)
        if ticket.cancelled:
            return
        self.calls += outcome is not None
        if isinstance(outcome, Generation):
            self.last_error = ""
            self._prompt_tokens += outcome.prompt_tokens
            self._cached_tokens += outcome.cached_tokens
        elif outcome is not None:
            self.failures += 1
            self.last_error = str(outcome)
            if isinstance(outcome, (ModelUnavailable, ModelFailed, ModelMissing, ModelTimeout)):
                self.due = max(time.monotonic() + UNWELL_SECONDS, outcome.until)
                self.be(str(outcome))
        try:
            ticket.done(outcome)
        except Exception:  # whatever a receiver does wrong must not stop the queue
            log.exception("[Model] The answer to %s could not be used", ticket.key)

    # -- how it is

    def look(self) -> ModelError | None:
        """What is wrong with it now; calls to one that is gone fail at once until it is well.

        The process of the embedded model is waited for instead. Blocks.
        """
        problem: ModelError | None = None
        for model in self.models.values():
            try:
                model.check()
                model.down = None
            except ModelError as error:
                problem = problem or error
                gone = isinstance(error, ModelUnavailable) and not isinstance(error, ModelBusy)
                told = ModelUnavailable(f"{error.what} (it is looked at again)", error.cure)
                model.down = told if gone and self.provider != EMBEDDED else None
        return problem

    def be(self, health: str) -> None:
        """Note how it is, and tell if that is new."""
        before, self.health = self.health, health
        if before != health and self._closed is None:
            self._changed(self)

    @property
    def kind(self) -> str:
        """What the server is, and the form and the size of its prompts."""
        if not (known := [each for each in self.models.values() if each.capabilities.known]):
            return "not known yet"
        profiles = [each.suited() for each in known]
        forms = " and ".join(sorted({each.form for each in profiles}))
        tools = ", with tools" if any(each.takes_tools for each in profiles) else ""
        most = f"prompts of {max(each.prompt_tokens for each in profiles):,} tokens at most"
        return f"{known[0].capabilities.kind}, {forms}{tools}; {most}"

    @property
    def profiles(self) -> tuple[str, ...]:
        """Profile and model of all that is asked there: ``agent: llama3``."""
        return tuple(f"{e.profile.name}: {model_name(e.profile)}" for e in self.models.values())

    @property
    def waiting(self) -> dict[Priority, int]:
        """How many calls wait, by priority."""
        waiting = Counter(each.priority for each in self._waiting if not each.cancelled)
        return {priority: waiting[priority] for priority in Priority}

    @property
    def cached(self) -> float:
        """The share of prompt tokens that came from the cache, 0 to 1."""
        return self._cached_tokens / max(self._prompt_tokens, 1)

    @property
    def shortage(self) -> str:
        """That it evaluates a part of long prompts, and the cure; empty if it does not."""
        return next(filter(None, (each.shortage for each in self.models.values())), "")


class DaemonThreads(Executor):
    """Threads that are kept from call to call; Python does not wait for them at its end."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads, self._free = 0, threading.Semaphore(0)

    def submit[T](self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have it called; the future has what came of it. For one thread."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # handed to whoever waits
                future.set_exception(error)

        self._calls.put(run)
        if not self._free.acquire(blocking=False):
            self._threads += 1
            threading.Thread(target=self._serve, name="model-call", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let each thread end once its call has; none is waited for."""
        for _ in range(self._threads):
            self._calls.put(None)

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            self._free.release()
