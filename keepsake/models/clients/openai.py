"""Any server with an OpenAI-compatible API, such as vLLM, LM Studio or llama.cpp.

Prompts go to ``/v1/completions``, messages to ``/v1/chat/completions``. Some servers take more
than the protocol (penalties, a prompt cache), so each is asked what it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keepsake.errors import BadAnswer, ModelFailed, ModelMissing, ModelRejected
from keepsake.models.clients.base import LOOK_SECONDS, HttpModel
from keepsake.models.clients.capabilities import (
    Capabilities,
    Lessons,
    is_chat_template,
    of_kind,
    takes_tools,
    thinks_aloud,
)
from keepsake.models.clients.http import JsonServer, inner
from keepsake.models.clients.messages import as_sent, tools_as_sent
from keepsake.models.clients.raw import RawAnswer, calls_in, count
from keepsake.models.clients.refusals import ServerWords, shown
from keepsake.models.profiles import AUTO, CHAT, DIALOGUE, LLAMA_CPP, OLLAMA_SERVER, OTHER, VLLM
from keepsake.ports import GenerationRequest

KEY_VARIABLES = ("KEEPSAKE_OPENAI_API_KEY", "OPENAI_API_KEY")
"""Where the key comes from, and the only places that it comes from."""

_OWNERS = {"vllm": VLLM, "llamacpp": LLAMA_CPP, "library": OLLAMA_SERVER}
_CONTEXTS = ("max_model_len", "context_length", "context_window", "max_context_length")
"""What servers call a model's context in their list: vLLM, OpenRouter, Groq, LM Studio."""
_NO_SUCH_THING = (ModelMissing, ModelRejected, BadAnswer)
_DRY = {"dry_base": 1.75, "dry_allowed_length": 3, "dry_penalty_last_n": 8192}
"""Runs of up to three words are free; the whole prompt counts, not its end alone."""


def api_key(environ: Mapping[str, str] = os.environ) -> str | None:
    """The key of the environment, or None."""
    return next((environ[name] for name in KEY_VARIABLES if environ.get(name)), None)


