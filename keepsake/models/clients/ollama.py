"""Ollama, by its official client.

Messages go to ``/api/chat``, and text to continue to ``/api/generate`` with ``raw``, without a
template around it. What the model was made for comes from ``/api/show``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx

from keepsake.errors import BadAnswer
from keepsake.models.clients.base import LOOK_SECONDS, HttpModel
from keepsake.models.clients.capabilities import (
    Capabilities,
    Lessons,
    is_chat_template,
    is_ollama_chat,
    thinks_aloud,
)
from keepsake.models.clients.http import (
    DeadlineTransport,
    ServerWords,
    from_status,
    inner,
    named_errors,
    retry_after,
    shown,
)
from keepsake.models.clients.messages import as_sent, tools_as_sent
from keepsake.models.clients.raw import RawAnswer, calls_in, count
from keepsake.models.profiles import CHAT, DIALOGUE, LARGEST_PROMPT, OLLAMA_SERVER
from keepsake.ports import GenerationRequest

if TYPE_CHECKING:
    from pydantic import BaseModel

DEFAULT_HOST = "http://127.0.0.1:11434"
_STEP = 1024
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


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
        self._client = ollama.Client(
            host,
            transport=DeadlineTransport(),
            trust_env=False,
            event_hooks={"response": [self._require_success]},
        )
        self._calls: dict[str, Callable[..., BaseModel]] = {
            "/api/chat": self._client.chat,
            "/api/embed": self._client.embed,
            "/api/generate": self._client.generate,
            "/api/show": self._client.show,
            "/api/tags": self._client.list,
        }

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """The answer's body; blocks. The client knows the method.

        Raises:
            ModelError: There was no answer, or none that can be used.
        """
        with self._named(seconds or self._time_limit):
            return self._calls[path](**(body or {})).model_dump(by_alias=True)

    def stream(self, path: str, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The pieces of an answer as they come; blocks.

        Raises:
            ModelError: There was no answer, none that can be used, or it broke off.
        """
        with self._named(self._time_limit):
            pieces: Any = self._calls[path](**body)
            for each in pieces:
                yield each.model_dump(by_alias=True)

    @contextmanager
    def _named(self, seconds: float) -> Iterator[None]:
        """Give what the client raises a name."""
        try:
            with named_errors(self.words, seconds):
                yield
        except self._refusal as error:  # amid a stream
            raise from_status(500, str(error.error), self.words) from error
        except (ValueError, TypeError) as error:  # JSON, and pydantic's errors, are ValueErrors
            raise BadAnswer(
                f"{self.words.name} sent what is not Ollama's protocol ({str(error)[:120]})",
                "Check that host in llm.md is an Ollama",
            ) from error

    def _require_success(self, response: httpx.Response) -> None:
        """Refusals are told here: the client does not hand on their headers."""
        if not response.is_success:
            response.read()
            wait = retry_after(response.headers.get("Retry-After", ""))
            raise from_status(response.status_code, response.text, self.words, wait)

    def close(self) -> None:
        """Close the kept connections."""
        self._client.close()  # type: ignore[no-untyped-call]  # it has no annotations


class OllamaModel(HttpModel):
    """Continues text and chats by Ollama; see :class:`HttpModel`.

    Args:
        host: Base address.
        model: The model's name, such as ``llama3.2:1b``.
        time_limit: Seconds an answer may take.
        keep_alive: How long the model stays loaded after a call.
        context_tokens: Tokens that it is to look at; None for as many as prompts need.
        prompt_tokens: The most tokens of a prompt.
        lessons: What calls have shown of the model so far.
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
        prompt_tokens: int = 0,
        lessons: Lessons | None = None,
    ) -> None:
        super().__init__(OllamaServer(host, model, time_limit), model, OLLAMA_SERVER, lessons)
        self._keep_alive = keep_alive
        self._context_tokens = context_tokens
        # A quarter is left for the answer. In steps, as the model is loaded anew for another size.
        self._needed = -(-(prompt_tokens or LARGEST_PROMPT) * 4 // 3 // _STEP) * _STEP
        # Only a model that can think may be asked not to: the others answer with HTTP 400.
        self._may_think = False

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """Always None: Ollama lets nobody use its tokenizer."""
        return None

    def _has(self, names: Sequence[str]) -> bool:
        return self.model in names or f"{self.model}:latest" in names

    def _learn(self, rows: Sequence[Mapping[str, Any]]) -> Capabilities:
        said = self._http.call("POST", "/api/show", {"model": self.model}, seconds=LOOK_SECONDS)
        listed = said.get("capabilities")
        can = listed if isinstance(listed, list) else []
        info = inner(said, "model_info")
        own = str(info.get("tokenizer.chat_template", ""))
        # A model that takes tools or thinks was made for chat, whatever renders its prompt.
        chat = is_ollama_chat(str(said.get("template") or "")) or is_chat_template(own)
        self._may_think = "thinking" in can
        return replace(
            self.capabilities,
            known=True,
            form=CHAT if chat or "tools" in can or self._may_think else DIALOGUE,
            context=self._context(info, str(said.get("parameters") or "")),
            tools="tools" in can,
            thinks=not self._may_think and thinks_aloud(own),
        )

    def _context(self, info: Mapping[str, Any], parameters: str) -> int:
        """Tokens that it is told to look at: as the profile or its own file says, or as needed."""
        if self._context_tokens:
            return self._context_tokens
        if (written := _NUM_CTX.search(parameters)) is not None:
            return int(written[1])
        sizes = [count(size) for name, size in info.items() if name.endswith(".context_length")]
        return min([self._needed, *(size for size in sizes if size)])

    def _question(self, request: GenerationRequest) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {
            "model": self.model,
            "stream": request.on_text is not None,
            "options": self._options(request),
            "keep_alive": _keep_alive(self._keep_alive),
        }
        if request.json_schema is not None:
            body["format"] = dict(request.json_schema)
        if not request.messages:
            return "/api/generate", body | {"prompt": request.prompt, "raw": True}
        if self._may_think:
            body["think"] = False
        if request.tools:
            body["tools"] = tools_as_sent(request.tools)
        return "/api/chat", body | {"messages": as_sent(request.messages)}

    def _answer(self, body: Mapping[str, Any], *, chat: bool, streamed: bool = False) -> RawAnswer:
        message = inner(body, "message")
        nanoseconds = body.get("prompt_eval_duration")
        done = body.get("done_reason") or ("stop" if body.get("done") else None)
        return RawAnswer(
            text=message.get("content") if chat else body.get("response"),
            thought=message.get("thinking"),
            finish_reason=done,
            # Ollama says how many it was given and is silent about its cache.
            prompt_tokens=body.get("prompt_eval_count"),
            cached_tokens=0,
            completion_tokens=body.get("eval_count"),
            evaluation_seconds=nanoseconds / 1e9 if isinstance(nanoseconds, int) else None,
            model=body.get("model"),
            tool_calls=calls_in(message),
        )

    def _options(self, request: GenerationRequest) -> dict[str, Any]:
        options = {
            "temperature": request.temperature,
            "num_predict": request.max_tokens,
            "repeat_penalty": request.repeat_penalty,
            "stop": list(request.stop) or None,
            "seed": request.seed,
            "num_ctx": self.capabilities.context or self._context_tokens or self._needed,
        }
        return {name: value for name, value in options.items() if value is not None}


def _keep_alive(written: str) -> float | str:
    """Seconds when it is a bare number, as Ollama reads a string only with its unit."""
    try:
        return float(written)
    except ValueError:
        return written
