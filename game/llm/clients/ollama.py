"""Ollama, by its official client.

Prompts go to ``/api/generate`` with ``raw``, no template around them; messages to ``/api/chat``.
What the model was made for comes from ``/api/show``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx
import ollama

from game.llm.clients import answers
from game.llm.clients.capabilities import is_chat_template, is_ollama_chat, of_kind, thinks_aloud
from game.llm.clients.http import (
    DeadlineTransport,
    ServerWords,
    from_status,
    from_transport,
    shown,
    timeout,
)
from game.llm.profiles import OLLAMA_SERVER
from game.mind.errors import BadAnswer, ModelError, ModelMissing
from game.mind.ports import Generation, GenerationRequest

DEFAULT_HOST = "http://127.0.0.1:11434"


def ollama_host(host: str = "", environ: Mapping[str, str] = os.environ) -> str:
    """The address to use: the profile's, else ``OLLAMA_HOST``, else Ollama's own default."""
    found = host or environ.get("OLLAMA_HOST", "").strip() or DEFAULT_HOST
    # 0.0.0.0 is where a server listens, not where a client connects.
    return found.replace("//0.0.0.0", "//127.0.0.1") if "//" in found else _bare(found)


def _bare(host: str) -> str:
    host = "127.0.0.1" + host.removeprefix("0.0.0.0") if host.startswith("0.0.0.0") else host
    return f"http://{host}" if ":" in host else f"http://{host}:11434"


def words(host: str, model: str) -> ServerWords:
    """How errors speak of the Ollama at ``host``."""
    return ServerWords(
        f"Ollama at {shown(host)}",
        "Start it with: ollama serve; or correct host in llm.md",
        f"Fetch the model with: ollama pull {model}",
        os.environ.get("OLLAMA_API_KEY", ""),  # which its library sends by itself
    )


class OllamaModel:
    """Continues text and chats by Ollama. Safe to use from several threads.

    Args:
        host: Base address.
        model: The model's name, such as ``llama3.2:1b``.
        time_limit: Seconds an answer may take.
        keep_alive: How long the model stays loaded after a call.
        context_tokens: Context size to load it with; None for the model's own.

    Attributes:
        capabilities: What the server takes, as far as :meth:`check` has learnt it.
    """

    def __init__(
        self,
        host: str,
        model: str,
        *,
        time_limit: float = 60.0,
        keep_alive: str = "30m",
        context_tokens: int | None = None,
    ) -> None:
        self.model = model
        self.server = words(host, model)
        self._time_limit = time_limit
        self._keep_alive = keep_alive
        self._context_tokens = context_tokens
        self._client = client(host, time_limit)
        self.capabilities = of_kind(OLLAMA_SERVER)
        # Only a model that can think may be asked not to: the others answer with HTTP 400.
        self._may_think = False

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt`` or answer ``request.messages``; blocks.

        Raises:
            ModelError: With the cure in its message.
        """
        started = time.monotonic()
        aloud = bool(request.messages) and self.capabilities.thinks
        try:
            response = self._ask(request, aloud=aloud)
        except CLIENT_FAILURES as error:
            raise named(error, self.server, self._time_limit) from error
        return answers.generation(
            self._text(response),
            server=self.server.name,
            finish_reason=str(response.done_reason),
            # Ollama says how many it was given and is silent about its cache.
            prompt_tokens=answers.count(response.prompt_eval_count),
            cached_tokens=0,
            completion_tokens=answers.count(response.eval_count),
            seconds=time.monotonic() - started,
            model=response.model or self.model,
            stop=request.stop if aloud else (),
        )

    def _ask(
        self, request: GenerationRequest, *, aloud: bool
    ) -> ollama.GenerateResponse | ollama.ChatResponse:
        options, keep_alive = self._options(request, aloud=aloud), _keep_alive(self._keep_alive)
        schema = dict(request.json_schema) if request.json_schema is not None else None
        if request.messages:
            return self._client.chat(
                model=self.model,
                messages=[{"role": each.role, "content": each.text} for each in request.messages],
                think=False if self._may_think else None,
                stream=False,
                options=options,
                keep_alive=keep_alive,
                format=schema,
            )
        return self._client.generate(
            model=self.model,
            prompt=request.prompt,
            raw=True,
            stream=False,
            options=options,
            keep_alive=keep_alive,
            format=schema,
        )

    def _text(self, response: ollama.GenerateResponse | ollama.ChatResponse) -> str | None:
        """The answer's words; notes when the model thinks although it was asked not to."""
        if isinstance(response, ollama.GenerateResponse):
            return response.response
        said = response.message
        if said.thinking or answers.has_thought(said.content):
            self.capabilities = replace(self.capabilities, thinks=True)
        return said.content

    def check(self) -> str:
        """Whether the server answers and has the model; what it says of itself.

        Raises:
            ModelError: It does not, or it has not.
        """
        try:
            listed = self._client.list().models
        except CLIENT_FAILURES as error:
            self.capabilities = replace(self.capabilities, known=False)
            raise named(error, self.server, self._time_limit) from error
        names = {each.model for each in listed if each.model}
        if not {self.model, f"{self.model}:latest"} & names:
            self.capabilities = replace(self.capabilities, known=False)
            raise ModelMissing(
                f"{self.server.name} has no model {self.model!r}", self.server.cure_missing
            )
        if not self.capabilities.known:
            with suppress(*CLIENT_FAILURES):  # asked again at the next look
                self._learn(self._client.show(self.model))
        return "ready"

    def _learn(self, shown: ollama.ShowResponse) -> None:
        can = shown.capabilities or ()
        own = str((shown.modelinfo or {}).get("tokenizer.chat_template", ""))
        # A model that takes tools or thinks was made for chat, whatever renders its prompt.
        chat = is_ollama_chat(shown.template or "") or is_chat_template(own)
        chat = chat or "tools" in can or "thinking" in can
        self._may_think = "thinking" in can
        self.capabilities = self.capabilities.learned(
            chat=chat, thinks=not self._may_think and thinks_aloud(own)
        )

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """Always None: Ollama lets nobody use its tokenizer.

        What a prompt had is known after the call, from ``prompt_eval_count``.
        """
        return None

    def close(self) -> None:
        """Close the kept connections."""
        self._client.close()  # type: ignore[no-untyped-call]  # it has no annotations

    def _options(self, request: GenerationRequest, *, aloud: bool) -> dict[str, Any]:
        options: dict[str, Any] = {
            "temperature": request.temperature,
            "num_predict": request.max_tokens + (answers.THOUGHT_TOKENS if aloud else 0),
            "repeat_penalty": request.repeat_penalty,
        }
        if request.stop and not aloud:
            options["stop"] = list(request.stop)
        if request.seed is not None:
            options["seed"] = request.seed
        if self._context_tokens is not None:
            options["num_ctx"] = self._context_tokens
        return options


CLIENT_FAILURES = (
    ollama.ResponseError,
    httpx.HTTPError,
    ConnectionError,
    ValueError,
    TypeError,
    RuntimeError,
)
"""All that the official client raises: ValueError and TypeError for garbage (JSON and
pydantic errors are ValueErrors), RuntimeError when it was closed under a call."""


def client(host: str, time_limit: float) -> ollama.Client:
    """A client with a real time limit that never uses a proxy."""
    return ollama.Client(
        host, timeout=timeout(time_limit), transport=DeadlineTransport(), trust_env=False
    )


def named(error: Exception, server: ServerWords, seconds: float) -> ModelError:
    """The named error for what the official client raised."""
    if isinstance(error, ollama.ResponseError):
        return from_status(error.status_code, str(error.error), server)
    if isinstance(error, (ValueError, TypeError)):
        return BadAnswer(
            f"{server.name} sent what is not Ollama's protocol ({str(error)[:120]})",
            "Check that host in llm.md is an Ollama",
        )
    return from_transport(error, server, seconds)


def _keep_alive(written: str) -> float | str:
    """Seconds when it is a bare number, as Ollama reads a string only with its unit."""
    try:
        return float(written)
    except ValueError:
        return written
