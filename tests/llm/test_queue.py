"""The queue with an owner that moves only when the test says so."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from game.llm.queue import ModelQueue, Outcome, Priority, Ticket
from game.mind.errors import ModelFailed, ModelUnavailable
from game.mind.ports import Generation, GenerationRequest

P, E, I, C = Priority.PLAYER, Priority.EVENT, Priority.IDLE, Priority.COMPACTION  # noqa: E741
S = Priority.SLEEP


class Hand(Executor):
    """Calls begin when they are submitted and end when the test ends them."""

    def __init__(self) -> None:
        self.running: dict[str, tuple[Future[Any], Callable[[], Any]]] = {}
        self.started: list[str] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        prompt = args[0].prompt
        self.started.append(prompt)
        self.running[prompt] = (future, lambda: fn(*args))
        return future

    def end(self, prompt: str) -> None:
        future, call = self.running.pop(prompt)
        try:
            future.set_result(call())
        except Exception as error:  # what the call raised is what the future carries
            future.set_exception(error)


class Echo:
    def generate(self, request: GenerationRequest) -> Generation:
        if request.prompt.startswith("fail"):
            raise ModelFailed(request.prompt)
        if request.prompt.startswith("bug"):
            raise ZeroDivisionError(request.prompt)
        return Generation(request.prompt, "stop", 1, 0, 1, 0.0, "echo")


class Desk:
    """A queue, its owner's posted work, and what came back."""

    def __init__(self, in_flight: int = 1) -> None:
        self.now = 0.0
        self.posted: list[Callable[[], None]] = []
        self.hand = Hand()
        self.outcomes: dict[str, Outcome] = {}
        self.queue = ModelQueue(self.hand, self.posted.append, in_flight, lambda: self.now)

    def settle(self) -> None:
        while self.posted:
            self.posted.pop(0)()

    def ask(self, name: str, priority: Priority = E, key: str | None = None) -> Ticket:
        return self.queue.submit(
            priority,
            key,
            lambda: GenerationRequest(name),
            lambda outcome: self.outcomes.__setitem__(name, outcome),
            Echo(),
        )

    def end(self, name: str) -> None:
        self.hand.end(name)
        self.settle()

    def run_out(self) -> list[str]:
        self.settle()
        while self.hand.running:
            self.end(next(iter(self.hand.running)))
        return self.hand.started


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_an_answer_comes_back(desk: Desk):
    desk.ask("a")
    assert desk.hand.started == []  # nothing happens inside submit
    desk.settle()
    desk.hand.end("a")
    assert desk.outcomes == {}  # nor in the worker's thread
    desk.settle()
    outcome = desk.outcomes["a"]
    assert isinstance(outcome, Generation)
    assert outcome.text == "a"


def test_the_more_urgent_first_and_in_order_within(desk: Desk):
    for name, priority in [("c1", C), ("i1", I), ("p1", P), ("e1", E), ("p2", P), ("e2", E)]:
        desk.ask(name, priority)
    assert desk.run_out() == ["p1", "p2", "e1", "e2", "i1", "c1"]


def test_a_player_waits_only_for_calls_in_flight(desk: Desk):
    for i in range(5):
        desk.ask(f"idle{i}", I)
    desk.settle()
    desk.ask("player", P)
    desk.settle()
    assert desk.hand.started == ["idle0"]
    desk.end("idle0")
    assert desk.hand.started == ["idle0", "player"]


def test_no_more_calls_at_once_than_allowed():
    desk = Desk(in_flight=3)
    for i in range(7):
        desk.ask(str(i))
    desk.settle()
    assert len(desk.hand.running) == desk.queue.running() == 3
    desk.end("1")
    assert set(desk.hand.running) == {"0", "2", "3"}


def test_never_two_of_one_key_and_others_pass():
    desk = Desk(in_flight=3)
    desk.ask("mira1", E, "mira")
    desk.ask("mira2", P, "mira")
    desk.ask("bram1", I, "bram")
    desk.settle()
    assert set(desk.hand.running) == {"mira2", "bram1"}
    desk.end("bram1")
    assert set(desk.hand.running) == {"mira2"}
    desk.end("mira2")
    assert set(desk.hand.running) == {"mira1"}


def test_a_key_is_free_again_after_a_failure(desk: Desk):
    desk.ask("fail1", E, "mira")
    desk.ask("next", E, "mira")
    assert desk.run_out() == ["fail1", "next"]
    assert isinstance(desk.outcomes["fail1"], ModelFailed)


def test_compaction_leaves_a_place_free():
    desk = Desk(in_flight=2)
    for name in ("c1", "c2", "c3"):
        desk.ask(name, C)
    desk.settle()
    assert set(desk.hand.running) == {"c1"}
    desk.ask("player", P)
    desk.settle()
    assert set(desk.hand.running) == {"c1", "player"}


def test_what_waits_long_rises_but_never_before_a_player(desk: Desk):
    desk.ask("first", E)
    desk.settle()
    desk.ask("compaction", C)
    desk.now = 125.0
    desk.ask("idle", I)
    desk.ask("event", E)
    desk.ask("player", P)
    desk.end("first")
    assert desk.run_out() == ["first", "player", "compaction", "event", "idle"]


