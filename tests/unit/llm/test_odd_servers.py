"""Model servers that misbehave, over the wire: limits, cancellation and caps."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest

from keepsake.errors import (
    AnswerBrokenOff,
    BadAnswer,
    CallCancelled,
    ModelBusy,
    ModelFailed,
    ModelTimeout,
)
from keepsake.models import model as models
from keepsake.models import retries, transport
from keepsake.models.http import LONGEST_RETRY_AFTER
from keepsake.models.ollama import OllamaModel
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import LLAMA_CPP, ModelProfile
from keepsake.ports import GenerationRequest
from tests.fakes.odd_server import STREAM, OddServer, Send, event
from tests.unit.llm.odd_calls import END, ENDLESS, TALK, asked, asked_soon, holds, sends

WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
FAILED = b"HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\n\r\n"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_PAUSE", 0.01)


# -- a time limit is a time limit


HOLDING = {
    "silent": holds(b""),
    "headers without end": holds(b"HTTP/1.1 200 OK\r\nX-Odd: ", b"a"),
    "keepalive alone": holds(STREAM, b": keepalive\n\n"),
    "data: alone": holds(STREAM, b"data:\n\n"),
    "one chunk and keepalives": holds(STREAM + event("I am"), b": keepalive\n\n"),
    "one chunk and silence": holds(STREAM + event("I am")),
    "empty choices": holds(STREAM, b'data: {"choices": []}\n\n'),
    "a line without end": holds(STREAM + b"data: ", b"a"),
    "a whole answer in drops": holds(WHOLE, b" "),
}


@pytest.mark.parametrize("name", HOLDING)
def test_no_server_holds_a_call_longer_than_its_limit(name: str):
    with OddServer(HOLDING[name]) as server:
        call = asked_soon(lambda: asked(server, time_limit=0.5))
        with pytest.raises(ModelTimeout, match=r"within 0\.5 s"):
            call.result(ENDLESS)
        assert server.gone.acquire(timeout=ENDLESS), "the connection is closed"


def progress(read: int, cached: int = 0) -> bytes:
    """Return llama.cpp's event for a prompt of which so many tokens are read or cached."""
    figures = {"total": 1000, "cache": cached, "processed": read, "time_ms": 1}
    choice = {"index": 0, "delta": {"content": None}, "finish_reason": None}
    return f"data: {json.dumps({'choices': [choice], 'prompt_progress': figures})}\n\n".encode()


def advanced(monkeypatch: pytest.MonkeyPatch, late: list[float]) -> None:
    """Advance the clock of the clients by as many seconds as ``late`` says."""
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + late[0])
    monkeypatch.setattr(models, "time", clock)
    monkeypatch.setattr(transport, "time", clock)


def test_a_server_that_reads_on_gets_more_time_than_the_limit(monkeypatch: pytest.MonkeyPatch):
    limit = 3600.0
    late = [0.0]
    noted = threading.Semaphore(0)

    def answer(send: Send, closing: threading.Event) -> None:
        send(STREAM)
        for step in range(1, 5):  # nearly a whole limit for each hundred tokens
            late[0] += 0.9 * limit
            send(progress(100 * step))
            assert noted.acquire(timeout=ENDLESS)
        send(event("I am Mira.", "stop") + b"data: [DONE]\n\n")

    advanced(monkeypatch, late)
    request = replace(TALK, on_progress=lambda _: noted.release())
    with OddServer(answer) as server:
        assert asked_soon(lambda: asked(server, request, time_limit=limit)).result(ENDLESS).text


def test_a_server_that_reads_without_end_is_given_up():
    def answer(send: Send, closing: threading.Event) -> None:
        send(STREAM)
        read = 0
        while not closing.wait(0.01):
            send(progress(read := read + 50))

    with OddServer(answer) as server:
        profile = ModelProfile("agent", host=server.address, time_limit=0.1)
        model = OpenAIModel(profile, kind=LLAMA_CPP)
        with pytest.raises(ModelTimeout, match=r"has read only [\d,]+ tokens of a prompt"):
            asked_soon(lambda: model.generate(TALK)).result(ENDLESS)
        assert model.capabilities.rate, "the next prompts are as short as its speed asks for"


