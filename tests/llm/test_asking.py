"""How often a model is asked, and when it is left alone."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from keepsake.errors import (
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
from keepsake.models.asking import PatientModel
from keepsake.models.clients.openai import OpenAIModel
from keepsake.models.status import Recorder
from keepsake.ports import Generation, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply

REQUEST = GenerationRequest("hello")
ANSWER = Generation("hi", "stop", 100, 80, 5, 0.1, "scripted")


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


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def patient(
    model: Scripted, recorder: Recorder | None = None, clock: Callable[[], float] | None = None
) -> PatientModel:
    return PatientModel(model, 60, recorder, clock=clock or Clock())


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
        assert patient(model).generate(request) is ANSWER
    else:
        with pytest.raises(type(error)):
            patient(model).generate(request)
    assert model.calls == calls
    with pytest.raises(type(error), match="last"):
        patient(Scripted(type(error)("last"))).generate(request)


def test_all_attempts_together_have_the_time_of_one(fake: FakeModelServer):
    fake.plan("/v1/completions", Reply(status=500))
    fake.always("/v1/completions", Reply(delay=300))
    client = OpenAIModel(fake.address, "fake", time_limit=300)
    with pytest.raises(ModelTimeout):
        PatientModel(client, 0.6).generate(REQUEST)
    assert len(fake.calls("/v1/completions")) == 2
    client.close()


def test_a_server_that_drips_is_left(fake: FakeModelServer):
    fake.always("/v1/completions", Reply(drip=0.02, text="x" * 100_000))  # half an hour
    client = OpenAIModel(fake.address, "fake", time_limit=0.3)
    with pytest.raises(ModelTimeout, match=r"within 0\.3 s"):
        client.generate(REQUEST)
    client.close()


def test_a_server_that_was_not_there_is_not_asked_until_it_is_looked_at_again():
    model = Scripted(ANSWER)
    asked = patient(model)
    asked.down = ModelUnavailable("it is on fire", "Put it out")
    with pytest.raises(ModelUnavailable, match=r"on fire.*looked at again.*Put it out"):
        asked.generate(REQUEST)
    assert model.calls == 0
    asked.down = None
    assert asked.generate(REQUEST) is ANSWER


def test_calls_are_counted_and_told():
    seen: list[tuple[str, object]] = []
    recorder = Recorder(sink=lambda request, outcome, _s: seen.append((request.prompt, outcome)))
    failure = ModelRejected("broke")
    asked = patient(Scripted(ANSWER, ANSWER, failure), recorder)
    for _ in range(2):
        asked.generate(REQUEST)
    with pytest.raises(ModelRejected):
        asked.generate(REQUEST)
    figures = recorder.figures()
    assert (figures.calls, figures.failures, figures.last_error) == (3, 1, "broke")
    assert (figures.prompt_tokens, figures.cached_tokens) == (200, 160)
    assert figures.completion_tokens == 10
    assert figures.cached_share == 0.8
    assert [outcome for _, outcome in seen] == [ANSWER, ANSWER, failure]


def test_percentiles_of_latency():
    recorder = Recorder(keep=100)
    for i in range(200):
        recorder.add(REQUEST, ANSWER, float(i))
    figures = recorder.figures()
    assert (figures.p50, figures.p95) == (150.0, 195.0)
    assert Recorder().figures().p95 == 0.0


def test_who_gives_up_waits_no_longer():
    given_up = threading.Event()
    model = Scripted(ModelBusy("It loads", wait=30))
    asked = patient(model)
    threading.Timer(0.2, given_up.set).start()
    with pytest.raises(CallGivenUp):
        asked.generate(GenerationRequest("hello", given_up=given_up.is_set))
    assert model.calls == 1


def test_who_asks_waits_until_the_process_is_ready():
    def not_ready() -> None:
        raise ModelUnavailable("It is loading")

    model = Scripted(ANSWER)
    with pytest.raises(ModelUnavailable, match="loading"):
        PatientModel(model, 60, ready=not_ready).generate(REQUEST)
    assert model.calls == 0
