"""What a client sends, and what it makes of an answer: text, tool calls, thoughts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keepsake.errors import (
    BadAnswer,
)
from keepsake.models.profiles import CHAT, LLAMA_CPP, VLLM
from keepsake.models.thoughts import AnswerText
from keepsake.ports import GenerationRequest, ToolCall
from tests.fakes.model_server import FakeModelServer, Reply
from tests.sentences import table
from tests.unit.llm.clients.asking import (
    CHAT_PATHS,
    GIVE,
    MESSAGES,
    RAW,
    RAW_PATHS,
    SCHEMA,
    TALK,
    TEMPLATE,
    Model,
    client_of,
    streaming,
)


def test_answers_are_streamed_and_have_token_counts(
    provider: str, model: Model, fake: FakeModelServer
):
    fake.script = lambda asked: f" say I read {asked}\nand this is cut"
    pieces, request = streaming(RAW)
    answer = model.generate(request)
    assert answer.text == "".join(pieces) == " say I read ~Mira>"
    assert len(pieces) == 4
    assert (answer.prompt_tokens, answer.completion_tokens) == (3, 4)
    assert (answer.finish_reason, answer.model) == ("stop", "fake")
    assert model.generate(TALK).text == " say I read system: You are Mira."


def test_a_caller_that_waits_for_the_whole_answer_learns_how_much_is_written(
    model: Model, fake: FakeModelServer
):
    fake.script = lambda _: "It is late."
    written: list[int] = []
    answer = model.generate(replace(TALK, on_progress=written.append))
    assert written == sorted(written)
    assert len(written) > 2
    assert written[-1] == len(answer.text)


def test_texts_and_chats_are_sent_over_one_connection(
    provider: str, model: Model, fake: FakeModelServer
):
    model.generate(RAW)
    model.generate(TALK)
    raw, chat = (fake.calls(paths[provider])[0].body for paths in (RAW_PATHS, CHAT_PATHS))
    assert raw["prompt"] == "~Mira>"
    assert chat["messages"] == [{"role": each.role, "content": each.text} for each in MESSAGES]
    assert "prompt" not in chat
    assert len({call.port for call in fake.calls()}) == 1, "the connection is reused"


def test_requests_to_ollama_have_its_fields(fake: FakeModelServer):
    fake.template = "{{ .System }} {{ .Prompt }}"
    model = client_of(fake.address, "ollama", context_tokens=4096)
    model.generate(RAW)
    model.check()
    model.generate(replace(TALK, json_schema=SCHEMA))  # Ollama refuses "think" for this model
    fake.capabilities = ["completion", "thinking"]
    model = client_of(fake.address, "ollama")
    model.check()
    model.generate(TALK)
    options = {"temperature": 0.3, "num_predict": 9, "repeat_penalty": 1.1, "stop": ["\n"]}
    assert fake.calls("/api/generate")[0].body == {
        "model": "fake",
        "prompt": "~Mira>",
        "raw": True,
        "stream": True,
        "keep_alive": "30m",
        "options": {**options, "seed": 5, "num_ctx": 4096},
    }
    plain, thinker = (call.body for call in fake.calls("/api/chat"))
    assert "think" not in plain
    assert plain["format"] == SCHEMA
    assert thinker["think"] is False
    assert thinker["options"]["num_ctx"] == 11264
    fake.plan("/api/show", Reply(raw=b'{"details": {}}'))  # no capabilities, no context
    model = client_of(fake.address, "ollama")
    model.check()
    assert (model.capabilities.known, model.capabilities.form) == (True, CHAT)
    assert model.resolved().prompt_tokens < model.capabilities.context == 11264


PLAIN = {"prompt", "max_tokens", "temperature", "model", "stream", "stream_options"}
FULL = GenerationRequest("x", 9, (), 0.3, None, 1.2, json_schema=SCHEMA, cache_key="agent-7")
LLAMA = {
    "json_schema": SCHEMA,
    "repeat_penalty": 1.2,
    "cache_prompt": True,
    "return_progress": True,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
UNTHINKING = {"chat_template_kwargs": {"enable_thinking": False}}


@pytest.mark.parametrize(
    ("server", "more", "raw", "chat"),
    [
        (LLAMA_CPP, LLAMA, {"min_p": 0.1}, UNTHINKING),
        (VLLM, {"response_format": FORMAT, "repetition_penalty": 1.2}, {}, UNTHINKING),
        ("", {"response_format": FORMAT}, {}, {}),
    ],
)
def test_a_server_gets_only_the_fields_that_it_accepts(
    fake: FakeModelServer, server: str, more: Any, raw: Any, chat: Any
):
    fake.kind = server
    fake.template = TEMPLATE
    model = client_of(fake.address)
    model.check()
    model.generate(FULL)
    model.generate(replace(FULL, prompt="", messages=MESSAGES))
    for path, own in (("completions", raw), ("chat/completions", chat)):
        call = fake.calls(f"/v1/{path}")[-1]
        body = call.body
        assert call.session == "keepsake-agent-7"
        assert body.items() >= (more | own).items()
        assert (body.keys() | {"prompt"}) - {"messages"} == PLAIN | more.keys() | own.keys()


def test_tools_are_sent_and_tool_calls_are_read(provider: str, model: Model, fake: FakeModelServer):
    given = {"what": "the cap"} if provider == "ollama" else '{"what": "the cap",}'
    fake.always(CHAT_PATHS[provider], Reply(text="", calls=[("give", given), ("give", given)]))
    answer = model.generate(replace(TALK, tools=(GIVE,)))
    assert answer.tool_calls == (ToolCall("give", {"what": "the cap"}),) * 2
    assert answer.text == ""
    (sent,) = fake.calls(CHAT_PATHS[provider])[0].body["tools"]
    assert sent["type"] == "function"
    assert (sent["function"]["name"], sent["function"]["description"]) == ("give", "Give a thing")
    assert sent["function"]["parameters"]["properties"]["what"]["type"] == "string"
    if provider == "openai":
        fake.always(CHAT_PATHS[provider], Reply(text="", calls=[("give", '{"what": ')]))
        with pytest.raises(BadAnswer, match="unreadable"):
            model.generate(replace(TALK, tools=(GIVE,)))


def test_control_characters_are_removed_from_answers(model: Model, fake: FakeModelServer):
    fake.script = lambda _: "I keep\u0085bees\u009b, \u202eTom.\u2028All\ufffd\ufffd year."
    pieces, request = streaming(RAW)
    assert model.generate(request).text == "".join(pieces) == "I keep bees, Tom. All year."


@pytest.mark.parametrize(("text", "left"), table("answers with thoughts"))
@pytest.mark.parametrize("size", [1, 3, 999])
def test_thoughts_are_removed_from_streamed_answers(text: str, left: str, size: int):
    pieces: list[str] = []
    answer = AnswerText(pieces.append, hold=text.startswith("hm, so"))
    for at in range(0, len(text), size):
        answer.feed(text[at : at + size])
    answer.feed("", whole=True)
    assert answer.text == left
    assert "".join(pieces) == left, "no piece of a thought is passed on"


def test_a_model_that_thinks_anyway_gets_room_and_its_thoughts_are_hidden(
    provider: str, model: Model, fake: FakeModelServer
):
    fake.script = lambda _: "<think>\nHm. Who am I?\n</think>\n\nI am Mira.\nAnd more."
    with pytest.raises(BadAnswer):  # the stop string, a line end, cut its thought off
        model.generate(TALK)
    pieces, request = streaming(TALK)
    assert model.generate(request).text == "".join(pieces) == "I am Mira."
    fake.script = lambda _: "He asks who I am.</think> I am Mira."
    pieces, request = streaming(TALK)
    assert model.generate(request).text == "".join(pieces) == "I am Mira.", "held back"
    body = fake.calls(CHAT_PATHS[provider])[1].body
    told = body["options"] if provider == "ollama" else body
    assert "stop" not in told
    assert told.get("num_predict", told.get("max_tokens")) > 500
    fake.always(CHAT_PATHS[provider], Reply(thought="Hm."))  # in a field of its own
    with pytest.raises(BadAnswer, match=r"a thought and no answer.*Raise max_tokens"):
        model.generate(TALK)
