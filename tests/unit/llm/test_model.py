"""How often a model is asked, and when it is left alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from keepsake.errors import (
    AnswerBroken,
    BadAnswer,
    CallGivenUp,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.models.model import AskedModel
from keepsake.models.ollama import OllamaModel
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import ModelProfile
from keepsake.models.status import Recorder
from keepsake.ports import ChatMessage, Generation, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply

REQUEST = GenerationRequest("hello")
ANSWER = Generation("hi", "stop", 100, 80, 5, 0.1, "scripted")
TALK = GenerationRequest("", messages=(ChatMessage("user", "Who are you?"),))


class Scripted:
    """A model that gives what it was handed, in turn; the last for ever."""

    def __init__(self, *outcomes: Generation | Exception) -> None:
        self.outcomes = list(outcomes)
        self.calls = 0

    def generate(self, request: GenerationRequest) -> Generation:
        self.calls += 1
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def check(self) -> str:
        self.generate(REQUEST)
        return "ready"


def asked(client: object, limit: float = 60, **given: Any) -> AskedModel:
    clock: Callable[[], float] = lambda: 0.0  # noqa: E731
    profile = ModelProfile("agent", time_limit=limit)
    return AskedModel(profile, cast("OpenAIModel", client), clock=clock, **given)


@pytest.mark.parametrize(
    ("error", "seed", "calls"),
    [
        (ModelUnavailable("a"), None, 3),
        (ModelFailed("a"), None, 3),
        (BadAnswer("a"), None, 3),
        (BadAnswer("a"), 1, 1),  # a fixed seed gives the same again
        (ModelMissing("a"), None, 1),
        (ModelRejected("a"), None, 1),
        (ModelTimeout("a"), None, 1),
    ],
)
def test_what_may_pass_is_asked_again(error: ModelError, seed: int | None, calls: int):
    request = GenerationRequest("hello", seed=seed)
    model = Scripted(error, error, ANSWER)
    if calls == 3:
        assert asked(model).generate(request) is ANSWER
    else:
        with pytest.raises(type(error)):
            asked(model).generate(request)
    assert model.calls == calls
    with pytest.raises(type(error), match="last"):
        asked(Scripted(type(error)("last"))).generate(request)


def test_all_attempts_together_have_the_time_of_one(fake: FakeModelServer):
    fake.plan("/v1/completions", Reply(status=500))
    fake.always("/v1/completions", Reply(delay=300))
    client = OpenAIModel(fake.address, "fake", time_limit=300)
    with pytest.raises(ModelTimeout):
        asked(client, 0.6).generate(REQUEST)
    assert len(fake.calls("/v1/completions")) == 2
    client.close()


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_an_answer_that_breaks_off_is_asked_again_before_its_first_piece_alone(
    provider: str, fake: FakeModelServer
):
    kind, path = (
        (OllamaModel, "/api/chat")
        if provider == "ollama"
        else (OpenAIModel, "/v1/chat/completions")
    )
    client = kind(fake.address, "fake")
    fake.plan(path, Reply(text="I am Mira, and", cut=2))
    heard: list[str] = []
    request = replace(TALK, on_text=heard.append)
    with pytest.raises(AnswerBroken, match=r"broke off|ended amid"):
        asked(client).generate(request)
    assert heard == ["I", " am"]
    assert len(fake.calls(path)) == 1
    fake.plan(path, Reply(text="I am", cut=0))
    assert asked(client).generate(request).text == "".join(heard[2:])
    assert len(fake.calls(path)) == 3
    fake.plan(path, Reply(text="one two three four five six", drip=0.2))
    heard.clear()
    with pytest.raises(ModelTimeout):
        asked(client, 0.5).generate(request)
    assert len(heard) < 6
    client.close()


def test_a_server_that_is_down_is_not_asked_until_it_is_looked_at_again():
    model = Scripted(ModelUnavailable("it is on fire", "Put it out"), ANSWER)
    it = asked(model)
    assert it.look() is not None
    with pytest.raises(ModelUnavailable, match=r"on fire.*looked at again.*Put it out"):
        it.generate(REQUEST)
    assert model.calls == 1
    assert it.look() is None
    assert it.generate(REQUEST) is ANSWER


def test_calls_are_counted():
    recorder = Recorder()
    it = asked(Scripted(ANSWER, ANSWER, ModelRejected("broke")), recorder=recorder)
    for _ in range(2):
        it.generate(REQUEST)
    with pytest.raises(ModelRejected):
        it.generate(REQUEST)
    figures = recorder.figures()
    assert (figures.calls, figures.failures, figures.last_error) == (3, 1, "broke")
    assert (figures.prompt_tokens, figures.cached_tokens) == (200, 160)
    assert (figures.completion_tokens, figures.cached_share) == (10, 0.8)
    for i in range(200):
        recorder.add(ANSWER, float(i))
    assert (recorder.figures().p50, recorder.figures().p95) == (100.0, 190.0)
    assert Recorder().figures().p95 == 0.0


def test_a_call_that_is_given_up_waits_no_longer():
    given_up = threading.Event()
    model = Scripted(ModelBusy("It loads", wait=30))
    threading.Timer(0.2, given_up.set).start()
    with pytest.raises(CallGivenUp):
        asked(model).generate(GenerationRequest("hello", given_up=given_up.is_set))
    assert model.calls == 1


def test_a_call_waits_until_the_process_is_ready():
    def not_ready() -> None:
        raise ModelUnavailable("It is loading")

    model = Scripted(ANSWER)
    with pytest.raises(ModelUnavailable, match="loading"):
        asked(model, ready=not_ready).generate(REQUEST)
    assert model.calls == 0
