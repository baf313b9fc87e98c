"""Chat messages on the wire, and which server is sent what."""

from __future__ import annotations

from typing import Any

import pytest

from game.llm.clients.capabilities import LLAMA_CPP_DEFAULT_TEMPLATE, is_chat_template, thinks_aloud
from game.llm.clients.ollama import OllamaModel
from game.llm.clients.openai import OpenAIModel
from game.llm.profiles import AUTO, CHAT, DIALOGUE, LLAMA_CPP, OTHER, SCRIPT, VLLM
from game.llm.scripted.model import ScriptedModel
from game.mind.errors import BadAnswer, ModelUnavailable
from game.mind.ports import ChatMessage, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply
from tests.free_ports import free_port

SCHEMA = {"type": "object", "properties": {"verb": {"type": "string"}}}
GRAMMAR = 'root ::= "north" | "south"'
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


def build(provider: str, fake: FakeModelServer, server: str = AUTO) -> Model:
    if provider == "ollama":
        fake.kind = "ollama"
        return OllamaModel(fake.address, "fake", context_tokens=4096)
    return OpenAIModel(fake.address, "fake", kind=server)


@pytest.fixture(params=["ollama", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_messages_are_answered_with_figures(provider: str, fake: FakeModelServer):
    fake.template, fake.script = TEMPLATE, lambda asked: f"I read: {asked}"
    model = build(provider, fake)
    answer = model.generate(REQUEST)
    assert answer.text == "I read: system: You are Mira."
    assert (answer.prompt_tokens, answer.completion_tokens) == (8, 6)
    assert answer.finish_reason == "stop"
    body = fake.calls(CHAT_PATHS[provider])[0].body
    assert body["messages"] == SENT
    assert "prompt" not in body
    model.close()


def test_ollama_gets_its_options_with_messages(fake: FakeModelServer):
    model = build("ollama", fake)
    model.generate(GenerationRequest("", messages=MESSAGES, stop=("\n",), json_schema=SCHEMA))
    body = fake.calls("/api/chat")[0].body
    assert body["format"] == SCHEMA
    assert body["stream"] is False
    assert body["options"]["num_ctx"] == 4096
    assert body["options"]["stop"] == ["\n"]
    assert "think" not in body
    model.close()


def test_only_an_ollama_model_that_can_think_is_asked_not_to(fake: FakeModelServer):
    fake.template = "{{ .System }} {{ .Prompt }}"
    model = build("ollama", fake)
    model.check()
    assert model.generate(REQUEST).text  # the server refuses think for such a model
    fake.can = ["completion", "thinking"]
    thinker = build("ollama", fake)
    thinker.check()
    thinker.generate(REQUEST)
    assert "think" not in fake.calls("/api/chat")[0].body
    assert fake.calls("/api/chat")[1].body["think"] is False
    assert len(fake.calls("/api/show")) == 2
    for each in (model, thinker):
        each.close()


@pytest.mark.parametrize("server", [LLAMA_CPP, VLLM])
def test_thinking_is_asked_off_by_the_template(fake: FakeModelServer, server: str):
    fake.template = TEMPLATE
    model = build("openai", fake, server)
    model.generate(REQUEST)
    body = fake.calls("/v1/chat/completions")[0].body
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    model.close()


def test_a_model_that_thinks_all_the_same_is_let_and_its_thought_cut_off(
    provider: str, fake: FakeModelServer
):
    fake.template = TEMPLATE
    fake.script = lambda _: "<think>\nHm. Who am I?\n</think>\n\nI am Mira.\nAnd more."
    model = build(provider, fake)
    with pytest.raises(BadAnswer):  # its thought ended at the first line's end
        model.generate(REQUEST)
    assert model.generate(REQUEST).text == "I am Mira."
    body = fake.calls(CHAT_PATHS[provider])[1].body
    told = body["options"] if provider == "ollama" else body
    assert "stop" not in told
    assert told.get("num_predict", told.get("max_tokens")) > 500
    model.close()


def test_a_thought_that_the_server_keeps_apart_is_noticed_too(fake: FakeModelServer):
    fake.template = TEMPLATE
    message = {"role": "assistant", "content": "", "reasoning_content": "Hm."}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    fake.plan("/v1/chat/completions", Reply(extra={"choices": [choice]}))
    model = build("openai", fake)
    with pytest.raises(BadAnswer):
        model.generate(REQUEST)
    assert model.capabilities.thinks
    model.close()


def body_of(fake: FakeModelServer, server: str, request: GenerationRequest) -> dict[str, Any]:
    """What a server that was asked what it is, is sent."""
    fake.kind, fake.template = server, TEMPLATE
    model = OpenAIModel(fake.address, "fake")
    model.check()
    model.generate(request)
    model.close()
    return fake.calls("/v1/completions")[-1].body


FULL = GenerationRequest(
    "x", grammar=GRAMMAR, json_schema=SCHEMA, repeat_penalty=1.2, dry_multiplier=0.8
)


def test_llama_cpp_is_known_and_gets_all_it_takes(fake: FakeModelServer):
    body = body_of(fake, LLAMA_CPP, FULL)
    assert body["grammar"] == GRAMMAR
    assert (body["repeat_penalty"], body["dry_multiplier"]) == (1.2, 0.8)
    assert body["cache_prompt"] is True
    assert "response_format" not in body


def test_vllm_is_known_and_gets_all_it_takes(fake: FakeModelServer):
    body = body_of(fake, VLLM, FULL)
    assert body["structured_outputs"] == {"grammar": GRAMMAR}
    assert body["repetition_penalty"] == 1.2
    assert not {"repeat_penalty", "dry_multiplier", "cache_prompt", "response_format"} & body.keys()
    body = body_of(fake, VLLM, GenerationRequest("x", json_schema=SCHEMA))
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA


def test_an_old_vllm_takes_a_grammar_under_its_old_name(fake: FakeModelServer):
    fake.version = "0.9.2"
    assert body_of(fake, VLLM, FULL)["guided_grammar"] == GRAMMAR


def test_any_other_server_is_asked_in_openais_protocol_only(fake: FakeModelServer):
    body = body_of(fake, "", FULL)
    assert set(body) == {"prompt", "max_tokens", "temperature", "model", "response_format"}


def test_what_a_chat_gets_is_what_a_completion_gets(fake: FakeModelServer):
    fake.kind, fake.template = LLAMA_CPP, TEMPLATE
    model = OpenAIModel(fake.address, "fake", kind=LLAMA_CPP)
    model.generate(GenerationRequest("", messages=MESSAGES, grammar=GRAMMAR, dry_multiplier=0.8))
    body = fake.calls("/v1/chat/completions")[0].body
    assert body["grammar"] == GRAMMAR
    assert body["dry_multiplier"] == 0.8
    assert body["cache_prompt"] is True
    model.close()


@pytest.mark.parametrize(
    ("provider", "server", "template", "expected"),
    [
        ("ollama", "ollama", "", (DIALOGUE, "ollama")),
        ("ollama", "ollama", "{{ .System }} {{ .Prompt }}", (CHAT, "ollama")),
        ("openai", "llama.cpp", "", (DIALOGUE, LLAMA_CPP)),
        ("openai", "llama.cpp", TEMPLATE, (CHAT, LLAMA_CPP)),
        ("openai", "vllm", "", (DIALOGUE, VLLM)),
        ("openai", "vllm", TEMPLATE, (CHAT, VLLM)),
        ("openai", "", "", (DIALOGUE, OTHER)),
        ("openai", "", TEMPLATE, (CHAT, OTHER)),
    ],
)
def test_a_server_is_asked_what_its_model_was_made_for(
    fake: FakeModelServer, provider: str, server: str, template: str, expected: tuple[str, str]
):
    model = build(provider, fake)
    fake.kind, fake.template = server, template
    before = model.capabilities
    assert (before.known, before.format) == (False, DIALOGUE)
    model.check()
    assert model.capabilities.known
    assert (model.capabilities.format, model.capabilities.kind) == expected
    asked = len(fake.calls())
    model.check()
    assert len(fake.calls()) == asked + 1, "it is asked once"
    model.close()


def test_llama_cpp_is_known_by_its_props_where_the_list_of_models_does_not_tell(
    fake: FakeModelServer,
):
    fake.kind, fake.template = LLAMA_CPP, TEMPLATE
    fake.plan("/v1/models", Reply(extra={"data": [{"id": "fake"}]}))
    model = build("openai", fake)
    model.check()
    assert (model.capabilities.kind, model.capabilities.format) == (LLAMA_CPP, CHAT)
    model.close()


def test_a_declared_server_is_believed(fake: FakeModelServer):
    fake.template = TEMPLATE
    model = build("openai", fake, VLLM)
    model.check()
    assert (model.capabilities.kind, model.capabilities.format) == (VLLM, CHAT)
    assert not fake.calls("/props")
    model.close()


def test_a_server_that_came_back_is_asked_again():
    port = free_port()
    with FakeModelServer(port) as fake:
        fake.kind = LLAMA_CPP
        model = OpenAIModel(fake.address, "fake")
        model.check()
        assert model.capabilities.format == DIALOGUE
    with pytest.raises(ModelUnavailable):
        model.check()
    with FakeModelServer(port) as fake:
        fake.kind, fake.template = LLAMA_CPP, TEMPLATE
        model.check()
        assert model.capabilities.format == CHAT
    model.close()


def test_a_server_that_cannot_say_what_it_is_serves_all_the_same(fake: FakeModelServer):
    fake.always("/v1/chat/completions", Reply(status=500))
    model = build("openai", fake)
    assert model.check() == "ready"
    assert not model.capabilities.known
    assert model.generate(GenerationRequest("x")).text
    model.close()


def test_templates():
    assert is_chat_template(TEMPLATE)
    assert not is_chat_template("")
    real = LLAMA_CPP_DEFAULT_TEMPLATE.replace("%}{{", "%}\n  {{").replace("\\n", "\n")
    assert not is_chat_template(real)
    assert thinks_aloud("{{ x }}<think>")
    assert not thinks_aloud("{% if enable_thinking %}<think>")


def test_the_scripted_model_reads_scripts():
    assert ScriptedModel().capabilities.format == SCRIPT
