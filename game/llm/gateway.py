"""The one door to all models: profiles, queues, the embedded child, and their state."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass

from game.llm.clients.capabilities import Capabilities
from game.llm.embedded.supervisor import Embedded, model_name
from game.llm.profiles import EMBEDDED, EXTRACTIVE, ModelProfile, Profiles, embedded_profile
from game.llm.queue import Done, ModelQueue, Outcome, Post, Priority, Ticket
from game.llm.servers import GuardedModel, ServerKey, build, server_key
from game.llm.wrappers import Figures, Recorder, Sink, settle
from game.mind.errors import BadAnswer, ConfigError, ModelError, ModelUnavailable
from game.mind.ports import Generation, GenerationRequest
from game.paths import Places

log = logging.getLogger("keepsake.llm")

BuildFor = Callable[[ModelProfile], GenerationRequest | None]
"""Makes the request with the profile as it is when the turn has come."""

WATCH_SECONDS = 1.0
PROBE_SECONDS = 15.0
GIVE_UP_SECONDS = 0.2
"""How often a caller that may give its call up looks whether it has."""
READY = "ready"
_MOST_THREADS = 64


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server, as ``@llm-status`` shows it."""

    provider: str  # ``embedded``, ``ollama``, ``openai``
    host: str  # its address
    # profile and model of all that is asked there, such as ``agent: llama3``
    models: tuple[str, ...]
    kind: str  # what the server is and the form of its prompts, such as ``llama.cpp, chat``
    health: str  # ``ready``, or what is wrong and what to do
    waiting: Mapping[Priority, int]  # jobs that wait, by priority
    running: int  # calls in flight
    in_flight: int  # calls that may be in flight at once
    figures: Figures  # counts since the start


@dataclass(frozen=True, slots=True)
class HealthChange:
    """A server answers now, or no more, or fails in another way than before."""

    provider: str  # ``embedded``, ``ollama``, ``openai``
    host: str  # its address
    health: str  # ``ready``, or what is wrong and what to do

    @property
    def ready(self) -> bool:
        """Whether it answers."""
        return self.health == READY


