"""What is common to all models behind HTTP: one call, its answer, and what the server takes."""

from __future__ import annotations

import json
import re
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from keepsake.errors import (
    BadAnswer,
    CallGivenUp,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
    PromptTooLong,
    PromptUnfit,
)
from keepsake.models.clients.capabilities import Capabilities, Lessons, of_kind
from keepsake.models.clients.messages import NO_SYSTEM, alternating
from keepsake.models.clients.raw import RawAnswer, add_piece, count, seconds
from keepsake.models.clients.refusals import ServerWords
from keepsake.models.clients.thoughts import AnswerText
from keepsake.models.profiles import OLLAMA_SERVER
from keepsake.ports import Generation, GenerationRequest, ToolCall
from keepsake.prompt.tokens import Heuristic

THOUGHT_TOKENS = 1024
"""What a model that thinks aloud is given beside the tokens of its answer."""
LOOK_SECONDS = 10.0
"""What a question about the server itself may take."""
CUT_TOKENS = 1000
"""Tokens from which on it is looked whether the server evaluated the whole prompt."""
_SHAPES = 5
"""Ways in which a request is sent before its refusal counts."""
_AGENTS = 64
"""Agents whose last prompt is remembered for that."""

_ROLES = re.compile(
    r"system.{0,20}(?:role|message|prompt)|roles?\b.{0,40}\balternate|"
    r"only (?:support )?user(?:,| and) (?:assistant|model)",
    re.IGNORECASE | re.DOTALL,
)
"""What templates say that take no system message, or no two messages of one role in a row."""
_SYSTEM = re.compile(r"system.{0,20}(?:role|message|prompt)", re.IGNORECASE | re.DOTALL)
_PARTS = {
    "stream_options": "stream_options",
    "chat_template_kwargs": "chat_template_kwargs",
    "think": "support thinking",
    "max_tokens": "Use 'max_completion_tokens'",
    "temperature": "'temperature' does not support",
}
"""Parts of a request that may be left out, and what a server says that refuses one."""


