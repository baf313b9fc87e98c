"""Any server with an OpenAI-compatible API, such as vLLM, LM Studio or llama.cpp.

Prompts go to ``/v1/completions``, messages to ``/v1/chat/completions``. Some servers accept more
than the protocol (penalties, a prompt cache), so the client first finds out the kind of server.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from keepsake.errors import BadAnswer, ModelFailed, ModelMissing, ModelRejected, ModelUnavailable
from keepsake.models.capabilities import (
    THINKING_SWITCH,
    Capabilities,
    is_chat_template,
    thinks_aloud,
)
from keepsake.models.http import JsonServer, ServerTexts, redacted
from keepsake.models.model import QUERY_SECONDS, ServerModel
from keepsake.models.profiles import CHAT, DIALOGUE, LLAMA_CPP, OTHER, VLLM, ModelProfile
from keepsake.models.sent_answer import SentAnswer, tools_as_sent
from keepsake.ports import GenerationRequest

KEY_VARIABLES = ("KEEPSAKE_OPENAI_API_KEY", "OPENAI_API_KEY")
"""The environment variables that may hold the API key. It is read from nowhere else."""

_OWNERS = {"vllm": VLLM, "llamacpp": LLAMA_CPP}
"""The kind of server, by the owner that its list of models names."""
_CONTEXTS = ("max_model_len", "context_length", "context_window", "max_context_length")
"""The context window's field in the lists of vLLM, OpenRouter, Groq and LM Studio."""

_BROKEN_OFF = ("abort", "error", "cancelled")
"""Reasons to finish that say that the answer is not whole: vLLM that stops, and OpenRouter."""


def api_key() -> str:
    """Return the API key from the environment; empty if there is none."""
    return next(filter(None, map(os.environ.get, KEY_VARIABLES)), "")