def test_a_server_that_says_the_same_progress_again_gets_no_more_time():
    with OddServer(holds(STREAM, progress(100))) as server:
        call = asked_soon(lambda: asked(server, time_limit=0.5))
        with pytest.raises(ModelTimeout, match="has read only 100 tokens"):
            call.result(ENDLESS)


def test_a_process_that_was_started_anew_has_the_whole_limit(monkeypatch: pytest.MonkeyPatch):
    limit = 3600.0
    late = [0.0]
    starts = list[float]()  # the process is waited for before each call

    def answer(send: Send, closing: threading.Event) -> None:
        late[0] = 0.9 * limit * len(starts)
        if len(starts) > 1:  # the first call breaks off, as its process ends
            closing.wait(3 * transport.CHECK_SECONDS)  # the client looks at its limit meanwhile
            send(STREAM + event("I am Mira.", "stop") + END)

    advanced(monkeypatch, late)
    with OddServer(answer) as server:
        profile = ModelProfile("agent", host=server.address, time_limit=limit)
        model = OpenAIModel(profile, kind=LLAMA_CPP, ready=lambda: starts.append(late[0]))
        assert asked_soon(lambda: model.generate(TALK)).result(ENDLESS).text == "I am Mira."


def test_a_slow_ollama_which_says_nothing_before_its_answer_gets_twice_the_limit(
    monkeypatch: pytest.MonkeyPatch,
):
    limit = 3600.0
    late = [0.0]
    line = b'{"model": "fake", "response": "I am Mira.", "done": true, "done_reason": "stop"}\n'

    def answer(send: Send, closing: threading.Event) -> None:
        late[0] += 1.5 * limit
        closing.wait(3 * transport.CHECK_SECONDS)  # the client looks at its limit meanwhile
        send(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n" + line)

    advanced(monkeypatch, late)
    request = GenerationRequest("a word " * 500, max_tokens=40)
    with OddServer(answer) as server:
        model = OllamaModel(
            ModelProfile("agent", host=server.address, model="fake", time_limit=limit)
        )
        model.capabilities = replace(model.capabilities, rate=0.1)
        assert asked_soon(lambda: model.generate(request)).result(ENDLESS).text == "I am Mira."
        late[0] = 0.0
        model.capabilities = replace(model.capabilities, rate=1.0)
        call = asked_soon(lambda: model.generate(request))
        with pytest.raises(ModelTimeout):
            call.result(ENDLESS)


@pytest.mark.parametrize("name", HOLDING)
def test_a_cancelled_call_leaves_its_server_at_once(name: str):
    cancelled = threading.Event()
    request = GenerationRequest(
        messages=TALK.messages, max_tokens=40, is_cancelled=cancelled.is_set
    )
    with OddServer(HOLDING[name]) as server:
        call = asked_soon(lambda: asked(server, request, time_limit=3600))
        assert server.asked.acquire(timeout=ENDLESS)
        cancelled.set()
        with pytest.raises(CallCancelled):
            call.result(ENDLESS)
        assert server.gone.acquire(timeout=ENDLESS), "the connection is closed"


@pytest.mark.parametrize("answer", [holds(b""), holds(b"HTTP/1.1 200 OK\r\n\r\n{", b" ")])
def test_ollamas_client_keeps_limits_and_is_cancelled_too(
    answer: Callable[[Send, threading.Event], None],
):
    with OddServer(answer) as server:
        profile = ModelProfile(
            "agent", provider="ollama", host=server.address, model="fake", time_limit=0.5
        )
        call = asked_soon(lambda: OllamaModel(profile).generate(TALK))
        with pytest.raises(ModelTimeout):
            call.result(ENDLESS)
        assert server.asked.acquire(timeout=ENDLESS)
        cancelled = threading.Event()
        request = GenerationRequest("x", max_tokens=40, is_cancelled=cancelled.is_set)
        profile = ModelProfile(
            "agent", provider="ollama", host=server.address, model="fake", time_limit=3600
        )
        call = asked_soon(lambda: OllamaModel(profile).generate(request))
        assert server.asked.acquire(timeout=ENDLESS)
        cancelled.set()
        with pytest.raises(CallCancelled):
            call.result(ENDLESS)


# -- caps


def flood(head: bytes, piece: bytes) -> Callable[[Send, threading.Event], None]:
    """Answer with a beginning, and then with as much as the client takes."""
    return holds(head, piece, pause=0.0)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as made:
        yield made


@pytest.mark.parametrize(
    "answer",
    [
        flood(STREAM + b"data: ", b"a" * 65_536),
        flood(STREAM, b": keepalive\n\n" * 5000),
        flood(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b" " * 65_536),
    ],
)
def test_a_body_without_end_is_left_at_its_cap_and_not_asked_again(
    answer: Callable[[Send, threading.Event], None],
):
    with OddServer(answer) as server:
        call = asked_soon(lambda: asked(server, time_limit=3600))
        with pytest.raises(AnswerBrokenOff, match=r"more than 1,130,496 bytes"):
            call.result(ENDLESS)
        assert server.gone.acquire(timeout=ENDLESS)
        assert server.asked.acquire(timeout=ENDLESS)
        assert not server.asked.acquire(blocking=False)


def test_the_body_of_an_error_is_cut_and_its_status_is_reported():
    with OddServer(flood(FAILED, b"out of memory " * 4096)) as server:
        call = asked_soon(lambda: asked(server, time_limit=3600))
        with pytest.raises(ModelFailed, match="HTTP 500: out of memory") as caught:
            call.result(ENDLESS)
    assert len(caught.value.said) <= 65_536
    with OddServer(holds(FAILED + b"out of memory")) as server:
        call = asked_soon(lambda: asked(server, time_limit=3600))
        with pytest.raises(ModelFailed, match="HTTP 500: out of memory"):
            call.result(ENDLESS)


def test_a_compressed_answer_is_refused_before_it_is_inflated():
    bomb = gzip.compress(b" " * 50_000_000)
    head = STREAM.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    with OddServer(sends(head, bomb)) as server, pytest.raises(BadAnswer, match="compressed"):
        asked(server)


@pytest.mark.parametrize("size", [50, 400_000])
def test_an_answer_longer_than_was_asked_for_is_cut_and_said(
    size: int, caplog: pytest.LogCaptureFixture
):
    pieces: list[str] = []
    request = GenerationRequest(messages=TALK.messages, max_tokens=40, on_text=pieces.append)
    stream = [event("words " * (size // 6)), event("and more ")] * 50
    with OddServer(sends(STREAM, *stream, END)) as server:
        answer = asked(server, request)
    most = 40 * models.CHARACTERS_A_TOKEN + models.SPARE_CHARACTERS
    assert len(answer.text) == most
    assert answer.text == "".join(pieces)
    assert answer.finish_reason == "length"
    assert "more text than 40 tokens" in caplog.text


def test_tool_calls_without_end_are_refused():
    call = [{"function": {"name": "go", "arguments": "{}"}}]
    line = f"data: {json.dumps({'choices': [{'delta': {'tool_calls': call}}]})}\n\n".encode()
    with (
        OddServer(sends(STREAM, *[line] * 3000, END)) as server,
        pytest.raises(AnswerBrokenOff, match="tool calls"),
    ):
        asked(server)


# -- a pause that a server asks for


@pytest.mark.parametrize(
    "header", ["9999999999", "9" * 5000, "Fri, 31 Dec 2999 23:59:59 GMT", "3600"]
)
def test_a_pause_is_capped_and_said(header: str, caplog: pytest.LogCaptureFixture):
    head = f"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\nRetry-After: {header}\r\n\r\n".encode()
    now = models.time.monotonic()
    with OddServer(sends(head)) as server, pytest.raises(ModelBusy) as caught:
        asked(server)
    assert now < caught.value.until <= models.time.monotonic() + LONGEST_RETRY_AFTER
    assert "asks for a pause" in caplog.text
