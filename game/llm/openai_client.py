"""Any server with an OpenAI-compatible completion API, such as vLLM, LM Studio or llama.cpp.

llama.cpp understands more than the protocol (prompt cache, grammars, repeat
penalty) and says more (``timings``); it is told and heard when ``llama_cpp`` is set.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from game.llm import answers
from game.llm.http import (
    DeadlineTransport,
    ServerWords,
    from_transport,
    json_object,
    shown,
    timeout,
)
from game.llm.tokenizer import Tokenizer
from game.mind.errors import BadAnswer, ModelMissing
from game.mind.ports import Generation, GenerationRequest

KEY_VARIABLES = ("KEEPSAKE_OPENAI_API_KEY", "OPENAI_API_KEY")
"""Where the key comes from, and the only places that it comes from."""

_TOKENIZE_SECONDS = 10.0


def api_key(environ: Mapping[str, str] = os.environ) -> str | None:
    """The key of the environment, or None."""
    return next((environ[name] for name in KEY_VARIABLES if environ.get(name)), None)


class OpenAIModel:
    """Continues text by ``/v1/completions``. Safe to use from several threads.

    Args:
        host: Base address, with or without ``/v1``.
        model: The model's name; empty lets the server choose.
        time_limit: Seconds an answer may take.
        key: API key, or None.
        llama_cpp: The server is llama.cpp.
        cure_absent: What to do when nobody answers.
    """

    def __init__(
        self,
        host: str,
        model: str = "",
        *,
        time_limit: float = 60.0,
        key: str | None = None,
        llama_cpp: bool = False,
        cure_absent: str = "Start the server, or correct host in llm.md",
    ) -> None:
        self.model = model
        self._time_limit = time_limit
        self._llama_cpp = llama_cpp
        self.server = ServerWords(
            f"The model server at {shown(host)}",
            cure_absent,
            f"Load {model!r} there, or correct model and host in llm.md",
            key or "",
        )
        self._tokenizer = Tokenizer(
            lambda body: self._call("POST", "/tokenize", body, seconds=_TOKENIZE_SECONDS), model
        )
        self._http = httpx.Client(
            base_url=host.rstrip("/").removesuffix("/v1"),
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=timeout(time_limit),
            transport=DeadlineTransport(),
            trust_env=False,
        )

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt``; blocks.

        Raises:
            ModelError: With the cure in its message.
        """
        started = time.monotonic()
        body = self._call("POST", "/v1/completions", self._body(request))
        choice = _first_choice(body, self.server)
        prompt, cached, completion = _tokens(body)
        return answers.generation(
            choice.get("text"),
            server=self.server.name,
            finish_reason=str(choice.get("finish_reason")),
            prompt_tokens=prompt,
            cached_tokens=cached,
            completion_tokens=completion,
            seconds=time.monotonic() - started,
            model=str(body.get("model") or self.model),
        )

    def check(self) -> str:
        """Whether the server answers and has the model; what it says of itself.

        Raises:
            ModelError: It does not, or it has not.
        """
        body = self._call("GET", "/v1/models", seconds=5.0)
        listed = body.get("data")
        listed = listed if isinstance(listed, list) else []
        names = [str(each.get("id")) for each in listed if isinstance(each, dict)]
        if self.model and names and self.model not in names and not self._llama_cpp:
            raise ModelMissing(
                f"{self.server.name} has no model {self.model!r}",
                f"Use one of {', '.join(names[:8])}",
            )
        return "ready"

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text by the model's own tokenizer; None where the server has none.

        Raises:
            ModelError: The server did not answer.
        """
        return self._tokenizer.count(texts)

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        limit = seconds or self._time_limit
        try:
            response = self._http.request(method, path, json=body, timeout=timeout(limit))
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            # httpx raises RuntimeError when the client was closed under a call.
            raise from_transport(error, self.server, limit) from error
        return json_object(response, self.server)

    def _body(self, request: GenerationRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "prompt": request.prompt,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
        }
        if self.model:
            body["model"] = self.model
        if request.stop:
            body["stop"] = list(request.stop)
        if request.seed is not None:
            body["seed"] = request.seed
        return body | (self._llama_extras(request) if self._llama_cpp else _extras(request))

    def _llama_extras(self, request: GenerationRequest) -> dict[str, Any]:
        extras: dict[str, Any] = {
            "cache_prompt": True,
            "repeat_penalty": request.repeat_penalty,
        }
        if request.dry_multiplier:
            extras |= {"dry_multiplier": request.dry_multiplier, **_DRY}
        if request.grammar:
            extras["grammar"] = request.grammar
        elif request.json_schema is not None:
            extras["json_schema"] = dict(request.json_schema)
        return extras


_DRY = {"dry_base": 1.75, "dry_allowed_length": 3, "dry_penalty_last_n": 8192}
"""Runs of up to three words are free; the whole prompt counts, not its end alone."""


def _extras(request: GenerationRequest) -> dict[str, Any]:
    """What OpenAI's protocol itself has for a schema; it has no repeat penalty."""
    if request.json_schema is None:
        return {}
    schema = {"name": "answer", "schema": dict(request.json_schema)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


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
