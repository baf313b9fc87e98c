"""Ollama, through its official client.

Messages go to ``/api/chat``. Text to continue goes to ``/api/generate`` with ``raw``, which adds no
template. ``/api/show`` tells which form of prompt a model was made for.
"""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import httpx

from keepsake.errors import ModelError
from keepsake.models.capabilities import (
    TOOLS,
    Capabilities,
    is_chat_template,
    is_ollama_chat,
    thinks_aloud,
)
from keepsake.models.http import (
    ServerTexts,
    client_settings,
    error_from_response,
    error_from_status,
    named_errors,
    redacted,
)
from keepsake.models.model import QUERY_SECONDS, ServerModel
from keepsake.models.profiles import (
    CHAT,
    DIALOGUE,
    LARGEST_PROMPT,
    LLM_PAGE,
    OLLAMA,
    ModelProfile,
)
from keepsake.models.sent_answer import SentAnswer, tools_as_sent
from keepsake.models.transport import ModelTransport, limited, within
from keepsake.ports import GenerationRequest

KEEP_ALIVE = "30m"
"""How long a model stays loaded after a call."""
_STEP = 1024
"""Context windows are multiples of this: Ollama loads the model again when the size changes."""
_SEPARATORS = {
    sign.encode(): json.dumps(sign)[1:-1].encode() for sign in ("\x85", "\u2028", "\u2029")
}
"""Characters that JSON allows inside a text and at which Python ends a line, with their escapes."""
_FIGURES = (
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)
"""Whole numbers of an answer's last line. The client refuses the answer if one of them is none."""
_HAS_FIGURES = (b"_count", b"_duration")
"""What a line with figures has in it: the other lines, one for each token, are not parsed twice."""


def ollama_host(host: str = "") -> str:
    """Return the address: the profile's, else ``OLLAMA_HOST``, else Ollama's own default."""
    found = host or os.environ.get("OLLAMA_HOST", "").strip() or "127.0.0.1"
    if "//" not in found:
        found = f"http://{found}" if ":" in found else f"http://{found}:11434"
    # 0.0.0.0 is where a server listens, not where a client connects.
    return found.replace("//0.0.0.0", "//127.0.0.1")


def server_texts(host: str, model: str, where: str = LLM_PAGE) -> ServerTexts:
    """Return the texts for error messages about the Ollama at ``host``.

    ``where``: Where a person changes the settings.
    """
    return ServerTexts(
        f"Ollama at {redacted(host)}",
        f"Start it with: ollama serve; or correct host in {where}",
        f"Fetch the model with: ollama pull {model}",
        os.environ.get("OLLAMA_API_KEY", ""),  # the client sends it by itself
        where,
    )


class JsonLinesBody(httpx.SyncByteStream):
    """A body of JSON lines, as Ollama's client can split it.

    The client also splits at characters that JSON allows inside a text, reads an empty line as an
    answer, and refuses an answer for a wrong figure. Ollama itself sends none of these, but other
    servers with its API do. A figure that is no whole number is left out.
    """

    def __init__(self, body: httpx.SyncByteStream) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        for piece in self._body:
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield self._safe(line)
        yield self._safe(rest)

    @staticmethod
    def _safe(line: bytes) -> bytes:
        if not line.strip():
            return b""
        for separator, escaped in _SEPARATORS.items():
            line = line.replace(separator, escaped)
        if any(each in line for each in _HAS_FIGURES):
            line = _with_true_figures(line)
        return line + b"\n"

    def close(self) -> None:
        """Close the body."""
        self._body.close()


def _with_true_figures(line: bytes) -> bytes:
    """Return a line of an answer without the figures that are no positive whole numbers."""
    try:
        said = json.loads(line)
    except ValueError:
        return line  # the client reports it
    if not isinstance(said, dict):
        return line
    wrong = [name for name in _FIGURES if name in said and not _is_figure(said[name])]
    if not wrong:
        return line
    return json.dumps({name: value for name, value in said.items() if name not in wrong}).encode()


def _is_figure(value: object) -> bool:
    return isinstance(value, int) and value >= 0


class JsonLinesTransport(ModelTransport):
    """The connections of Ollama's client; see :class:`JsonLinesBody`."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return the response."""
        response = super().handle_request(request)
        lines = "ndjson" in response.headers.get("Content-Type", "")
        if lines and isinstance(response.stream, httpx.SyncByteStream):
            response.stream = JsonLinesBody(response.stream)
        return response


