"""Ollama, by its official client.

Prompts go to ``/api/generate`` with ``raw``, no template around them; messages to ``/api/chat``.
What the model was made for comes from ``/api/show``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import httpx

from keepsake.errors import BadAnswer
from keepsake.models.clients.base import LOOK_SECONDS, HttpModel, RawAnswer, messages
from keepsake.models.clients.capabilities import is_chat_template, is_ollama_chat, thinks_aloud
from keepsake.models.clients.http import (
    DeadlineTransport,
    ServerWords,
    from_status,
    from_transport,
    inner,
    shown,
    waits,
)
from keepsake.models.profiles import OLLAMA_SERVER
from keepsake.ports import GenerationRequest

if TYPE_CHECKING:
    from pydantic import BaseModel

DEFAULT_HOST = "http://127.0.0.1:11434"


def ollama_host(host: str = "", environ: Mapping[str, str] = os.environ) -> str:
    """The address to use: the profile's, else ``OLLAMA_HOST``, else Ollama's own default."""
    found = host or environ.get("OLLAMA_HOST", "").strip() or DEFAULT_HOST
    if "//" not in found:
        found = f"http://{found}" if ":" in found else f"http://{found}:11434"
    # 0.0.0.0 is where a server listens, not where a client connects.
    return found.replace("//0.0.0.0", "//127.0.0.1")


def words(host: str, model: str) -> ServerWords:
    """How errors speak of the Ollama at ``host``."""
    return ServerWords(
        f"Ollama at {shown(host)}",
        "Start it with: ollama serve; or correct host in llm.md",
        f"Fetch the model with: ollama pull {model}",
        os.environ.get("OLLAMA_API_KEY", ""),  # which the client sends by itself
    )


class OllamaServer:
    """Ollama, asked through its official client. Safe to use from several threads.

    Args:
        host: Base address.
        model: Which model its errors speak of.
        time_limit: Seconds an answer may take.
    """

    def __init__(self, host: str, model: str, time_limit: float) -> None:
        import ollama  # noqa: PLC0415 - a tenth of what a start loads, and few profiles name it

        self.words, self._time_limit = words(host, model), time_limit
        self._refusal = ollama.ResponseError
        # Its clients have one time limit for all, and a look at a server that hangs must end soon.
        client, looks = (
            ollama.Client(
                host, timeout=waits(seconds), transport=DeadlineTransport(), trust_env=False
            )
            for seconds in (time_limit, LOOK_SECONDS)
        )
        self._clients = client, looks
        self._calls: dict[str, Callable[..., BaseModel]] = {
            "/api/chat": client.chat,
            "/api/embed": client.embed,
            "/api/generate": client.generate,
            "/api/show": looks.show,
            "/api/tags": looks.list,
        }

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """The answer's body; blocks. The client knows the method and its time limit.

        Raises:
            ModelError: There was no answer, or none that can be used.
        """
        try:
            return self._calls[path](**(body or {})).model_dump(by_alias=True)
        except self._refusal as error:
            raise from_status(error.status_code, str(error.error), self.words) from error
        except (ValueError, TypeError) as error:  # JSON, and pydantic's errors, are ValueErrors
            raise BadAnswer(
                f"{self.words.name} sent what is not Ollama's protocol ({str(error)[:120]})",
                "Check that host in llm.md is an Ollama",
            ) from error
        except (httpx.HTTPError, ConnectionError, RuntimeError) as error:
            raise from_transport(error, self.words, seconds or self._time_limit) from error

    def close(self) -> None:
        """Close the kept connections."""
        for each in self._clients:
            each.close()  # type: ignore[no-untyped-call]  # it has no annotations


class OllamaModel(HttpModel):
    """Continues text and chats by Ollama; see :class:`HttpModel`.

    Args:
        host: Base address.
        model: The model's name, such as ``llama3.2:1b``.
        time_limit: Seconds an answer may take.
        keep_alive: How long the model stays loaded after a call.
        context_tokens: Context size to load it with; None for the model's own.
    """

    _list = "/api/tags"

    def __init__(
        self,
        host: str,
        model: str,
        *,
        time_limit: float = 60.0,
        keep_alive: str = "30m",
        context_tokens: int | None = None,
    ) -> None:
        super().__init__(OllamaServer(host, model, time_limit), model, OLLAMA_SERVER)
        self._keep_alive = keep_alive
        self._context_tokens = context_tokens
        # Only a model that can think may be asked not to: the others answer with HTTP 400.
        self._may_think = False

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """Always None: Ollama lets nobody use its tokenizer."""
        return None

    def _has(self, names: Sequence[str]) -> bool:
        return self.model in names or f"{self.model}:latest" in names

    def _learn(self, rows: Sequence[Mapping[str, Any]]) -> None:
        said = self._http.call("POST", "/api/show", {"model": self.model}, seconds=LOOK_SECONDS)
        listed = said.get("capabilities")
        can = listed if isinstance(listed, list) else []
        own = str(inner(said, "model_info").get("tokenizer.chat_template", ""))
        # A model that takes tools or thinks was made for chat, whatever renders its prompt.
        chat = is_ollama_chat(str(said.get("template") or "")) or is_chat_template(own)
        self._may_think = "thinking" in can
        self.capabilities = self.capabilities.learned(
            chat=chat or "tools" in can or self._may_think,
            thinks=not self._may_think and thinks_aloud(own),
        )

    def _question(self, request: GenerationRequest) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {
            "model": self.model,
            "stream": False,
            "options": self._options(request),
            "keep_alive": _keep_alive(self._keep_alive),
        }
        if request.json_schema is not None:
            body["format"] = dict(request.json_schema)
        if not request.messages:
            return "/api/generate", body | {"prompt": request.prompt, "raw": True}
        if self._may_think:
            body["think"] = False
        return "/api/chat", body | {"messages": messages(request)}

    def _answer(self, body: Mapping[str, Any], *, chat: bool) -> RawAnswer:
        message = inner(body, "message")
        return RawAnswer(
            text=message.get("content") if chat else body.get("response"),
            thought=message.get("thinking"),
            finish_reason=body.get("done_reason"),
            # Ollama says how many it was given and is silent about its cache.
            prompt_tokens=body.get("prompt_eval_count"),
            cached_tokens=0,
            completion_tokens=body.get("eval_count"),
        )

    def _options(self, request: GenerationRequest) -> dict[str, Any]:
        options = {
            "temperature": request.temperature,
            "num_predict": request.max_tokens,
            "repeat_penalty": request.repeat_penalty,
            "stop": list(request.stop) or None,
            "seed": request.seed,
            "num_ctx": self._context_tokens,
        }
        return {name: value for name, value in options.items() if value is not None}


def _keep_alive(written: str) -> float | str:
    """Seconds when it is a bare number, as Ollama reads a string only with its unit."""
    try:
        return float(written)
    except ValueError:
        return written