class HttpModel(ABC):
    """Continues text and chats by one server. Safe to use from several threads.

    Args:
        server: How errors speak of the server.
        model: The model's name there; empty lets the server choose.
        kind: What the server is, as far as it is known.
        lessons: What calls have shown of the model so far.

    Attributes:
        capabilities: What the server takes, as far as :meth:`check` has learnt it.
    """

    def __init__(
        self, server: ServerWords, model: str, kind: str, lessons: Lessons | None = None
    ) -> None:
        self.model, self.server = model, server
        self.capabilities = of_kind(kind)
        self.lessons = lessons or Lessons()
        self._names: list[str] = []
        self._before: OrderedDict[str | None, str] = OrderedDict()
        """The last prompt of each agent: the server may have what the next begins with."""

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt`` or answer ``request.messages``; blocks.

        Raises:
            ModelError: With the cure in its message.
        """
        started = time.monotonic()
        # A stop string in a thought would end the thought: the answer is cut here in its place.
        aloud = bool(request.messages) and (self.capabilities.thinks or self.lessons.thinks)
        more = request.max_tokens + THOUGHT_TOKENS
        asked = replace(request, stop=(), max_tokens=more) if aloud else request
        words = AnswerText(request.on_text, request.stop if aloud else (), hold=aloud)
        raw = self._asked(asked, words)
        text = words.finish()
        if request.messages and (raw.thought or words.thought):
            self.lessons.thinks = True
        answer = Generation(
            text=text,
            finish_reason="length" if raw.finish_reason == "length" else "stop",
            prompt_tokens=(prompt := count(raw.prompt_tokens)),
            cached_tokens=min(count(raw.cached_tokens), prompt),
            completion_tokens=count(raw.completion_tokens),
            seconds=time.monotonic() - started,
            model=str(raw.model or self.model),
            tool_calls=self._tool_calls(raw.tool_calls),
            evaluation_seconds=seconds(raw.evaluation_seconds),
        )
        self._learn_from(request, answer)
        self._require_words(answer, thought=bool(raw.thought or words.thought))
        return answer

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
                    f"{self.server.name} has no model {self.model!r}",
                    f"{self.server.cure_missing}; it has {', '.join(names[:8]) or 'none'}",
                )
        except ModelError as error:
            self.capabilities = replace(self.capabilities, known=False)
            if isinstance(error, ModelUnavailable):
                self.lessons.forget()
            raise
        if not self.capabilities.known or names != self._names:
            with suppress(ModelError):  # it serves all the same, and is asked again
                self.capabilities = self._learn(rows)
                self.lessons.capabilities = self.capabilities
                self._names = names
        return "ready"

    @abstractmethod
    def close(self) -> None:
        """Close the kept connections."""

    # -- one call

    def _asked(self, request: GenerationRequest, words: AnswerText) -> RawAnswer:
        """The answer; a request whose shape the server refuses is sent in another."""
        started = time.monotonic()
        for left in reversed(range(_SHAPES)):
            roles = self.lessons.roles
            try:
                return self._once(self._shaped(request), words)
            except PromptTooLong as error:
                self.lessons.too_long(error.limit, Heuristic().of(_text(request)))
                raise
            except (ModelRejected, ModelFailed) as error:
                if not self._is_taught(request, error, roles) or not left:
                    raise
            except ModelTimeout:
                if not words.text:  # it was not read in that time, as far as can be seen
                    read, took = Heuristic().of(_text(request)), time.monotonic() - started
                    self.lessons.evaluated(read, took)
                raise
            except ModelUnavailable as error:
                if not isinstance(error, (ModelBusy, CallGivenUp)):  # it may come back another
                    self.capabilities = replace(self.capabilities, known=False)
                raise
        raise AssertionError("the last try returns or raises")

    def _once(self, request: GenerationRequest, words: AnswerText) -> RawAnswer:
        whole, streamed = RawAnswer(), request.on_text is not None
        with closing(self._pieces(request)) as pieces:  # type: ignore[type-var]
            for part in pieces:
                if isinstance(part.text, str):
                    words.feed(part.text)
                elif part.text is not None:
                    what = f"{self.server.name} sent {type(part.text).__name__} in place of text"
                    raise BadAnswer(what, "Look at its log")
                add_piece(whole, part)
                if words.ended:
                    return whole
                if streamed and request.given_up is not None and request.given_up():
                    raise CallGivenUp("The call was given up", "Nobody wants its answer")
        if streamed and whole.finish_reason is None:
            what = f"{self.server.name} broke off amid its answer"
            raise ModelUnavailable(what, self.server.cure_absent)
        return whole

    def _shaped(self, request: GenerationRequest) -> GenerationRequest:
        """The request, as this model was seen to take it."""
        messages = alternating(request.messages, self.lessons.roles)
        return replace(request, messages=messages) if messages != request.messages else request

    def _is_taught(self, request: GenerationRequest, error: ModelError, roles: int) -> bool:
        """Whether the refusal shows how the request must be sent; then it is remembered.

        ``roles``: The level of :attr:`Lessons.roles` that it was sent with.

        Raises:
            PromptUnfit: The prompt must be built anew.
        """
        lessons, said = self.lessons, error.said
        for part, refusal in _PARTS.items():
            if refusal in said:
                lessons.refused.add(part)
                return True
        if request.messages and roles < NO_SYSTEM and _ROLES.search(said):
            lessons.roles = max(lessons.roles, NO_SYSTEM if _SYSTEM.search(said) else roles + 1)
            return True
        if request.tools and "tool" in said.lower():
            lessons.refused.add("tools")
            raise PromptUnfit(f"{self.server.name} takes no tools", error.cure) from error
        return False

    def _learn_from(self, request: GenerationRequest, answer: Generation) -> None:
        """What the figures of an answer tell of the server."""
        read = answer.prompt_tokens - answer.cached_tokens
        if self.capabilities.kind == OLLAMA_SERVER:  # it may count what it had cached or not
            fresh = self._fresh(request)
            if fresh >= CUT_TOKENS and 0 < read < fresh / 2:
                self.lessons.cut(read, fresh)
            read = min(read, fresh)
        self.lessons.evaluated(read, answer.evaluation_seconds)

    def _fresh(self, request: GenerationRequest) -> int:
        """Tokens of a prompt that the server has not read for the same agent before."""
        text, key = _text(request), request.cache_key
        known = _common(text, self._before.pop(key, ""))
        self._before[key] = text
        if len(self._before) > _AGENTS:
            self._before.popitem(last=False)
        return Heuristic().of(text[known:])

    def _require_words(self, answer: Generation, *, thought: bool) -> None:
        if answer.text.strip() or answer.tool_calls:
            return
        if thought and answer.finish_reason == "length":
            used = f" its {answer.completion_tokens}" if answer.completion_tokens else " all its"
            raise BadAnswer(
                f"The model used up{used} tokens while it was thinking",
                "Raise max_tokens in llm.md, or use a model that does not think",
            )
        if thought:
            what = f"{self.server.name} sent a thought and no answer"
            raise BadAnswer(what, "Ask again, or use a model that does not think")
        what = f"{self.server.name} sent an empty answer"
        raise BadAnswer(what, "Ask again, or change stop in llm.md")

    def _tool_calls(self, sent: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
        """The calls of an answer.

        Raises:
            BadAnswer: One has no name, or arguments that are no JSON object.
        """
        calls = []
        for each in sent:
            name, arguments = each.get("name"), each.get("arguments") or {}
            if isinstance(arguments, str):
                try:
                    arguments = json.loads(arguments)
                except (ValueError, RecursionError):
                    arguments = None
            if not isinstance(name, str) or not name or not isinstance(arguments, dict):
                said = self.server.quoted(str(dict(each)))
                what = f"{self.server.name} sent a call of a tool that cannot be read ({said})"
                raise BadAnswer(what, "Ask again, or write tools: no in llm.md")
            calls.append(ToolCall(name, arguments))
        return tuple(calls)

    @abstractmethod
    def _rows(self) -> list[Mapping[str, Any]]:
        """The models that the server lists, by ``id``; may raise ModelError."""

    @abstractmethod
    def _has(self, names: Sequence[str]) -> bool:
        """Whether the model is among those that the server lists."""

    @abstractmethod
    def _learn(self, rows: Sequence[Mapping[str, Any]]) -> Capabilities:
        """What the server takes, as it says; may raise ModelError."""

    @abstractmethod
    def _pieces(self, request: GenerationRequest) -> Iterator[RawAnswer]:
        """The answer: whole, or in pieces where it is to be heard; raises ModelError."""


def _text(request: GenerationRequest) -> str:
    return "\n".join(each.text for each in request.messages) or request.prompt


def _common(text: str, other: str) -> int:
    """How many characters both begin with, in steps of 64."""
    step, end = 64, min(len(text), len(other))
    steps = range(0, end, step)
    return next((at for at in steps if text[at : at + step] != other[at : at + step]), end)
