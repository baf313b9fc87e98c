"""What a model does not take, and how that is learned from; over the wire."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from keepsake.errors import PromptTooLong
from keepsake.models.capabilities import alternating
from keepsake.models.gateway import Gateway
from keepsake.models.http import ServerWords, from_status
from keepsake.models.profiles import ModelProfile
from keepsake.paths import Places
from keepsake.ports import ChatMessage, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply
from tests.unit.llm.conftest import Owner, running

CHAT = "/v1/chat/completions"
MESSAGES = (
    ChatMessage("system", "You are Mira."),
    ChatMessage("user", "Tom is here."),
    ChatMessage("user", "Who are you?"),
)


class World:
    """A gateway that is asked for as many words as the profile ``agent`` allows."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.profiles: list[ModelProfile] = []

    def long(self, profile: ModelProfile) -> GenerationRequest:
        self.profiles.append(profile)
        words = "word " * profile.prompt_tokens
        return GenerationRequest("", messages=(ChatMessage("user", words),))


@contextmanager
def world(home: Places, owner: Owner, fake: FakeModelServer, settings: str = "") -> Iterator[World]:
    (home.config / "llm.md").write_text(
        f"## agent\n**provider**: openai\n**host**: {fake.address}\n**model**: fake\n{settings}\n"
        "## summarizer\n**provider**: extractive\n"
    )
    with running(home, owner) as gateway:
        yield World(gateway)


def test_a_prompt_that_is_too_long_is_built_anew_and_smaller(
    home: Places, owner: Owner, fake: FakeModelServer
):
    fake.context = 3000  # which this server tells nobody before it refuses
    with world(home, owner, fake) as it:
        assert it.gateway.generate("agent", it.long).text
        sizes = [each.prompt_tokens for each in it.profiles]
        assert sizes[0] == 8000
        assert sizes == sorted(sizes, reverse=True), "it gets less each time"
        assert sizes[-1] <= 3000
        asked = len(fake.calls(CHAT))
        it.gateway.generate("agent", it.long)
        assert len(fake.calls(CHAT)) == asked + 1, "it is remembered"


@pytest.mark.parametrize(
    "body",
    [
        '{"error": {"code": 400, "n_prompt_tokens": 9001, "n_ctx": 8192, "message": '
        '"the request exceeds the available context size (8192 tokens)"}}',
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        "The decoder prompt (length 5000) is longer than the maximum model length of 1024.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The model is loaded with context length of only 4096 tokens",
        '{"error": {"code": "context_length_exceeded"}}',
    ],
)
def test_how_servers_say_that_a_prompt_is_too_long(body: str):
    assert isinstance(from_status(400, body, ServerWords("It", "", "")), PromptTooLong)


NO_SYSTEM = "Jinja Exception: System role not supported"
TURNS = "Conversation roles must alternate user/assistant/user/assistant/..."


def shape(body: dict[str, object]) -> list[str]:
    messages = body["messages"]
    assert isinstance(messages, list)
    return [each["role"] for each in messages]


@pytest.mark.parametrize(
    ("refusal", "sent"),
    [
        (Reply(status=400, text=NO_SYSTEM), ["user"]),
        (Reply(status=400, text=TURNS), ["user"]),
        (Reply(status=500, text=TURNS), ["user"]),  # as llama.cpp says it
    ],
)
def test_roles_that_a_template_refuses_are_folded_and_that_is_remembered(
    home: Places, owner: Owner, fake: FakeModelServer, refusal: Reply, sent: list[str]
):
    fake.plan(CHAT, refusal)
    with world(home, owner, fake) as it:
        for _ in range(2):
            it.gateway.generate("agent", GenerationRequest("", messages=MESSAGES))
    asked = [each.body for each in fake.calls(CHAT)]
    assert [shape(each) for each in asked] == [["system", "user", "user"], sent, sent]
    assert str(asked[-1]["messages"]).count("You are Mira.") == 1
    assert "Tom is here.\n\nWho are you?" in asked[-1]["messages"][-1]["content"]
    said = (ChatMessage("system", "a"), ChatMessage("assistant", "b"), ChatMessage("system", "c"))
    assert [each.role for each in alternating(said)] == ["user", "assistant", "user"]
