"""One model server: its queue, the models that are asked there, and how it is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import httpx

from keepsake.errors import (
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelUnavailable,
)
from keepsake.models.embedded import Embedded
from keepsake.models.model import Model
from keepsake.models.ollama import OllamaModel, ollama_host
from keepsake.models.openai import OpenAIModel, api_key
from keepsake.models.profiles import (
    EMBEDDED,
    LLAMA_CPP,
    OLLAMA,
    SCRIPTED,
    ModelProfile,
    model_name,
)
from keepsake.models.queue import ModelQueue, Priority
from keepsake.models.scripted import ScriptedModel
from keepsake.ports import Generation

READY, UNASKED = "ready", "not asked yet"
FIRST_REST, LONGEST_REST = 1.0, 300.0
"""How soon one is looked at again that failed a call; doubled while calls go on to fail."""
_READY_SECONDS = 20.0
"""How long a call waits for the child process of the embedded model."""


@dataclass(slots=True)
class Figures:
    """What was counted of the calls of a server."""

    calls: int = 0  # calls made, failures included
    failures: int = 0  # calls that gave no answer
    last_error: str = ""  # the newest failure since the last answer; empty when there is none
    seconds: float = 0.0  # that all answers took together
    prompt_tokens: int = 0  # tokens of all prompts, cached ones included
    cached_tokens: int = 0  # those of them that were not evaluated again
    completion_tokens: int = 0  # tokens generated

    @property
    def cached_share(self) -> float:
        """Share of prompt tokens that came from the cache, 0 to 1."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    @property
    def average(self) -> float:
        """Seconds of an answer."""
        return self.seconds / max(self.calls - self.failures, 1)


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One server, as ``@llm-status`` shows it."""

    provider: str  # ``embedded``, ``ollama``, ``openai``
    host: str  # its address
    models: tuple[str, ...]  # profile and model of all that is asked there: ``agent: llama3``
    kind: str  # what the server is, and the form and the size of its prompts
    health: str  # ``ready``, or what is wrong and what to do
    waiting: Mapping[Priority, int]  # jobs that wait, by priority
    running: int  # calls in flight
    in_flight: int  # calls that may be in flight at once
    figures: Figures  # counts since the start


@dataclass(eq=False, slots=True)
class ModelServer:
    """One server, whatever profiles are asked there."""

    provider: str
    host: str
    queue: ModelQueue
    models: dict[str, Model] = field(default_factory=dict)  # by the names of their profiles
    figures: Figures = field(default_factory=Figures)
    health: str = UNASKED  # ``ready``, or what is wrong and what to do
    due: float = 0.0  # when it is looked at next, in monotonic seconds
    rest: float = 0.0  # how long it was left alone after a call that failed

    def heard(self, outcome: Generation | ModelError) -> bool:
        """Count a call; whether it tells that the server is not well, and is looked at soon."""
        figures = self.figures
        figures.calls += 1
        if isinstance(outcome, Generation):
            self.rest, figures.last_error = 0.0, ""
            figures.seconds += outcome.seconds
            figures.prompt_tokens += outcome.prompt_tokens
            figures.cached_tokens += outcome.cached_tokens
            figures.completion_tokens += outcome.completion_tokens
            return False
        figures.failures += 1
        figures.last_error = str(outcome)
        if not isinstance(outcome, (ModelUnavailable, ModelFailed, ModelMissing)):
            return False
        self.rest = min(max(2 * self.rest, FIRST_REST), LONGEST_REST)
        self.due = time.monotonic() + self.rest
        return True

    def look(self) -> ModelError | None:
        """What is wrong with it now; calls to one that is gone fail at once until it is well.

        The process of the embedded model is waited for instead. Blocks.
        """
        problems = list[ModelError]()
        for model in self.models.values():
            down = None
            try:
                model.check()
            except ModelError as error:
                problems.append(error)
                gone = isinstance(error, ModelUnavailable) and not isinstance(error, ModelBusy)
                down = error if gone and self.provider != EMBEDDED else None
            model.down = down
        return problems[0] if problems else None

    def status(self) -> ServerStatus:
        """How it is now."""
        models, kind = self.models.values(), "not known yet"
        if known := [each for each in models if each.capabilities.known]:
            profiles = [each.suited() for each in known]
            forms = " and ".join(sorted({each.form for each in profiles}))
            tools = ", with tools" if any(each.takes_tools for each in profiles) else ""
            most = max(each.prompt_tokens for each in profiles)
            kind = f"{known[0].capabilities.kind}, {forms}{tools}; prompts of {most:,} tokens"
            kind += " at most"
        return ServerStatus(
            provider=self.provider,
            host=self.host,
            models=tuple(f"{e.profile.name}: {model_name(e.profile)}" for e in models),
            kind=kind,
            health=self.health,
            waiting=self.queue.waiting(),
            running=len(self.queue.running),
            in_flight=self.queue.places,
            figures=replace(self.figures),
        )


def address_of(profile: ModelProfile, embedded: Embedded, environ: Mapping[str, str]) -> str:
    """Where the server of a profile is."""
    if profile.provider == EMBEDDED:
        return embedded.address
    if profile.provider == OLLAMA:
        return ollama_host(profile.host, environ)
    return "in this process" if profile.provider == SCRIPTED else profile.host


def build(profile: ModelProfile, embedded: Embedded, environ: Mapping[str, str]) -> Model:
    """The model of a profile; connects to nothing yet.

    Args:
        profile: The profile.
        embedded: The child process.
        environ: The environment, for ``OLLAMA_HOST`` and the API key.

    Raises:
        ModelUnavailable: Its server's address is none.
    """
    if profile.provider == SCRIPTED:
        return ScriptedModel(profile)
    try:
        if profile.provider == OLLAMA:
            return OllamaModel(profile, environ)
        if profile.provider != EMBEDDED:
            return OpenAIModel(profile, key=api_key(environ))
    except (ValueError, httpx.InvalidURL) as error:  # OLLAMA_HOST may hold anything
        raise ModelUnavailable(
            f"{address_of(profile, embedded, environ)!r} is no address of a server ({error})",
            "Correct host in llm.md or OLLAMA_HOST in the environment",
        ) from error

    def ready() -> None:
        embedded.use(profile.model_file, profile.context_tokens)
        if not embedded.wait_ready(min(_READY_SECONDS, profile.time_limit)):
            raise embedded.problem or ModelUnavailable("The embedded model is not ready")

    cure = "It is started again by itself; see model.log if it stays away"
    return OpenAIModel(profile, embedded.address, kind=LLAMA_CPP, cure_absent=cure, ready=ready)
