"""The queue of a model server, driven step by step by the test."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.errors import ModelFailed, ModelTimeout
from keepsake.models.profiles import ModelProfile
from keepsake.models.queue import UNASKED, ModelServer
from keepsake.models.scripted import ScriptedModel
from keepsake.models.tickets import Outcome, Priority, Ticket
from keepsake.ports import Generation, GenerationRequest

P = Priority.PLAYER
E = Priority.EVENT
C = Priority.COMPACTION
S = Priority.SLEEP
A = Priority.READ_AHEAD
PRIORITIES = dict(zip("peaics", Priority, strict=True))


class ManualExecutor(Executor):
    """Calls start when they are submitted and finish when the test says so."""

    def __init__(self) -> None:
        self.running: dict[str, tuple[Future[Any], Callable[[], Any]]] = {}
        self.is_given_up: dict[str, Callable[[], bool]] = {}
        self.on_progress: dict[str, Callable[[int], None]] = {}
        self.started: list[str] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        prompt = args[0].prompt
        self.started.append(prompt)
        self.running[prompt] = (future, lambda: fn(*args))
        self.is_given_up[prompt] = args[0].is_cancelled
        self.on_progress[prompt] = args[0].on_progress
        return future

    def write(self, prompt: str, characters: int) -> None:
        """Let so many characters of an answer be written."""
        self.on_progress[prompt](characters)

    @property
    def wanted(self) -> list[str]:
        """The calls whose answer is still awaited, in the order in which they started."""
        return [name for name in self.running if not self.is_given_up[name]()]

    def finish(self, prompt: str) -> None:
        future, call = self.running.pop(prompt)
        try:
            future.set_result(call())
        except Exception as error:
            future.set_exception(error)


class Echo(ScriptedModel):
    def generate(self, request: GenerationRequest) -> Generation:
        if request.prompt.startswith("fail"):
            raise ModelFailed(request.prompt)
        if request.prompt == "late":
            raise ModelTimeout("It gave no answer")
        cached = {"half cached": 5, "all cached": 10}.get(request.prompt)
        return Generation(request.prompt, "stop", 10, cached, 1, 0.0, "echo")


ECHO = Echo(ModelProfile("agent"))


class QueueHarness:
    """A queue, the work that it posted to its owner, and the outcomes of the calls."""

    def __init__(self, in_flight: int = 1) -> None:
        self.now = 0.0
        self.posted: list[Callable[[], None]] = []
        self.pool = ManualExecutor()
        self.outcomes: dict[str, Outcome] = {}
        self.queue = ModelServer(
            "ollama", "here", self.pool, self.posted.append, clock=lambda: self.now
        )
        self.queue.places = in_flight

    def run_posted(self) -> None:
        while self.posted:
            self.posted.pop(0)()

    def submit(self, name: str, priority: Priority = E, key: str | None = None) -> Ticket:
        return self.queue.submit(
            priority,
            key,
            ECHO,
            lambda _: GenerationRequest(name),
            lambda outcome: self.outcomes.__setitem__(name, outcome),
        )

    def finish(self, name: str) -> None:
        self.pool.finish(name)
        self.run_posted()

    def finish_all(self) -> list[str]:
        self.run_posted()
        while self.pool.running:
            self.finish(next(iter(self.pool.running)))
        return self.pool.started


@pytest.fixture
def harness() -> QueueHarness:
    return QueueHarness()


@given(
    in_flight=st.integers(1, 4),
    steps=st.lists(
        st.tuples(
            st.sampled_from([each for each in Priority if each is not A]),
            st.sampled_from("mwo-"),
            st.booleans(),
        ),
        max_size=25,
    ),
)
def test_any_calls_stay_within_the_limits_and_are_answered(
    in_flight: int, steps: list[tuple[Priority, str, bool]]
):
    harness = QueueHarness(in_flight)
    asked = {}

    def check_limits() -> None:
        harness.run_posted()
        running = [asked[name] for name in harness.pool.wanted]
        others = sum(priority is not P for priority, _ in running)
        keys = [key for _, key in running if key]
        assert len(running) == len(harness.queue.running) <= in_flight
        assert others <= max(in_flight - 1, 1), "a place is kept for players"
        assert len(keys) == len(set(keys)), "a key has one call at a time"
        under_way = {*harness.pool.wanted, *harness.outcomes}
        waiting = [each for name, each in asked.items() if name not in under_way]
        fits = [priority for priority, key in waiting if key not in keys]
        free = in_flight - len(running)
        assert not fits or free <= (P not in fits), "no call waits while a place is free"

    for number, (priority, key, finishes) in enumerate(steps):
        name = f"{'fail' if finishes and number % 3 == 0 else 'ask'} {number}"
        asked[name] = (priority, key.strip("-") or None)
        harness.submit(name, *asked[name])
        if finishes and harness.pool.running:
            harness.finish(next(iter(harness.pool.running)))
        check_limits()
    while harness.pool.running:
        harness.finish(next(iter(harness.pool.running)))
        check_limits()
    assert harness.outcomes.keys() == asked.keys()


def test_the_cached_share_leaves_out_answers_whose_server_does_not_say():
    harness = QueueHarness()
    queue = harness.queue
    seen = []
    for name in ("unknown", "half cached", "all cached", "unknown again"):
        harness.submit(name)
        harness.run_posted()
        harness.finish(name)
        seen.append((queue.cached, queue.last_cached))
    assert seen == [(None, None), (0.5, 0.5), (0.75, 1.0), (0.75, None)]


def test_reading_ahead_gives_way_to_a_player_and_is_done_afterwards():
    harness = QueueHarness(in_flight=3)
    harness.submit("a1", A, "mira")
    harness.submit("a2", A, "joss")
    harness.run_posted()
    assert harness.pool.started == ["a1"], "one at a time"
    (_, began) = harness.pool.running.pop("a1")
    assert began is not None
    harness.submit("p1", P, "bram")
    harness.run_posted()
    harness.submit("e1", E)
    harness.run_posted()
    assert harness.pool.started == ["a1", "p1", "e1"], "others go on, and it waits for the player"
    assert [ticket.cancelled for ticket in harness.queue.running] == [True, False, False]
    harness.finish("e1")
    assert harness.pool.started == ["a1", "p1", "e1"]
    harness.finish("p1")
    assert harness.pool.started[3:] == ["a2"]
    harness.finish("a2")
    assert harness.pool.started[4:] == ["a1"], "the whole prompt, of the moment"
    harness.finish("a1")
    assert harness.outcomes.keys() == {"a1", "a2", "p1", "e1"}


def test_what_is_read_ahead_is_not_read_again_once_its_caller_has_asked(harness: QueueHarness):
    harness.submit("before", A, "mira")
    harness.run_posted()
    harness.submit("asked", P, "mira")
    assert harness.finish_all() == ["before", "asked"]
    assert harness.outcomes.keys() == {"asked"}


def test_only_the_newest_prompt_of_a_caller_is_read_ahead(harness: QueueHarness):
    harness.submit("asked", P, "bram")
    for name in ("old", "new"):
        harness.submit(name, A, "mira")
    harness.submit("other", A, "joss")
    assert harness.finish_all() == ["asked", "new", "other"]


@pytest.mark.parametrize("background", [C, S])
def test_the_only_place_is_given_to_a_player_once(harness: QueueHarness, background: Priority):
    harness.submit("summary", background)
    harness.run_posted()
    harness.submit("p1", P)
    harness.run_posted()
    assert harness.pool.wanted == ["p1"]
    harness.finish("p1")
    harness.submit("p2", P)
    harness.run_posted()
    assert harness.pool.wanted == ["summary"], "begun again; the second time it is finished"
    harness.finish("summary")
    harness.finish("p2")
    assert harness.pool.started == ["summary", "p1", "summary", "p2"]
    assert harness.outcomes.keys() == {"summary", "p1", "p2"}


@pytest.mark.parametrize("background", [C, S])
def test_with_two_places_one_is_for_players_and_a_summary_is_asked_for_once(background: Priority):
    harness = QueueHarness(in_flight=2)
    harness.submit("summary", background)
    harness.run_posted()
    harness.submit("p1", P, "mira")
    harness.submit("p2", P, "joss")
    harness.run_posted()
    assert harness.pool.wanted == ["summary", "p1"]
    harness.finish("p1")
    assert harness.pool.wanted == ["summary", "p2"]
    harness.finish_all()
    assert harness.pool.started == ["summary", "p1", "p2"]


def test_a_summary_that_is_half_written_keeps_the_only_place(harness: QueueHarness):
    harness.submit("summary", C)
    harness.run_posted()
    harness.pool.write("summary", 2_000)
    harness.submit("p1", P)
    harness.run_posted()
    assert harness.pool.wanted == ["summary"]
    harness.finish("summary")
    harness.finish_all()
    assert harness.pool.started == ["summary", "p1"]


def test_a_summary_of_which_little_is_written_gives_the_only_place_away(harness: QueueHarness):
    harness.submit("summary", C)
    harness.run_posted()
    harness.pool.write("summary", 10)
    harness.submit("p1", P)
    harness.run_posted()
    assert harness.pool.wanted == ["p1"]


def test_a_timeout_schedules_a_health_check(harness: QueueHarness):
    harness.submit("late")
    harness.finish_all()
    assert harness.queue.due > 0
    assert harness.queue.health != UNASKED, "so that the gateway notices when it is ready again"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("c1 i1 p1 e1 p2 e2 s1", "p1 p2 e1 e2 i1 c1 s1"),
        ("s1 s2 s3", "s1 s2 s3"),
        ("e1 c@1 i@185 e@185 p@185", "e1 p@185 c@1 e@185 i@185"),  # players still go first
        *(
            (f"e1 s@1 {other}@{at}", f"e1 {other}@{at} s@1")
            for other in "peic"
            for at in (2, 80000)
        ),
    ],
)
def test_urgent_calls_go_first_and_equal_ones_in_order(
    harness: QueueHarness, asked: str, answered: str
):
    for number, name in enumerate(asked.split()):
        harness.now = float(name.partition("@")[2] or 0)
        harness.submit(name, PRIORITIES[name[0]])
        if number == 0 and "@" in asked:
            harness.run_posted()  # so it is in flight when the others arrive
    waiting = [PRIORITIES[name[0]] for name in asked.split() if name not in harness.pool.started]
    assert harness.queue.waiting == {each: waiting.count(each) for each in Priority}
    assert harness.finish_all() == answered.split()


def test_a_cancelled_call_in_flight_does_not_delay_the_next_of_its_key(harness: QueueHarness):
    remark = harness.submit("remark", key="mira")
    harness.run_posted()
    remark.cancelled = True
    harness.submit("answer", P, key="mira")
    harness.run_posted()
    assert harness.pool.started == ["remark", "answer"]
