"""The model of a memory: named by a string, a profile, or any object that generates."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from keepsake.errors import CallCancelled, ModelError, ModelMissing
from keepsake.models.profiles import (
    AGENT,
    CHAT,
    OLLAMA,
    OPENAI,
    SHIPPED,
    ModelProfile,
    model_name,
)
from keepsake.ports import Generation, GenerationRequest, LanguageModel, TargetModel

type ModelName = str | ModelProfile | LanguageModel
"""``ollama:MODEL``, ``ollama:MODEL@HOST``, ``openai:MODEL@HOST``; a profile, or a model."""

NO_ANSWER = (
    "This memory has no model",
    'Open it with model="ollama:qwen3.5:4b" or "openai:MODEL@http://host:port", or take '
    "prompt() to a model of your own and pass its answer to perceive()",
)
_WHERE = "the model that you named"
"""Where a program changes what errors of a model speak of: its host, its limits."""
_CURE = (
    "Write ollama:MODEL, ollama:MODEL@HOST or openai:MODEL@HOST, such as "
    "openai:qwen3@http://127.0.0.1:8000"
)


class _Served(Protocol):
    """A model on a server, which knows its own limits."""

    profile: ModelProfile

    def learn(self) -> None:
        """Ask the server what the model accepts."""

    def resolved(self) -> ModelProfile:
        """Return the profile for which prompts are made."""

    def generate(self, request: GenerationRequest) -> Generation:
        """Return an answer."""


def profile_named(name: str) -> ModelProfile:
    """Return the profile of a model that a string names.

    Raises:
        ModelMissing: The string names none.
    """
    provider, _, rest = name.partition(":")
    # The last @ before an address: a model's own name may have one.
    model, _, host = rest.rpartition("@") if "@http" in rest else (rest, "", "")
    if provider not in (OLLAMA, OPENAI) or not model or (provider == OPENAI and not host):
        raise ModelMissing(f"{name!r} names no model", _CURE)
    return replace(SHIPPED[AGENT], provider=provider, model=model, host=host)


class Answerer:
    """What answers for an agent; safe for threads.

    Args:
        given: The model; None for none.
        prompt_tokens: The most tokens of its prompts; 0 if the model decides.

    Attributes:
        name: The model's name; empty for none.
    """

    def __init__(self, given: ModelName | None, prompt_tokens: int = 0) -> None:
        if isinstance(given, str):
            given = profile_named(given)
        self._model: LanguageModel | None = None
        self._profile = replace(SHIPPED[AGENT], form=CHAT, prompt_tokens=prompt_tokens)
        self._served: _Served | None = None
        self._making = threading.Lock()
        self._ended = threading.Event()
        if isinstance(given, ModelProfile):
            tokens = prompt_tokens or given.prompt_tokens
            self._profile = replace(given, prompt_tokens=tokens, where=_WHERE)
            self.name = model_name(self._profile)
        else:
            self._model = given
            self.name = "" if given is None else str(getattr(given, "name", type(given).__name__))

    @property
    def target(self) -> ModelProfile:
        """The properties of the model that prompts depend on, as far as they are known."""
        if self._served is not None:
            return self._served.resolved()
        return self._profile.resolved(CHAT)

    def check(self) -> None:
        """Check that there is a model.

        Raises:
            ModelMissing: There is none.
        """
        if not self.name:
            raise ModelMissing(*NO_ANSWER)

    def learn(self) -> TargetModel:
        """Return the model's properties; ask its server for them if they are not known; blocks.

        Raises:
            ModelError: There is no model, or its server does not answer.
        """
        self.check()
        if self._model is None:
            self._connected().learn()
        return self.target

    def generate(self, request: GenerationRequest) -> Generation:
        """Return the model's answer; blocks.

        Raises:
            ModelError: There was none; the message says what to do.
        """
        self.check()
        wanted = request.is_cancelled or _never
        request = replace(request, is_cancelled=lambda: self._ended.is_set() or wanted())
        request = self.target.request(request)
        return self._answering(request)

    def ask(self, build: Callable[[TargetModel], GenerationRequest]) -> Generation:
        """Return the answer to a request that is made for the model; blocks. It raises as above."""
        return self.generate(build(self.learn()))

    def _answering(self, request: GenerationRequest) -> Generation:
        if self._model is None:
            return self._connected().generate(request)
        try:
            return self._model.generate(request)
        except ModelError:
            raise
        except Exception as error:  # any program's own model may raise anything
            what = f"The model {self.name} failed ({error!r})"
            raise ModelError(what, "Have its generate() raise keepsake.ModelError") from error

    def end(self) -> None:
        """Cancel the calls that run; later ones fail."""
        self._ended.set()

    def _connected(self) -> _Served:
        """Return the client, made at the first use: its library takes a while to import."""
        with self._making:
            if self._ended.is_set():
                raise CallCancelled("The memory is closed", "Open it again")
            if self._served is None:
                self._served = _client(self._profile)
        return self._served


def _never() -> bool:
    return False


def _client(profile: ModelProfile) -> _Served:
    """Return the client of a profile.

    Raises:
        ModelMissing: Only a game can use its provider.
    """
    # httpx and the clients take as long to import as all else together.
    if profile.provider == OLLAMA:
        from keepsake.models.ollama import OllamaModel  # noqa: PLC0415 - slow

        return OllamaModel(profile)
    if profile.provider == OPENAI:
        from keepsake.models.openai import OpenAIModel, api_key  # noqa: PLC0415 - slow

        return OpenAIModel(profile, key=api_key())
    raise ModelMissing(f"A memory cannot use the provider {profile.provider!r}", _CURE)
