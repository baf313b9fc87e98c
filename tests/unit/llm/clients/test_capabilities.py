"""What a client learns of its server: kind, form of prompts, and how long a prompt may be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keepsake.errors import (
    ModelMissing,
    ModelTimeout,
)
from keepsake.models.profiles import CHAT, DIALOGUE, LLAMA_CPP, OTHER, VLLM
from keepsake.ports import GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply
from tests.unit.llm.clients.asking import (
    RAW,
    RAW_PATHS,
    TEMPLATE,
    client_of,
)


@pytest.mark.parametrize(
    ("provider", "server", "template", "form"),
    [
        ("ollama", "ollama", "", DIALOGUE),
        ("ollama", "ollama", "{{ .System }} {{ .Prompt }}", CHAT),
        ("openai", LLAMA_CPP, "", DIALOGUE),
        ("openai", LLAMA_CPP, TEMPLATE, CHAT),
        ("openai", VLLM, "", CHAT),
        ("openai", "", "", CHAT),
    ],
)
def test_the_capabilities_of_a_model_are_detected_once(
    fake: FakeModelServer, provider: str, server: str, template: str, form: str
):
    fake.kind = server
    fake.template = template
    model = client_of(fake.address, provider)
    assert not model.capabilities.known
    model.check()
    takes = model.capabilities
    asked = len(fake.calls())
    assert (takes.known, takes.form, takes.kind) == (True, form, server or OTHER)
    assert not any("completion" in call.path for call in fake.calls()), "nothing is generated"
    model.check()
    assert len(fake.calls()) == asked + 1


@pytest.mark.parametrize(
    ("server", "listed", "serves"),
    [
        (LLAMA_CPP, ["a file.gguf"], True),  # it serves its one model under any name
        (LLAMA_CPP, ["a file.gguf", "another.gguf"], False),  # its router does not
        (VLLM, ["another"], False),
        ("", ["another"], False),
    ],
)
def test_a_server_of_one_model_need_not_call_it_as_llm_md_does(
    fake: FakeModelServer, server: str, listed: list[str], serves: bool
):
    fake.kind = server
    fake.models = listed
    model = client_of(fake.address, "openai")
    if serves:
        model.check()
        assert model.capabilities.kind == server
    else:
        with pytest.raises(ModelMissing, match=r"it has (?:another|a file)"):
            model.check()


@pytest.mark.parametrize(
    ("words", "count", "most"),
    [
        ((0, 3000), 1000, 1000),
        ((1400, 100), 1000, 1000),  # more than the 100 new words: the figure has cached tokens too
        ((2900, 100), 130, 0),  # the rest is cached
        ((1500, 1500), 1520, 0),
        ((0, 3000), 2900, 0),
        ((0, 3000), 60, 0),  # the rest is cached, since before the start
    ],
)
def test_prompts_shrink_to_what_ollama_evaluates(
    fake: FakeModelServer, caplog: Any, words: tuple[int, int], count: int, most: int
):
    asked = replace(RAW, prompt="word " * words[0], cache_key="mira")
    model = client_of(fake.address, "ollama")
    model.generate(asked)
    fake.evaluates = count
    for _ in range(2 if most else 1):
        model.generate(replace(asked, prompt=f"{asked.prompt}{'more ' * words[1]}"))
    assert model.resolved().prompt_tokens == (most * 3 // 4 or 8000)
    assert caplog.text.count("evaluates 1,000 tokens") == (most > 0)
    fake.evaluates = 0  # the whole prompt again
    model.generate(replace(asked, prompt="other " * 3000))
    assert model.resolved().prompt_tokens == 8000


def test_a_timeout_shrinks_prompts_only_for_ollama(provider: str, fake: FakeModelServer):
    model = client_of(fake.address, provider, time_limit=0.4)
    whole = model.resolved().prompt_tokens
    fake.always(RAW_PATHS[provider], Reply(delay=300))
    with pytest.raises(ModelTimeout):
        model.generate(GenerationRequest("one two " * 1000))
    assert (model.resolved().prompt_tokens < whole) == (provider == "ollama")


def test_a_slow_server_shrinks_prompts_no_further_than_a_dialogue_needs(fake: FakeModelServer):
    model = client_of(fake.address, context_tokens=16_384)
    whole = model.resolved().prompt_tokens
    model.capabilities = replace(model.capabilities, rate=100.0)
    assert 2048 < model.resolved().prompt_tokens < whole
    model.capabilities = replace(model.capabilities, rate=0.5)
    assert model.resolved().prompt_tokens == 2048
    small = client_of(fake.address, context_tokens=1024)
    small.capabilities = replace(small.capabilities, rate=0.5)
    assert small.resolved().prompt_tokens == 768, "a context is a limit that no reason extends"
