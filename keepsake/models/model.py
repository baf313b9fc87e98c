"""The model of one profile: waited for, asked again after what may pass, and learnt about."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import httpx

from keepsake.errors import (
    AnswerBroken,
    BadAnswer,
    CallGivenUp,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.models.capabilities import Lessons
from keepsake.models.embedded import Embedded
from keepsake.models.http import within
from keepsake.models.ollama import OllamaModel, ollama_host
from keepsake.models.openai import OpenAIModel, api_key
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
from keepsake.models.scripted import ScriptedModel
from keepsake.models.status import Recorder
from keepsake.ports import Generation, GenerationRequest

IN_PROCESS = "in this process"
"""The address of a model that needs no server."""
LEAST_TAIL, LEAST_PROMPT = 256, 1024
"""Tokens that may be new in a prompt, and those of a prompt, however slow the server is."""
_ATTEMPTS = 3
"""Calls in all, where an error may pass."""
_LONGEST_PAUSE = 5.0
_LOOK_SECONDS = 0.1
"""How often a call that waits looks whether its answer is still wanted."""
_READY_SECONDS = 20.0
"""How long a call waits for the child process of the embedded model."""
_TRANSIENT = (ModelUnavailable, ModelFailed)

type ModelClient = OllamaModel | OpenAIModel | ScriptedModel
"""What talks to a server."""


class AskedModel:
    """One profile's model at its server.

    What may pass (no answer, or the server broke) is asked again, three times in all. A server
    that is busy (it loads its model, or is asked too often) is waited for as long as the time
    allows: as long as it says, else with pauses that grow. An empty answer is asked for again as
    well, unless a fixed seed would give the same one. A time-out is not: it has cost all the
    time there was. Neither is an answer of which a part was handed on.

    Attributes:
        profile: What it was built from.
        client: What talks to the server.
        down: Why the server did not answer when it was last looked at; None if it did. Until
            the next look calls fail at once.

    Args:
        family: The form that ``models.md`` says of its family; empty for none.
        recorder: Counts its calls.
        ready: Waits until the model's process answers; raises ModelUnavailable.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        profile: ModelProfile,
        client: ModelClient,
        *,
        family: Callable[[], str] = lambda: "",
        recorder: Recorder | None = None,
        ready: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.profile, self.client = profile, client
        self.down: ModelError | None = None
        self._family, self._recorder = family, recorder or Recorder()
        self._ready, self._clock = ready, clock
        self._learning = threading.Lock()

    @property
    def lessons(self) -> Lessons:
        """What calls have shown of the model."""
        return self.client.lessons

    def generate(self, request: GenerationRequest) -> Generation:
        """As the client; blocks.

        Raises:
            ModelError: The last one.
        """
        transient: tuple[type[ModelError], ...] = _TRANSIENT
        if request.seed is None:
            transient += (BadAnswer,)
        started = time.monotonic()
        try:
            answer = self._call(partial(self._once, request), transient, request.given_up)
        except ModelError as error:
            self._recorder.add(error, time.monotonic() - started)
            raise
        self._recorder.add(answer, time.monotonic() - started)
        return answer

    def is_known(self) -> bool:
        """Whether prompts can be made for it: it was asked what it takes; quick."""
        return self.client.capabilities.known

    def learn(self, given_up: Callable[[], bool]) -> None:
        """Ask what the model takes; blocks, and waits for a server that is busy.

        Raises:
            ModelError: It could not be asked.
        """
        with self._learning:
            if not self.is_known():
                self._call(self.client.check, _TRANSIENT, given_up)

    def look(self) -> ModelError | None:
        """What is wrong with its server now; None if all is well. Blocks."""
        try:
            self.client.check()
        except ModelError as error:
            gone = isinstance(error, ModelUnavailable) and not isinstance(error, ModelBusy)
            self.down = error if gone else None
            return error
        self.down = None
        return None

    def resolved(self) -> ModelProfile:
        """The profile as prompts are made for it, as far as its model is known."""
        takes, lessons = self.client.capabilities, self.lessons
        contexts = filter(None, (self.profile.context_tokens, takes.context))
        found = self.profile.suited(self._family() or takes.form, min(contexts, default=0))
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

    def _call[T](
        self,
        work: Callable[[], T],
        transient: tuple[type[ModelError], ...],
        given_up: Callable[[], bool] | None,
    ) -> T:
        if self.down is not None:
            raise ModelUnavailable(f"{self.down.what} (it is looked at again)", self.down.cure)
        seconds = self.profile.time_limit
        with within(seconds):
            self._ready()
            until, pause, left = self._clock() + seconds, 0.25, _ATTEMPTS
            while True:
                try:
                    return work()
                except transient as error:
                    busy = isinstance(error, ModelBusy)
                    wait = (error.wait if isinstance(error, ModelBusy) else 0.0) or pause
                    left -= not busy
                    late = self._clock() + wait >= until
                    if late or not left or isinstance(error, CallGivenUp):
                        raise
                    _wait(wait, given_up)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _once(self, request: GenerationRequest) -> Generation:
        """The answer; AnswerBroken if it ended when a part of it had been handed on."""
        heard, begun = request.on_text, False
        if heard is None:
            return self.client.generate(request)

        def hand_on(piece: str) -> None:
            nonlocal begun
            begun = True
            heard(piece)

        try:
            return self.client.generate(replace(request, on_text=hand_on))
        except (ModelTimeout, CallGivenUp):
            raise
        except ModelError as error:
            if not begun:
                raise
            what = f"The answer ended amid its words: {error.what}"
            raise AnswerBroken(what, error.cure) from error


