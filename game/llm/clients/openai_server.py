"""Which server answers OpenAI's protocol, and what it takes beyond it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from game.llm.clients.capabilities import Capabilities, is_chat_template, of_kind, thinks_aloud
from game.llm.profiles import LLAMA_CPP, OTHER, VLLM
from game.mind.errors import BadAnswer, ModelFailed, ModelMissing, ModelRejected
from game.mind.ports import GenerationRequest

STRUCTURED, GUIDED = "structured_outputs", "guided_grammar"
"""Where vLLM takes a grammar: since 0.11, and before."""

_SECONDS = 10.0
_OWNERS = {"vllm": VLLM, "llamacpp": LLAMA_CPP}
_NO_SUCH_THING = (ModelMissing, ModelRejected, BadAnswer)
_DRY = {"dry_base": 1.75, "dry_allowed_length": 3, "dry_penalty_last_n": 8192}
"""Runs of up to three words are free; the whole prompt counts, not its end alone."""


class Call(Protocol):
    """Sends one request; raises ModelError."""

    def __call__(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """The answer's body."""
        ...


class OpenAIServer:
    """Asks a server what it is; every method blocks and may raise ModelError."""

    def __init__(self, call: Call, model: str) -> None:
        self._call = call
        self._model = model

    def kind(self, listed: Sequence[Mapping[str, Any]]) -> str:
        """What the server is, from what ``/v1/models`` lists and from paths of its own."""
        for each in listed:
            if (owner := _OWNERS.get(str(each.get("owned_by")))) is not None:
                return owner
        if {"default_generation_settings", "build_info"} & self._get("/props").keys():
            return LLAMA_CPP
        return VLLM if set(self._get("/version")) == {"version"} else OTHER

    def guided(self) -> str:
        """Under which name this vLLM takes a grammar."""
        major, _, rest = str(self._get("/version").get("version", "")).partition(".")
        minor = rest.partition(".")[0]
        old = major == "0" and minor.isdecimal() and int(minor) < 11
        return GUIDED if old else STRUCTURED

    def capabilities(self, kind: str) -> Capabilities:
        """What a server of that kind takes, with the form of its model."""
        if kind == LLAMA_CPP:
            template = str(self._get("/props").get("chat_template") or "")
            return of_kind(kind).learned(
                chat=is_chat_template(template), thinks=thinks_aloud(template)
            )
        return of_kind(kind).learned(chat=self._chats())

    def _get(self, path: str) -> Mapping[str, Any]:
        try:
            return self._call("GET", path, seconds=_SECONDS)
        except (*_NO_SUCH_THING, ModelFailed):
            return {}

    def _chats(self) -> bool:
        """Whether it answers a message; vLLM refuses where the model has no template."""
        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": "Hi"}],
            "max_tokens": 1,
        }
        if self._model:
            body["model"] = self._model
        try:
            return "choices" in self._call("POST", "/v1/chat/completions", body, seconds=_SECONDS)
        except _NO_SUCH_THING:
            return False


def extras(request: GenerationRequest, takes: Capabilities, guided: str) -> dict[str, Any]:
    """What of the request is beyond the protocol, in the words of this kind of server."""
    if takes.kind == LLAMA_CPP:
        return _llama_cpp(request) | _thinking_off(request)
    if takes.kind == VLLM:
        return _vllm(request, guided) | _thinking_off(request)
    return _schema(request)


def _thinking_off(request: GenerationRequest) -> dict[str, Any]:
    """Templates without that switch do not mind it."""
    return {"chat_template_kwargs": {"enable_thinking": False}} if request.messages else {}


def _llama_cpp(request: GenerationRequest) -> dict[str, Any]:
    found: dict[str, Any] = {"cache_prompt": True, "repeat_penalty": request.repeat_penalty}
    if request.dry_multiplier:
        found |= {"dry_multiplier": request.dry_multiplier, **_DRY}
    if request.grammar:
        found["grammar"] = request.grammar
    elif request.json_schema is not None:
        found["json_schema"] = dict(request.json_schema)
    return found


def _vllm(request: GenerationRequest, guided: str) -> dict[str, Any]:
    found: dict[str, Any] = {"repetition_penalty": request.repeat_penalty}
    if not request.grammar:
        return found | _schema(request)
    grammar: Any = {"grammar": request.grammar} if guided == STRUCTURED else request.grammar
    return found | {guided: grammar}


def _schema(request: GenerationRequest) -> dict[str, Any]:
    """What OpenAI's protocol itself has for a schema; it has no repeat penalty."""
    if request.json_schema is None:
        return {}
    schema = {"name": "answer", "schema": dict(request.json_schema)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}