@pytest.mark.parametrize("waited", [0.0, 61.0, 3600.0, 80_000.0])
@pytest.mark.parametrize("other", [P, E, I, C])
def test_whoever_is_awake_goes_before_a_sleeper_however_long_that_has_waited(
    desk: Desk, other: Priority, waited: float
):
    desk.ask("first", E)
    desk.settle()
    desk.ask("sleeper", S)
    desk.now = waited
    desk.ask("awake", other)
    desk.end("first")
    assert desk.run_out() == ["first", "awake", "sleeper"]


def test_sleepers_take_turns_in_order(desk: Desk):
    for name in ("s1", "s2", "s3"):
        desk.ask(name, S)
    assert desk.run_out() == ["s1", "s2", "s3"]


def test_sleep_and_compaction_together_leave_a_place_free():
    desk = Desk(in_flight=3)
    for name, priority in [("s1", S), ("c1", C), ("s2", S), ("c2", C)]:
        desk.ask(name, priority)
    desk.settle()
    assert set(desk.hand.running) == {"c1", "c2"}
    desk.ask("idle", I)
    desk.settle()
    assert set(desk.hand.running) == {"c1", "c2", "idle"}
    desk.end("c1")
    assert set(desk.hand.running) == {"c2", "idle", "s1"}
    desk.end("idle")
    assert set(desk.hand.running) == {"c2", "s1"}  # the place stays free


def test_the_prompt_is_built_when_its_turn_comes(desk: Desk):
    world = {"weather": "sun"}
    desk.ask("first")
    desk.queue.submit(E, None, lambda: GenerationRequest(world["weather"]), lambda _: None, Echo())
    desk.settle()
    world["weather"] = "rain"
    assert desk.run_out() == ["first", "rain"]


def test_a_thought_that_is_no_longer_wanted(desk: Desk):
    outcomes: list[Outcome] = []
    desk.queue.submit(E, "mira", lambda: None, outcomes.append, Echo())
    desk.ask("next", E, "mira")
    assert desk.run_out() == ["next"]
    assert outcomes == [None]


def test_cancelled_while_it_waits(desk: Desk):
    desk.ask("first")
    ticket = desk.ask("second")
    desk.settle()
    ticket.cancel()
    assert desk.queue.waiting()[E] == 0
    assert desk.run_out() == ["first"]
    assert "second" not in desk.outcomes


def test_cancelled_in_flight_drops_the_answer_and_frees_the_key(desk: Desk):
    ticket = desk.ask("first", E, "mira")
    desk.ask("second", E, "mira")
    desk.settle()
    ticket.cancel()
    assert desk.run_out() == ["first", "second"]
    assert set(desk.outcomes) == {"second"}


def test_faults_in_build_and_done_are_logged_and_stall_nothing(
    desk: Desk, caplog: pytest.LogCaptureFixture
):
    outcomes: list[Outcome] = []

    def broken() -> GenerationRequest:
        raise KeyError("profile")

    desk.queue.submit(E, "a", broken, outcomes.append, Echo())
    desk.queue.submit(E, "a", lambda: GenerationRequest("x"), lambda _: 1 / 0, Echo())
    desk.ask("next", E, "a")
    with caplog.at_level(logging.ERROR):
        assert desk.run_out() == ["x", "next"]
    assert isinstance(outcomes[0], ModelFailed)
    assert "could not be built" in caplog.text
    assert "could not be used" in caplog.text


def test_a_fault_in_the_client_is_a_model_error(desk: Desk, caplog: pytest.LogCaptureFixture):
    desk.ask("bug")
    desk.run_out()
    assert isinstance(desk.outcomes["bug"], ModelFailed)
    assert "ZeroDivisionError" in caplog.text


def test_done_may_submit_again(desk: Desk):
    def again(_: Outcome) -> None:
        desk.ask("second", E, "mira")

    desk.queue.submit(E, "mira", lambda: GenerationRequest("first"), again, Echo())
    assert desk.run_out() == ["first", "second"]


def test_closing_answers_those_who_wait_and_those_who_come(desk: Desk):
    desk.ask("running")
    desk.ask("waiting")
    desk.settle()
    desk.queue.close()
    desk.ask("late")
    desk.settle()
    assert isinstance(desk.outcomes["waiting"], ModelUnavailable)
    assert isinstance(desk.outcomes["late"], ModelUnavailable)
    desk.end("running")
    assert isinstance(desk.outcomes["running"], Generation)
    assert desk.hand.started == ["running"]


def test_waiting_is_counted_by_priority(desk: Desk):
    for name, priority in [("a", P), ("b", I), ("c", I), ("d", C)]:
        desk.ask(name, priority)
    assert desk.queue.waiting() == {P: 1, E: 0, I: 2, C: 1, S: 0}
    desk.settle()
    assert desk.queue.waiting() == {P: 0, E: 0, I: 2, C: 1, S: 0}
