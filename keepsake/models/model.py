"""The model of a profile behind a server: asked, asked again after what may pass, learnt about."""

from __future__ import annotations

import json
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from httpx import ReadTimeout

from keepsake.errors import (
    AnswerBroken,
    BadAnswer,
    CallGivenUp,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelTimeout,
    ModelUnavailable,
    PromptTooLong,
    PromptUnfit,
)
from keepsake.models.capabilities import Capabilities, alternating
from keepsake.models.http import ServerWords, named_errors
from keepsake.models.profiles import AUTO, CHAT, OLLAMA, YES, ModelProfile
from keepsake.models.scripted import ScriptedModel
from keepsake.models.thoughts import AnswerText
from keepsake.ports import Generation, GenerationRequest, Tool, ToolCall
from keepsake.prompt.tokens import Heuristic

log = logging.getLogger("keepsake.models")

THOUGHT_TOKENS = 1024
"""What a model that thinks aloud is given beside the tokens of its answer."""
LOOK_SECONDS = 10.0
"""What a question about the server itself may take."""
LEAST_TAIL, LEAST_PROMPT = 256, 1024
"""Tokens that may be new in a prompt, and those of a prompt, however slow the server is."""
_ATTEMPTS = 2
"""Calls in all, where an error may pass."""
_MAY_PASS: tuple[type[ModelError], ...] = (ModelUnavailable, ModelFailed)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 5.0
_LOOK_SECONDS = 0.1
"""How often a call that waits looks whether its answer is still wanted."""


@dataclass(slots=True)
class SentAnswer:
    """What a server sent beside the words of its answer."""

    thought: bool = False
    finish: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    evaluation_seconds: float = 0.0
    model: str = ""
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)  # of tools: name and arguments