class OpenAIModel(HttpModel):
    """Continues text and chats; see :class:`HttpModel`.

    Args:
        host: Base address, with or without ``/v1``.
        model: The model's name; empty lets the server choose.
        time_limit: Seconds an answer may take.
        key: API key, or None.
        kind: What the server is, one of :data:`keepsake.models.profiles.SERVERS`.
        cure_absent: What to do when nobody answers.
        lessons: What calls have shown of the model so far.
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
        lessons: Lessons | None = None,
    ) -> None:
        cure_missing = f"Load {model!r} there, or correct model, host and form in llm.md"
        name = f"The model server at {shown(host)}"
        server = ServerWords(name, cure_absent, cure_missing, key or "")
        super().__init__(server, model, kind, lessons)
        self._http, self._kind = JsonServer(host, server, time_limit), kind

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()

    def _has(self, names: Sequence[str]) -> bool:
        serves_one = self.capabilities.kind == LLAMA_CPP  # under whatever name
        return not self.model or not names or self.model in names or serves_one

    # -- what the server is

    def _rows(self) -> list[Mapping[str, Any]]:
        try:
            listed = self._http.call("GET", "/v1/models", seconds=LOOK_SECONDS).get("data")
        except (ModelMissing, BadAnswer):  # it need not list its models
            return []
        rows = listed if isinstance(listed, list) else []
        return [each for each in rows if isinstance(each, dict)]

    def _learn(self, rows: Sequence[Mapping[str, Any]]) -> Capabilities:
        kind = self._kind_of(rows) if self._kind == AUTO else self._kind
        if kind != LLAMA_CPP:
            return replace(of_kind(kind), known=True, form=CHAT, context=self._context(rows))
        props = self._get("/props")
        template = str(props.get("chat_template") or "")
        own = is_chat_template(template) or "chat_template" not in props
        return replace(
            of_kind(kind),
            known=True,
            form=CHAT if own else DIALOGUE,
            context=count(inner(props, "default_generation_settings").get("n_ctx")),
            tools=own and takes_tools(template, inner(props, "chat_template_caps")),
            thinks=thinks_aloud(template),
            slots=count(props.get("total_slots")),
        )

    def _context(self, rows: Sequence[Mapping[str, Any]]) -> int:
        """Tokens that the model looks at, as the list of models says; 0 if it does not."""
        own = [each for each in rows if each.get("id") == self.model] or rows[:1]
        sizes = [count(each.get(name)) for each in own for name in _CONTEXTS]
        return next((size for size in sizes if size), 0)

    def _kind_of(self, rows: Sequence[Mapping[str, Any]]) -> str:
        """What the server is, from the models that it lists and from paths of its own."""
        for each in rows:
            if (owner := _OWNERS.get(str(each.get("owned_by")))) is not None:
                return owner
        if {"default_generation_settings", "build_info"} & self._get("/props").keys():
            return LLAMA_CPP
        return VLLM if set(self._get("/version")) == {"version"} else OTHER

    def _get(self, path: str) -> Mapping[str, Any]:
        try:
            return self._http.call("GET", path, seconds=LOOK_SECONDS)
        except (*_NO_SUCH_THING, ModelFailed):
            return {}

    # -- what it is asked, and what it answers

    def _pieces(self, request: GenerationRequest) -> Iterator[RawAnswer]:
        refused, chat = self.lessons.refused, bool(request.messages)
        body: dict[str, Any] = {
            "max_tokens": request.max_tokens,
            # What OpenAI's own newer models take in its place.
            "max_completion_tokens": request.max_tokens if "max_tokens" in refused else None,
            "temperature": request.temperature,
            "model": self.model or None,
            "stop": list(request.stop) or None,
            "seed": request.seed,
            "tools": tools_as_sent(request.tools) or None,
            **({"messages": as_sent(request.messages)} if chat else {"prompt": request.prompt}),
            **self._extras(request),
        }
        if request.on_text is not None:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        body = {key: it for key, it in body.items() if it is not None and key not in refused}
        path = "/v1/chat/completions" if chat else "/v1/completions"
        if request.on_text is None:
            yield self._answer(self._http.call("POST", path, body), chat=chat, streamed=False)
            return
        for each in self._http.stream(path, body):
            yield self._answer(each, chat=chat, streamed=True)

    def _extras(self, request: GenerationRequest) -> dict[str, Any]:
        """What of the request is beyond the protocol, in the words of this kind of server."""
        match self.capabilities.kind:
            case "llama.cpp":
                found = _llama_cpp(request)
            case "vllm":
                found = {"repetition_penalty": request.repeat_penalty} | _schema(request)
            case _:
                return _schema(request)
        if request.messages:  # templates without that switch do not mind it
            found["chat_template_kwargs"] = {"enable_thinking": False}
        return found

    def _answer(self, body: Mapping[str, Any], *, chat: bool, streamed: bool) -> RawAnswer:
        choices = body.get("choices")
        there = isinstance(choices, list) and bool(choices) and isinstance(choices[0], dict)
        if not there and not streamed:
            said = self.server.quoted(json.dumps(body, ensure_ascii=False))
            raise BadAnswer(f"{self.server.name} sent no choices ({said})", "Check host in llm.md")
        choice: Mapping[str, Any] = choices[0] if there and isinstance(choices, list) else {}
        message = inner(choice, "delta") or inner(choice, "message")
        usage, timings = inner(body, "usage"), inner(body, "timings")  # llama.cpp's own
        cached = inner(usage, "prompt_tokens_details").get("cached_tokens")
        milliseconds = timings.get("prompt_ms")
        text = message.get("content") if chat else choice.get("text")
        return RawAnswer(
            text="" if text is None and chat else text,
            thought=message.get("reasoning_content") or message.get("reasoning"),
            finish_reason=choice.get("finish_reason") or ("stop" if body.get("done") else None),
            prompt_tokens=usage.get("prompt_tokens"),
            cached_tokens=timings.get("cache_n", cached),
            completion_tokens=usage.get("completion_tokens"),
            evaluation_seconds=(
                milliseconds / 1000 if isinstance(milliseconds, int | float) else None
            ),
            model=body.get("model"),
            tool_calls=calls_in(message),
        )


def _llama_cpp(request: GenerationRequest) -> dict[str, Any]:
    found: dict[str, Any] = {"cache_prompt": True, "repeat_penalty": request.repeat_penalty}
    if request.dry_multiplier:
        found |= {"dry_multiplier": request.dry_multiplier, **_DRY}
    if request.json_schema is not None:
        found["json_schema"] = dict(request.json_schema)
    return found


def _schema(request: GenerationRequest) -> dict[str, Any]:
    """What OpenAI's protocol itself has for a schema; it has no repeat penalty."""
    if request.json_schema is None:
        return {}
    schema = {"name": "answer", "schema": dict(request.json_schema)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}
