"""The one door to all models: a queue in front of each server, and a look at its health."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, InvalidStateError, wait
from dataclasses import dataclass, field, replace
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
from keepsake.markdown_config import ConfigFile
from keepsake.models.capabilities import Lessons
from keepsake.models.catalogue import form_of, load_forms
from keepsake.models.embedded import Embedded
from keepsake.models.model import AskedModel, address_of, build
from keepsake.models.profiles import (
    CHAT,
    EMBEDDED,
    EXTRACTIVE,
    ModelProfile,
    Profiles,
    embedded_profile,
    model_name,
)
from keepsake.models.queue import Done, ModelQueue, Outcome, Post, Priority, Ticket
from keepsake.models.status import READY, UNASKED, Recorder, ServerStatus
from keepsake.paths import Places
from keepsake.ports import ChatMessage, Generation, GenerationRequest

log = logging.getLogger("keepsake.models")

BuildFor = Callable[[ModelProfile], GenerationRequest | None]
"""Makes the request with the profile as it is when the turn has come, its form decided."""

GIVE_UP_SECONDS = 0.2
"""How often a caller that may give its call up looks whether it has."""
WATCH_SECONDS = 1.0
PROBE_SECONDS, UNWELL_SECONDS = 15.0, 5.0
"""How often servers are looked at, and while one of them is not well."""
LONGEST_REST = 300.0


@dataclass(eq=False, slots=True)
class ModelServer:
    """One server, whatever profiles are asked there."""

    provider: str
    host: str
    queue: ModelQueue
    recorder: Recorder = field(default_factory=Recorder)
    health: str = UNASKED  # ``ready``, or what is wrong and what to do
    missed: bool = False  # whether a call found no answer there since it was last said to be ready
    rest: float = 1.0  # seconds until it is said to be ready again, if calls go on to fail
    said: float = float("-inf")  # when it was said last, in monotonic seconds

    def heard(self, *, answered: bool) -> None:
        """A call was answered, or found no answer."""
        self.missed = not answered
        self.rest = 1.0 if answered else self.rest

    def says_ready(self, *, changed: bool) -> bool:
        """Whether it is to be said that it answers again: less and less often, if calls fail."""
        now = time.monotonic()
        if not changed:
            if not self.missed or now - self.said < self.rest:
                return False
            self.said, self.rest = now, min(2 * self.rest, LONGEST_REST)
        self.missed = False
        return True


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
        changed: Callable[[Health], None] = lambda _: None,
        on_ready: Callable[[], None] = lambda: None,
        executor: Executor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.profiles, self.on_ready = profiles, on_ready
        self.embedded = embedded or Embedded(places)
        self._post, self._environ, self._changed, self._clock = post, environ, changed, clock
        self._owner = threading.get_ident()
        self._executor = executor or _DaemonThreads()
        # by provider and address, and by profile; replaced, never changed: any thread reads them
        self._servers: dict[tuple[str, str], ModelServer] = {}
        self._models: dict[str, tuple[AskedModel, ModelServer]] = {}
        self._clients: list[AskedModel] = []
        forms = profiles.path.with_name("models.md")
        self._forms = ConfigFile[Mapping[str, str]](forms, load_forms, {}, rest=1.0)
        self._lessons: dict[tuple[ModelServer, str], Lessons] = {}
        self._lock = threading.Lock()
        self._blocked: set[Future[Generation]] = set()
        self._closed: ModelError | None = None
        self._news, self._stopping = threading.Event(), threading.Event()

    def start(self) -> None:
        """Start the embedded model if a profile uses it, and look after all servers.

        Returns at once. A server that does not answer is reported, never fatal.
        """
        self._owner = threading.get_ident()
        for profile in self._used():
            try:
                self._model(profile.name)
            except ModelError as error:
                log.error("[Model] %s", error)
        threading.Thread(target=self._watch, name="model-watch", daemon=True).start()

    def profile(self, name: str) -> ModelProfile:
        """The profile of that name, as a prompt is made for it: with its form and sizes decided.

        They are the best known: the model may not have been asked yet.

        Raises:
            ConfigError: There is none.
            ModelUnavailable: The profile means no model.
        """
        return self._model(name)[0].resolved()

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
        model, server = self._model(profile_name)

        def came(outcome: Outcome) -> None:
            if isinstance(outcome, Generation):
                server.heard(answered=True)
            elif isinstance(outcome, (ModelUnavailable, ModelFailed, ModelMissing)):
                server.heard(answered=False)
                self._news.set()
            done(outcome)

        return server.queue.submit(priority, key, model, partial(_request, model, build), came)

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
        used = dict.fromkeys(self._model(profile.name)[1] for profile in self._used())
        return [self._status(server) for server in used]

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
            _settle(future, reason)
        for model in self._clients:  # those replaced, too: calls of them may have been in flight
            # In another thread: a client that reads holds on to its connections.
            threading.Thread(target=model.client.close, name="model-close", daemon=True).start()
        self._executor.shutdown(wait=False, cancel_futures=True)
        if stop_embedded:
            self.embedded.stop()

    # -- models and their servers

    def _used(self) -> list[ModelProfile]:
        """The profiles that mean a model."""
        return [profile for profile in self.profiles if profile.provider != EXTRACTIVE]

    def _model(self, name: str) -> tuple[AskedModel, ModelServer]:
        """The model of a profile and its server, built anew where the profile has changed.

        Raises:
            ConfigError: There is no such profile.
            ModelUnavailable: The profile means no model.
        """
        profile, known = self.profiles.get(name), self._models.get(name)
        if known is None or known[0].profile != profile:
            if profile.provider == EXTRACTIVE:
                cure = "Give it another provider in llm.md"
                raise ModelUnavailable(f"The profile {name!r} uses no model", cure)
            known = self._built(profile)
            self._models = {**self._models, name: known}
            asked = (model for model, server in self._models.values() if server is known[1])
            known[1].queue.places = max(each.profile.in_flight for each in asked)
            self._news.set()
        return known

    def _built(self, profile: ModelProfile) -> tuple[AskedModel, ModelServer]:
        address = address_of(profile, self.embedded, self._environ)
        key, name = (profile.provider, address), model_name(profile)
        if key not in self._servers:
            queue = ModelQueue(self._executor, self._post, self._clock)
            self._servers = {**self._servers, key: ModelServer(*key, queue)}
        server = self._servers[key]
        model = build(
            profile,
            self.embedded,
            self._environ,
            server.recorder,
            lessons=self._lessons.setdefault((server, name), Lessons()),
            family=lambda: form_of(self._forms.current, name),
        )
        self._clients.append(model)
        return model, server

    def _asked_at(self, server: ModelServer) -> list[AskedModel]:
        return [model for model, its in self._models.values() if its is server]

    def _status(self, server: ModelServer) -> ServerStatus:
        asked = self._asked_at(server)
        return ServerStatus(
            provider=server.provider,
            host=server.host,
            models=tuple(f"{each.profile.name}: {model_name(each.profile)}" for each in asked),
            kind=_kind(asked),
            health=server.health,
            waiting=server.queue.waiting(),
            running=len(server.queue.running),
            in_flight=server.queue.places,
            figures=server.recorder.figures(),
            notes=tuple({each.lessons.note for each in asked} - {""}),
        )

    # -- how each server is, in a thread of its own

    def _watch(self) -> None:
        last = float("-inf")
        while not self._stopping.is_set():
            try:
                self.look_at_embedded()
                servers = self._servers.values()
                well = all(each.health == READY and not each.missed for each in servers)
                pause = PROBE_SECONDS if well else min(UNWELL_SECONDS, PROBE_SECONDS)
                if self._news.is_set() or time.monotonic() - last >= pause:
                    self._news.clear()
                    last = time.monotonic()
                    self.look()
            except Exception:  # whatever a server or the system does, it is looked at again
                log.exception("[Model] A look at the model servers failed")
            self._stopping.wait(WATCH_SECONDS)

    def look(self) -> None:
        """Ask every server now, one after another; blocks."""
        for server in self._servers.values():
            asked = self._asked_at(server)
            if server.provider == EMBEDDED:  # its health is its supervisor's to say
                for each in asked if self.embedded.ready() else ():
                    with contextlib.suppress(ModelError):
                        each.client.check()  # it may serve another file now
                continue
            if self._stopping.is_set():
                return
            complaints = [str(error) for each in asked if (error := each.look())]
            if complaints and complaints[0] != server.health:
                log.warning("[Model] %s", complaints[0])
            self._is(server, complaints[0] if complaints else READY)

    def look_at_embedded(self) -> None:
        """Start, restart or end the child of the embedded model, as the profiles want it."""
        wanted = embedded_profile(self.profiles.path, self.profiles)
        if wanted is not None:
            self.embedded.use(wanted.model_file, wanted.context_tokens)
        ready = self.embedded.watch(wanted=wanted is not None)
        problem = self.embedded.refused or (None if ready else self.embedded.problem)
        for server in self._servers.values():
            if server.provider == EMBEDDED:
                self._is(server, str(problem) if problem else READY)

    def _is(self, server: ModelServer, health: str) -> None:
        changed, server.health = health != server.health, health
        ready = health == READY
        if changed:
            problem = "" if ready else health
            self._changed(
                Health(provider=server.provider, host=server.host, ready=ready, problem=problem)
            )
        if ready and server.says_ready(changed=changed):
            self._post(self._is_ready)

    def _is_ready(self) -> None:
        self.on_ready()

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


def _request(model: AskedModel, build: BuildFor) -> GenerationRequest | None:
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


def _kind(asked: list[AskedModel]) -> str:
    """What a server is, the forms of its prompts and their sizes, for people."""
    if not asked or not asked[0].is_known():
        return "not known yet"
    profiles = [each.resolved() for each in asked]
    forms = " and ".join(sorted({each.form for each in profiles}))
    tools = ", with tools" if any(each.takes_tools for each in profiles) else ""
    most = max(each.prompt_tokens for each in profiles)
    return (
        f"{asked[0].client.capabilities.kind}, {forms}{tools}; prompts of {most:,} tokens at most"
    )


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
