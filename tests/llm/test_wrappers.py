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
from keepsake.models.clients.openai import OpenAIModel
from keepsake.models.recording import Recorder, Recording
from keepsake.models.wrappers import CircuitBreaker, Retry, TimeLimit
from keepsake.ports import Generation, GenerationRequest
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
def test_retry_asks_again_after_what_may_pass(error: ModelError, seed: int | None, calls: int):
    request = GenerationRequest("hello", seed=seed)
    model = Scripted(error, error, ANSWER)
    if calls == 3:
        assert Retry(model, first_wait=0.001).generate(request) is ANSWER
    else:
        with pytest.raises(type(error)):
            Retry(model, first_wait=0.001).generate(request)
    assert model.calls == calls
    with pytest.raises(type(error), match="last"):
        Retry(Scripted(type(error)("last")), first_wait=0.001).generate(request)


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


def test_the_circuit_opens_says_why_and_closes_after_a_try():
    clock, broken = Clock(), ModelFailed("it is on fire", "Put it out")
    model = Scripted(broken, ANSWER, *[broken] * 4, ANSWER)
    breaker = CircuitBreaker(model, failures=3, clock=clock)
    failing(breaker, 1)
    assert breaker.generate(REQUEST) is ANSWER  # forgets the failure before
    failing(breaker, 3)
    with pytest.raises(ModelUnavailable, match=r"on fire.*asked again in 10 s.*Put it out"):
        breaker.generate(REQUEST)
    assert model.calls == 5
    clock.now = 10.1
    failing(breaker, 1)  # the try fails and opens it again
    clock.now = 15
    with pytest.raises(ModelUnavailable):
        breaker.generate(REQUEST)
    assert breaker.is_open
    clock.now = 20.2
    assert breaker.generate(REQUEST) is ANSWER
    assert not breaker.is_open


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


def test_who_gives_up_waiting_says_nothing_of_the_server():
    given_up = threading.Event()
    model = Scripted(ModelBusy("It loads", wait=30))
    breaker = CircuitBreaker(Retry(model, seconds=60), failures=1)
    threading.Timer(0.2, given_up.set).start()
    with pytest.raises(CallGivenUp):
        breaker.generate(GenerationRequest("hello", given_up=given_up.is_set))
    assert (model.calls, breaker.is_open) == (1, False)


def test_a_busy_server_is_not_waited_for_where_another_may_answer():
    model = Scripted(ModelBusy("It loads", wait=30))
    with pytest.raises(ModelBusy):
        Retry(model, first_wait=0.001).generate(REQUEST)
    assert model.calls == 1
