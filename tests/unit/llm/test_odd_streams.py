"""Answers of model servers in odd forms, over the wire: each is read, or known to be broken off."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from keepsake.errors import (
    AnswerBrokenOff,
    BadAnswer,
    ModelUnavailable,
)
from keepsake.models import retries
from keepsake.models.ollama import OllamaModel
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import ModelProfile
from tests.fakes.model_server import FakeModelServer, Reply
from tests.fakes.odd_server import OPEN, STREAM, OddServer, chunk, event
from tests.unit.llm.odd_calls import END, ENDLESS, TALK, asked, asked_soon, holds, sends


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_PAUSE", 0.01)


SEPARATED = '{"choices": [{"delta": {"content": "I\u2028am Mira."}}]}'
PARTS = [{"type": "text", "text": "I am "}, {"type": "text", "text": "Mira."}, {"type": "image"}]
OF_PARTS = json.dumps({"choices": [{"delta": {"content": PARTS}}]})
TWO_LINES = b'data: {"choices":\ndata: [{"delta": {"content": "I am Mira."}}]}\n\n'
CLOSED = event("I am Mira.", "stop").rstrip()

PING = b'data: {"type": "ping"}\n\n'
NULLS = {"prompt_ms": None, "cache_n": None, "prompt_tokens_details": {"cached_tokens": "none"}}
FIGURES = {"usage": NULLS | {"prompt_tokens": "many"}, "timings": NULLS, "model": 7}
UNTOLD = {"choices": [{"delta": {"content": "I am Mira."}, "finish_reason": "stop"}], **FIGURES}

READ = {
    "an event of the proxy first": sends(STREAM, PING, event("I am Mira."), END),
    "figures that are none": sends(STREAM, f"data: {json.dumps(UNTOLD)}\n\n".encode(), END),
    "raw U+2028 in JSON": sends(STREAM, f"data: {SEPARATED}\n\n".encode(), END),
    "an event in two data lines": sends(STREAM, TWO_LINES, END),
    "content as a list of parts": sends(STREAM, f"data: {OF_PARTS}\n\n".encode(), END),
    "[DONE] on an open connection": holds(OPEN + chunk(event("I am Mira.")) + chunk(END)),
    "[DONE], then keepalives": holds(
        OPEN + chunk(event("I am Mira.")) + chunk(END), chunk(b": keepalive\n\n")
    ),
    "no empty line between events": sends(
        STREAM, event("I am ").rstrip() + b"\n" + event("Mira.").rstrip() + b"\n" + END
    ),
    "no empty line at the end": sends(STREAM, CLOSED),
    "comments, names and numbers": sends(
        STREAM, b": hello\n\nid: 7\nevent: message\nretry: 10\n" + event("I am Mira."), END
    ),
    "lines that end with CR LF": sends(STREAM, (event("I am Mira.") + END).replace(b"\n", b"\r\n")),
    "one byte at a time": sends(STREAM, *(bytes([b]) for b in event("I am Mira.") + END)),
    "a whole answer, not streamed": sends(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
        f'{{"choices": [{{"message": {{"content": {json.dumps(PARTS)}}}}}]}}'.encode(),
    ),
}


@pytest.mark.parametrize("name", READ)
def test_odd_streams_are_read(name: str):
    with OddServer(READ[name]) as server:
        answer = asked_soon(lambda: asked(server, time_limit=3600)).result(ENDLESS)
    assert "".join(answer.text.split()) == "IamMira."


LINES = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"


def line(text: str, *, done: bool = False) -> bytes:
    """Return a line of a streamed answer as Ollama's API says, with raw characters."""
    said = {"message": {"role": "assistant", "content": text}, "done": done}
    return f"{json.dumps(said, ensure_ascii=False)}\n".encode()


def last(**figures: object) -> bytes:
    """Return the last line of an answer with these figures."""
    said = {"message": {"role": "assistant", "content": ""}, "done": True, **figures}
    return f"{json.dumps(said)}\n".encode()


LAST = line("", done=True)
LINES_READ = {
    "raw U+2028": sends(LINES, line("I\u2028am Mira."), LAST),
    "raw U+0085": sends(LINES, line("I\x85am Mira."), LAST),
    "empty lines": sends(LINES, line("I am Mira."), b"\n\r\n", LAST),
    "no line end": sends(LINES, line("I am Mira."), LAST.strip()),
    "figures that are none": sends(
        LINES,
        line("I am Mira."),
        last(eval_count=[], prompt_eval_count="many", prompt_eval_duration={}, eval_duration=0.5),
    ),
    "negative figures": sends(LINES, line("I am Mira."), last(eval_count=-1, total_duration=-5)),
    "one byte at a time": sends(LINES, *(bytes([b]) for b in line("I\u2028am Mira.") + LAST)),
}


