"""The gateway to all models: a queue for each server, and health checks of the servers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from contextlib import suppress
from typing import Any

import httpx

from keepsake.errors import (
    BadAnswer,
    CallCancelled,
    ConfigError,
    KeepsakeError,
    ModelError,
    ModelMissing,
    ModelUnavailable,
    WorldStopping,
)
from keepsake.events.types import Health
from keepsake.logs import Subsystem, get_logger, logged
from keepsake.models.detection import Detection
from keepsake.models.local.embedded import Embedded
from keepsake.models.model import Model
from keepsake.models.ollama import OllamaModel
from keepsake.models.openai import OpenAIModel, api_key
from keepsake.models.profiles import (
    EMBEDDED,
    LLAMA_CPP,
    NO_MODEL,
    OLLAMA,
    SCRIPTED,
    FoundModel,
    ModelProfile,
    Profiles,
    model_name,
)
from keepsake.models.queue import READY, RECHECK_SECONDS, ModelServer, Post
from keepsake.models.scripted import ScriptedModel
from keepsake.models.threads import DaemonThreads
from keepsake.models.tickets import BuildFor, Done, Outcome, Priority, Ticket, deliver
from keepsake.models.transport import wait_for
from keepsake.paths import Places
from keepsake.ports import Generation

log = get_logger(Subsystem.MODELS)

CANCEL_CHECK_SECONDS = 0.2
"""Seconds between two checks whether the caller has cancelled its call."""
WATCH_SECONDS = 1.0
"""Seconds between two rounds of the health checks, in which those that are due are made."""
PROBE_SECONDS = 15.0
"""Seconds between two health checks of a healthy server."""
_READY_SECONDS = 20.0
"""Seconds that a call waits for the child process of the embedded model."""


class Gateway:
    """A gateway that queues calls to models, and delivers the answers in the owner's thread.

    The thread that calls :meth:`start` is the owner. Only it may call ``submit``, ``used_servers``
    and ``shutdown``. ``generate`` blocks, so only other threads may call it.

    Args:
        profiles: The profiles. A model is rebuilt when its profile changes.
        places: Folders and ports of this installation.
        post: Runs a function in the owner's thread, such as ``reactor.callFromThread``.
        changed: Called when the health of a server has changed, in the watcher's thread.
        executor: Runs the calls; None for a pool of daemon threads.
        clock: Monotonic seconds, to measure how long calls wait in a queue.

    Attributes:
        embedded: The supervisor of the embedded model's process.
        on_ready: Called in the owner's thread when a server is healthy again after a failure;
            may be set.
    """

    def __init__(
        self,
        profiles: Profiles,
        places: Places,
        post: Post,
        *,
        changed: Callable[[Health], None] = lambda _: None,
        executor: Executor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.profiles = profiles
        self.embedded = Embedded(places)
        self.on_ready: Callable[[], None] = lambda: None
        self._post = post
        self._changed = changed
        self._clock = clock
        self._owner = threading.get_ident()
        self._executor = executor or DaemonThreads()
        # By provider and address; replaced, never changed in place, because any thread reads it.
        self.servers: dict[tuple[str, str], ModelServer] = {}
        self._models: dict[str, tuple[Model, ModelServer]] = {}
        self._seen = profiles.current  # the profiles at the last check, in the watcher's thread
        self._closed: ModelError | None = None
        self._stopping = threading.Event()
        config = profiles.path.with_name("models.md")
        self._detection = Detection(places.models, config, clock)
        self._detect_at = 0.0

    def start(self) -> None:
        """Start the embedded model if a profile uses it, and monitor all servers.

        Detection may block for seconds. A server that does not answer is reported, never fatal.
        """
        self._owner = threading.get_ident()
        self._detect()
        for profile in self.profiles.current.values():
            if profile.provider != NO_MODEL:
                try:
                    self.model(profile.name)
                except ModelError as error:
                    log.error(str(error), profile=profile.name)
        threading.Thread(target=self._watch, name="model-watch", daemon=True).start()

    def submit(
        self, profile_name: str, priority: Priority, key: str | None, build: BuildFor, done: Done
    ) -> Ticket:
        """Queue one call; owner's thread only.

        Args:
            key: Identifies the caller; calls with the same key never run at the same time.
            build: Makes the request, in the owner's thread, when its turn has come and the
                model is known. Its argument is the profile, with the form and size of prompts. If
                the prompt was too long, it is called again with a smaller size.
            done: Called once in the owner's thread, unless the ticket is cancelled, with the
                answer, the error, or None if ``build`` returned None.

        Raises:
            ConfigError: There is no such profile.
            ModelUnavailable: The gateway is shut down, or the profile uses no model.
        """
        if self._closed is not None:
            raise self._closed
        model, server = self.model(profile_name)
        return server.submit(priority, key, model, build, done)

    def generate(
        self,
        profile_name: str,
        build: BuildFor,
        priority: Priority = Priority.COMPACTION,
        *,
        cancelled: threading.Event | None = None,
    ) -> Generation:
        """Queue one call like :meth:`submit` and wait for its answer; not in the owner's thread.

        Args:
            build: Makes the request when its turn has come.
            cancelled: Set it to cancel the call. The wait ends within
                :data:`CANCEL_CHECK_SECONDS`, and a call that has not started is not made.

        Raises:
            ModelError: There was no answer, the gateway was shut down, or the call was cancelled.
            RuntimeError: The method was called in the owner's thread, which must never wait.
        """
        if threading.get_ident() == self._owner:
            raise RuntimeError("Gateway.generate waits and may not be called by its owner")
        future: Future[Outcome | ConfigError] = Future()
        tickets: list[Ticket] = []

        def submit() -> None:
            try:
                done = future.set_result
                tickets.append(self.submit(profile_name, priority, None, build, done))
            except (ModelError, ConfigError) as error:
                future.set_result(error)

        def cancel() -> None:  # posted later than the submission, so the ticket is there
            for ticket in tickets:
                ticket.cancelled = True

        self._post(submit)
        while not self._has_come(future):
            if self._closed is not None:
                raise self._closed
            if cancelled is not None and cancelled.is_set():
                self._post(cancel)
                raise CallCancelled("The caller cancelled the call", "Nothing is wrong")
        outcome = future.result()
        if isinstance(outcome, Generation):
            return outcome
        raise outcome or BadAnswer("The call was no longer needed when its turn came")

    def _has_come(self, future: Future[Any]) -> bool:
        """Wait a moment for a result; return whether it is there. A simulation overrides this."""
        return bool(wait([future], CANCEL_CHECK_SECONDS).done)

    def used_servers(self) -> list[ModelServer]:
        """Return the servers that profiles use; owner's thread only."""
        profiles = self.profiles.current.values()
        names = [each.name for each in profiles if each.provider != NO_MODEL]
        return [*dict.fromkeys(self.model(name)[1] for name in names)]

    def forget(self) -> None:
        """Forget the prompts that were asked last; in any thread."""
        for server in [*self.servers.values()]:
            for model in [*server.models.values()]:
                model.forget()

    def shutdown(self, *, stop_embedded: bool) -> None:
        """Answer all waiting calls with ModelUnavailable and stop; owner's thread only.

        Args:
            stop_embedded: Stop the child process too. False at a reload, which reuses it.
        """
        self._closed = WorldStopping("The world is shutting down", "Ask again when it is back")
        self._stopping.set()
        for server in self.servers.values():
            server.close(self._closed)
        self._executor.shutdown(wait=False, cancel_futures=True)
        if stop_embedded:
            self.embedded.stop()

    # -- models and their servers

    def model(self, name: str) -> tuple[Model, ModelServer]:
        """Return the model of a profile and its server; rebuild it if the profile has changed.

        Calls of the previous model are then asked of the new one: those that wait, and if it is
        another model or server, also those in flight whose answer has not begun.

        Raises:
            ConfigError: There is no such profile.
            ModelUnavailable: The profile uses no model. Waiting calls get this error.
        """
        profile = self.profiles.get(name)
        known = self._models.get(name)
        if known is not None and known[0].profile == profile:
            return known
        try:
            model = self._built(profile)
        except ModelUnavailable as error:
            if known is not None:
                for ticket in self._retire(name, in_flight=True):
                    deliver(ticket, error)
            raise
        moves = known is not None and _target(known[0]) != _target(model)
        left = self._retire(name, in_flight=moves) if known is not None else []
        key = (profile.provider, model.host)
        if key not in self.servers:
            made = ModelServer(
                *key,
                self._executor,
                self._post,
                clock=self._clock,
                changed=self._health_changed,
                renew=self._renew,
            )
            self.servers = {**self.servers, key: made}
        server = self.servers[key]
        server.models = {**server.models, name: model}
        server.places = max(each.profile.in_flight for each in server.models.values())
        server.due = 0.0
        self._models[name] = model, server
        for ticket in left:
            server.take(ticket, model)
        return model, server

    def _built(self, profile: ModelProfile) -> Model:
        """Create the model of a profile; raise ModelUnavailable if it uses none."""
        if profile.provider == NO_MODEL:
            cure = "Fetch one (keepsake model list), or name a server in llm.md"
            raise ModelUnavailable(f"The profile {profile.name!r} uses no model", cure)
        model = build(profile, self.embedded)
        if profile.provider == EMBEDDED:
            self.embedded.use(profile.model_file, profile.context_tokens)
        catalogue = self._detection.catalogue.current
        model.family = catalogue.form_of(model_name(profile))
        return model

    def _retire(self, name: str, *, in_flight: bool) -> list[Ticket]:
        """Take the model of a profile from its server, and return its calls."""
        model, server = self._models.pop(name)
        server.models = {n: each for n, each in server.models.items() if n != name}
        return server.release(model, in_flight=in_flight)

    def _renew(self, name: str) -> None:
        """Rebuild the model of a profile if the profile has changed; owner's thread only."""
        with suppress(ModelError, ConfigError):  # the calls have got it, or keep their model
            self.model(name)

    def _renew_all(self) -> None:
        for name in list(self._models):
            self._renew(name)

    # -- health checks, in a separate thread

    def _watch(self) -> None:
        while not self._stopping.is_set():
            try:
                self.check_health(due=True)
            except Exception as error:  # no error may end the health checks
                log.error("The health check of the model servers failed", exc_info=error)
            self._stopping.wait(WATCH_SECONDS)

    def _detect(self) -> None:
        """Detect the model for ``provider: auto``; blocks."""
        self._detect_at = time.monotonic() + RECHECK_SECONDS
        if not self.profiles.detects:
            return
        with logged(log, "The model could not be detected", subsystem=Subsystem.DETECTION):
            self._use(self._detection.find())

    def _use(self, found: FoundModel) -> None:
        """Use the model that was detected, if it is another one than before."""
        if found != self.profiles.found:
            self.profiles.use(found)
            log.info("The agents' model was found", subsystem=Subsystem.DETECTION, model=found.line)
            if found.provider == NO_MODEL:  # agents that wait for a lost server now use rules
                self._post(lambda: self.on_ready())  # noqa: PLW0108 - it may be set meanwhile

    def check_health(self, *, due: bool = False) -> None:
        """Check all servers in turn, or with ``due`` those whose check is due; blocks.

        Also starts, restarts or stops the embedded model's process, as the profiles require.
        """
        if not due or time.monotonic() >= self._detect_at:
            self._detect()
        if (current := self.profiles.current) != self._seen:
            self._seen = current
            self._post(self._renew_all)  # calls that wait for a replaced model are asked anew
        own = self.embedded
        was_ready = self.embedded.ready.is_set()
        wanted = [p for p in self.profiles.current.values() if p.provider == EMBEDDED]
        if wanted:
            own.use(wanted[0].model_file, wanted[0].context_tokens)
        ready = own.watch(wanted=bool(wanted))
        for server in self.servers.values():
            embedded = server.provider == EMBEDDED
            now = time.monotonic()
            if self._stopping.is_set():
                return
            if due and now < server.due and not (embedded and ready != was_ready):
                continue
            problem: KeepsakeError | None = own.refused if embedded else None
            problem = problem or (own.problem if embedded and not ready else server.check_health())
            if problem is not None and str(problem) != server.health and not embedded:
                log.warning(str(problem), host=server.host)
            server.due = now + (PROBE_SECONDS if problem is None else RECHECK_SECONDS)
            server.set_health(str(problem or READY))

    def _health_changed(self, server: ModelServer) -> None:
        where = {"provider": server.provider, "host": server.host}
        ready = server.health == READY
        self._changed(Health(**where, ready=ready, problem="" if ready else server.health))
        if ready:
            self._post(lambda: self.on_ready())  # noqa: PLW0108 - it may be set meanwhile


