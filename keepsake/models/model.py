"""A profile's model on a server: calls, retries, and what the client learns about the model."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from keepsake.errors import (
    AnswerBrokenOff,
    BadAnswer,
    CallCancelled,
    ModelBusy,
    ModelError,
    ModelMissing,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.language.tokens import CHARACTERS_PER_TOKEN
from keepsake.logs import Subsystem, get_logger
from keepsake.models.capabilities import (
    ROLES,
    THINKING_SWITCH,
    TOOLS,
    WHOLE,
    Capabilities,
    alternating,
    size_of,
)
from keepsake.models.http import ServerTexts, named_errors
from keepsake.models.profiles import AUTO, LLAMA_CPP, OLLAMA, YES, ModelProfile
from keepsake.models.retries import retrying
from keepsake.models.scripted import ScriptedModel
from keepsake.models.sent_answer import SentAnswer, read_tool_call
from keepsake.models.thoughts import AnswerText
from keepsake.models.transport import CallLimits, limited
from keepsake.ports import FormName, Generation, GenerationRequest

log = get_logger(Subsystem.MODELS)

THOUGHT_TOKENS = 1024
"""Extra answer tokens for a model that thinks aloud."""
QUERY_SECONDS = 10.0
"""Seconds that a question about the server itself, such as its list of models, may take."""
EVALUATE_SECONDS = 2.0
"""Seconds that the server may take to evaluate the new part of a prompt."""
LEAST_TAIL = 256
"""The lower limit, for slow servers, of the new tokens in a prompt."""
LEAST_PROMPT = 2048
"""The lower limit, for slow servers, of all tokens of a prompt. What never gives way in the prompt
of a small model (profile, examples, summary, the line that is answered) was 1,050 tokens in the
village, and an agent whose prompt does not fit says nothing at all. A slow server has most of it
in its cache; if it has not, one late answer is better than none for minutes."""
CHARACTERS_A_TOKEN = 8
SPARE_CHARACTERS = 2000
"""The cap of an answer's text: more than any language has a token (English 4, code 3), and room for
short answers. A server that ignores ``max_tokens`` is cut off there."""
BYTES_A_TOKEN = 2048
SPARE_BYTES = 1024 * 1024
"""The cap of an answer's body: servers send one event a token, of 200 to 600 bytes."""
READING_LIMITS = 5
"""How many time limits a prompt may take to read if the server says that it reads on. What is read
stays in the server's cache, so that a late first answer makes the next ones quick."""
SILENT_LIMITS = 2
"""The same if the server is known to be slow, but says nothing before its answer."""