def _wait(seconds: float, given_up: Callable[[], bool] | None) -> None:
    """Wait so long.

    Raises:
        CallGivenUp: Nobody wants the answer any more.
    """
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if given_up is not None and given_up():
            raise CallGivenUp("The call was given up", "Nobody wants its answer")
        time.sleep(min(left, _LOOK_SECONDS))


def address_of(profile: ModelProfile, embedded: Embedded, environ: Mapping[str, str]) -> str:
    """Where the server of a profile is."""
    if profile.provider == EMBEDDED:
        return embedded.address
    if profile.provider == OLLAMA:
        return ollama_host(profile.host, environ)
    return IN_PROCESS if profile.provider == SCRIPTED else profile.host


def build(
    profile: ModelProfile,
    embedded: Embedded,
    environ: Mapping[str, str],
    recorder: Recorder | None = None,
    *,
    lessons: Lessons | None = None,
    family: Callable[[], str] = lambda: "",
) -> AskedModel:
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
    address = address_of(profile, embedded, environ)
    try:
        client = _client(profile, address, environ, lessons or Lessons())
    except (ValueError, httpx.InvalidURL) as error:  # OLLAMA_HOST may hold anything
        raise ModelUnavailable(
            f"{address!r} is no address of a model server ({error})",
            "Correct host in llm.md or OLLAMA_HOST in the environment",
        ) from error

    def ready() -> None:
        if profile.provider != EMBEDDED:
            return
        embedded.use(profile.model_file, profile.context_tokens)
        if not embedded.wait_ready(min(_READY_SECONDS, profile.time_limit)):
            raise embedded.problem or ModelUnavailable("The embedded model is not ready")

    return AskedModel(profile, client, family=family, recorder=recorder, ready=ready)


def _client(
    profile: ModelProfile, address: str, environ: Mapping[str, str], lessons: Lessons
) -> ModelClient:
    limit = profile.time_limit
    if profile.provider == SCRIPTED:
        return ScriptedModel(profile.seed or 0)
    if profile.provider == OLLAMA:
        return OllamaModel(
            address,
            profile.model,
            time_limit=limit,
            context_tokens=profile.context_tokens,
            prompt_tokens=profile.prompt_tokens,
            lessons=lessons,
        )
    if profile.provider == EMBEDDED:
        cure = "It is started again by itself; see model.log if it stays away"
        return OpenAIModel(
            address, time_limit=limit, kind=LLAMA_CPP, cure_absent=cure, lessons=lessons
        )
    key = api_key(environ)
    return OpenAIModel(address, profile.model, time_limit=limit, key=key, lessons=lessons)
