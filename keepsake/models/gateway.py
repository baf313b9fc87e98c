"""The one door to all models."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial

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
from keepsake.models.queue import Done, ModelQueue, Offer, Outcome, Post, Priority, Ticket
from keepsake.models.recording import Sink
from keepsake.models.servers import GuardedModel
from keepsake.models.status import ServerStatus
from keepsake.models.watch import ServerWatch
from keepsake.models.wrappers import settle
from keepsake.paths import Places
from keepsake.ports import ChatMessage, Generation, GenerationRequest

log = logging.getLogger("keepsake.llm")

BuildFor = Callable[[ModelProfile], GenerationRequest | None]
"""Makes the request with the profile as it is when the turn has come: of one server, its form
decided. It is called again where that server does not take the call and another is asked."""

GIVE_UP_SECONDS = 0.2
"""How often a caller that may give its call up looks whether it has."""
_MOST_THREADS = 256


class Gateway:
    """Takes calls for profiles, and answers in the owner's thread.

    The thread that calls :meth:`start` is the owner; ``submit``, ``statuses`` and
    ``shutdown`` belong to it. ``generate`` and ``count_tokens`` block and belong to
    any other.

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
        executor: Runs the calls; threads of its own when None.
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
        self._post = post
        self._owner = threading.get_ident()
        self._executor = executor or ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="model")
        self._queue = ModelQueue(self._executor, post, clock)
        self._pool = ServerPool(
            profiles,
            self._queue,
            self.embedded,
            environ,
            places.drained,
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
                self._pool.fleet(profile.name)
            except ModelError as error:
                log.error("[Model] %s", error)
        self.watch.start()

    def profile(self, name: str) -> ModelProfile:
        """The profile of that name, as a prompt is made for it: with its form and sizes decided.

        They are the best known: the model may not have been asked yet. Where the profile has
        several servers, it is that of the first that is well.

        Raises:
            ConfigError: There is none.
            ModelUnavailable: The profile means no model.
        """
        return self._pool.fleet(name).first.resolved()

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
        offers = [
            Offer(
                each.lane,
                each.model,
                partial(_request, each, build),
                each.is_well,
                each.is_known,
                each.learn,
            )
            for each in self._pool.fleet(profile_name).members
        ]

        def came(outcome: Outcome) -> None:
            if isinstance(outcome, (Generation, ModelUnavailable, ModelFailed, ModelMissing)):
                answered = isinstance(outcome, Generation)
                self._pool.outcome([each.lane for each in offers], answered=answered)
            done(outcome)

        agent = None if key is None else f"{profile_name} {key}"
        return self._queue.submit(priority, key, offers, came, agent)

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
                settle(future, error)

        def done(outcome: Outcome) -> None:
            settle(future, outcome or BadAnswer("The call was not wanted when its turn came"))

        self._post(submit)
        try:
            return future.result() if given_up is None else _unless(given_up, future)
        finally:
            if not future.done():  # given up; posted later than the submission, so it is there
                self._post(lambda: _cancel(tickets))
            with self._lock:
                self._blocked.discard(future)

    def count_tokens(self, profile_name: str, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text by the server's own tokenizer; None when it has none. Blocks.

        Raises:
            ModelError: The server gave no answer; it may the next time.
        """
        fleet = self._pool.fleets.get(profile_name)
        if fleet is None or fleet.profile != self.profiles.get(profile_name):
            # Built anew by the next call for this profile, which belongs to another thread.
            raise ModelUnavailable(f"The model of {profile_name!r} has not been asked yet")
        return fleet.first.client.count_tokens(texts)

    def statuses(self) -> list[ServerStatus]:
        """Every server that a profile uses; owner's thread only."""
        return self._pool.statuses()

    def drain(self, host: str, *, drained: bool = True) -> str:
        """Give a server no new calls, or give it calls again; see :meth:`ServerPool.drain`."""
        return self._pool.drain(host, drained=drained)

    def shutdown(self, *, stop_embedded: bool) -> None:
        """Answer all who wait with ModelUnavailable and end; owner's thread only.

        Args:
            stop_embedded: End the child as well; False at a reload, which adopts it again.
        """
        reason = ModelUnavailable("The world is shutting down", "Ask again when it is back")
        self._closed = reason
        self.watch.stop()
        self._queue.close(reason)
        with self._lock:
            blocked = list(self._blocked)
        for future in blocked:
            settle(future, reason)
        self._pool.close(reason)
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


def _unless(given_up: threading.Event, future: Future[Generation]) -> Generation:
    """The answer, unless nobody wants it any more."""
    while not wait([future], timeout=GIVE_UP_SECONDS).done:
        if given_up.is_set():
            raise CallGivenUp("The call was given up", "Nothing is wrong: nobody wants it")
    return future.result()


def _cancel(tickets: Sequence[Ticket]) -> None:
    for ticket in tickets:
        ticket.cancel()