class ServerModel(ABC):
    """A model on a server, which continues text and answers chats. Safe in any thread.

    Failed calls are made again as :mod:`keepsake.models.retries` says.

    Args:
        profile: The model to ask, and its settings.
        server: The texts about the server for error messages.
        kind: The kind of server, as far as it is known.
        ready: Waits until the model's process answers; raises ModelUnavailable. None for a server
            that is no process of the game.
        lost: Called when the server did not answer, before ``ready`` is called again.

    Attributes:
        capabilities: What the model accepts, as far as that is known.
        down: Why calls fail at once until the next health check: the last one failed, or the
            server asked for a pause longer than the time limit. None if calls are made.
        family: The prompt form of the model's family, which overrides the server's; may be set.
    """

    def __init__(
        self,
        profile: ModelProfile,
        host: str,
        server: ServerTexts,
        kind: str,
        *,
        ready: Callable[[], None] | None = None,
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self.profile = profile
        self.host = host
        self.server = server
        self.capabilities = Capabilities(kind)
        self.down: ModelError | None = None
        self.family = ""
        self._ready = ready
        self._lost = lost
        self._learning = threading.Lock()
        self._asked: dict[str | None, str] = {}  # the last prompt of each agent

    def resolved(self) -> ModelProfile:
        """Return the profile for which prompts are made, completed by what is known."""
        caps = self.capabilities
        contexts = filter(None, (self.profile.context_tokens, caps.context))
        found = self.profile.resolved(self.family or caps.form, min(contexts, default=0))
        limits = caps.limit, caps.evaluates * 3 // 4
        room = min([found.prompt_tokens, *filter(None, limits)])
        tail = 0
        if caps.rate:  # even a prompt without any cached tokens must be answered in time
            room = min(room, max(int(caps.rate * found.time_limit / 2), LEAST_PROMPT))
            tail = max(int(caps.rate * EVALUATE_SECONDS), LEAST_TAIL)
        offers = caps.tools if found.tools == AUTO else found.tools == YES
        return replace(
            found,
            prompt_tokens=room,
            tail_tokens=tail if tail < room else 0,
            takes_tools=offers
            and FormName(found.form).sends_messages
            and TOOLS not in caps.refused,
        )

    def learn(self) -> None:
        """Ask the server what the model accepts, unless that is known; blocks.

        Raises:
            ModelError: The server could not be asked.
        """
        with self._learning:
            if not self.capabilities.known:
                if self.down is not None:
                    raise self.down
                self._wait_until_ready()
                self.check()

    def check(self) -> None:
        """Check that the server answers and has the model; learn what the model accepts.

        Raises:
            ModelError: The server does not answer, or does not have the model.
        """
        try:
            rows = self._list_models()
            if not self._is_listed(rows):
                names = [str(each.get("id")) for each in rows]
                has = f"it has {', '.join(names[:8]) or 'none'}"
                what = f"{self.server.name} has no model {self.profile.model!r}"
                raise ModelMissing(what, f"{self.server.cure_missing}; {has}")
        except ModelError:  # it may return with another model
            self.capabilities = replace(self.capabilities, known=False)
            raise
        if not self.capabilities.known:
            with suppress(ModelError):  # the model is usable anyway, and the next check asks again
                self.capabilities = self._read_capabilities(rows)

    # -- one call

    def forget(self) -> None:
        """Forget the last prompt of each agent."""
        self._asked = {}

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt`` or answer ``request.messages``; blocks.

        If the server refuses a part of the request, it is sent again without it, now and later.

        Raises:
            ModelError: The last error; its message says what to do.
        """
        until = time.monotonic() + self._seconds_for(request)
        with limited(CallLimits(until, is_cancelled=request.is_cancelled)) as limits:
            if self.down is not None:
                raise self.down
            self._wait_until_ready()

            def revive(error: BaseException) -> None:
                if self._revive(error):  # its new process has read nothing yet
                    limits.until = max(limits.until, time.monotonic() + self.profile.time_limit)

            again = retrying(until, seeded=request.seed is not None, before=revive)
            return again(self._attempt, request, until)

    def _seconds_for(self, request: GenerationRequest) -> float:
        """Return the seconds that a call may take before it is known that the server reads on.

        Ollama says nothing before its answer. If it is known to be slow, its prompts get twice as
        long as it needs at its speed, in :data:`SILENT_LIMITS` time limits at most.
        """
        limit = self.profile.time_limit
        caps = self.capabilities
        if caps.kind != OLLAMA or not caps.rate:
            return limit
        return max(limit, min(2 * size_of(request) / caps.rate, SILENT_LIMITS * limit))

    def _attempt(self, request: GenerationRequest, until: float) -> Generation:
        """Call the server once, or again at once without a part of the request that it refuses."""
        while True:
            caps = self.capabilities
            reply = AnswerText(request.on_text)
            sent = SentAnswer()
            began = time.monotonic()
            try:
                return self._call(request, caps, reply, sent)
            except CallCancelled:
                raise
            except ModelTimeout as error:
                if reply.text:
                    raise
                raise self._late(error, request, caps, sent, began) from error
            except ModelError as error:
                if reply.passed:
                    what = f"The answer was cut off: {error.what}"
                    raise AnswerBrokenOff(what, error.cure) from error
                self.capabilities = self.capabilities.updated_by(error, request)
                if self.capabilities.refused == caps.refused:
                    if error.until >= until:
                        self.down = error
                    raise

    def _late(
        self,
        error: ModelTimeout,
        request: GenerationRequest,
        caps: Capabilities,
        sent: SentAnswer,
        began: float,
    ) -> ModelTimeout:
        """Learn from a prompt that was not evaluated in time; return the error that says so.

        The rate is lowered only for servers that report evaluation times, because only such a
        report can raise it again.
        """
        passed = time.monotonic() - began
        read = sent.evaluated
        if caps.kind in (OLLAMA, LLAMA_CPP):
            self.capabilities = caps.with_rate(read or size_of(request), passed)
        if not read:
            return error
        return ModelTimeout(
            f"{self.server.name} has read only {read:,} tokens of a prompt in {passed:.0f} s",
            f"Raise time_limit in {self.server.where}, or use a smaller model",
        )

    def _revive(self, error: BaseException) -> bool:
        """Wait for the server's process if it did not answer: it may have ended.

        Returns:
            Whether the server has a process that may have been started anew.
        """
        if not isinstance(error, ModelUnavailable) or isinstance(error, ModelBusy):
            return False
        self._lost()
        self._wait_until_ready()
        return self._ready is not None

    def _wait_until_ready(self) -> None:
        """Wait until the model's process answers, if it has one; may raise ModelUnavailable."""
        if self._ready is not None:
            self._ready()

    def _call(
        self, request: GenerationRequest, caps: Capabilities, reply: AnswerText, sent: SentAnswer
    ) -> Generation:
        """Send a request in the form that the server accepts, and read its answer as a stream."""
        began = time.monotonic()
        shaped = _shaped(request, caps, reply)
        self._read(shaped, caps, reply, sent)
        thought = reply.thought or sent.thought
        thinks = caps.thinks or (bool(thought) and bool(request.messages))
        self._learn(request, replace(caps, thinks=thinks), sent)
        if not (reply.text.strip() or sent.calls):
            raise self._empty(sent, thought=thought)
        return Generation(
            text=reply.text,
            finish_reason="length" if sent.finish == "length" else "stop",
            prompt_tokens=sent.prompt_tokens,
            cached_tokens=sent.from_cache,
            completion_tokens=sent.completion_tokens,
            seconds=time.monotonic() - began,
            model=sent.model or self.profile.model,
            tool_calls=tuple(read_tool_call(self.server, each) for each in sent.calls.values()),
        )

    def _empty(self, sent: SentAnswer, *, thought: bool) -> BadAnswer:
        """Return the error for an answer without text; ``thought``: whether there was a thought."""
        cure = f"Raise max_tokens in {self.server.where}, or use a model that does not think"
        what, cure = ("a thought and no", cure) if thought else ("an empty", "Ask again")
        error = BadAnswer(f"{self.server.name} sent {what} answer", cure)
        if sent.thought and sent.finish != "length":
            error.said = THINKING_SWITCH  # the server may have taken the answer for a thought
        return error

    def _read(
        self, request: GenerationRequest, caps: Capabilities, reply: AnswerText, sent: SentAnswer
    ) -> None:
        """Send a request, and feed the pieces of its answer to ``reply`` until one of them ends.

        The time limit starts anew each time the server says that it has read more of the prompt.

        Raises:
            ModelUnavailable: The connection was closed before the answer ended.
        """
        began = time.monotonic()
        evaluated = 0
        limit = self.profile.time_limit
        room = request.max_tokens * CHARACTERS_A_TOKEN + SPARE_CHARACTERS
        limits = CallLimits(most_bytes=request.max_tokens * BYTES_A_TOKEN + SPARE_BYTES)
        with (
            named_errors(self.server, limit),
            limited(limits) as limits,
            closing(self._stream(request, caps, sent)) as pieces,
        ):
            for piece in pieces:
                limits.seconds_left()  # many pieces may come in one read
                if sent.evaluated > evaluated:
                    evaluated = sent.evaluated
                    last = began + READING_LIMITS * limit
                    limits.until = max(limits.until, min(time.monotonic() + limit, last))
                reply.feed(piece[:room])
                room -= len(piece)
                if request.on_progress is not None:
                    request.on_progress(len(reply.text))
                if room < 0:
                    what = f"{self.server.name} sent more text than {request.max_tokens} tokens"
                    log.warning(f"{what}; its answer is cut off there")
                    sent.finish = "length"
                if reply.ended or room < 0:
                    break
        if not (sent.finish or reply.ended):
            what = f"{self.server.name} closed the connection during its answer"
            raise ModelUnavailable(what, self.server.cure_absent)
        reply.feed("", whole=True)

    def _learn(self, request: GenerationRequest, caps: Capabilities, sent: SentAnswer) -> None:
        """Learn from an answer how fast the server reads prompts, and how much of one it reads."""
        # Ollama's count includes cached tokens, so only an agent's first prompt shows the rate.
        before = self._asked.get(request.cache_key, "")
        self._asked[request.cache_key] = request.prompt
        if request.cache_key is None or not before or caps.kind != OLLAMA:
            read = sent.prompt_tokens - (sent.from_cache or 0)
            caps = caps.with_rate(read, sent.evaluation_seconds)
        self.capabilities = caps
        characters = sent.prompt_tokens * CHARACTERS_PER_TOKEN
        if caps.evaluates or characters < WHOLE * len(request.prompt):
            self._learn_evaluated(request.prompt, before, sent.prompt_tokens)

    def _learn_evaluated(self, prompt: str, before: str, tokens: int) -> None:
        """Learn from a low token count how many tokens of a prompt the server evaluates."""
        caps = self.capabilities
        found = caps.with_count(prompt, before, tokens)
        if new := found.evaluates > caps.evaluates:
            loaded = self._loaded_context()  # Ollama evaluates half of this if a prompt is longer
            if tokens < loaded * CHARACTERS_PER_TOKEN < len(prompt):
                found = replace(found, evaluates=loaded)
        self.capabilities = found
        if new:
            log.warning(self.shortage)

    @property
    def shortage(self) -> str:
        """A warning that the server evaluates only a part of long prompts; empty if it does not."""
        if not (most := self.capabilities.evaluates):
            return ""
        return (
            f"{self.server.name} evaluates {most:,} tokens of a prompt and ignores the rest:"
            " prompts are cut to fit. Give the model a larger context there, and reload the game"
        )

    @abstractmethod
    def _list_models(self) -> list[Mapping[str, Any]]:
        """Return the server's list of models, each with its ``id``; may raise ModelError."""

    @abstractmethod
    def _is_listed(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether the model is among the rows of the server's list."""

    @abstractmethod
    def _read_capabilities(self, rows: Sequence[Mapping[str, Any]]) -> Capabilities:
        """Return the capabilities that the server states; may raise ModelError."""

    def _loaded_context(self) -> int:
        """Return the context window of the loaded model in tokens; 0 if the server does not say."""
        return 0

    @abstractmethod
    def _stream(
        self, request: GenerationRequest, caps: Capabilities, sent: SentAnswer
    ) -> Generator[str]:
        """Yield the text of the answer as it is written; put everything else into ``sent``."""


type Model = ServerModel | ScriptedModel
"""The model of a profile."""


def _shaped(request: GenerationRequest, caps: Capabilities, reply: AnswerText) -> GenerationRequest:
    """Return a request as the server accepts it; ``reply`` does what the server must not do."""
    messages = request.messages
    folded = alternating(messages) if ROLES in caps.refused else messages
    shaped = replace(request, messages=folded)
    if not (messages and caps.thinks):
        return shaped
    # A stop string would end the answer inside a thought, so it is applied on this side.
    reply.stop = request.stop
    reply.hold = True
    return replace(shaped, stop=(), max_tokens=request.max_tokens + THOUGHT_TOKENS)