class OllamaModel(ServerModel):
    """A model on an Ollama server; see :class:`ServerModel`."""

    def __init__(self, profile: ModelProfile) -> None:
        host = ollama_host(profile.host)
        texts = server_texts(host, profile.model, profile.where)
        super().__init__(profile, host, texts, OLLAMA)
        import ollama  # noqa: PLC0415 - a tenth of the start-up imports, and rarely used

        self._error_type = ollama.ResponseError
        name = self.server.name
        settings = client_settings(profile.time_limit, name)
        self._client = ollama.Client(host, **{**settings, "transport": JsonLinesTransport(name)})
        self._info_client = ollama.Client(host, **client_settings(QUERY_SECONDS, name))
        for client in (self._client, self._info_client):  # closed after the model's last call
            weakref.finalize(self, client.close).atexit = False
        # A quarter is left for the answer. Rounded up: Ollama reloads the model for each new size.
        self._needed = -(-(profile.prompt_tokens or LARGEST_PROMPT) * 4 // 3 // _STEP) * _STEP
        self._can_think = False
        self._nothing_said = ollama.ShowResponse(model_info={})

    def _translated(self, error: Exception) -> ModelError:
        """Translate an error of the client; within a stream it has no response."""
        response = getattr(error.__context__, "response", None)
        if isinstance(response, httpx.Response):
            return error_from_response(response, self.server)
        return error_from_status(500, str(getattr(error, "error", error)), self.server)

    def _list_models(self) -> list[Mapping[str, Any]]:
        with named_errors(self.server, QUERY_SECONDS), limited(within(QUERY_SECONDS)):
            try:
                return [{"id": each.model} for each in self._info_client.list().models]
            except self._error_type as error:
                raise self._translated(error) from error

    def _is_listed(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        names = [str(each.get("id")) for each in rows]
        return self.profile.model in names or f"{self.profile.model}:latest" in names

    def _read_capabilities(self, rows: Sequence[Mapping[str, Any]]) -> Capabilities:
        with named_errors(self.server, QUERY_SECONDS), limited(within(QUERY_SECONDS)):
            try:
                said = self._info_client.show(self.profile.model)
            except self._error_type as error:
                raise self._translated(error) from error
            except ValueError:  # other servers with this API omit fields
                said = self._nothing_said
            can = said.capabilities or []
            info = said.modelinfo or {}
            # The context window: from the profile, else from the Modelfile, else as needed.
            rows_ = (line.split() for line in (said.parameters or "").splitlines())
            written = {row[0]: int(row[1]) for row in rows_ if row[:1] == ["num_ctx"]}
            sizes = [int(size) for name, size in info.items() if name.endswith(".context_length")]
        own = str(info.get("tokenizer.chat_template", ""))
        # A model that takes tools or thinks was made for chat, even without a chat template. If the
        # server says nothing about a model, chat is most likely.
        chat = is_ollama_chat(said.template or "") or is_chat_template(own)
        chat = chat or not (said.template or can or info)
        self._can_think = "thinking" in can
        told = self.profile.context_tokens or written.get("num_ctx")
        return Capabilities(
            OLLAMA,
            known=True,
            form=CHAT if chat or "tools" in can or self._can_think else DIALOGUE,
            context=told or min([self._needed, *filter(None, sizes)]),
            tools="tools" in can,
            thinks=not self._can_think and thinks_aloud(own),
        )

    def _loaded_context(self) -> int:
        try:
            with named_errors(self.server, QUERY_SECONDS), limited(within(QUERY_SECONDS)):
                sizes = {each.model: each.context_length for each in self._info_client.ps().models}
                return (
                    sizes.get(self.profile.model) or sizes.get(f"{self.profile.model}:latest") or 0
                )
        except (ModelError, self._error_type):
            return 0

    def _stream(
        self, request: GenerationRequest, caps: Capabilities, sent: SentAnswer
    ) -> Generator[str]:
        chat = bool(request.messages)
        options = {
            "temperature": request.temperature,
            "num_predict": request.max_tokens or None,
            "repeat_penalty": request.repeat_penalty,
            "stop": list(request.stop) or None,
            "seed": request.seed,
            "num_ctx": caps.context or self.profile.context_tokens or self._needed,
        }
        question: dict[str, Any] = {
            "model": self.profile.model,
            "stream": True,
            "options": {name: value for name, value in options.items() if value is not None},
            "keep_alive": KEEP_ALIVE,
            "format": request.json_schema and dict(request.json_schema),
        }
        if chat:
            question["messages"] = [{"role": e.role, "content": e.text} for e in request.messages]
            if request.tools and TOOLS not in caps.refused:
                question["tools"] = tools_as_sent(request.tools)
            # Send this only to a model that can think: for others Ollama answers with HTTP 400.
            question["think"] = False if self._can_think else None
        else:
            question |= {"prompt": request.prompt, "raw": True}
        ask: Any = self._client.chat if chat else self._client.generate
        try:
            for each in ask(**question):
                message = each.message if chat else None
                if message is not None:
                    sent.thought |= bool(message.thinking)
                    for call in message.tool_calls or ():
                        sent.add_call(len(sent.calls)).update(call.function.model_dump())
                sent.finish = each.done_reason or ("stop" if each.done else "")
                sent.model = each.model or sent.model
                # Ollama counts all tokens of the prompt and does not report cached ones.
                sent.prompt_tokens = each.prompt_eval_count or 0
                sent.completion_tokens = each.eval_count or 0
                sent.evaluation_seconds = (each.prompt_eval_duration or 0) / 1e9
                yield (message.content if message is not None else each.response) or ""
        except self._error_type as error:
            raise self._translated(error) from error
