"""What a client asks again: after a temporary failure, and without what was refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.errors import (
    BadAnswer,
    ModelBusy,
    ModelError,
    PromptTooLong,
)
from keepsake.models.http import ServerTexts, error_from_status
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import ModelProfile
from keepsake.ports import ChatMessage, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply
from tests.sentences import table
from tests.unit.llm.clients.asking import (
    CHAT_PATHS,
    GIVE,
    MESSAGES,
    RAW,
    RAW_PATHS,
    TALK,
    Model,
    client_of,
    streaming,
)


@pytest.mark.parametrize(
    ("reply", "seed", "calls"),
    [
        (Reply(status=500), None, 2),
        (Reply(text=" "), None, 2),
        (Reply(text=" "), 1, 1),  # a fixed seed would give the same answer
        (Reply(status=404), None, 1),
        (Reply(status=400), None, 1),
    ],
)
def test_only_temporary_failures_are_retried(
    fake: FakeModelServer, reply: Reply, seed: int | None, calls: int
):
    path = "/v1/completions"
    request = GenerationRequest("x", seed=seed)
    model = client_of(fake.address)
    fake.plan(path, reply)
    if calls == 2:
        assert model.generate(request).text
    else:
        with pytest.raises(ModelError):
            model.generate(request)
    assert len(fake.calls(path)) == calls
    fake.plan(path, *[reply] * 2)
    with pytest.raises(ModelError):
        model.generate(request)


def test_retry_after_is_respected(provider: str, fake: FakeModelServer):
    path = RAW_PATHS[provider]
    fake.plan(path, Reply(status=429, retry_after="0"))
    model = client_of(fake.address, provider)
    assert model.generate(RAW).text
    fake.always(path, Reply(status=429, retry_after="90"))
    for _ in range(2):
        with pytest.raises(ModelBusy):
            model.generate(RAW)
    assert len(fake.calls(path)) == 3


def test_a_process_that_has_ended_is_waited_for_before_it_is_asked_again(fake: FakeModelServer):
    hang_up = Reply(hang_up=True)
    fake.plan("/v1/completions", hang_up, hang_up)  # a closed connection is tried once more at once
    seen: list[str] = []
    profile = ModelProfile("agent", provider="embedded", host=fake.address)
    model = OpenAIModel(
        profile, ready=lambda: seen.append("ready"), lost=lambda: seen.append("lost")
    )
    assert model.generate(RAW).text
    assert seen == ["ready", "lost", "ready"]


def test_a_broken_answer_is_retried_only_before_its_first_piece(
    provider: str, model: Model, fake: FakeModelServer
):
    path = CHAT_PATHS[provider]
    fake.plan(path, Reply(text="I am Mira, and", cut=2))
    pieces, request = streaming(TALK)
    with pytest.raises(BadAnswer, match=r"closed|cut off"):
        model.generate(request)
    assert pieces == ["I", " am"]
    assert len(fake.calls(path)) == 1
    fake.plan(path, Reply(text="I am", cut=0))
    assert model.generate(request).text == "".join(pieces[2:])
    assert len(fake.calls(path)) == 3


@pytest.mark.parametrize("body", table("prompts too long"))
def test_refusals_of_long_prompts_are_recognised(body: str):
    assert isinstance(error_from_status(400, body, ServerTexts("It", "", "")), PromptTooLong)


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        (400, "Jinja Exception: System role not supported"),
        (500, "Conversation roles must alternate user/assistant/user/assistant/..."),
    ],
)
def test_refused_roles_are_merged_from_then_on(fake: FakeModelServer, status: int, refusal: str):
    path = "/v1/chat/completions"
    more = ChatMessage("assistant", "Mira.")
    fake.plan(path, Reply(status=status, text=refusal))
    model = client_of(fake.address)
    for _ in range(2):
        model.generate(replace(TALK, messages=(*MESSAGES, more, MESSAGES[0])))
    first, *others = ([each["role"] for each in call.body["messages"]] for call in fake.calls(path))
    assert first == ["system", "user", "assistant", "system"]
    assert others == [["user", "assistant", "user"]] * 2
    told = fake.calls(path)[-1].body["messages"][0]["content"]
    assert told == "You are Mira.\n\nWho are you?"


@pytest.mark.parametrize(
    ("provider", "reply", "kept"),
    [
        ("openai", Reply(status=400, text="this model does not support tools"), False),
        ("ollama", Reply(text="", calls=[("give", '{"what": "cap"}')]), False),  # not an object
        ("openai", Reply(status=500, text="Failed to parse tool call arguments as JSON"), True),
    ],
)
def test_tools_are_left_out_after_a_refusal_or_an_unreadable_call(
    fake: FakeModelServer, provider: str, reply: Reply, kept: bool
):
    path = CHAT_PATHS[provider]
    fake.capabilities = ["completion", "tools"]
    fake.plan(path, reply)
    model = client_of(fake.address, provider, tools="yes")
    assert model.resolved().takes_tools
    assert model.generate(replace(TALK, tools=(GIVE,))).text
    assert model.resolved().takes_tools == kept
    assert [bool(call.body.get("tools")) for call in fake.calls(path)] == [True, kept]
