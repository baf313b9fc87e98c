"""What the tests of the clients share: requests, paths of both APIs, and a client for a server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from keepsake.models.ollama import OllamaModel
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import ModelProfile
from keepsake.ports import ChatMessage, GenerationRequest, Tool

Model = OllamaModel | OpenAIModel
RAW = GenerationRequest(
    "~Mira>", max_tokens=9, stop=("\n",), temperature=0.3, seed=5, repeat_penalty=1.1
)
MESSAGES = (ChatMessage("system", "You are Mira."), ChatMessage("user", "Who are you?"))
TALK = replace(RAW, prompt="", messages=MESSAGES)
SCHEMA = {"type": "object", "properties": {"verb": {"type": "string"}}}
GIVE = Tool("give", "Give a thing", {"type": "object", "properties": {"what": {"type": "string"}}})
TEMPLATE = "{% for message in messages %}<|im_start|>{{ message.role }}{% endfor %}"
RAW_PATHS = {"ollama": "/api/generate", "openai": "/v1/completions"}
CHAT_PATHS = {"ollama": "/api/chat", "openai": "/v1/chat/completions"}


def client_of(host: str, provider: str = "openai", **settings: Any) -> Model:
    own = {name: settings.pop(name) for name in ("key", "kind") if name in settings}
    settings = {"model": "fake", "provider": provider, "host": host, **settings}
    kind = OllamaModel if provider == "ollama" else OpenAIModel
    return kind(ModelProfile("agent", **settings), **own)


def streaming(request: GenerationRequest) -> tuple[list[str], GenerationRequest]:
    pieces: list[str] = []
    return pieces, replace(request, on_text=pieces.append)