class OpenAIModel(ServerModel):
    """A model on a server with an OpenAI-compatible API; see :class:`ServerModel`.

    Args:
        profile: The model and its settings; an empty model name lets the server choose.
        host: Base address, if it is not the profile's.
        key: API key; empty for none.
        kind: The kind of server; ``other`` to find out.
        cure_absent: What to do when the server does not answer.
        ready: Waits until the server's process answers; raises ModelUnavailable. None for a server
            that is no process of the game.
        lost: Called when the server did not answer, before ``ready`` is called again.
    """

    def __init__(
        self,
        profile: ModelProfile,
        host: str = "",
        *,
        key: str = "",
        kind: str = OTHER,
        cure_absent: str = "",
        ready: Callable[[], None] | None = None,
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        where = profile.where
        cure_absent = cure_absent or f"Start the server, or correct host in {where}"
        cure_missing = f"Load {profile.model!r} there, or correct model, host and form in {where}"
        host = host or profile.host
        name = f"The model server at {redacted(host)}"
        server = ServerTexts(name, cure_absent, cure_missing, key, where)
        super().__init__(profile, host, server, kind, ready=ready, lost=lost)
        self._http = JsonServer(host, server, profile.time_limit)

    def _list_models(self) -> list[Mapping[str, Any]]:
        try:
            listed = self._http.call("GET", "/v1/models", seconds=QUERY_SECONDS).get("data")
        except (ModelMissing, BadAnswer):  # a server may have no such list
            return []
        rows = listed if isinstance(listed, list) else []
        return [each for each in rows if isinstance(each, dict)]

    def _is_listed(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        # llama.cpp without its router serves one model under any name.
        serves_one = LLAMA_CPP in (self.capabilities.kind, _kind_of(rows)) and len(rows) == 1
        names = [str(each.get("id")) for each in rows]
        return not self.profile.model or not names or self.profile.model in names or serves_one

    def _read_capabilities(self, rows: Sequence[Mapping[str, Any]]) -> Capabilities:
        kind = _kind_of(rows)
        props: Mapping[str, Any] = {}
        if kind != VLLM:  # which has no such page
            with suppress(ModelMissing, ModelRejected, BadAnswer, ModelFailed):
                props = self._http.call("GET", "/props", seconds=QUERY_SECONDS)
        if kind != LLAMA_CPP and not {"default_generation_settings", "build_info"} & props.keys():
            own = [each for each in rows if each.get("id") == self.profile.model] or rows[:1]
            sizes = [each[name] for each in own for name in _CONTEXTS if each.get(name)]
            return Capabilities(kind, known=True, context=_count(sizes[0] if sizes else 0))
        template = str(props.get("chat_template") or "")
        chat = is_chat_template(template) or "chat_template" not in props
        can, settings = (
            found if isinstance(found := props.get(name), dict) else {}
            for name in ("chat_template_caps", "default_generation_settings")
        )
        return Capabilities(
            LLAMA_CPP,
            known=True,
            form=CHAT if chat else DIALOGUE,
            context=_count(settings.get("n_ctx")),
            slots=_count(props.get("total_slots")),
            tools=chat and bool(can.get("supports_tools", "tools" in template)),
            thinks=thinks_aloud(template),
        )

    def _stream(
        self, request: GenerationRequest, caps: Capabilities, sent: SentAnswer
    ) -> Generator[str]:
        refused = caps.refused
        chat = bool(request.messages)
        most = request.max_tokens or None
        body: dict[str, Any] = {
            "max_tokens": most,
            # OpenAI's newer models accept this in place of max_tokens.
            "max_completion_tokens": most if "max_tokens" in refused else None,
            "temperature": request.temperature,
            "model": self.profile.model or None,
            "stop": list(request.stop) or None,
            "seed": request.seed,
            "tools": tools_as_sent(request.tools) if request.tools else None,
            "stream": True,
            "stream_options": {"include_usage": True},
            "prompt": None if chat else request.prompt,
            "messages": [{"role": e.role, "content": e.text} for e in request.messages] or None,
            **_extras(request, caps.kind),
        }
        body = {key: it for key, it in body.items() if it is not None and key not in refused}
        path = "/v1/chat/completions" if chat else "/v1/completions"
        # A gateway can use this to route an agent to the server that has its prompts cached.
        session = {}
        if request.cache_key:
            session["X-Session-ID"] = f"keepsake-{request.cache_key}"
        first: Mapping[str, Any] | None = None
        answers = False
        for each in self._http.stream(path, body, session):
            first = each if first is None else first
            choices = each.get("choices")
            answers |= isinstance(choices, list)
            choice = choices[0] if choices else {}
            message = choice.get("delta") or choice.get("message") or {}
            sent.thought |= bool(message.get("reasoning_content") or message.get("reasoning"))
            for call in message.get("tool_calls") or ():
                _add_call(sent, call)
            sent.finish = choice.get("finish_reason") or sent.finish
            sent.finish = sent.finish or ("stop" if each.get("done") and answers else "")
            if sent.finish in _BROKEN_OFF:
                what = f"{self.server.name} ended its answer early ({sent.finish})"
                raise ModelUnavailable(what, self.server.cure_absent)
            _read_figures(sent, each)
            yield _text_of(message.get("content") if chat else choice.get("text"))
        if first is not None and not answers:
            said = self.server.quoted(json.dumps(first, ensure_ascii=False))
            what = f"{self.server.name} sent no choices ({said})"
            raise BadAnswer(what, f"Check host in {self.server.where}")


def _kind_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the kind of a server by its list of models; :data:`OTHER` if the list does not say."""
    owners = (_OWNERS.get(str(each.get("owned_by"))) for each in rows)
    return next(filter(None, owners), OTHER)


def _read_figures(sent: SentAnswer, each: Mapping[str, Any]) -> None:
    """Read the counts and times of one event. A wrong one is left out: the answer matters more."""
    usage = _fields(each.get("usage"))
    timings = _fields(each.get("timings"))  # llama.cpp
    if progress := _fields(each.get("prompt_progress")):  # llama.cpp, while it reads the prompt
        new = _number(progress.get("processed")) - _number(progress.get("cache"))
        sent.evaluated = max(sent.evaluated, int(new))
    details = _fields(usage.get("prompt_tokens_details"))
    cached = timings.get("cache_n", details.get("cached_tokens"))
    sent.cached_tokens = int(_number(cached)) if _is_number(cached) else sent.cached_tokens
    sent.prompt_tokens = int(_number(usage.get("prompt_tokens")) or sent.prompt_tokens)
    sent.completion_tokens = int(_number(usage.get("completion_tokens")) or sent.completion_tokens)
    sent.evaluation_seconds = _number(timings.get("prompt_ms")) / 1000 or sent.evaluation_seconds
    model = each.get("model")
    sent.model = model if isinstance(model, str) and model else sent.model


def _fields(value: Any) -> Mapping[str, Any]:
    """Return the fields of an object that a server sent; none if it is no object."""
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float:
    """Return a figure that a server sent; 0 if it is no positive number."""
    return max(float(value), 0.0) if _is_number(value) else 0.0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _text_of(content: Any) -> str:
    """Return the text of an answer's content: a text, or a list of parts that have one.

    Raises:
        TypeError: It is neither.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise TypeError(f"the content is a {type(content).__name__}")
    texts = (each.get("text") if isinstance(each, dict) else each for each in content)
    return "".join(text for text in texts if isinstance(text, str))  # others are no speech


def _extras(request: GenerationRequest, kind: str) -> dict[str, Any]:
    """Return the parameters beyond the protocol, as this kind of server names them."""
    found: dict[str, Any] = {}
    if kind == LLAMA_CPP:
        found |= {"cache_prompt": True, "repeat_penalty": request.repeat_penalty}
        found |= {"return_progress": True}  # how far it has read: a slow one gets more time
        if not request.messages:
            found |= {"min_p": 0.1}
        if request.json_schema is not None:  # llama.cpp accepts it for raw text too
            found["json_schema"] = dict(request.json_schema)
    elif kind == VLLM:
        found["repetition_penalty"] = request.repeat_penalty
    if found and request.messages:  # templates without this switch ignore it
        found[THINKING_SWITCH] = {"enable_thinking": False}
    if request.json_schema is not None and "json_schema" not in found:
        schema = {"name": "answer", "schema": dict(request.json_schema)}
        found["response_format"] = {"type": "json_schema", "json_schema": schema}
    return found


def _add_call(sent: SentAnswer, piece: Mapping[str, Any]) -> None:
    """Add a tool call, or the next piece of its arguments.

    Some servers, such as Gemini's, give several calls the same index. A piece with a name begins
    another call if the arguments of the one with its index are complete.
    """
    index = piece.get("index")
    function = piece.get("function") or {}
    at = len(sent.calls) if index is None else sent.latest.get(index, index)
    known = sent.calls.get(at)
    if known is not None and function.get("name") and _is_complete(known["arguments"]):
        at = max(sent.calls) + 1
    if index is not None:
        sent.latest[index] = at
    call = sent.add_call(at)
    call["name"] = function.get("name") or call["name"]
    arguments = function.get("arguments") or ""
    whole = not isinstance(arguments, str)
    call["arguments"] = arguments if whole else f"{call['arguments']}{arguments}"


def _is_complete(arguments: Any) -> bool:
    """Return whether the arguments of a tool call are all there."""
    if not isinstance(arguments, str):
        return True
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _count(value: Any) -> int:
    """Return a count that a server sent; 0 if it sent none."""
    return value if isinstance(value, int) and value > 0 else 0