def _target(model: Model) -> tuple[object, ...]:
    """Return what a call of a model reaches; equal if only settings of calls differ."""
    profile = model.profile
    # Another context restarts the embedded server.
    context = profile.context_tokens if profile.provider == EMBEDDED else None
    return profile.provider, model.host, profile.model, profile.model_file, context


def build(profile: ModelProfile, embedded: Embedded) -> Model:
    """Create the model of a profile; does not connect yet.

    Raises:
        ModelUnavailable: The server's address is invalid.
    """
    if profile.provider == SCRIPTED:
        return ScriptedModel(profile)
    if profile.provider == EMBEDDED:

        def ready() -> None:
            missing = isinstance(embedded.problem, ModelMissing)
            if missing or not wait_for(embedded.ready, min(_READY_SECONDS, profile.time_limit)):
                raise embedded.problem or ModelUnavailable("The embedded model is not ready")

        return OpenAIModel(
            profile,
            embedded.address,
            kind=LLAMA_CPP,
            cure_absent="It restarts automatically; if it does not, see model.log",
            ready=ready,
            lost=embedded.ready.clear,  # the next check finds out whether it answers
        )
    try:
        if profile.provider == OLLAMA:
            return OllamaModel(profile)
        return OpenAIModel(profile, key=api_key())
    except (ValueError, httpx.InvalidURL) as error:  # OLLAMA_HOST is not checked before
        host = profile.host or os.environ.get("OLLAMA_HOST", "")
        raise ModelUnavailable(
            f"{host!r} is not the address of a server ({error})",
            "Correct host in llm.md or OLLAMA_HOST in the environment",
        ) from error
