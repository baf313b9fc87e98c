"""Each failure of a model server has its own error, which names the cure and no secret."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from keepsake.errors import (
    BadAnswer,
    CallCancelled,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.ports import GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply
from tests.free_ports import free_base
from tests.unit.llm.clients.asking import (
    CHAT_PATHS,
    RAW,
    RAW_PATHS,
    TALK,
    Model,
    client_of,
    streaming,
)


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (Reply(status=500, text="boom"), ModelFailed, "HTTP 500: .*boom"),
        (Reply(status=400, text="bad option"), ModelRejected, "HTTP 400: .*bad option"),
        (Reply(status=401, text="who"), ModelRejected, "KEEPSAKE_OPENAI_API_KEY"),
        (Reply(status=429, text="slow", retry_after="90"), ModelBusy, "HTTP 429"),
        (Reply(status=503, text="loading", retry_after="90"), ModelBusy, "not ready"),
        (Reply(raw=b"<html>hello</html>"), BadAnswer, "sent"),
        (Reply(raw=b"[" * 50_000), BadAnswer, "sent"),
        (Reply(raw=b"{}"), ModelError, "sent|closed"),
        (Reply(raw=b'error: {"message": "context size"}\n\n'), ModelError, "sent|too long"),
        (Reply(raw=b"\xff\xfe\x00"), BadAnswer, "sent"),
        (Reply(raw=b'{"response": 5, "choices": [{"text": 5}]}'), BadAnswer, "sent"),
        (Reply(text="  \n"), BadAnswer, "empty answer"),
        (Reply(text="<think>Hmm. What"), BadAnswer, "a thought and no answer"),
        (Reply(hang_up=True), ModelUnavailable, "closed|does not answer"),
        (Reply(text="I am", cut=0), ModelUnavailable, "closed"),
        (Reply(delay=300), ModelTimeout, r"within 0\.5 s"),
        (Reply(drip=0.05, text="x " * 10_000), ModelTimeout, r"within 0\.5 s"),
    ],
)
def test_each_failure_raises_its_own_error_with_a_cure(
    provider: str, fake: FakeModelServer, reply: Reply, error: type[Exception], words: str
):
    limit = {ModelTimeout: 0.5, ModelBusy: 30}.get(error, 60)
    model = client_of(fake.address, provider, time_limit=limit)
    fake.always(RAW_PATHS[provider], reply)
    with pytest.raises(error, match=words):
        model.generate(GenerationRequest("x"))
    if limit == 60:
        fake.always(RAW_PATHS[provider], Reply())
        assert model.generate(RAW).text, "the connection pool still works"


def test_a_missing_model_and_a_missing_server_are_reported(provider: str, fake: FakeModelServer):
    model = client_of(fake.address, provider, model="absent:7b")
    cure = "ollama pull absent:7b" if provider == "ollama" else "Load 'absent:7b'"
    with pytest.raises(ModelMissing, match=cure):
        model.generate(RAW)
    with pytest.raises(ModelMissing, match="absent:7b"):
        model.check()
    fake.models = ["absent:7b:latest" if provider == "ollama" else "absent:7b"]
    model.check()
    model = client_of(f"http://tom:sesame@127.0.0.1:{free_base()}", provider)
    with pytest.raises(ModelUnavailable, match=r"http://\[secret\]@127.*Start (it|the)") as caught:
        model.generate(RAW)
    assert "sesame" not in str(caught.value)
    with pytest.raises(ModelUnavailable):
        model.check()


def test_a_cancelled_request_ends(provider: str, model: Model, fake: FakeModelServer):
    fake.plan(CHAT_PATHS[provider], Reply(text="one two three four", drip=0.05))
    pieces, request = streaming(TALK)
    with pytest.raises(ModelUnavailable, match="cancelled"):
        model.generate(replace(request, is_cancelled=lambda: len(pieces) > 1))
    assert pieces == ["one", " two"]
    path = CHAT_PATHS[provider]
    fake.always(path, Reply(status=429))
    with pytest.raises(CallCancelled):
        model.generate(replace(TALK, is_cancelled=lambda: len(fake.calls(path)) > 1))


@pytest.mark.parametrize("status", [401, 500])
def test_no_error_contains_the_api_key_even_if_the_server_quotes_it(
    provider: str, fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch, status: int
):
    key = "sesame-open-4f9a"
    monkeypatch.setenv("OLLAMA_API_KEY", key)  # Ollama's library reads this variable
    own = {"key": key} if provider == "openai" else {}
    reply = Reply(status=status, text=f"{'no ' * 62}key {key} is not known")
    fake.always(RAW_PATHS[provider], reply)
    model = client_of(fake.address, provider, **own)
    with pytest.raises(ModelError, match=r"no no") as caught:
        model.generate(RAW)
    assert "sesame" not in json.dumps([str(caught.value), repr(caught.value)])
    assert "sesame" not in repr(model.server)