@pytest.mark.parametrize("name", LINES_READ)
def test_odd_lines_of_ollamas_api_are_read(name: str):
    with OddServer(LINES_READ[name]) as server:
        profile = ModelProfile(
            "agent", provider="ollama", host=server.address, model="fake", time_limit=3600
        )
        answer = asked_soon(lambda: OllamaModel(profile).generate(TALK)).result(ENDLESS)
    assert "".join(answer.text.split()) == "IamMira."


def test_the_true_figures_of_an_answer_are_kept_beside_a_wrong_one():
    stream = sends(LINES, line("I am Mira."), last(eval_count=[], prompt_eval_count=7))
    with OddServer(stream) as server:
        profile = ModelProfile("agent", provider="ollama", host=server.address, model="fake")
        answer = OllamaModel(profile).generate(TALK)
    assert (answer.prompt_tokens, answer.completion_tokens) == (7, 0)


@pytest.mark.parametrize("reason", ["abort", "error"])
def test_an_answer_that_the_server_broke_off_is_no_answer(reason: str):
    stream = sends(STREAM, event("I am Mi"), event("", reason), END)
    with OddServer(stream) as server, pytest.raises(ModelUnavailable, match=reason):
        asked(server)
    heard: list[str] = []
    request = replace(TALK, on_text=heard.append)
    with OddServer(stream) as server, pytest.raises(AnswerBrokenOff, match=reason):
        asked(server, request)
    assert heard == ["I am Mi"]


def delta(**fields: object) -> bytes:
    """Return an event with these fields of a piece."""
    return f"data: {json.dumps({'choices': [{'delta': fields}]})}\n\n".encode()


def called(name: str | None, arguments: str) -> bytes:
    """Return an event with a piece of a tool call, whose index is 0."""
    function = {"name": name, "arguments": arguments}
    return delta(tool_calls=[{"index": 0, "function": function}])


def test_tool_calls_with_one_index_are_told_apart():
    whole = called("go", '{"exit": "north"}'), called("wait", "{}")
    in_pieces = called("get", ""), called("get", '{"thing":'), called(None, ' "cup"}')
    with OddServer(sends(STREAM, *whole, *in_pieces, event("", "tool_calls"), END)) as server:
        calls = asked(server).tool_calls
    assert [(call.name, call.arguments) for call in calls] == [
        ("go", {"exit": "north"}),
        ("wait", {}),
        ("get", {"thing": "cup"}),
    ]


def test_a_server_that_takes_every_answer_for_a_thought_is_asked_without_the_switch():
    """As vLLM with ``--reasoning-parser deepseek_r1`` while thinking is switched off."""
    with FakeModelServer() as fake:
        fake.kind = "vllm"
        profile = ModelProfile("agent", provider="openai", host=fake.address)
        model = OpenAIModel(profile)
        model.check()
        thought = "data: " + json.dumps({"choices": [{"delta": {"reasoning": "I am Mira."}}]})
        fake.plan("/v1/chat/completions", Reply(raw=f"{thought}\n\ndata: [DONE]\n\n".encode()))
        fake.always("/v1/chat/completions", Reply("I am Mira."))
        assert model.generate(replace(TALK, seed=7)).text == "I am Mira."
        assert model.generate(TALK).text == "I am Mira."
        sent = [call.body.get("chat_template_kwargs") for call in fake.calls()[-3:]]
    assert sent == [{"enable_thinking": False}, None, None]


def test_content_that_is_no_text_is_a_bad_answer():
    number = b'data: {"choices": [{"delta": {"content": 5}}]}\n\n'
    with OddServer(sends(STREAM, number, END)) as server, pytest.raises(BadAnswer, match="int"):
        asked(server)


# -- how much of a prompt was in the server's cache

USAGE = {
    "says nothing": ({}, None),
    "counts tokens alone": ({"usage": {"prompt_tokens": 80}}, None),
    "has no details": ({"usage": {"prompt_tokens": 80, "prompt_tokens_details": None}}, None),
    "cached nothing": (
        {"usage": {"prompt_tokens": 80, "prompt_tokens_details": {"cached_tokens": 0}}},
        0.0,
    ),
    "cached a part": (
        {"usage": {"prompt_tokens": 80, "prompt_tokens_details": {"cached_tokens": 60}}},
        0.75,
    ),
    "llama.cpp": ({"usage": {"prompt_tokens": 80}, "timings": {"cache_n": 40}}, 0.5),
}


@pytest.mark.parametrize("name", USAGE)
def test_the_cached_share_of_a_prompt_is_known_only_if_its_server_says(name: str):
    said, share = USAGE[name]
    end = f"data: {json.dumps({'choices': [], **said})}\n\n".encode()
    with OddServer(sends(STREAM, event("I am Mira.", "stop"), end, END)) as server:
        assert asked(server).cached_share == share
