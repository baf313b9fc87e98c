"""The one door to all models."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, InvalidStateError, wait
from dataclasses import replace
from functools import partial
from typing import Any

from keepsake.errors import (
    BadAnswer,
    CallGivenUp,
    ConfigError,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelUnavailable,
)
from keepsake.events.types import Health
from keepsake.models.embedded.supervisor import Embedded
from keepsake.models.pool import ServerPool
from keepsake.models.profiles import CHAT, ModelProfile, Profiles
from keepsake.models.queue import Done, ModelQueue, Outcome, Post, Priority, QueuedCall, Ticket
from keepsake.models.servers import GuardedModel
from keepsake.models.status import ServerStatus, Sink
from keepsake.models.watch import ServerWatch
from keepsake.paths import Places
from keepsake.ports import ChatMessage, Generation, GenerationRequest

log = logging.getLogger("keepsake.llm")

BuildFor = Callable[[ModelProfile], GenerationRequest | None]
"""Makes the request with the profile as it is when the turn has come, its form decided."""

GIVE_UP_SECONDS = 0.2
"""How often a caller that may give its call up looks whether it has."""


class Gateway:
    """Takes calls for profiles, and answers in the owner's thread.

    The thread that calls :meth:`start` is the owner; ``submit``, ``statuses`` and
    ``shutdown`` belong to it. ``generate`` blocks and belongs to any other.

    Args:
        profiles: The profiles; built models follow their changes.
        places: Folders and ports of this copy.
        post: Runs a function in the owner's thread; ``reactor.callFromThread``.
        environ: The environment, for ``OLLAMA_HOST`` and the API key.
        embedded: The child process; made from ``places`` when None.
        sink: Called after each call, in a worker thread.
        changed: Called when the health of a server has changed, in the watcher's thread.
        on_ready: Called in the owner's thread when a server answers again that did not answer a
            call, or was not well; may be set later.
        executor: Runs the calls; a thread each when None.
        clock: Monotonic seconds, for how long calls wait in their queue.
    """

    def __init__(
        self,
        profiles: Profiles,
        places: Places,
        post: Post,
        environ: Mapping[str, str] = os.environ,
        *,
        embedded: Embedded | None = None,
        sink: Sink | None = None,
        changed: Callable[[Health], None] = lambda _: None,
        on_ready: Callable[[], None] = lambda: None,
        executor: Executor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.profiles, self.on_ready = profiles, on_ready
        self.embedded = embedded or Embedded(places)
        self._post, self._owner = post, threading.get_ident()
        self._executor = executor or _DaemonThreads()
        self._pool = ServerPool(
            profiles,
            self.embedded,
            environ,
            lambda: ModelQueue(self._executor, post, clock),
            sink=sink,
            wrapped=self._wrapped,
        )
        self.watch = ServerWatch(self._pool, post, changed, self._is_ready)
        self._lock = threading.Lock()
        self._blocked: set[Future[Generation]] = set()
        self._closed: ModelError | None = None

    def start(self) -> None:
        """Start the embedded model if a profile uses it, and look after all servers.

        Returns at once. A server that does not answer is reported, never fatal.
        """
        self._owner = threading.get_ident()
        for profile in self._pool.used():
            try:
                self._pool.model(profile.name)
            except ModelError as error:
                log.error("[Model] %s", error)
        self.watch.start()

    def profile(self, name: str) -> ModelProfile:
        """The profile of that name, as a prompt is made for it: with its form and sizes decided.

        They are the best known: the model may not have been asked yet.

        Raises:
            ConfigError: There is none.
            ModelUnavailable: The profile means no model.
        """
        return self._pool.model(name).resolved()

    def submit(
        self, profile_name: str, priority: Priority, key: str | None, build: BuildFor, done: Done
    ) -> Ticket:
        """Queue one call; owner's thread only.

        Args:
            profile_name: Whose settings to use.
            priority: How urgent it is.
            key: Who asks; two calls of one key are never made at once.
            build: Makes the request, in the owner's thread, when the turn has come and the
                model is known: the profile that it gets names the form and the size of its
                prompts. It is called again, with a smaller size, after a prompt was too long.
            done: Gets the answer, the error, or None when ``build`` gave None; in
                the owner's thread, once, unless the ticket is cancelled.

        Raises:
            ConfigError: There is no such profile.
            ModelUnavailable: The gateway is shut down, or the profile means no model.
        """
        if self._closed is not None:
            raise self._closed
        model = self._pool.model(profile_name)
        server = self._pool.server(model)

        def came(outcome: Outcome) -> None:
            if isinstance(outcome, Generation):
                server.heard(answered=True)
            elif isinstance(outcome, (ModelUnavailable, ModelFailed, ModelMissing)):
                server.heard(answered=False)
                self._pool.news.set()
            done(outcome)

        call = QueuedCall(model.model, partial(_request, model, build), model.is_known, model.learn)
        return server.queue.submit(priority, key, call, came)

    def generate(
        self,
        profile_name: str,
        request: GenerationRequest | BuildFor,
        priority: Priority = Priority.COMPACTION,
        key: str | None = None,
        *,
        given_up: threading.Event | None = None,
    ) -> Generation:
        """Queue one call and wait for its answer; any thread but the owner's.

        Args:
            profile_name: Whose settings to use.
            request: What to ask, or what makes it when the turn has come.
            priority: How urgent it is.
            key: Who asks; two calls of one key are never made at once.
            given_up: Once it is set nobody wants the answer: the wait ends at once, and a
                call that was not made yet never is.

        Raises:
            ModelError: There was no answer, the gateway was shut down meanwhile, or the call
                was given up.
            RuntimeError: It was called in the owner's thread, which must never wait.
        """
        if threading.get_ident() == self._owner:
            raise RuntimeError("Gateway.generate waits and may not be called by its owner")
        future = self._blocked_call()
        build: BuildFor = (lambda _: request) if isinstance(request, GenerationRequest) else request
        tickets: list[Ticket] = []

        def submit() -> None:
            try:
                tickets.append(self.submit(profile_name, priority, key, build, done))
            except (ModelError, ConfigError) as error:
                _settle(future, error)

        def done(outcome: Outcome) -> None:
            _settle(future, outcome or BadAnswer("The call was not wanted when its turn came"))

        self._post(submit)
        try:
            return future.result() if given_up is None else _unless(given_up, future)
        finally:
            if not future.done():  # given up; posted later than the submission, so it is there
                self._post(lambda: tickets[0].cancel() if tickets else None)
            with self._lock:
                self._blocked.discard(future)

    def statuses(self) -> list[ServerStatus]:
        """Every server that a profile uses; owner's thread only."""
        return self._pool.statuses()

    def shutdown(self, *, stop_embedded: bool) -> None:
        """Answer all who wait with ModelUnavailable and end; owner's thread only.

        Args:
            stop_embedded: End the child as well; False at a reload, which adopts it again.
        """
        reason = ModelUnavailable("The world is shutting down", "Ask again when it is back")
        self._closed = reason
        self.watch.stop()
        for server in self._pool.servers.values():
            server.queue.close(reason)
        with self._lock:
            blocked = list(self._blocked)
        for future in blocked:
            _settle(future, reason)
        self._pool.close()
        self._executor.shutdown(wait=False, cancel_futures=True)
        if stop_embedded:
            self.embedded.stop()

    def _is_ready(self) -> None:
        self.on_ready()

    def _wrapped(self, guarded: GuardedModel) -> GuardedModel:
        """What is asked in place of a model that was built."""
        return guarded

    def _blocked_call(self) -> Future[Generation]:
        future: Future[Generation] = Future()
        with self._lock:
            if self._closed is not None:
                raise self._closed
            self._blocked.add(future)
        return future


class _DaemonThreads(Executor):
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


def _request(model: GuardedModel, build: BuildFor) -> GenerationRequest | None:
    """The request, in the form of the model: nothing else is sent to a chat model than messages."""
    profile = model.resolved()
    request = build(profile)
    if request is None:
        return None
    if profile.form != CHAT:
        return replace(request, messages=(), tools=())
    if request.messages:
        return request if profile.takes_tools else replace(request, tools=())
    return replace(request, messages=(ChatMessage("user", request.prompt),))


def _settle(future: Future[Generation], answer: Generation | BaseException) -> None:
    """Answer a future; whoever comes second is ignored."""
    with contextlib.suppress(InvalidStateError):
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        else:
            future.set_result(answer)


def _unless(given_up: threading.Event, future: Future[Generation]) -> Generation:
    """The answer, unless nobody wants it any more."""
    while not wait([future], timeout=GIVE_UP_SECONDS).done:
        if given_up.is_set():
            raise CallGivenUp("The call was given up", "Nothing is wrong: nobody wants it")
    return future.result()
