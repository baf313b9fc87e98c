"""From a profile to a model that can be asked, with all that guards it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import httpx

from keepsake.errors import ModelUnavailable
from keepsake.models.asking import PatientModel
from keepsake.models.clients.capabilities import Capabilities, Lessons
from keepsake.models.clients.ollama import OllamaModel, ollama_host
from keepsake.models.clients.openai import OpenAIModel, api_key
from keepsake.models.embedded.supervisor import Embedded
from keepsake.models.profiles import (
    AUTO,
    CHAT,
    EMBEDDED,
    LLAMA_CPP,
    OLLAMA,
    SCRIPTED,
    YES,
    ModelProfile,
)
from keepsake.models.scripted.model import ScriptedModel
from keepsake.models.status import Recorder
from keepsake.ports import LanguageModel

ServerKey = tuple[str, str]
"""Provider and address: what has places of its own for calls."""


LEAST_TAIL, LEAST_PROMPT = 256, 1024
"""Tokens that may be new in a prompt, and those of a prompt, however slow the server is."""
IN_PROCESS = "in this process"
"""The address of a model that needs no server."""


type ModelClient = OllamaModel | OpenAIModel | ScriptedModel
"""What talks to a server."""


@dataclass(eq=False, slots=True)
class GuardedModel:
    """One profile's model at its server, ready to be asked."""

    profile: ModelProfile  # what it was built from
    model: LanguageModel  # what is asked: it waits, tries again and counts
    client: ModelClient  # what talks to the server
    patience: PatientModel  # asks the client; ``model`` itself, unless that was replaced
    look: Callable[[], object]  # learns what the model takes; blocks, raises ModelError
    # gives what the server takes, as far as it is known; quick
    capabilities: Callable[[], Capabilities]
    lessons: Lessons = field(default_factory=Lessons)
    family: Callable[[], str] = lambda: ""  # the form that ``models.md`` says of its family
    learnt: bool = False  # whether the model was looked at since it was built
    learning: threading.Lock = field(default_factory=threading.Lock)

    def is_known(self) -> bool:
        """Whether prompts can be made for it: it was asked what it takes; quick."""
        return self.capabilities().known and (self.learnt or self.profile.provider != EMBEDDED)

    def learn(self, given_up: Callable[[], bool]) -> None:
        """Ask what the model takes; blocks, and waits for a server that is busy.

        Raises:
            ModelError: It could not be asked.
        """
        with self.learning:
            if not self.is_known():
                if self.model is self.patience:
                    self.patience.require()
                self.patience.call(self.look, given_up=given_up)
                self.learnt = True

    def resolved(self) -> ModelProfile:
        """The profile as prompts are made for it, as far as its model is known."""
        takes, lessons = self.capabilities(), self.lessons
        if not takes.known and lessons.capabilities is not None:
            takes = lessons.capabilities
        contexts = filter(None, (self.profile.context_tokens, takes.context))
        found = self.profile.suited(self.family() or takes.form, min(contexts, default=0))
        room = found.prompt_tokens
        if lessons.context:
            room = min(room, int(lessons.context * lessons.share))
        tail = 0
        if lessons.rate:  # also a prompt of which the server has nothing is to be answered in time
            whole = int(lessons.rate * found.time_limit / 2)
            room = min(room, max(whole, LEAST_PROMPT))
            tail = max(int(lessons.rate * found.evaluate_seconds), LEAST_TAIL)
        offers = takes.tools if found.tools == AUTO else found.tools == YES
        return replace(
            found,
            prompt_tokens=room,
            tail_tokens=tail if tail < room else 0,
            takes_tools=offers and found.form == CHAT and "tools" not in lessons.refused,
        )

    def close(self) -> None:
        """Let go of the connections, in another thread: a client that reads holds on to them."""
        threading.Thread(target=self.client.close, name="model-close", daemon=True).start()


def server_key(profile: ModelProfile, embedded: Embedded, environ: Mapping[str, str]) -> ServerKey:
    """Which server answers a profile."""
    return profile.provider, _address(profile, embedded, environ)


def build(
    profile: ModelProfile,
    embedded: Embedded,
    environ: Mapping[str, str],
    recorder: Recorder | None = None,
    *,
    lessons: Lessons | None = None,
    family: Callable[[], str] = lambda: "",
) -> GuardedModel:
    """The model of a profile; connects to nothing yet.

    Args:
        profile: The profile.
        embedded: The child process.
        environ: The environment, for ``OLLAMA_HOST`` and the API key.
        recorder: Counts its calls.
        lessons: What calls have shown of the model so far.
        family: The form that ``models.md`` says of its family; empty for none.

    Raises:
        ModelUnavailable: Its server's address is none.
    """
    address, lessons = _address(profile, embedded, environ), lessons or Lessons()
    try:
        client = _client(profile, address, environ, lessons)
    except (ValueError, httpx.InvalidURL) as error:  # OLLAMA_HOST may hold anything
        raise ModelUnavailable(
            f"{address!r} is no address of a model server ({error})",
            "Correct host in llm.md or OLLAMA_HOST in the environment",
        ) from error
    own = profile.provider == EMBEDDED  # its file says what its server would not

    def ready() -> None:  # it takes seconds to load
        if own and not embedded.wait_ready(min(20.0, profile.time_limit)):
            raise embedded.problem or ModelUnavailable("The embedded model is not ready")

    asked = PatientModel(client, profile.time_limit, recorder, ready=ready)
    return GuardedModel(
        profile,
        asked,
        client,
        asked,
        (lambda: embedded.use(profile.model_file, profile.context_tokens)) if own else client.check,
        (lambda: embedded.capabilities) if own else (lambda: client.capabilities),
        lessons,
        family,
    )


def _client(
    profile: ModelProfile, address: str, environ: Mapping[str, str], lessons: Lessons
) -> ModelClient:
    if profile.provider == SCRIPTED:
        return ScriptedModel(profile.seed or 0)
    if profile.provider == OLLAMA:
        return OllamaModel(
            address,
            profile.model,
            time_limit=profile.time_limit,
            keep_alive=profile.keep_alive,
            context_tokens=profile.context_tokens,
            prompt_tokens=profile.prompt_tokens,
            lessons=lessons,
        )
    if profile.provider == EMBEDDED:
        cure = "It is started again by itself; see model.log if it stays away"
        return OpenAIModel(
            address,
            time_limit=profile.time_limit,
            kind=LLAMA_CPP,
            cure_absent=cure,
            lessons=lessons,
        )
    return OpenAIModel(
        address,
        profile.model,
        time_limit=profile.time_limit,
        key=api_key(environ),
        kind=profile.server,
        lessons=lessons,
    )


def _address(profile: ModelProfile, embedded: Embedded, environ: Mapping[str, str]) -> str:
    if profile.provider == EMBEDDED:
        return embedded.address
    if profile.provider == OLLAMA:
        return ollama_host(profile.host, environ)
    return IN_PROCESS if profile.provider == SCRIPTED else profile.host
