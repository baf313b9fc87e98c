"""From a profile to a model that can be asked, with all that guards it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import httpx

from keepsake.errors import ModelError, ModelUnavailable
from keepsake.models.clients.capabilities import Capabilities
from keepsake.models.clients.ollama import OllamaModel, ollama_host
from keepsake.models.clients.openai import OpenAIModel, api_key
from keepsake.models.embedded.supervisor import Embedded
from keepsake.models.profiles import AUTO, EMBEDDED, LLAMA_CPP, OLLAMA, SCRIPTED, ModelProfile
from keepsake.models.queue import Lane
from keepsake.models.scripted.model import ScriptedModel
from keepsake.models.wrappers import CircuitBreaker, Recorder, Recording, Retry, TimeLimit
from keepsake.ports import Generation, GenerationRequest, LanguageModel

ServerKey = tuple[str, str]
"""Provider and address: what has places of its own for calls."""


IN_PROCESS = "in this process"
"""The address of a model that needs no server."""


class ModelClient(LanguageModel, Protocol):
    """What the clients have beside ``generate``."""

    capabilities: Capabilities
    """What the server takes, as far as ``check`` has learnt it."""

    def check(self) -> str:
        """Whether the server answers and has the model; learns what it takes. ModelError."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text, or None when the server has no tokenizer for others."""
        ...

    def close(self) -> None:
        """Close the kept connections."""
        ...


class WhenReady:
    """Waits for the embedded model, which takes seconds to load, before it is asked."""

    def __init__(self, inner: LanguageModel, embedded: Embedded, seconds: float) -> None:
        self._inner = inner
        self._embedded = embedded
        self._seconds = seconds

    def generate(self, request: GenerationRequest) -> Generation:
        """As the inner model.

        Raises:
            ModelUnavailable: The child does not answer; says why.
        """
        if not self._embedded.wait_ready(self._seconds):
            raise self._embedded.problem or ModelUnavailable("The embedded model is not ready")
        return self._inner.generate(request)


@dataclass(eq=False, slots=True)
class GuardedModel:
    """One profile's model at one server, ready to be asked."""

    profile: ModelProfile  # what it was built from
    model: LanguageModel  # the outermost decorator
    client: ModelClient  # the innermost, which talks to the server
    breaker: CircuitBreaker  # to be closed when the server was seen to answer
    limit: TimeLimit  # to be abandoned at shutdown
    # gives what the server takes, as far as it is known; quick
    capabilities: Callable[[], Capabilities]
    lane: Lane = field(default_factory=Lane)  # the places of its server
    answers: bool = True  # whether it did when it was last looked at

    def is_well(self) -> bool:
        """Whether it answers, as far as is known; quick."""
        return self.answers and not self.breaker.is_open

    def resolved(self) -> ModelProfile:
        """The profile, with the form of its model's prompts in place of ``auto``."""
        takes = self.capabilities()
        form = takes.format if self.profile.format == AUTO else self.profile.format
        return replace(self.profile, format=form, takes_grammar=takes.grammar)

    def close(self, reason: ModelError) -> None:
        """Answer who waits for it with ``reason`` and let go of the connections.

        Connections are closed on a thread of their own, as a client that is still
        reading may hold on to them.
        """
        self.limit.abandon(reason)
        threading.Thread(target=self.client.close, name="model-close", daemon=True).start()


def server_key(profile: ModelProfile, embedded: Embedded, environ: Mapping[str, str]) -> ServerKey:
    """Which server answers a profile."""
    return profile.provider, _address(profile, embedded, environ)


def build(
    profile: ModelProfile,
    embedded: Embedded,
    environ: Mapping[str, str],
    recorder: Recorder | None = None,
    lane: Lane | None = None,
) -> GuardedModel:
    """The model of a profile of one host, guarded; connects to nothing yet.

    Raises:
        ModelUnavailable: Its server's address is none.
    """
    address = _address(profile, embedded, environ)
    try:
        client = _client(profile, address, environ)
    except (ValueError, httpx.InvalidURL) as error:  # OLLAMA_HOST may hold anything
        raise ModelUnavailable(
            f"{address!r} is no address of a model server ({error})",
            "Correct host in llm.md or OLLAMA_HOST in the environment",
        ) from error
    inner: LanguageModel = Retry(client)
    if profile.provider == EMBEDDED:
        inner = WhenReady(inner, embedded, seconds=min(20.0, profile.time_limit))
    limit = TimeLimit(inner, profile.time_limit)
    breaker = CircuitBreaker(limit)
    own = profile.provider == EMBEDDED  # its file says what its server would not
    return GuardedModel(
        profile,
        Recording(breaker, recorder or Recorder()),
        client,
        breaker,
        limit,
        lambda: embedded.capabilities if own else client.capabilities,
        lane or Lane(),
    )


def _client(profile: ModelProfile, address: str, environ: Mapping[str, str]) -> ModelClient:
    if profile.provider == SCRIPTED:
        return ScriptedModel(profile.seed or 0)
    if profile.provider == OLLAMA:
        return OllamaModel(
            address,
            profile.model,
            time_limit=profile.time_limit,
            keep_alive=profile.keep_alive,
            context_tokens=profile.context_tokens,
        )
    if profile.provider == EMBEDDED:
        cure = "It is started again by itself; see model.log if it stays away"
        return OpenAIModel(address, time_limit=profile.time_limit, kind=LLAMA_CPP, cure_absent=cure)
    return OpenAIModel(
        address,
        profile.model,
        time_limit=profile.time_limit,
        key=api_key(environ),
        kind=profile.server,
    )


def _address(profile: ModelProfile, embedded: Embedded, environ: Mapping[str, str]) -> str:
    if profile.provider == EMBEDDED:
        return embedded.address
    if profile.provider == OLLAMA:
        return ollama_host(profile.host, environ)
    return IN_PROCESS if profile.provider == SCRIPTED else profile.host