@dataclass(slots=True)
class _Server:
    queue: ModelQueue
    recorder: Recorder
    health: str = "not asked yet"


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
        changed: Callable[[HealthChange], None] = lambda _: None,
        executor: Executor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.profiles = profiles
        self.embedded = embedded or Embedded(places)
        self._post = post
        self._environ = environ
        self._sink = sink
        self._changed = changed
        self._owner = threading.get_ident()
        self._executor = executor or ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="model")
        self._clock = clock
        self._servers: dict[ServerKey, _Server] = {}
        self._models: dict[str, GuardedModel] = {}
        self._replaced: list[GuardedModel] = []
        self._lock = threading.Lock()
        self._blocked: set[Future[Generation]] = set()
        self._closed: ModelError | None = None
        self._built = threading.Event()
        self._stopping = threading.Event()

    def start(self) -> None:
        """Start the embedded model if a profile uses it, and look after all servers.

        Returns at once. A server that does not answer is reported, never fatal.
        """
        self._owner = threading.get_ident()
        for profile in self._used():
            try:
                self._guarded(profile.name)
            except ModelError as error:
                log.error("[Model] %s", error)
        threading.Thread(target=self._look_after, name="model-watch", daemon=True).start()

    def profile(self, name: str) -> ModelProfile:
        """The profile of that name, as a prompt is made for it: with its form decided.

        Raises:
            ConfigError: There is none.
            ModelUnavailable: The profile means no model.
        """
        return self._guarded(name).resolved()

    def submit(
        self, profile_name: str, priority: Priority, key: str | None, build: BuildFor, done: Done
    ) -> Ticket:
        """Queue one call; owner's thread only.

        Args:
            profile_name: Whose settings to use.
            priority: How urgent it is.
            key: Who asks; two calls of one key are never made at once.
            build: Makes the request, in the owner's thread, when the turn has come. The
                profile that it gets names the form of its prompts, never ``auto``.
            done: Gets the answer, the error, or None when ``build`` gave None; in
                the owner's thread, once, unless the ticket is cancelled.

        Raises:
            ConfigError: There is no such profile.
            ModelUnavailable: The gateway is shut down, or the profile means no model.
        """
        if self._closed is not None:
            raise self._closed
        guarded = self._guarded(profile_name)
        server = self._server(guarded.profile)
        return server.queue.submit(
            priority, key, lambda: build(guarded.resolved()), done, guarded.model
        )

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

    def capabilities(self, profile_name: str) -> Capabilities:
        """What the server of a profile takes, as far as it is known; quick, owner's thread only.

        Raises:
            ConfigError: There is no such profile.
            ModelUnavailable: The profile means no model.
        """
        return self._guarded(profile_name).capabilities()

    def count_tokens(self, profile_name: str, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text by the server's own tokenizer; None when it has none. Blocks.

        Raises:
            ModelError: The server gave no answer; it may the next time.
        """
        guarded = self._models.get(profile_name)
        if guarded is None or guarded.profile != self.profiles.get(profile_name):
            # Built anew by the next call for this profile, which belongs to another thread.
            raise ModelUnavailable(f"The model of {profile_name!r} has not been asked yet")
        return guarded.client.count_tokens(texts)

    def statuses(self) -> list[ServerStatus]:
        """Every server that a profile uses; owner's thread only."""
        for profile in self._used():
            self._guarded(profile.name)
        used = {self._key(profile) for profile in self._used()}
        return [self._status(key, each) for key, each in self._servers.items() if key in used]

    def shutdown(self, *, stop_embedded: bool) -> None:
        """Answer all who wait with ModelUnavailable and end; owner's thread only.

        Args:
            stop_embedded: End the child as well; False at a reload, which adopts it again.
        """
        reason = ModelUnavailable("The world is shutting down", "Ask again when it is back")
        self._closed = reason
        self._stopping.set()
        for server in self._servers.values():
            server.queue.close(reason)
        with self._lock:
            blocked = list(self._blocked)
        for future in blocked:
            settle(future, reason)
        for guarded in (*self._models.values(), *self._replaced):
            guarded.close(reason)
        self._executor.shutdown(wait=False, cancel_futures=True)
        if stop_embedded:
            self.embedded.stop()

    def _guarded(self, name: str) -> GuardedModel:
        """The model of a profile, built anew when the profile has changed."""
        profile = self.profiles.get(name)
        known = self._models.get(name)
        if known is not None and known.profile == profile:
            return known
        if profile.provider == EXTRACTIVE:
            raise ModelUnavailable(
                f"The profile {name!r} uses no model", "Give it another provider in llm.md"
            )
        server = self._server(profile)
        guarded = build(profile, self.embedded, self._environ, server.recorder)
        # The old one is closed at the end: calls of it may be in flight.
        self._replaced += [known] if known is not None else []
        self._models = {**self._models, name: guarded}
        self._built.set()  # to be asked soon what it takes
        return guarded

    def _server(self, profile: ModelProfile) -> _Server:
        key = self._key(profile)
        if key not in self._servers:
            queue = ModelQueue(self._executor, self._post, clock=self._clock)
            server = _Server(queue, Recorder(sink=self._sink))
            self._servers = {**self._servers, key: server}
        same = [each.in_flight for each in self._used() if self._key(each) == key]
        self._servers[key].queue.in_flight = max(same, default=profile.in_flight)
        return self._servers[key]

    def _key(self, profile: ModelProfile) -> ServerKey:
        return server_key(profile, self.embedded, self._environ)

    def _used(self) -> list[ModelProfile]:
        return [profile for profile in self.profiles if profile.provider != EXTRACTIVE]

    def _blocked_call(self) -> Future[Generation]:
        future: Future[Generation] = Future()
        with self._lock:
            if self._closed is not None:
                raise self._closed
            self._blocked.add(future)
        return future

    def _status(self, key: ServerKey, server: _Server) -> ServerStatus:
        provider, host = key
        asking = self._asking(key)
        return ServerStatus(
            provider=provider,
            host=host,
            models=tuple(f"{each.profile.name}: {model_name(each.profile)}" for each in asking),
            kind=_kind(asking),
            health=server.health,
            waiting=server.queue.waiting(),
            running=server.queue.running(),
            in_flight=server.queue.in_flight,
            figures=server.recorder.figures(),
        )

    def _asking(self, key: ServerKey) -> list[GuardedModel]:
        """The models behind one server."""
        return [each for each in self._models.values() if self._key(each.profile) == key]

    def _look_after(self) -> None:
        """The watcher's thread: keep the child up, and know how each server is."""
        last_probe = float("-inf")
        while not self._stopping.is_set():
            try:
                with suppress(ConfigError):  # the profiles' own callback tells of it
                    self._watch_embedded()
                if self._built.is_set() or time.monotonic() - last_probe >= PROBE_SECONDS:
                    self._built.clear()
                    last_probe = time.monotonic()
                    self._probe_others()
            except Exception:  # whatever a server or the system does, it is looked at again
                log.exception("[Model] A look at the model servers failed")
            self._stopping.wait(WATCH_SECONDS)

    def _watch_embedded(self) -> None:
        wanted = embedded_profile(self.profiles.path, self.profiles)
        if wanted is not None:
            self.embedded.use(wanted.model_file, wanted.context_tokens)
        was_ready = self.embedded.ready()
        ready = self.embedded.watch(wanted=wanted is not None)
        problem = self.embedded.refused or (None if ready else self.embedded.problem)
        for key, server in self._servers.items():
            if key[0] == EMBEDDED:
                if ready and not was_ready:
                    self._close_circuits(key)
                self._is(key, server, str(problem) if problem else READY)

    def _probe_others(self) -> None:
        for key, server in self._servers.items():
            asking = self._asking(key)
            if key[0] == EMBEDDED or not asking or self._stopping.is_set():
                continue
            health = _health(asking)
            if health == READY:  # first let calls through, then say so
                self._close_circuits(key)
            elif health != server.health:
                log.warning("[Model] %s", health)
            self._is(key, server, health)

    def _is(self, key: ServerKey, server: _Server, health: str) -> None:
        changed, server.health = health != server.health, health
        if changed:
            self._changed(HealthChange(*key, health))

    def _close_circuits(self, key: ServerKey) -> None:
        for each in self._asking(key):
            each.breaker.close()


def _health(asking: list[GuardedModel]) -> str:
    """What is wrong with the server, by the first of its models that has a complaint."""
    for each in asking:
        try:
            each.client.check()
        except ModelError as error:
            return str(error)
    return READY


def _kind(asking: list[GuardedModel]) -> str:
    """What a server is, and the forms of its prompts, for people."""
    if not asking or not asking[0].capabilities().known:
        return "not known yet"
    forms = sorted({each.resolved().format for each in asking})
    return f"{asking[0].capabilities().kind}, {' and '.join(forms)}"


def _unless(given_up: threading.Event, future: Future[Generation]) -> Generation:
    """The answer, unless nobody wants it any more."""
    while not wait([future], timeout=GIVE_UP_SECONDS).done:
        if given_up.is_set():
            raise ModelUnavailable("The call was given up", "Nothing is wrong: nobody wants it")
    return future.result()


def _cancel(tickets: Sequence[Ticket]) -> None:
    for ticket in tickets:
        ticket.cancel()
