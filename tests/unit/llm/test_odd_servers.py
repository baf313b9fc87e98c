"""Model servers that misbehave, over the wire: limits, cancellation, caps, and odd streams."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
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
    ModelUnavailable,
)
from keepsake.models import model as models
from keepsake.models import retries, transport
from keepsake.models.http import LONGEST_RETRY_AFTER
from keepsake.models.ollama import OllamaModel
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import LLAMA_CPP, ModelProfile
from keepsake.ports import ChatMessage, Generation, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply
from tests.fakes.odd_server import OPEN, STREAM, OddServer, Send, chunk, event

TALK = GenerationRequest(messages=(ChatMessage("user", "Who are you?"),), max_tokens=40)
ENDLESS = 60.0
"""Seconds after which a test fails in place of waiting: far more than a busy machine needs."""
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
FAILED = b"HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\n\r\n"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_PAUSE", 0.01)


def asked(server: OddServer, request: GenerationRequest = TALK, **settings: float) -> Generation:
    """Ask a model on this server, as OpenAI's protocol says."""
    profile = ModelProfile("agent", provider="openai", host=server.address, **settings)
    return OpenAIModel(profile).generate(request)


def asked_soon(call: Callable[[], Generation]) -> Future[Generation]:
    """Make a call in a thread that does not keep a failing test alive."""
    future: Future[Generation] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def sends(*pieces: bytes) -> Callable[[Send, threading.Event], None]:
    """Answer with these bytes, and close the connection."""

    def answer(send: Send, closing: threading.Event) -> None:
        for piece in pieces:
            send(piece)

    return answer


def holds(
    head: bytes, again: bytes = b"", pause: float = 0.01
) -> Callable[[Send, threading.Event], None]:
    """Answer with a beginning, then with the same bytes again and again, and never end."""

    def answer(send: Send, closing: threading.Event) -> None:
        send(head)
        while not closing.wait(pause):
            send(again)

    return answer


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


# -- odd streams that are answers


END = b"data: [DONE]\n\n"
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
