"""Any server with an OpenAI-compatible API, such as vLLM, LM Studio or llama.cpp.

Prompts go to ``/v1/completions``, messages to ``/v1/chat/completions``. Some servers take more
than the protocol (penalties, a prompt cache), so each is asked what it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepsake.errors import BadAnswer, ModelFailed, ModelMissing, ModelRejected
from keepsake.models.capabilities import (
    Capabilities,
    Lessons,
    is_chat_template,
    takes_tools,
    thinks_aloud,
)
from keepsake.models.client import (
    LOOK_SECONDS,
    HttpModel,
    RawAnswer,
    as_sent,
    count,
    tools_as_sent,
)
from keepsake.models.http import JsonServer, ServerWords, inner, shown
from keepsake.models.profiles import CHAT, DIALOGUE, LLAMA_CPP, OLLAMA, OTHER, VLLM
from keepsake.ports import GenerationRequest

KEY_VARIABLES = ("KEEPSAKE_OPENAI_API_KEY", "OPENAI_API_KEY")
"""Where the key comes from, and the only places that it comes from."""

_OWNERS = {"vllm": VLLM, "llamacpp": LLAMA_CPP, "library": OLLAMA}
"""What a server is, by the owner that its list of models names."""
_CONTEXTS = ("max_model_len", "context_length", "context_window", "max_context_length")
"""What servers call a model's context in their list: vLLM, OpenRouter, Groq, LM Studio."""
_DRY = {
    "dry_multiplier": 0.8,
    "dry_base": 1.75,
    "dry_allowed_length": 3,
    "dry_penalty_last_n": 8192,
}
"""Keeps whole runs of words from coming again in a text that a model continues: a small one falls
into one sentence without it. Runs of up to three words are free; the whole prompt counts."""


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
        kind: What the server is; ``other`` to ask it.
        cure_absent: What to do when it does not answer.
        lessons: What calls have shown of the model so far.
    """

    def __init__(
        self,
        host: str,
        model: str = "",
        *,
        time_limit: float = 60.0,
        key: str | None = None,
        kind: str = OTHER,
        cure_absent: str = "Start the server, or correct host in llm.md",
        lessons: Lessons | None = None,
    ) -> None:
        cure_missing = f"Load {model!r} there, or correct model, host and form in llm.md"
        name = f"The model server at {shown(host)}"
        server = ServerWords(name, cure_absent, cure_missing, key or "")
        super().__init__(server, model, kind, lessons)
        self._http = JsonServer(host, server, time_limit)

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
        owners = (_OWNERS.get(str(each.get("owned_by"))) for each in rows)
        kind = next(filter(None, owners), OTHER)
        props = self._props() if kind in (LLAMA_CPP, OTHER) else {}
        if kind != LLAMA_CPP and not {"default_generation_settings", "build_info"} & props.keys():
            return Capabilities(kind, known=True, context=self._context(rows))
        template = str(props.get("chat_template") or "")
        own = is_chat_template(template) or "chat_template" not in props
        return Capabilities(
            LLAMA_CPP,
            known=True,
            form=CHAT if own else DIALOGUE,
            context=count(inner(props, "default_generation_settings").get("n_ctx")),
            tools=own and takes_tools(template, inner(props, "chat_template_caps")),
            thinks=thinks_aloud(template),
        )

    def _context(self, rows: Sequence[Mapping[str, Any]]) -> int:
        """Tokens that the model looks at, as the list of models says; 0 if it does not."""
        own = [each for each in rows if each.get("id") == self.model] or rows[:1]
        sizes = [count(each.get(name)) for each in own for name in _CONTEXTS]
        return next((size for size in sizes if size), 0)

    def _props(self) -> Mapping[str, Any]:
        """What llama.cpp says of itself; empty for another server."""
        try:
            return self._http.call("GET", "/props", seconds=LOOK_SECONDS)
        except (ModelMissing, ModelRejected, BadAnswer, ModelFailed):
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
            "tools": tools_as_sent(request.tools),
            "stream": True,
            "stream_options": {"include_usage": True},
            **({"messages": as_sent(request.messages)} if chat else {"prompt": request.prompt}),
            **self._extras(request),
        }
        body = {key: it for key, it in body.items() if it is not None and key not in refused}
        path = "/v1/chat/completions" if chat else "/v1/completions"
        for number, each in enumerate(self._http.stream(path, body)):
            yield self._answer(each, chat=chat, first=not number)

    def _extras(self, request: GenerationRequest) -> dict[str, Any]:
        """What of the request is beyond the protocol, in the words of this kind of server."""
        found: dict[str, Any] = {}
        match self.capabilities.kind:
            case "llama.cpp":
                found |= {"cache_prompt": True, "repeat_penalty": request.repeat_penalty}
                if not request.messages and request.repeat_penalty > 1:
                    found |= _DRY
                if request.json_schema is not None:  # which it also takes for a text to continue
                    found["json_schema"] = dict(request.json_schema)
            case "vllm":
                found["repetition_penalty"] = request.repeat_penalty
        if found and request.messages:  # templates without that switch do not mind it
            found["chat_template_kwargs"] = {"enable_thinking": False}
        if request.json_schema is not None and "json_schema" not in found:
            schema = {"name": "answer", "schema": dict(request.json_schema)}
            found["response_format"] = {"type": "json_schema", "json_schema": schema}
        return found

    def _answer(self, body: Mapping[str, Any], *, chat: bool, first: bool) -> RawAnswer:
        choices = body.get("choices")
        there = isinstance(choices, list) and bool(choices) and isinstance(choices[0], dict)
        if first and not isinstance(choices, list):
            said = self.server.quoted(json.dumps(body, ensure_ascii=False))
            raise BadAnswer(f"{self.server.name} sent no choices ({said})", "Check host in llm.md")
        choice: Mapping[str, Any] = choices[0] if there and isinstance(choices, list) else {}
        message = inner(choice, "delta") or inner(choice, "message")
        usage, timings = inner(body, "usage"), inner(body, "timings")  # llama.cpp's own
        cached = inner(usage, "prompt_tokens_details").get("cached_tokens")
        took = timings.get("prompt_ms")
        text = message.get("content") if chat else choice.get("text")
        return RawAnswer(
            text="" if text is None and chat else text,
            thought=message.get("reasoning_content") or message.get("reasoning"),
            finish_reason=choice.get("finish_reason") or ("stop" if body.get("done") else None),
            prompt_tokens=usage.get("prompt_tokens"),
            cached_tokens=timings.get("cache_n", cached),
            completion_tokens=usage.get("completion_tokens"),
            evaluation_seconds=took / 1000 if isinstance(took, int | float) else None,
            model=body.get("model"),
            tool_calls=_calls_in(message),
        )


def _calls_in(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls of tools in a message or in a piece of one: name, arguments and number."""
    listed = message.get("tool_calls")
    found = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return [{"index": each.get("index"), **inner(each, "function")} for each in found]
