"""What is common to all models behind HTTP: one call, its answer, and what the server takes."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from keepsake.errors import BadAnswer, ModelError, ModelMissing
from keepsake.models.clients.capabilities import of_kind
from keepsake.models.clients.http import ServerWords
from keepsake.ports import Generation, GenerationRequest

THOUGHT_TOKENS = 1024
"""What a model that thinks aloud is given beside the tokens of its answer."""
LOOK_SECONDS = 10.0
"""What a question about the server itself may take."""

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)


class Server(Protocol):
    """One server that is asked for JSON objects."""

    words: ServerWords

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """The answer's body; blocks, raises ModelError."""

    def close(self) -> None:
        """Close the kept connections."""


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """What a server sent, as it sent it: any of it may be of a wrong type."""

    text: Any
    thought: Any
    finish_reason: Any
    prompt_tokens: Any
    cached_tokens: Any
    completion_tokens: Any


class HttpModel(ABC):
    """Continues text and chats by one server. Safe to use from several threads.

    Args:
        http: The server.
        model: The model's name there; empty lets the server choose.
        kind: What the server is, as far as it is known.

    Attributes:
        capabilities: What the server takes, as far as :meth:`check` has learnt it.
    """

    def __init__(self, http: Server, model: str, kind: str) -> None:
        self.model, self.server = model, http.words
        self.capabilities = of_kind(kind)
        self._http = http
        self._names: list[str] = []

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt`` or answer ``request.messages``; blocks.

        Raises:
            ModelError: With the cure in its message.
        """
        started = time.monotonic()
        # A stop string in a thought would end the thought: the answer is cut here in its place.
        aloud = bool(request.messages) and self.capabilities.thinks
        more = request.max_tokens + THOUGHT_TOKENS
        asked = replace(request, stop=(), max_tokens=more) if aloud else request
        body = self._http.call("POST", *self._question(asked))
        raw = self._answer(body, chat=bool(request.messages))
        if request.messages and (raw.thought or _MARK.search(str(raw.text))):
            self.capabilities = replace(self.capabilities, thinks=True)
        prompt = count(raw.prompt_tokens)
        return Generation(
            text=self._clean(raw.text, request.stop if aloud else None),
            finish_reason="length" if raw.finish_reason == "length" else "stop",
            prompt_tokens=prompt,
            cached_tokens=min(count(raw.cached_tokens), prompt),
            completion_tokens=count(raw.completion_tokens),
            seconds=time.monotonic() - started,
            model=str(body.get("model") or self.model),
        )

    def check(self) -> str:
        """Whether the server answers and has the model; learns what it takes.

        Raises:
            ModelError: It does not, or it has not.
        """
        try:
            rows = self._rows()
            names = [str(each.get("id") or each.get("model")) for each in rows]
            if not self._has(names):
                raise ModelMissing(
                    f"{self.server.name} has no model {self.model!r}",
                    f"{self.server.cure_missing}; it has {', '.join(names[:8]) or 'none'}",
                )
        except ModelError:
            self.capabilities = replace(self.capabilities, known=False)
            raise
        if not self.capabilities.known or names != self._names:
            with suppress(ModelError):  # it serves all the same, and is asked again
                self._learn(rows)
                self._names = names
        return "ready"

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()

    def _rows(self) -> list[Mapping[str, Any]]:
        """The models that the server lists: OpenAI's ``data``, Ollama's ``models``."""
        body = self._http.call("GET", self._list, seconds=LOOK_SECONDS)
        listed = body.get("data") or body.get("models")
        return (
            [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        )

    def _clean(self, text: Any, stop: Sequence[str] | None) -> str:
        """The answer without its thoughts; ``stop`` ends one that was thought aloud."""
        if not isinstance(text, str):
            what = f"{self.server.name} sent {type(text).__name__} in place of text"
            raise BadAnswer(what, "Look at its log")
        answer = without_thoughts(text)
        if stop is not None:
            answer = answer.lstrip()
            answer = answer[: min((answer.index(s) for s in stop if s in answer), default=None)]
        if not answer.strip():
            what = f"{self.server.name} sent an empty answer"
            raise BadAnswer(what, "Ask again, or change stop in llm.md")
        return answer

    @property
    @abstractmethod
    def _list(self) -> str:
        """The path that lists the models."""

    @abstractmethod
    def _has(self, names: Sequence[str]) -> bool:
        """Whether the model is among those that the server lists."""

    @abstractmethod
    def _learn(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Ask what the server takes; may raise ModelError."""

    @abstractmethod
    def _question(self, request: GenerationRequest) -> tuple[str, dict[str, Any]]:
        """Path and body of a request."""

    @abstractmethod
    def _answer(self, body: Mapping[str, Any], *, chat: bool) -> RawAnswer:
        """What the body says; BadAnswer if it says nothing."""


def without_thoughts(text: str) -> str:
    """The answer without what a reasoning model said to itself.

    Some templates open the block inside the prompt, so only its end comes back.

    Raises:
        BadAnswer: A block was opened and never closed: there is no answer behind it.
    """
    answer = _MARK.split(_THOUGHT.sub("", text))[-1]
    cut_off = (text.lower().rfind("<think")) > text.lower().rfind("</think")
    if cut_off and not answer.strip():
        raise BadAnswer(
            "The model was still inside its <think> block when it was cut off",
            "Raise max_tokens or take '\\n' out of stop in llm.md, or use a model that"
            " does not think aloud",
        )
    return answer.lstrip() if answer != text else text


def messages(request: GenerationRequest) -> list[dict[str, str]]:
    """The messages of a chat, as every server takes them."""
    return [{"role": each.role, "content": each.text} for each in request.messages]


def count(value: Any) -> int:
    """A count as a server sent it; 0 when it sent none."""
    return value if isinstance(value, int) and value > 0 else 0
