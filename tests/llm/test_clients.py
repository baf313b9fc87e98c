"""The clients against a server that misbehaves in every way, over the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from keepsake.errors import (
    BadAnswer,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.models.clients.ollama import OllamaModel, ollama_host
from keepsake.models.clients.openai import OpenAIModel, api_key
from keepsake.models.clients.thoughts import AnswerText
from keepsake.models.profiles import LLAMA_CPP
from keepsake.ports import GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply
from tests.free_ports import free_port
from tests.llm.conftest import until

Model = OllamaModel | OpenAIModel
REQUEST = GenerationRequest(
    "~Mira>", max_tokens=9, stop=("\n",), temperature=0.3, seed=5, repeat_penalty=1.1
)
SCHEMA = {"type": "object", "properties": {"verb": {"type": "string"}}}
PATHS = {"ollama": "/api/generate", "openai": "/v1/completions"}


@pytest.fixture(params=["ollama", "openai"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def build(kind: str, address: str, model: str = "fake", time_limit: float = 60) -> Model:
    if kind == "ollama":
        return OllamaModel(address, model, time_limit=time_limit)
    return OpenAIModel(address, model, time_limit=time_limit)


@pytest.fixture
def model(kind: str, fake: FakeModelServer) -> Iterator[Model]:
    model = build(kind, fake.address)
    yield model
    model.close()


def test_an_answer_with_its_figures(model: Model, fake: FakeModelServer):
    fake.script = lambda prompt: f" say I read {prompt}\nand this is cut"
    answer = model.generate(REQUEST)
    assert answer.text == " say I read ~Mira>"
    assert answer.finish_reason == "stop"
    assert (answer.prompt_tokens, answer.completion_tokens) == (3, 4)
    assert answer.model == "fake"
    assert answer.seconds > 0


def test_connections_are_kept(kind: str, model: Model, fake: FakeModelServer):
    for _ in range(20):
        model.generate(REQUEST)
    calls = fake.calls(PATHS[kind])
    assert len(calls) == 20
    assert len({call.port for call in calls}) == 1


def test_what_ollama_is_asked(fake: FakeModelServer):
    for keep_alive, context in (("5m", 4096), ("-1", None)):
        model = OllamaModel(fake.address, "fake", keep_alive=keep_alive, context_tokens=context)
        model.generate(replace(REQUEST, json_schema=SCHEMA) if context is None else REQUEST)
        model.close()
    first, second = (call.body for call in fake.calls("/api/generate"))
    options = {"temperature": 0.3, "num_predict": 9, "repeat_penalty": 1.1, "stop": ["\n"]}
    common = {"model": "fake", "prompt": "~Mira>", "raw": True, "stream": False}
    assert second == common | {
        "keep_alive": -1,
        "format": SCHEMA,
        "options": {**options, "seed": 5, "num_ctx": 11264},
    }
    assert first == common | {
        "keep_alive": "5m",
        "options": {**options, "seed": 5, "num_ctx": 4096},
    }


def test_the_key_is_sent_and_llama_cpps_own_figures_are_heard(fake: FakeModelServer):
    usage = {"prompt_tokens": 100, "completion_tokens": 2}
    timings = {"cache_n": 90, "prompt_n": 10}
    fake.always("/v1/completions", Reply(text=" hi", extra={"usage": usage, "timings": timings}))
    model = OpenAIModel(f"{fake.address}/v1", kind=LLAMA_CPP, key="sesame")
    answer = model.generate(REQUEST)
    model.close()
    call = fake.calls("/v1/completions")[0]
    assert call.headers["Authorization"] == "Bearer sesame"
    assert "model" not in call.body
    assert (answer.prompt_tokens, answer.cached_tokens, answer.completion_tokens) == (100, 90, 2)


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (Reply(status=500, text="boom"), ModelFailed, "HTTP 500: .*boom"),
        (Reply(status=400, text="bad option"), ModelRejected, "HTTP 400: .*bad option"),
        (Reply(status=401, text="who"), ModelRejected, "KEEPSAKE_OPENAI_API_KEY"),
        (Reply(status=429, text="slow"), ModelBusy, "HTTP 429"),
        (Reply(status=503, text="loading"), ModelBusy, "not ready"),
        (Reply(raw=b"<html>hello</html>"), BadAnswer, "sent"),
        (Reply(raw=b"[1, 2]"), BadAnswer, "sent"),
        (Reply(raw=b"[" * 50_000), BadAnswer, "sent"),
        (Reply(raw=b"{}"), BadAnswer, "sent"),
        (Reply(raw=b"\xff\xfe\x00"), BadAnswer, "sent"),
        (Reply(raw=b'{"response": 5, "choices": [{"text": 5}]}'), BadAnswer, "sent"),
        (Reply(text="  \n"), BadAnswer, "empty answer"),
        (Reply(text=""), BadAnswer, "empty answer"),
        (Reply(text="<think>Hmm. What"), BadAnswer, "a thought and no answer"),
        (Reply(hang_up=True), ModelUnavailable, "broke off|does not answer"),
    ],
)
def test_each_failure_has_a_name_and_a_cure(
    kind: str, fake: FakeModelServer, reply: Reply, error: type[Exception], words: str
):
    model = build(kind, fake.address)
    fake.plan(PATHS[kind], reply)
    with pytest.raises(error, match=words):
        model.generate(GenerationRequest("x"))
    assert model.generate(REQUEST).text  # the connection pool is none the worse
    model.close()


@pytest.mark.parametrize("reply", [Reply(delay=300), Reply(drip=0.05, text="x" * 10_000)])
def test_a_server_that_is_too_slow_is_left_in_time(kind: str, fake: FakeModelServer, reply: Reply):
    model = build(kind, fake.address, time_limit=0.4)
    fake.plan(PATHS[kind], reply)
    with pytest.raises(ModelTimeout, match=r"within 0\.4 s"):
        model.generate(GenerationRequest("x"))

    def answers() -> bool:
        try:
            return bool(model.generate(REQUEST).text)
        except ModelTimeout:  # the machine was busy for just that moment
            return False

    until(answers)  # the connection pool is none the worse
    model.close()


def test_a_missing_model(kind: str, fake: FakeModelServer):
    model = build(kind, fake.address, "absent:7b")
    cure = "ollama pull absent:7b" if kind == "ollama" else "Load 'absent:7b'"
    with pytest.raises(ModelMissing, match=cure):
        model.generate(REQUEST)
    with pytest.raises(ModelMissing, match="absent:7b"):
        model.check()
    fake.models = ["absent:7b:latest" if kind == "ollama" else "absent:7b"]
    assert model.check() == "ready"
    model.close()
    with pytest.raises(BadAnswer):  # closed
        model.generate(REQUEST)


def test_a_refused_connection_names_no_login(kind: str):
    model = build(kind, f"http://tom:sesame@127.0.0.1:{free_port()}")
    with pytest.raises(ModelUnavailable, match=r"http://\[secret\]@127.*Start (it|the)") as caught:
        model.generate(REQUEST)
    assert "sesame" not in str(caught.value)
    with pytest.raises(ModelUnavailable):
        model.check()
    model.close()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (" say hi", " say hi"),
        ("<think>hm\nhm</think>\n\nsay hi", "say hi"),
        ("hm, so</think> say hi", "say hi"),
        ("say hi <think>was that right", "say hi "),
        ("<thinking>a</thinking>say a<think>b</think> b", "say a b"),
        ("I think </b> of [you", "I think </b> of [you"),
        ("[THINK]hm[/THINK]Hello", "Hello"),
        ("◁think▷hm◁/think▷Hi", "Hi"),
        ("<reasoning>a</reasoning> B", "B"),
        ("Thought: I greet.\nHe waits.\nAnswer: Hello!", "Hello!"),
        ("Though I like it, no", "Though I like it, no"),
        (
            "<|channel|>analysis<|message|>We need<|end|><|start|>assistant"
            "<|channel|>final<|message|>Hello<|return|>",
            "Hello",
        ),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 999])
def test_thoughts_are_taken_out_whole_or_in_pieces(text: str, left: str, size: int):
    heard: list[str] = []
    answer = AnswerText(heard.append, hold=text.startswith("hm, so"))
    for at in range(0, len(text), size):
        answer.feed(text[at : at + size])
    assert answer.finish() == left
    assert "".join(heard) == left, "no piece of a thought is handed on"


@pytest.mark.parametrize(
    ("host", "variable", "address"),
    [
        ("", "", "http://127.0.0.1:11434"),
        ("", "0.0.0.0", "http://127.0.0.1:11434"),
        ("", "0.0.0.0:12000", "http://127.0.0.1:12000"),
        ("", "http://0.0.0.0:12000", "http://127.0.0.1:12000"),
        ("", "box:12000", "http://box:12000"),
        ("http://mine:1", "box:12000", "http://mine:1"),
    ],
)
def test_where_ollama_is(host: str, variable: str, address: str):
    assert ollama_host(host, {"OLLAMA_HOST": variable}) == address


def test_the_key_comes_from_the_environment_alone():
    assert api_key({}) is None
    assert api_key({"OPENAI_API_KEY": "b"}) == "b"
    assert api_key({"OPENAI_API_KEY": "b", "KEEPSAKE_OPENAI_API_KEY": "a"}) == "a"


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_the_key_is_in_no_error_though_the_server_quotes_it(
    kind: str, fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch, status: int
):
    key = "sesame-open-4f9a"
    monkeypatch.setenv("OLLAMA_API_KEY", key)  # which its own library reads
    host = fake.address
    model = OllamaModel(host, "fake") if kind == "ollama" else OpenAIModel(host, "fake", key=key)
    fake.plan(PATHS[kind], Reply(status=status, text=f"{'no ' * 62}key {key} is not known"))
    with pytest.raises(ModelError, match=r"no no") as caught:
        model.generate(REQUEST)
    model.close()
    assert "sesame" not in json.dumps([str(caught.value), repr(caught.value)])
    assert "sesame" not in repr(model.server)
