"""The queue with an owner that moves only when the test says so."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.errors import ModelFailed, ModelTimeout
from keepsake.models.profiles import ModelProfile
from keepsake.models.queue import UNASKED, ModelServer, Outcome, Priority, Ticket
from keepsake.models.scripted import ScriptedModel
from keepsake.ports import Generation, GenerationRequest

P, E, I, C = Priority.PLAYER, Priority.EVENT, Priority.IDLE, Priority.COMPACTION  # noqa: E741
S = Priority.SLEEP
PRIORITIES = dict(zip("peics", Priority, strict=True))


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


class Echo(ScriptedModel):
    def generate(self, request: GenerationRequest) -> Generation:
        if request.prompt.startswith("fail"):
            raise ModelFailed(request.prompt)
        if request.prompt == "late":
            raise ModelTimeout("It gave no answer")
        return Generation(request.prompt, "stop", 1, 0, 1, 0.0, "echo")


ECHO = Echo(ModelProfile("agent"))


class Desk:
    """A queue, its owner's posted work, and what came back."""

    def __init__(self, in_flight: int = 1) -> None:
        self.now = 0.0
        self.posted: list[Callable[[], None]] = []
        self.hand = Hand()
        self.outcomes: dict[str, Outcome] = {}
        self.queue = ModelServer(
            "ollama", "here", self.hand, self.posted.append, clock=lambda: self.now
        )
        self.queue.places = in_flight

    def settle(self) -> None:
        while self.posted:
            self.posted.pop(0)()

    def ask(self, name: str, priority: Priority = E, key: str | None = None) -> Ticket:
        return self.queue.submit(
            priority,
            key,
            ECHO,
            lambda _: GenerationRequest(name),
            lambda outcome: self.outcomes.__setitem__(name, outcome),
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


@given(
    in_flight=st.integers(1, 4),
    steps=st.lists(
        st.tuples(st.sampled_from(Priority), st.sampled_from("mwo-"), st.booleans()), max_size=25
    ),
)
def test_whatever_comes_the_places_and_keys_are_kept_and_all_are_answered(
    in_flight: int, steps: list[tuple[Priority, str, bool]]
):
    desk, asked = Desk(in_flight), {}

    def hold() -> None:
        desk.settle()
        running = [asked[name] for name in desk.hand.running]
        behind = sum(priority in (C, S) for priority, _ in running)
        keys = [key for _, key in running if key]
        assert len(running) == len(desk.queue.running) <= in_flight
        assert behind <= max(in_flight - 1, 1), "a place is free for who is waited for"
        assert len(keys) == len(set(keys)), "never two of one key"
        waits = [each for name, each in asked.items() if name not in desk.hand.started]
        fits = [key for priority, key in waits if priority in (P, E, I) and key not in keys]
        assert not fits or len(running) == in_flight, "nobody waits beside a free place"

    for number, (priority, key, ends) in enumerate(steps):
        name = f"{'fail' if ends and number % 3 == 0 else 'ask'} {number}"
        asked[name] = (priority, key.strip("-") or None)
        desk.ask(name, *asked[name])
        if ends and desk.hand.running:
            desk.end(next(iter(desk.hand.running)))
        hold()
    while desk.hand.running:
        desk.end(next(iter(desk.hand.running)))
        hold()
    assert desk.outcomes.keys() == asked.keys()


def test_a_server_that_gave_no_answer_in_time_is_looked_at_soon_and_then_is_back(desk: Desk):
    desk.ask("late")
    desk.run_out()
    assert desk.queue.due > 0
    assert desk.queue.health != UNASKED, "ready is news, and who waits is answered"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("c1 i1 p1 e1 p2 e2 s1", "p1 p2 e1 e2 i1 c1 s1"),
        ("s1 s2 s3", "s1 s2 s3"),
        ("e1 c@1 i@125 e@125 p@125", "e1 p@125 c@1 e@125 i@125"),  # long waiting, not past players
        *(
            (f"e1 s@1 {other}@{at}", f"e1 {other}@{at} s@1")
            for other in "peic"
            for at in (2, 80000)
        ),
    ],
)
def test_the_more_urgent_first_and_in_order_within(desk: Desk, asked: str, answered: str):
    for number, name in enumerate(asked.split()):
        desk.now = float(name.partition("@")[2] or 0)
        desk.ask(name, PRIORITIES[name[0]])
        if number == 0 and "@" in asked:
            desk.settle()  # it is in flight while the others come
    waiting = [PRIORITIES[name[0]] for name in asked.split() if name not in desk.hand.started]
    assert desk.queue.waiting == {each: waiting.count(each) for each in Priority}
    assert desk.run_out() == answered.split()