class ServerModel(ABC):
    """Continues text and chats by one server. Safe to use from several threads.

    What may pass (no answer, or the server broke) is asked once more. A server that is busy (it
    loads its model, or is asked too often) is waited for as long as the time allows: as long as
    it says, else with pauses that grow. An empty answer is asked for again as well, unless a fixed
    seed would give the same one. A time-out is not: it has cost all the time there was. Neither is
    an answer of which a part was handed on.

    Args:
        profile: Which model is asked, and how.
        server: How errors speak of its server.
        kind: What the server is, as far as it is known.
        ready: Waits until the model's process answers; raises ModelUnavailable.

    Attributes:
        capabilities: What it takes, as far as that is known.
        down: Why its server was gone when it was last looked at; None if it was not. Until the
            next look calls fail at once.
        family: The form that suits its family, if its server says another; may be set later.
    """

    def __init__(
        self,
        profile: ModelProfile,
        server: ServerWords,
        kind: str,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        self.profile, self.server = profile, server
        self.capabilities = Capabilities(kind)
        self.down: ModelError | None = None
        self.family = ""
        self._ready, self._learning = ready, threading.Lock()
        self._asked_for: set[str | None] = set()

    def suited(self) -> ModelProfile:
        """The profile as prompts are made for it, as far as its model is known."""
        takes = self.capabilities
        contexts = filter(None, (self.profile.context_tokens, takes.context))
        found = self.profile.suited(self.family or takes.form, min(contexts, default=0))
        room, tail = min(found.prompt_tokens, takes.room or found.prompt_tokens), 0
        if takes.rate:  # also a prompt of which the server has nothing is to be answered in time
            room = min(room, max(int(takes.rate * found.time_limit / 2), LEAST_PROMPT))
            tail = max(int(takes.rate * found.evaluate_seconds), LEAST_TAIL)
        offers = takes.tools if found.tools == AUTO else found.tools == YES
        return replace(
            found,
            prompt_tokens=room,
            tail_tokens=tail if tail < room else 0,
            takes_tools=offers and found.form == CHAT and "tools" not in takes.refused,
        )

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt`` or answer ``request.messages``; blocks.

        Raises:
            ModelError: The last one, with the cure in its message.
        """
        may_pass = _MAY_PASS if request.seed is not None else (*_MAY_PASS, BadAnswer)
        return self._persist(partial(self._attempt, request), may_pass, request.given_up)

    def learn(self, given_up: Callable[[], bool] = bool) -> None:
        """Ask what the model takes, unless that is known; blocks, and waits for a busy server.

        Raises:
            ModelError: It could not be asked.
        """
        with self._learning:
            if not self.capabilities.known:
                self._persist(lambda _: self.check(), _MAY_PASS, given_up)

    def check(self) -> str:
        """Whether the server answers and has the model; learns what it takes.

        Raises:
            ModelError: It does not, or it has not.
        """
        try:
            rows = self._rows()
            names = [str(each.get("id")) for each in rows]
            if not self._has(names):
                raise ModelMissing(
                    f"{self.server.name} has no model {self.profile.model!r}",
                    f"{self.server.cure_missing}; it has {', '.join(names[:8]) or 'none'}",
                )
        except ModelError:  # it may come back another
            self.capabilities = replace(self.capabilities, known=False)
            raise
        if not self.capabilities.known:
            with suppress(ModelError):  # it serves all the same, and is asked again
                self.capabilities = self._learnt(rows)
        return "ready"

    @abstractmethod
    def close(self) -> None:
        """Close the kept connections."""

    # -- one call

    def _persist[T](
        self,
        work: Callable[[float], T],
        may_pass: tuple[type[ModelError], ...],
        given_up: Callable[[], bool] | None,
    ) -> T:
        """Do it until that moment, once more after an error that may pass."""
        if self.down is not None:
            raise ModelUnavailable(f"{self.down.what} (it is looked at again)", self.down.cure)
        until, pause, left = time.monotonic() + self.profile.time_limit, _FIRST_PAUSE, _ATTEMPTS
        self._ready()
        while True:
            try:
                return work(until)
            except may_pass as error:
                left -= not isinstance(error, ModelBusy)
                wait = (error.wait if isinstance(error, ModelBusy) else 0.0) or pause
                end = time.monotonic() + wait
                if end >= until or not left or isinstance(error, CallGivenUp):
                    raise
            while (rest := end - time.monotonic()) > 0:
                if given_up is not None and given_up():
                    raise CallGivenUp("The call was given up", "Nobody wants its answer")
                time.sleep(min(rest, _LOOK_SECONDS))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _attempt(self, request: GenerationRequest, until: float) -> Generation:
        """The answer to one request; it is sent in another shape if the server refuses this one."""
        takes, began, sent = self.capabilities, time.monotonic(), SentAnswer()
        shaped = request
        if takes.roles:
            shaped = replace(request, messages=alternating(request.messages, takes.roles))
        # A stop string in a thought would end the thought: the answer is cut here in its place.
        aloud = bool(request.messages) and takes.thinks
        if aloud:
            more = request.max_tokens + THOUGHT_TOKENS
            shaped = replace(shaped, stop=(), max_tokens=more)
        words = AnswerText(request.on_text, request.stop if aloud else (), hold=aloud)
        try:
            self._hear(shaped, takes, words, sent, until)
            return self._answer(request, words, sent, time.monotonic() - began)
        except (ModelTimeout, CallGivenUp) as error:
            if isinstance(error, ModelTimeout) and not words.text:  # it was not read in that time
                self.capabilities = takes.evaluated(_size(request), time.monotonic() - began)
            raise
        except ModelError as error:
            if words.told:
                what = f"The answer ended amid its words: {error.what}"
                raise AnswerBroken(what, error.cure) from error
            if not self._is_taught(takes, shaped, error):
                raise
            return self._attempt(request, until)

    def _hear(
        self,
        request: GenerationRequest,
        takes: Capabilities,
        words: AnswerText,
        sent: SentAnswer,
        until: float,
    ) -> None:
        """Take the answer in as it comes."""
        with (
            named_errors(self.server, self.profile.time_limit, until),
            closing(self._pieces(request, takes, sent)) as pieces,  # type: ignore[type-var]
        ):
            for piece in pieces:
                if time.monotonic() > until:
                    raise ReadTimeout("the answer came too slowly")
                words.feed(piece)
                if words.ended:
                    return
                if request.given_up is not None and request.given_up():
                    raise CallGivenUp("The call was given up", "Nobody wants its answer")
        if not sent.finish:
            what = f"{self.server.name} broke off amid its answer"
            raise ModelUnavailable(what, self.server.cure_absent)
        words.feed("", whole=True)

    def _is_taught(
        self, takes: Capabilities, request: GenerationRequest, error: ModelError
    ) -> bool:
        """Whether an error shows how the request must be sent; what it shows is remembered.

        Raises:
            PromptUnfit: The prompt must be built anew.
        """
        if isinstance(error, PromptTooLong):
            self.capabilities = takes.too_long(error.limit, _size(request))
            log.warning("[Model] %s; prompts get %d tokens", error, self.capabilities.room)
        elif isinstance(error, ModelUnavailable) and not isinstance(error, ModelBusy):
            self.capabilities = replace(takes, known=False)  # it may come back another
        elif (learnt := takes.after(error, request)) != takes:
            self.capabilities = learnt
            if "tools" in learnt.refused - takes.refused:
                raise PromptUnfit(f"{self.server.name} takes no tools", error.cure) from error
            return True
        return False

    def _answer(
        self, request: GenerationRequest, words: AnswerText, sent: SentAnswer, seconds: float
    ) -> Generation:
        """The answer as it is handed on, and what its figures tell of the server.

        Raises:
            BadAnswer: It has no words, or a call of a tool that cannot be read.
        """
        takes, thought = self.capabilities, words.thought or sent.thought
        cached = min(sent.cached_tokens, sent.prompt_tokens)
        # Ollama counts what it had cached as if it had read it: first prompts alone tell.
        first = request.cache_key is None or request.cache_key not in self._asked_for
        self._asked_for.add(request.cache_key)
        if first or takes.kind != OLLAMA:
            takes = takes.evaluated(sent.prompt_tokens - cached, sent.evaluation_seconds)
        if thought and request.messages:
            takes = replace(takes, thinks=True)
        self.capabilities = takes
        if not (words.text.strip() or sent.calls):
            what = "a thought and no answer" if thought else "an empty answer"
            cure = "Ask again"
            if thought:
                cure = "Raise max_tokens in llm.md, or use a model that does not think"
            raise BadAnswer(f"{self.server.name} sent {what}", cure)
        return Generation(
            text=words.text,
            finish_reason="length" if sent.finish == "length" else "stop",
            prompt_tokens=sent.prompt_tokens,
            cached_tokens=cached,
            completion_tokens=sent.completion_tokens,
            seconds=seconds,
            model=sent.model or self.profile.model,
            tool_calls=tuple(self._tool_call(each) for each in sent.calls.values()),
            evaluation_seconds=sent.evaluation_seconds,
        )

    def _tool_call(self, sent: Mapping[str, Any]) -> ToolCall:
        name, arguments = sent.get("name"), sent.get("arguments") or {}
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                arguments = None
        if not isinstance(name, str) or not name or not isinstance(arguments, dict):
            said = self.server.quoted(str(sent))
            what = f"{self.server.name} sent a call of a tool that cannot be read ({said})"
            raise BadAnswer(what, "Ask again, or write tools: no in llm.md")
        return ToolCall(name, arguments)

    @abstractmethod
    def _rows(self) -> list[Mapping[str, Any]]:
        """The models that the server lists, by ``id``; may raise ModelError."""

    @abstractmethod
    def _has(self, names: Sequence[str]) -> bool:
        """Whether the model is among those that the server lists."""

    @abstractmethod
    def _learnt(self, rows: Sequence[Mapping[str, Any]]) -> Capabilities:
        """What the server takes, as it says; may raise ModelError."""

    @abstractmethod
    def _pieces(
        self, request: GenerationRequest, takes: Capabilities, sent: SentAnswer
    ) -> Iterator[str]:
        """The words of the answer as they are written; what else came is put into ``sent``.

        What of it is of a wrong type may raise TypeError, AttributeError or ValueError.
        """


def _size(request: GenerationRequest) -> int:
    """Tokens of a prompt, as we count."""
    text = "\n".join(each.text for each in request.messages) or request.prompt
    return Heuristic().of(text)


def tools_as_sent(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools, as every server takes them."""
    named = [
        {"name": each.name, "description": each.description, "parameters": dict(each.parameters)}
        for each in tools
    ]
    return [{"type": "function", "function": each} for each in named]


type Model = ServerModel | ScriptedModel
"""What is asked for a profile."""
