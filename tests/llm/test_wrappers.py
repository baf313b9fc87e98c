from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from game.llm.clients.openai import OpenAIModel
from game.llm.wrappers import CircuitBreaker, Recorder, Recording, Retry, TimeLimit
from game.mind.errors import (
    BadAnswer,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from game.mind.ports import Generation, GenerationRequest
from tests.fakes.model_server import FakeModelServer, Reply
from tests.llm.conftest import until

REQUEST = GenerationRequest("hello")
ANSWER = Generation("hi", "stop", 100, 80, 5, 0.1, "scripted")


class Scripted:
    """A model that gives what it was handed, in turn; the last for ever."""

    def __init__(self, *outcomes: Generation | Exception | Callable[[], None]) -> None:
        self.outcomes = list(outcomes)
        self.calls = 0

    def generate(self, request: GenerationRequest) -> Generation:
        self.calls += 1
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        if callable(outcome):
            outcome()
            return ANSWER
        return outcome


def calls_since(before: set[threading.Thread]) -> set[threading.Thread]:
    """Threads that make a call and were not there before."""
    return {t for t in threading.enumerate() if t.name == "model-call"} - before


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("error", [ModelUnavailable("a"), ModelFailed("a"), BadAnswer("a")])
def test_retry_asks_again_after_what_may_pass(error: ModelError):
    model = Scripted(error, error, ANSWER)
    assert Retry(model, first_wait=0.001).generate(REQUEST) is ANSWER
    assert model.calls == 3


@pytest.mark.parametrize("error", [ModelMissing("a"), ModelRejected("a"), ModelTimeout("a")])
def test_retry_does_not_ask_again_after_what_will_not(error: ModelError):
    model = Scripted(error, ANSWER)
    with pytest.raises(type(error)):
        Retry(model, first_wait=0.001).generate(REQUEST)
    assert model.calls == 1


def test_retry_raises_the_last_error_as_it_is():
    model = Scripted(ModelFailed("first"), ModelFailed("second"), ModelFailed("third"))
    with pytest.raises(ModelFailed, match="third"):
        Retry(model, attempts=3, first_wait=0.001).generate(REQUEST)


def test_a_fixed_seed_gives_the_same_empty_answer_so_it_is_not_asked_again():
    model = Scripted(BadAnswer("empty"), ANSWER)
    with pytest.raises(BadAnswer):
        Retry(model, first_wait=0.001).generate(GenerationRequest("x", seed=1))
    assert model.calls == 1


def test_time_limit_ends_the_wait():
    release, answered = threading.Event(), threading.Event()

    def slow() -> None:
        release.wait(60)
        answered.set()

    limited = TimeLimit(Scripted(slow), seconds=0.1)
    with pytest.raises(ModelTimeout, match=r"within 0\.1 s"):
        limited.generate(REQUEST)
    assert not answered.is_set(), "it did not wait for the answer"
    release.set()
    assert answered.wait(60), "the call goes on in its thread, and nobody hears of it"


def test_time_limit_lets_answers_and_errors_through():
    assert TimeLimit(Scripted(ANSWER), 60).generate(REQUEST) is ANSWER
    with pytest.raises(ModelMissing):
        TimeLimit(Scripted(ModelMissing("x")), 60).generate(REQUEST)


def test_a_server_that_drips_is_left_and_its_thread_ends(fake: FakeModelServer):
    before = set(threading.enumerate())
    fake.always("/v1/completions", Reply(drip=0.02, text="x" * 100_000))  # half an hour
    client = OpenAIModel(fake.address, "fake", time_limit=0.3)
    with pytest.raises(ModelTimeout):
        TimeLimit(client, 0.3).generate(REQUEST)
    until(lambda: not calls_since(before))
    client.close()


def test_abandon_answers_all_who_wait_and_all_who_come():
    release = threading.Event()
    limited = TimeLimit(Scripted(lambda: release.wait(60) and None), seconds=60)
    errors: list[Exception] = []
    before = set(threading.enumerate())

    def wait() -> None:
        try:
            limited.generate(REQUEST)
        except ModelUnavailable as error:
            errors.append(error)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: len(calls_since(before)) == 3)
    limited.abandon(ModelUnavailable("closing"))
    for thread in threads:
        thread.join(60)
    assert len(errors) == 3
    with pytest.raises(ModelUnavailable, match="closing"):
        limited.generate(REQUEST)
    release.set()


def failing(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        with pytest.raises(ModelFailed):
            breaker.generate(REQUEST)


def test_the_circuit_opens_and_fails_at_once_saying_why():
    model = Scripted(ModelFailed("it is on fire", "Put it out"))
    breaker = CircuitBreaker(model, failures=3, clock=Clock())
    failing(breaker, 3)
    assert breaker.is_open
    with pytest.raises(ModelUnavailable, match=r"on fire.*asked again in 10 s.*Put it out"):
        breaker.generate(REQUEST)
    assert model.calls == 3


def test_after_a_rest_one_call_tries_and_closes_it():
    clock = Clock()
    breaker = CircuitBreaker(Scripted(*[ModelFailed("x")] * 3, ANSWER), failures=3, clock=clock)
    failing(breaker, 3)
    clock.now = 10.1
    assert breaker.generate(REQUEST) is ANSWER
    assert not breaker.is_open


def test_a_try_that_fails_opens_it_again():
    clock = Clock()
    breaker = CircuitBreaker(Scripted(ModelFailed("x")), failures=2, clock=clock)
    failing(breaker, 2)
    clock.now = 10.1
    failing(breaker, 1)
    clock.now = 15
    with pytest.raises(ModelUnavailable):
        breaker.generate(REQUEST)


def test_only_one_call_tries_at_a_time():
    clock, entered, release = Clock(), threading.Event(), threading.Event()

    def slow() -> None:
        entered.set()
        release.wait(60)

    model = Scripted(ModelFailed("x"), slow)
    breaker = CircuitBreaker(model, failures=1, clock=clock)
    failing(breaker, 1)
    clock.now = 11
    trial = threading.Thread(target=breaker.generate, args=(REQUEST,))
    trial.start()
    assert entered.wait(60)
    with pytest.raises(ModelUnavailable):
        breaker.generate(REQUEST)
    release.set()
    trial.join(60)
    assert breaker.generate(REQUEST) is ANSWER


@pytest.mark.parametrize(
    "error", [ModelRejected("too long"), BadAnswer("empty"), ModelTimeout("slow")]
)
def test_what_is_not_the_servers_fault_does_not_open_it(error: ModelError):
    breaker = CircuitBreaker(Scripted(error), failures=1)
    for _ in range(3):
        with pytest.raises(type(error)):
            breaker.generate(REQUEST)
    assert not breaker.is_open


def test_an_answer_forgets_earlier_failures():
    breaker = CircuitBreaker(
        Scripted(ModelFailed("x"), ANSWER, ModelFailed("x"), ANSWER), failures=2
    )
    failing(breaker, 1)
    breaker.generate(REQUEST)
    failing(breaker, 1)
    assert not breaker.is_open


def test_recording_counts_and_tells():
    seen: list[tuple[str, object]] = []
    recorder = Recorder(sink=lambda request, outcome, _s: seen.append((request.prompt, outcome)))
    failure = ModelFailed("broke")
    recording = Recording(Scripted(ANSWER, ANSWER, failure), recorder)
    for _ in range(2):
        recording.generate(REQUEST)
    with pytest.raises(ModelFailed):
        recording.generate(REQUEST)
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
