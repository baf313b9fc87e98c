"""Answers that are handed on while they are written, over the wire."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from keepsake.errors import (
    AnswerBroken,
    BadAnswer,
    ModelError,
    ModelFailed,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.models.asking import PatientModel
from keepsake.models.clients.ollama import OllamaModel
from keepsake.models.clients.openai import OpenAIModel
from keepsake.models.profiles import LLAMA_CPP
from keepsake.ports import ChatMessage, GenerationRequest, Tool, ToolCall
from tests.fakes.model_server import FakeModelServer, Reply

Model = OllamaModel | OpenAIModel
CHAT = GenerationRequest("", messages=(ChatMessage("user", "Who are you?"),))
PATHS = {"ollama": "/api/chat", "openai": "/v1/chat/completions"}
RAW_PATHS = {"ollama": "/api/generate", "openai": "/v1/completions"}
GIVE = Tool("give", "Give a thing", {"type": "object", "properties": {"what": {"type": "string"}}})


@pytest.fixture(params=["ollama", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(provider: str, fake: FakeModelServer) -> Iterator[Model]:
    fake.can = ["completion", "tools"]
    model = (
        OllamaModel(fake.address, "fake", time_limit=20)
        if provider == "ollama"
        else OpenAIModel(fake.address, "fake", time_limit=20)
    )
    yield model
    model.close()


def hearing(request: GenerationRequest = CHAT) -> tuple[list[str], GenerationRequest]:
    heard: list[str] = []
    return heard, replace(request, on_text=heard.append)


def test_pieces_come_as_they_are_written_and_the_whole_with_its_figures(
    provider: str, model: Model, fake: FakeModelServer
):
    fake.always(PATHS[provider], Reply(text="I am Mira. Sit down."))
    heard, request = hearing()
    answer = model.generate(request)
    assert heard == ["I", " am", " Mira.", " Sit", " down."]
    assert answer.text == "I am Mira. Sit down."
    assert (answer.finish_reason, answer.model) == ("stop", "fake")
    assert answer.prompt_tokens > 0
    assert answer.completion_tokens == 5
    whole = model.generate(CHAT)
    assert replace(whole, seconds=0.0) == replace(answer, seconds=0.0)


def test_a_text_to_continue_is_streamed_too(provider: str, model: Model, fake: FakeModelServer):
    fake.always(RAW_PATHS[provider], Reply(text=" say Hello, Tom!"))
    heard, request = hearing(GenerationRequest("~Mira>"))
    assert model.generate(request).text == "".join(heard) == " say Hello, Tom!"


def test_the_first_piece_comes_before_the_last_is_written(
    provider: str, model: Model, fake: FakeModelServer
):
    first = threading.Event()
    fake.plan(PATHS[provider], Reply(text="One two three four five.", drip=0.2))
    done: list[str] = []
    request = replace(CHAT, on_text=lambda _: first.set())
    thread = threading.Thread(target=lambda: done.append(model.generate(request).text))
    thread.start()
    assert first.wait(60)
    assert not done
    thread.join(60)
    assert done == ["One two three four five."]


def test_thoughts_are_never_heard(provider: str, model: Model, fake: FakeModelServer):
    fake.always(PATHS[provider], Reply(text="<think>Who is he? Hm.</think>\n\nI am Mira."))
    heard, request = hearing()
    assert model.generate(request).text == "".join(heard) == "I am Mira."
    fake.always(PATHS[provider], Reply(text="He asks who I am.</think> I am Mira.\nAnd he?"))
    heard, request = hearing(replace(CHAT, stop=("\n",)))
    assert model.generate(request).text == "I am Mira."
    assert "".join(heard) == "I am Mira.", "it is known to think, so its beginning is held back"


def test_a_model_that_used_up_its_tokens_thinking_is_told_so(
    provider: str, model: Model, fake: FakeModelServer
):
    message = {"role": "assistant", "content": ""}
    extra: dict[str, Any] = {"message": message | {"thinking": "Hm."}, "done_reason": "length"}
    if provider == "openai":
        message["reasoning_content"] = "Hm."
        extra = {"choices": [{"index": 0, "finish_reason": "length", "message": message}]}
    fake.always(PATHS[provider], Reply(text="x y z", extra=extra))
    for request in (CHAT, hearing()[1]):
        with pytest.raises(BadAnswer, match=r"used up its 3 tokens while it was thinking"):
            model.generate(request)


def test_what_breaks_off_after_a_piece_is_not_asked_again(
    provider: str, model: Model, fake: FakeModelServer
):
    fake.plan(PATHS[provider], Reply(text="I am Mira, and", cut=2))
    heard, request = hearing()
    with pytest.raises(AnswerBroken, match=r"broke off|ended amid"):
        PatientModel(model, 60).generate(request)
    assert heard == ["I", " am"]
    assert len(fake.calls(PATHS[provider])) == 1
    fake.plan(PATHS[provider], Reply(text="I am", cut=0))
    heard, request = hearing()
    assert PatientModel(model, 60).generate(request).text == "".join(heard)
    assert len(fake.calls(PATHS[provider])) == 3, "before the first piece it is"


def test_nothing_is_heard_after_the_time_is_up(provider: str, model: Model, fake: FakeModelServer):
    fake.plan(PATHS[provider], Reply(text="one two three four five six", drip=0.2))
    heard, request = hearing()
    threads: set[str] = set()
    request = replace(
        request, on_text=lambda p: (heard.append(p), threads.add(threading.current_thread().name))
    )
    with pytest.raises(ModelTimeout):
        PatientModel(model, 0.5).generate(request)
    assert len(heard) < 6
    assert threads == {threading.current_thread().name}, "in the thread that asks"


def test_who_gives_the_answer_up_ends_it(provider: str, model: Model, fake: FakeModelServer):
    fake.plan(PATHS[provider], Reply(text="one two three four", drip=0.05))
    heard, request = hearing()
    with pytest.raises(ModelUnavailable, match="given up"):
        model.generate(replace(request, given_up=lambda: len(heard) > 1))
    assert heard == ["one", " two"]


def test_an_error_amid_a_stream_has_its_name(fake: FakeModelServer):
    body = b'data: {"error": {"code": 500, "message": "out of memory"}}\n\n'
    fake.plan("/v1/chat/completions", Reply(raw=body))
    model = OpenAIModel(fake.address, "fake")
    with pytest.raises(ModelError, match="sent no JSON object"):  # it is no event stream
        model.generate(hearing()[1])
    fake.plan("/v1/chat/completions", Reply(status=500, text="out of memory"))
    with pytest.raises(ModelFailed, match="out of memory"):
        model.generate(hearing()[1])
    model.close()


def test_a_server_that_does_not_stream_is_heard_whole(fake: FakeModelServer):
    message = b'{"choices": [{"message": {"content": "I am Mira."}, "finish_reason": "stop"}]}'
    fake.plan("/v1/chat/completions", Reply(raw=message))
    model = OpenAIModel(fake.address, "fake")
    heard, request = hearing()
    assert model.generate(request).text == "I am Mira."
    assert heard == ["I am Mira."]
    model.close()


def test_a_server_that_refuses_an_option_is_asked_without_it(fake: FakeModelServer):
    fake.refuse = lambda body: "unknown field stream_options" if "stream_options" in body else ""
    model = OpenAIModel(fake.address, "fake")
    for _ in range(2):
        assert model.generate(hearing()[1]).text
    model.close()
    asked = fake.calls("/v1/chat/completions")
    assert ["stream_options" in each.body for each in asked] == [True, False, False]


def test_openais_newer_models_get_their_own_words(fake: FakeModelServer):
    fake.refuse = lambda body: (
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        if "max_tokens" in body
        else "'temperature' does not support 0.7 with this model."
        if "temperature" in body
        else ""
    )
    model = OpenAIModel(fake.address, "fake")
    assert model.generate(CHAT).text
    model.close()
    body = fake.calls("/v1/chat/completions")[-1].body
    assert body.keys() == {"model", "messages", "max_completion_tokens"}


@pytest.mark.parametrize("streamed", [False, True])
def test_tools_are_offered_and_called(
    provider: str, model: Model, fake: FakeModelServer, streamed: bool
):
    given = {"what": "the cap"} if provider == "ollama" else '{"what": "the cap"}'
    fake.always(PATHS[provider], Reply(text="", calls=[("give", given), ("give", given)]))
    request = replace(hearing()[1] if streamed else CHAT, tools=(GIVE,))
    answer = model.generate(request)
    assert answer.tool_calls == (ToolCall("give", {"what": "the cap"}),) * 2
    assert answer.text == ""
    (sent,) = fake.calls(PATHS[provider])[0].body["tools"]
    assert sent["type"] == "function"
    assert (sent["function"]["name"], sent["function"]["description"]) == ("give", "Give a thing")
    assert sent["function"]["parameters"]["properties"]["what"]["type"] == "string"


@pytest.mark.parametrize("given", ['{"what": ', "[" * 50_000, "5", '"x"'])
@pytest.mark.parametrize("streamed", [False, True])
def test_a_call_that_cannot_be_read_is_a_bad_answer(
    fake: FakeModelServer, given: str, streamed: bool
):
    fake.always("/v1/chat/completions", Reply(text="", calls=[("give", given)]))
    model = OpenAIModel(fake.address, "fake", kind=LLAMA_CPP)
    with pytest.raises(BadAnswer, match="cannot be read"):
        model.generate(replace(hearing()[1] if streamed else CHAT, tools=(GIVE,)))
    model.close()
