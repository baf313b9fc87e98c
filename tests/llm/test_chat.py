"""Chat messages on the wire, and which server is sent what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from keepsake.errors import BadAnswer, ModelMissing, ModelUnavailable
from keepsake.models.clients.capabilities import (
    LLAMA_CPP_DEFAULT_TEMPLATE,
    is_chat_template,
    thinks_aloud,
)
from keepsake.models.clients.ollama import OllamaModel
from keepsake.models.clients.openai import OpenAIModel
from keepsake.models.profiles import AUTO, CHAT, DIALOGUE, LLAMA_CPP, OTHER, SCRIPT, VLLM
from keepsake.models.scripted.model import ScriptedModel
from keepsake.ports import ChatMessage, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply
from tests.free_ports import free_port

SCHEMA = {"type": "object", "properties": {"verb": {"type": "string"}}}
MESSAGES = (ChatMessage("system", "You are Mira."), ChatMessage("user", "Who are you?"))
SENT = [
    {"role": "system", "content": "You are Mira."},
    {"role": "user", "content": "Who are you?"},
]
REQUEST = GenerationRequest(
    "", messages=MESSAGES, max_tokens=9, stop=("\n",), temperature=0.3, seed=5, repeat_penalty=1.1
)
TEMPLATE = "{% for message in messages %}<|im_start|>{{ message.role }}{% endfor %}"
CHAT_PATHS = {"ollama": "/api/chat", "openai": "/v1/chat/completions"}

Model = OllamaModel | OpenAIModel


@contextmanager
def asking(fake: FakeModelServer, provider: str = "openai", server: str = AUTO) -> Iterator[Model]:
    model: Model
    if provider == "ollama":
        fake.kind = "ollama"
        model = OllamaModel(fake.address, "fake", context_tokens=4096)
    else:
        model = OpenAIModel(fake.address, "fake", kind=server)
    yield model
    model.close()


@pytest.fixture(params=["ollama", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_messages_are_answered_with_figures(provider: str, fake: FakeModelServer):
    fake.template, fake.script = TEMPLATE, lambda asked: f"I read: {asked}"
    with asking(fake, provider) as model:
        answer = model.generate(REQUEST)
    assert answer.text == "I read: system: You are Mira."
    assert (answer.prompt_tokens, answer.completion_tokens) == (13, 6)
    assert answer.finish_reason == "stop"
    body = fake.calls(CHAT_PATHS[provider])[0].body
    assert body["messages"] == SENT
    assert "prompt" not in body


def test_only_an_ollama_model_that_can_think_is_asked_not_to(fake: FakeModelServer):
    fake.template = "{{ .System }} {{ .Prompt }}"
    with asking(fake, "ollama") as model:
        model.check()
        model.generate(replace(REQUEST, json_schema=SCHEMA))  # it refuses think for such a model
    fake.can = ["completion", "thinking"]
    with asking(fake, "ollama") as model:
        model.check()
        model.generate(REQUEST)
    plain, thinker = (call.body for call in fake.calls("/api/chat"))
    assert "think" not in plain
    assert (plain["format"], plain["stream"]) == (SCHEMA, False)
    assert (plain["options"]["num_ctx"], plain["options"]["stop"]) == (4096, ["\n"])
    assert thinker["think"] is False
    assert len(fake.calls("/api/show")) == 2


def test_a_model_that_thinks_all_the_same_is_let_and_its_thought_cut_off(
    provider: str, fake: FakeModelServer
):
    fake.template = TEMPLATE
    fake.script = lambda _: "<think>\nHm. Who am I?\n</think>\n\nI am Mira.\nAnd more."
    with asking(fake, provider) as model:
        with pytest.raises(BadAnswer):  # its thought ended at the first line's end
            model.generate(REQUEST)
        assert model.generate(REQUEST).text == "I am Mira."
    body = fake.calls(CHAT_PATHS[provider])[1].body
    told = body["options"] if provider == "ollama" else body
    assert "stop" not in told
    assert told.get("num_predict", told.get("max_tokens")) > 500


def test_a_thought_that_the_server_keeps_apart_is_noticed_too(fake: FakeModelServer):
    fake.template = TEMPLATE
    message = {"role": "assistant", "content": "", "reasoning_content": "Hm."}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    fake.plan("/v1/chat/completions", Reply(extra={"choices": [choice]}))
    with asking(fake) as model:
        with pytest.raises(BadAnswer):
            model.generate(REQUEST)
        assert model.lessons.thinks


PLAIN = {"prompt", "max_tokens", "temperature", "model"}
FULL = GenerationRequest("x", json_schema=SCHEMA, repeat_penalty=1.2, dry_multiplier=0.8)
LLAMA = {"json_schema": SCHEMA, "repeat_penalty": 1.2, "dry_multiplier": 0.8, "cache_prompt": True}
DRY = {"dry_base", "dry_allowed_length", "dry_penalty_last_n"}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}


@pytest.mark.parametrize(
    ("server", "request_", "more", "besides"),
    [
        (LLAMA_CPP, FULL, LLAMA, DRY),
        (VLLM, FULL, {"response_format": FORMAT, "repetition_penalty": 1.2}, ()),
        ("", FULL, {"response_format": FORMAT}, ()),
    ],
)
def test_a_server_that_says_what_it_is_gets_all_it_takes_and_no_more(
    fake: FakeModelServer, server: str, request_: GenerationRequest, more: Any, besides: Any
):
    fake.kind, fake.template = server, TEMPLATE
    with asking(fake) as model:
        model.check()
        model.generate(request_)
        model.generate(replace(request_, prompt="", messages=MESSAGES))
    body = fake.calls("/v1/completions")[-1].body
    assert body | more == body
    assert body.keys() == PLAIN | more.keys() | set(besides)
    chat = fake.calls("/v1/chat/completions")[-1].body
    switch = {"chat_template_kwargs"} if server else set()
    assert chat.keys() - body.keys() == {"messages"} | switch
    assert chat.get("chat_template_kwargs", {}) in ({}, {"enable_thinking": False})


@pytest.mark.parametrize(
    ("provider", "server", "template", "expected"),
    [
        ("ollama", "ollama", "", (DIALOGUE, "ollama")),
        ("ollama", "ollama", "{{ .System }} {{ .Prompt }}", (CHAT, "ollama")),
        ("openai", "llama.cpp", "", (DIALOGUE, LLAMA_CPP)),
        ("openai", "llama.cpp", TEMPLATE, (CHAT, LLAMA_CPP)),
        ("openai", "vllm", "", (CHAT, VLLM)),
        ("openai", "vllm", TEMPLATE, (CHAT, VLLM)),
        ("openai", "", "", (CHAT, OTHER)),
        ("openai", "", TEMPLATE, (CHAT, OTHER)),
    ],
)
def test_a_server_is_asked_what_its_model_was_made_for(
    fake: FakeModelServer, provider: str, server: str, template: str, expected: tuple[str, str]
):
    with asking(fake, provider) as model:
        fake.kind, fake.template = server, template
        before = model.capabilities
        assert (before.known, before.form) == (False, CHAT)
        model.check()
        assert not any("completion" in call.path for call in fake.calls()), "no answer is asked for"
        assert model.capabilities.known
        assert (model.capabilities.form, model.capabilities.kind) == expected
        asked = len(fake.calls())
        model.check()
        assert len(fake.calls()) == asked + 1, "it is asked once"


def test_what_the_list_of_models_does_not_tell(fake: FakeModelServer):
    """llama.cpp is known by its props, a declared server is believed, another serves as it is."""
    fake.kind, fake.template = LLAMA_CPP, TEMPLATE
    fake.plan("/v1/models", Reply(extra={"data": [{"id": "fake"}]}))
    with asking(fake) as model:
        model.check()
        assert (model.capabilities.kind, model.capabilities.form) == (LLAMA_CPP, CHAT)
    asked = len(fake.calls("/props"))
    with asking(fake, server=VLLM) as model:
        model.check()
        assert (model.capabilities.kind, model.capabilities.form) == (VLLM, CHAT)
    assert len(fake.calls("/props")) == asked
    fake.kind = ""
    fake.always("/v1/models", Reply(status=404))
    with asking(fake) as model:
        assert model.check() == "ready", "it need not list its models"
        assert model.capabilities.form == CHAT
        assert model.generate(GenerationRequest("x")).text


@pytest.mark.parametrize("nonsense", [5, "x", [1], {"a": 1}, None])
def test_nonsense_about_a_server_hurts_nobody(
    provider: str, fake: FakeModelServer, nonsense: object
):
    with asking(fake, provider) as model:
        for path in ("/props", "/version", "/api/show", "/v1/chat/completions"):
            fake.always(path, Reply(raw=json.dumps({"capabilities": nonsense}).encode()))
        fake.plan("/api/show", Reply(raw=json.dumps({"model_info": nonsense}).encode()))
        assert model.check() == "ready"
        fake.always("/v1/models", Reply(raw=json.dumps({"data": nonsense}).encode()))
        fake.always("/api/tags", Reply(raw=json.dumps({"models": nonsense}).encode()))
        if provider == "openai":
            assert model.check() == "ready", "it need not list its models"
        else:
            with pytest.raises((BadAnswer, ModelMissing), match=r"is an Ollama|ollama pull"):
                model.check()


def test_a_server_that_came_back_is_asked_again():
    port = free_port()
    with FakeModelServer(port) as fake, asking(fake) as model:
        fake.kind = LLAMA_CPP
        model.check()
        assert model.capabilities.form == DIALOGUE
        fake.close()
        with pytest.raises(ModelUnavailable):
            model.check()
        with FakeModelServer(port) as again:
            again.kind, again.template = LLAMA_CPP, TEMPLATE
            model.check()
            assert model.capabilities.form == CHAT


def test_templates():
    assert is_chat_template(TEMPLATE)
    assert not is_chat_template("")
    real = LLAMA_CPP_DEFAULT_TEMPLATE.replace("%}{{", "%}\n  {{").replace("\\n", "\n")
    assert not is_chat_template(real)
    assert thinks_aloud("{{ x }}<think>")
    assert not thinks_aloud("{% if enable_thinking %}<think>")
    assert ScriptedModel().capabilities.form == SCRIPT
