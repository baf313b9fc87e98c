"""All model servers that the profiles name, and the models that are asked there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from keepsake.errors import ModelUnavailable
from keepsake.markdown_config import ConfigFile
from keepsake.models.catalogue import form_of, load_forms
from keepsake.models.clients.capabilities import Lessons
from keepsake.models.embedded.supervisor import Embedded, model_name
from keepsake.models.profiles import (
    AS_LEARNED,
    EXTRACTIVE,
    IN_FLIGHT,
    MOST_IN_FLIGHT,
    ModelProfile,
    Profiles,
)
from keepsake.models.queue import ModelQueue
from keepsake.models.servers import GuardedModel, ServerKey, build, server_key
from keepsake.models.status import UNASKED, Recorder, ServerStatus, Sink

LONGEST_REST = 300.0


@dataclass(eq=False, slots=True)
class ModelServer:
    """One server, whatever profiles are asked there."""

    key: ServerKey
    queue: ModelQueue
    recorder: Recorder
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


class ServerPool:
    """Builds what the profiles name, and follows their changes; owner's thread only.

    Attributes:
        profiles, embedded: As they were given.
        servers: Every server there was, by provider and address; replaced, never changed, so that
            any thread may read it.
        models: The model of each profile that was asked for; likewise.
        news: Set when there is a server that was not asked yet what it takes.

    Args:
        environ: The environment, for ``OLLAMA_HOST`` and the API key.
        queue: Makes the queue in front of a server.
        sink: Called after each call, in a worker thread.
        wrapped: What is asked in place of a model that was built.
    """

    def __init__(
        self,
        profiles: Profiles,
        embedded: Embedded,
        environ: Mapping[str, str],
        queue: Callable[[], ModelQueue],
        *,
        sink: Sink | None = None,
        wrapped: Callable[[GuardedModel], GuardedModel] = lambda model: model,
    ) -> None:
        self.profiles, self.embedded, self._environ = profiles, embedded, environ
        self._queue, self._sink, self._wrapped = queue, sink, wrapped
        self.servers: dict[ServerKey, ModelServer] = {}
        self.models: dict[str, GuardedModel] = {}
        self.news = threading.Event()
        self._fitted: object = None
        self._replaced: list[GuardedModel] = []
        forms = profiles.path.with_name("models.md")
        self._forms = ConfigFile[Mapping[str, str]](forms, load_forms, {}, rest=1.0)
        self._lessons: dict[tuple[ServerKey, str], Lessons] = {}

    def used(self) -> list[ModelProfile]:
        """The profiles that mean a model."""
        return [profile for profile in self.profiles if profile.provider != EXTRACTIVE]

    def model(self, name: str) -> GuardedModel:
        """The model of a profile, built anew where the profile has changed.

        Raises:
            ConfigError: There is no such profile.
            ModelUnavailable: The profile means no model.
        """
        profile, known = self.profiles.get(name), self.models.get(name)
        if known is None or known.profile != profile:
            if profile.provider == EXTRACTIVE:
                cure = "Give it another provider in llm.md"
                raise ModelUnavailable(f"The profile {name!r} uses no model", cure)
            if known is not None:
                self._replaced.append(known)  # closed at the end: calls of it may be in flight
            known = self._built(profile)
            self.models = {**self.models, name: known}
            self._fitted = None
            self.news.set()
        if self.profiles.all() is not self._fitted:
            self.fit()
        return known

    def server(self, model: GuardedModel) -> ModelServer:
        """The server of a model."""
        return self.servers[self._key(model.profile)]

    def asked_at(self, key: ServerKey) -> list[GuardedModel]:
        """The models behind one server; any thread."""
        return [each for each in self.models.values() if self._key(each.profile) == key]

    def fit(self) -> None:
        """Give each server as many places as the profiles, or what it said of itself, want."""
        self._fitted = self.profiles.all()
        current = set(self.used())
        for key, server in self.servers.items():
            asking = [each for each in self.asked_at(key) if each.profile in current]
            server.queue.places = max(map(_places, asking), default=server.queue.places)

    def statuses(self) -> list[ServerStatus]:
        """Every server that a profile uses."""
        used = {self._key(self.model(profile.name).profile) for profile in self.used()}
        return [self._status(each) for key, each in self.servers.items() if key in used]

    def close(self) -> None:
        """Let go of all connections."""
        for each in (*self._replaced, *self.models.values()):
            each.close()

    def _built(self, profile: ModelProfile) -> GuardedModel:
        key, name = self._key(profile), model_name(profile)
        if key not in self.servers:
            made = ModelServer(key, self._queue(), Recorder(sink=self._sink))
            self.servers = {**self.servers, key: made}
        built = build(
            profile,
            self.embedded,
            self._environ,
            self.servers[key].recorder,
            lessons=self._lessons.setdefault((key, name), Lessons()),
            family=lambda: form_of(self._forms.current, name),
        )
        return self._wrapped(built)

    def _key(self, profile: ModelProfile) -> ServerKey:
        return server_key(profile, self.embedded, self._environ)

    def _status(self, server: ModelServer) -> ServerStatus:
        asking = self.asked_at(server.key)
        provider, host = server.key
        notes = [note for each in asking for note in (each.profile.note, each.lessons.note) if note]
        return ServerStatus(
            provider=provider,
            host=host,
            models=tuple(f"{each.profile.name}: {model_name(each.profile)}" for each in asking),
            kind=_kind(asking),
            health=server.health,
            waiting=server.queue.waiting(),
            running=len(server.queue.running),
            in_flight=server.queue.places,
            figures=server.recorder.figures(),
            notes=tuple(dict.fromkeys(notes)),
        )


def _places(model: GuardedModel) -> int:
    """The calls that a profile would have in flight at its server."""
    if model.profile.in_flight != AS_LEARNED:
        return model.profile.in_flight
    return min(model.capabilities().slots or IN_FLIGHT, MOST_IN_FLIGHT)


def _kind(asking: list[GuardedModel]) -> str:
    """What a server is, the forms of its prompts and their sizes, for people."""
    if not asking or not asking[0].capabilities().known:
        return "not known yet"
    profiles = [each.resolved() for each in asking]
    forms = " and ".join(sorted({each.form for each in profiles}))
    tools = ", with tools" if any(each.takes_tools for each in profiles) else ""
    most = max(each.prompt_tokens for each in profiles)
    return f"{asking[0].capabilities().kind}, {forms}{tools}; prompts of {most:,} tokens at most"
