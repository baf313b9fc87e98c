"""What is common to all models behind HTTP: one call, its answer, and what the server takes."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
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
from keepsake.models.capabilities import Capabilities, Lessons
from keepsake.models.http import ServerWords
from keepsake.models.profiles import OLLAMA
from keepsake.models.thoughts import AnswerText
from keepsake.ports import ChatMessage, Generation, GenerationRequest, Tool, ToolCall
from keepsake.prompt.tokens import Heuristic

THOUGHT_TOKENS = 1024
"""What a model that thinks aloud is given beside the tokens of its answer."""
LOOK_SECONDS = 10.0
"""What a question about the server itself may take."""
CUT_TOKENS = 1000
"""Tokens from which on it is looked whether the server evaluated the whole prompt."""
SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
NO_SYSTEM = 2
"""The level of :attr:`Lessons.roles` from which on no system message is sent."""
_SHAPES = 5
"""Ways in which a request is sent before its refusal counts."""
_AGENTS = 64
"""Agents whose last prompt is remembered for that."""
_NOBODY_SPOKE = "…"

_SYSTEM_REFUSED = ("system role", "system message", "system prompt")
_ROLES_REFUSED = ("alternate", "only user and assistant", "only support user and assistant")
"""What templates say that take no system message, or no two messages of one role in a row."""
_PARTS = {
    "stream_options": "stream_options",
    "chat_template_kwargs": "chat_template_kwargs",
    "think": "support thinking",
    "max_tokens": "Use 'max_completion_tokens'",
    "temperature": "'temperature' does not support",
}
"""Parts of a request that may be left out, and what a server says that refuses one."""


@dataclass(slots=True)
class RawAnswer:
    """A piece of an answer, or the whole, as a server sent it: any of it may be of a wrong type."""

    text: Any = None
    thought: Any = None
    finish_reason: Any = None
    prompt_tokens: Any = None
    cached_tokens: Any = None
    completion_tokens: Any = None
    evaluation_seconds: Any = None
    model: Any = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)

    def add(self, part: RawAnswer) -> None:
        """Add the piece that came next; its text goes its own way."""
        self.thought = self.thought or part.thought
        self.finish_reason = self.finish_reason or part.finish_reason
        for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
            if (value := getattr(part, name)) is not None:
                setattr(self, name, value)
        self.evaluation_seconds = part.evaluation_seconds or self.evaluation_seconds
        self.model = part.model or self.model
        for call in part.tool_calls:
            at = call.get("index")
            begun = next((c for c in self.tool_calls if at is not None and c["index"] == at), None)
            if begun is None:
                self.tool_calls.append(call)
            elif isinstance(more := call.get("arguments"), str):
                begun["arguments"] = f"{begun.get('arguments') or ''}{more}"


def count(value: Any) -> int:
    """A count as a server sent it; 0 when it sent none."""
    return value if isinstance(value, int) and value > 0 else 0


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
        self.lessons = lessons or Lessons()
        self.capabilities = replace(self.lessons.capabilities or Capabilities(kind), known=False)
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
        text, thought = words.finish(), bool(raw.thought or words.thought)
        self.lessons.thinks |= bool(request.messages) and thought
        took = raw.evaluation_seconds
        answer = Generation(
            text=text,
            finish_reason="length" if raw.finish_reason == "length" else "stop",
            prompt_tokens=(prompt := count(raw.prompt_tokens)),
            cached_tokens=min(count(raw.cached_tokens), prompt),
            completion_tokens=count(raw.completion_tokens),
            seconds=time.monotonic() - started,
            model=str(raw.model or self.model),
            tool_calls=self._tool_calls(raw.tool_calls),
            evaluation_seconds=float(took) if isinstance(took, int | float) and took > 0 else 0.0,
        )
        self._learn_from(request, answer)
        self._require_words(answer, thought=thought)
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
                self.capabilities = self.lessons.capabilities = self._learn(rows)
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
        whole, given_up = RawAnswer(), request.given_up or (lambda: False)
        with closing(self._pieces(request)) as pieces:  # type: ignore[type-var]
            for part in pieces:
                if isinstance(part.text, str):
                    words.feed(part.text)
                elif part.text is not None:
                    what = f"{self.server.name} sent {type(part.text).__name__} in place of text"
                    raise BadAnswer(what, "Look at its log")
                whole.add(part)
                if words.ended:
                    return whole
                if given_up():
                    raise CallGivenUp("The call was given up", "Nobody wants its answer")
        if whole.finish_reason is None:
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
        lessons, said = self.lessons, error.said.lower()
        for part, refusal in _PARTS.items():
            if refusal.lower() in said:
                lessons.refused.add(part)
                return True
        no_system = any(each in said for each in _SYSTEM_REFUSED)
        refused = no_system or any(each in said for each in _ROLES_REFUSED)
        if request.messages and roles < NO_SYSTEM and refused:
            lessons.roles = max(lessons.roles, NO_SYSTEM if no_system else roles + 1)
            return True
        if request.tools and "tool" in said:
            lessons.refused.add("tools")
            raise PromptUnfit(f"{self.server.name} takes no tools", error.cure) from error
        return False

    def _learn_from(self, request: GenerationRequest, answer: Generation) -> None:
        """What the figures of an answer tell of the server."""
        read = answer.prompt_tokens - answer.cached_tokens
        if self.capabilities.kind == OLLAMA:  # it may count what it had cached or not
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
        what = "a thought and no answer" if thought else "an empty answer"
        cure = "Ask again, or use a model that does not think" if thought else "Ask again"
        raise BadAnswer(f"{self.server.name} sent {what}", cure)

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
        """The answer, in pieces as it is written; raises ModelError."""


# -- messages and tools as servers take them


def as_sent(messages: Sequence[ChatMessage]) -> list[dict[str, str]]:
    """The messages, as every server takes them."""
    return [{"role": each.role, "content": each.text} for each in messages]


def tools_as_sent(tools: Sequence[Tool]) -> list[dict[str, Any]] | None:
    """The tools, as every server takes them; None for none."""
    named = [
        {"name": each.name, "description": each.description, "parameters": dict(each.parameters)}
        for each in tools
    ]
    return [{"type": "function", "function": each} for each in named] or None


def alternating(messages: Sequence[ChatMessage], level: int) -> tuple[ChatMessage, ...]:
    """The messages for a template that refuses some.

    Args:
        messages: As they were written.
        level: 0 for all as they are; 1 for user and assistant in turn, after one system message
            at most; 2 for the same without it.
    """
    if not level:
        return tuple(messages)
    head = [each for each in messages[:1] if each.role == SYSTEM and level < NO_SYSTEM]
    rest = [
        ChatMessage(USER if each.role == SYSTEM else each.role, each.text)
        for each in messages[len(head) :]
    ]
    if rest and rest[0].role == ASSISTANT:  # templates begin with the user
        rest.insert(0, ChatMessage(USER, _NOBODY_SPOKE))
    merged = [
        ChatMessage(role, "\n\n".join(each.text for each in of_one))
        for role, of_one in groupby(rest, key=lambda each: each.role)
    ]
    return (*head, *merged)


def _text(request: GenerationRequest) -> str:
    return "\n".join(each.text for each in request.messages) or request.prompt


def _common(text: str, other: str) -> int:
    """How many characters both begin with, in steps of 64."""
    step, end = 64, min(len(text), len(other))
    steps = range(0, end, step)
    return next((at for at in steps if text[at : at + step] != other[at : at + step]), end)
