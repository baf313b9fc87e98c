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
        return profile.request("", messages=(ChatMessage("user", "word " * profile.prompt_tokens),))


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
        assert [each.prompt_tokens for each in it.profiles] == [8000, 2250]
        it.gateway.generate("agent", it.long)
        assert len(fake.calls(CHAT)) == 3, "it is remembered"
        fake.refuse = lambda body: (  # a server whose count is higher than ours
            "This model's maximum context length is 3000 tokens"
            if len(str(body["messages"])) > 1500 * len("word ")
            else ""
        )
        assert it.gateway.generate("agent", it.long).text
        sizes = [each.prompt_tokens for each in it.profiles[2:]]
        assert sizes == sorted(sizes, reverse=True), "it gets less each time"
        assert sizes[-1] <= 1500


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        ('{"error": {"code": 400, "n_prompt_tokens": 9001, "n_ctx": 8192, "type": '
         '"exceed_context_size_error", "message": "the request exceeds the available context '
         'size (8192 tokens)"}}', 8192),
        ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
         "(4900 in the messages, 100 in the completion).", 4096),
        ("The decoder prompt (length 5000) is longer than the maximum model length of 1024.", 1024),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200000),
        ("Trying to keep the first 5000 tokens when context the overflows. However, the model is "
         "loaded with context length of only 4096 tokens", 4096),
        ('{"error": {"code": "context_length_exceeded"}}', 0),
    ],
)  # fmt: skip
def test_how_servers_say_that_a_prompt_is_too_long(body: str, limit: int):
    error = from_status(400, body, ServerWords("It", "", ""))
    assert isinstance(error, PromptTooLong)
    assert error.limit == limit


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
        (Reply(status=400, text=TURNS), ["system", "user"]),
        (Reply(status=500, text=TURNS), ["system", "user"]),  # as llama.cpp says it
    ],
)
def test_roles_that_a_template_refuses_are_folded_and_that_is_remembered(
    home: Places, owner: Owner, fake: FakeModelServer, refusal: Reply, sent: list[str]
):
    fake.plan(CHAT, refusal)
    with world(home, owner, fake) as it:
        for _ in range(2):
            it.gateway.generate("agent", lambda profile: profile.request("", messages=MESSAGES))
    asked = [each.body for each in fake.calls(CHAT)]
    assert [shape(each) for each in asked] == [["system", "user", "user"], sent, sent]
    assert str(asked[-1]["messages"]).count("You are Mira.") == 1
    assert "Tom is here.\n\nWho are you?" in asked[-1]["messages"][-1]["content"]
    said = (ChatMessage("system", "a"), ChatMessage("assistant", "b"), ChatMessage("system", "c"))
    assert [each.role for each in alternating(said, 1)] == ["system", "user", "assistant", "user"]
    assert [each.role for each in alternating(said, 2)] == ["user", "assistant", "user"]


# -- servers that are busy
