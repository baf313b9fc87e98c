"""Any server with an OpenAI-compatible API, such as vLLM, LM Studio or llama.cpp.

Prompts go to ``/v1/completions``, messages to ``/v1/chat/completions``. Some servers take more
than the protocol (grammars, penalties, a prompt cache): :mod:`game.llm.clients.openai_server`
finds out which server it is.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from game.llm.clients import answers, openai_server
from game.llm.clients.capabilities import of_kind
from game.llm.clients.http import JsonServer, ServerWords, shown
from game.llm.profiles import AUTO, LLAMA_CPP, VLLM
from game.llm.tokens.tokenizer import Tokenizer
from game.mind.errors import BadAnswer, ModelError, ModelMissing
from game.mind.ports import Generation, GenerationRequest

KEY_VARIABLES = ("KEEPSAKE_OPENAI_API_KEY", "OPENAI_API_KEY")
"""Where the key comes from, and the only places that it comes from."""

_TOKENIZE_SECONDS = 10.0


def api_key(environ: Mapping[str, str] = os.environ) -> str | None:
    """The key of the environment, or None."""
    return next((environ[name] for name in KEY_VARIABLES if environ.get(name)), None)


class OpenAIModel:
    """Continues text and chats. Safe to use from several threads.

    Args:
        host: Base address, with or without ``/v1``.
        model: The model's name; empty lets the server choose.
        time_limit: Seconds an answer may take.
        key: API key, or None.
        kind: What the server is, one of :data:`game.llm.profiles.SERVERS`.
        cure_absent: What to do when nobody answers.

    Attributes:
        capabilities: What the server takes, as far as :meth:`check` has learnt it.
    """

    def __init__(
        self,
        host: str,
        model: str = "",
        *,
        time_limit: float = 60.0,
        key: str | None = None,
        kind: str = AUTO,
        cure_absent: str = "Start the server, or correct host in llm.md",
    ) -> None:
        self.model = model
        self._kind = kind
        self.capabilities = of_kind(kind)
        self._guided = openai_server.STRUCTURED
        self._listed: list[str] = []
        self.server = ServerWords(
            f"The model server at {shown(host)}",
            cure_absent,
            f"Load {model!r} there, or correct model and host in llm.md",
            key or "",
        )
        self._http = JsonServer(host, self.server, time_limit)
        self._tokenizer = Tokenizer(
            lambda body: self._http.call("POST", "/tokenize", body, seconds=_TOKENIZE_SECONDS),
            model,
        )

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt`` or answer ``request.messages``; blocks.

        Raises:
            ModelError: With the cure in its message.
        """
        started = time.monotonic()
        aloud = bool(request.messages) and self.capabilities.thinks
        path = "/v1/chat/completions" if request.messages else "/v1/completions"
        body = self._http.call("POST", path, self._body(request, aloud=aloud))
        choice = _first_choice(body, self.server)
        prompt, cached, completion = _tokens(body)
        return answers.generation(
            self._said(choice) if request.messages else choice.get("text"),
            server=self.server.name,
            finish_reason=str(choice.get("finish_reason")),
            prompt_tokens=prompt,
            cached_tokens=cached,
            completion_tokens=completion,
            seconds=time.monotonic() - started,
            model=str(body.get("model") or self.model),
            stop=request.stop if aloud else (),
        )

    def check(self) -> str:
        """Whether the server answers and has the model; learns what it takes.

        Raises:
            ModelError: It does not, or it has not.
        """
        try:
            body = self._http.call("GET", "/v1/models", seconds=5.0)
        except ModelError:
            self.capabilities = replace(self.capabilities, known=False)
            raise
        listed = body.get("data")
        listed = [each for each in listed if isinstance(each, dict)] if listed else []
        names = [str(each.get("id")) for each in listed]
        serves_one = self.capabilities.kind == LLAMA_CPP  # under whatever name
        if self.model and names and self.model not in names and not serves_one:
            raise ModelMissing(
                f"{self.server.name} has no model {self.model!r}",
                f"Use one of {', '.join(names[:8])}",
            )
        if not self.capabilities.known or names != self._listed:
            with suppress(ModelError):  # it serves all the same, and is asked again
                self._learn(listed)
                self._listed = names
        return "ready"

    def _learn(self, listed: Sequence[Mapping[str, Any]]) -> None:
        server = openai_server.OpenAIServer(self._http.call, self.model)
        kind = server.kind(listed) if self._kind == AUTO else self._kind
        if kind == VLLM:
            self._guided = server.guided()
        self.capabilities = server.capabilities(kind)

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text by the model's own tokenizer; None where the server has none.

        Raises:
            ModelError: The server did not answer.
        """
        return self._tokenizer.count(texts)

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()

    def _body(self, request: GenerationRequest, *, aloud: bool) -> dict[str, Any]:
        body: dict[str, Any] = {
            "max_tokens": request.max_tokens + (answers.THOUGHT_TOKENS if aloud else 0),
            "temperature": request.temperature,
        }
        if request.messages:
            body["messages"] = [{"role": m.role, "content": m.text} for m in request.messages]
        else:
            body["prompt"] = request.prompt
        if self.model:
            body["model"] = self.model
        if request.stop and not aloud:
            body["stop"] = list(request.stop)
        if request.seed is not None:
            body["seed"] = request.seed
        return body | openai_server.extras(request, self.capabilities, self._guided)

    def _said(self, choice: Mapping[str, Any]) -> Any:
        """The message's words; notes when the model thinks although it was asked not to."""
        message = choice.get("message")
        if not isinstance(message, dict):
            return None
        content = message.get("content") or ""
        thought = message.get("reasoning_content") or message.get("reasoning")
        if thought or answers.has_thought(content):
            self.capabilities = replace(self.capabilities, thinks=True)
        return content


def _first_choice(body: Mapping[str, Any], server: ServerWords) -> Mapping[str, Any]:
    choices = body.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    said = json.dumps(body, ensure_ascii=False)[:200]
    raise BadAnswer(f"{server.name} sent no choices ({said})", "Check host in llm.md")


def _tokens(body: Mapping[str, Any]) -> tuple[int, int, int]:
    """Prompt, cached and completion tokens, from llama.cpp's timings or the usage."""
    usage, timings = body.get("usage"), body.get("timings")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    cached = answers.count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    if isinstance(timings, dict):
        cached = answers.count(timings.get("cache_n"))
    prompt = answers.count(usage.get("prompt_tokens"))
    return prompt, min(cached, prompt), answers.count(usage.get("completion_tokens"))
